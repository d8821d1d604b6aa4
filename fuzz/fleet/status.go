package fleet

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// Status is the progress of the campaign in some directories.
type Status struct {
	Plan       string        `json:"plan"`
	Count      uint64        `json:"count"`
	Units      int           `json:"units"`
	Done       int           `json:"done"`
	Rounds     int           `json:"rounds"`
	Round      int           `json:"round"`
	Dots       uint64        `json:"dots"`
	Mismatches uint64        `json:"mismatches"`
	Rate       float64       `json:"rate,omitempty"`
	ETA        float64       `json:"eta_seconds,omitempty"`
	Shards     []ShardStatus `json:"shards"`
	Causes     []CauseStatus `json:"causes"`

	advice string // what to do if nobody works on the rest
}

// ShardStatus is what the logs of a shard say of it.
type ShardStatus struct {
	Shard int     `json:"shard"`
	Of    int     `json:"of"`
	Host  string  `json:"host"` // of its newest log
	State string  `json:"state"`
	Age   float64 `json:"age"` // seconds since its last result
	Units int     `json:"units"`
	Dots  uint64  `json:"dots"`
	Rate  float64 `json:"rate,omitempty"`
}

// CauseStatus counts the cases of a cause.
type CauseStatus struct {
	Name    string  `json:"name"`
	Cases   uint64  `json:"cases"`
	Since   float64 `json:"since,omitempty"` // seconds since the first unit with the cause was done; 0: not known, its result was merged
	AtUnits int     `json:"at_units"`        // how many units were done by then; merged results count in the order of their numbers
}

// The states of a shard.
const (
	stateAlive  = "alive"
	stateDone   = "done"   // all its units are
	stateSilent = "silent" // no result for long: patience
	stateEnded  = "ended"  // its process on this machine has, before all its units were done
)

// The limits of how long a shard may take for a unit until it seems to do nothing: 20 times what
// its units take.
const (
	leastPatience = time.Minute
	mostPatience  = 5 * time.Minute
)

// patience is how long a shard that has done some units may take for the next one.
func (t times) patience() time.Duration {
	if len(t) < 3 {
		return mostPatience
	}
	units := t.order()
	first, last := t[units[0]], t[units[len(units)-1]]
	if first.IsZero() { // when it was done is not known
		return mostPatience
	}
	return min(mostPatience, max(leastPatience, 20*last.Sub(first)/time.Duration(len(units)-1)))
}

// Watcher looks at directories repeatedly, and reads every result only once.
type Watcher struct {
	plan  *Plan
	index *index
	units map[int]seenUnit
}

// seenUnit is what a watcher keeps of a unit.
type seenUnit struct {
	dots, mismatches uint64
	causes           map[string]uint64
}

// times has units that are done, and when; zero: it was read from merged results.
type times map[int]time.Time

// add adds a unit. Of the times when it was done the first counts.
func (t times) add(n int, at time.Time) {
	if have := t[n]; have.IsZero() || !at.IsZero() && at.Before(have) {
		t[n] = at
	}
}

// order returns the units in the order of their completion.
func (t times) order() []int {
	return slices.SortedFunc(maps.Keys(t), func(x, y int) int { return cmp.Or(t[x].Compare(t[y]), cmp.Compare(x, y)) })
}

// NewWatcher returns a watcher of directories of shards or of merged results, of one plan. It
// changes nothing.
func NewWatcher(dirs ...string) (*Watcher, error) {
	p, err := commonPlan(dirs)
	if err != nil {
		return nil, err
	}
	w := &Watcher{p, newIndex(p, dirs...), map[int]seenUnit{}}
	w.index.keep = true
	return w, nil
}

// Look returns the campaign's progress so far.
func (w *Watcher) Look() (*Status, error) {
	if err := w.index.update(); err != nil {
		return nil, err
	}
	for n := range w.plan.Units() {
		_, done := w.index.at[n]
		if _, ok := w.units[n]; ok || !done {
			continue
		}
		u, err := w.unit(n)
		if err != nil {
			return nil, err
		}
		w.units[n] = u
	}
	s := &Status{Plan: w.plan.Digest(), Units: len(w.plan.Units()), Done: len(w.units), Rounds: w.plan.Rounds, Round: w.index.complete(),
		Shards: []ShardStatus{}, Causes: []CauseStatus{}, Count: w.plan.Dots()}
	done, of := w.done()
	w.shards(s, of)
	w.progress(s, done)
	if s.unattended() {
		s.advice = w.index.advice(w.index.dirs)
	}
	return s, nil
}

// unit reads the result of a unit and returns what a watcher keeps of it.
func (w *Watcher) unit(n int) (u seenUnit, err error) {
	_, r, err := w.index.line(n)
	if err != nil {
		return u, err
	}
	u.dots, u.mismatches, u.causes = r.Dots, r.Dots-r.Classes[oracle.Same], causesOf(r)
	return u, nil
}

func causesOf(r *engine.Result) map[string]uint64 {
	causes := map[string]uint64{}
	for i := range r.Kinds {
		causes[string(r.Kinds[i].Primary)] += r.Kinds[i].Cases
	}
	if n := r.Unexamined + uint64(len(r.Unnamed)); n > 0 {
		causes["(no verdict yet)"] += n
	}
	return causes
}

// done returns the units that are done, and of these those that each shard has done itself, whichever
// directories repeat their results.
func (w *Watcher) done() (all times, of map[[2]int]times) {
	all, of = times{}, map[[2]int]times{}
	for n := range w.units {
		all[n] = time.Time{}
	}
	for _, l := range w.index.logs {
		own := of[[2]int{l.shard, l.of}]
		if own == nil {
			own = times{}
			of[[2]int{l.shard, l.of}] = own
		}
		for n, at := range l.done {
			if _, ok := all[n]; ok {
				all.add(n, at)
				own.add(n, at)
			}
		}
	}
	return all, of
}

// shards lists the shards that have logs. Those of processes that were killed and started again are
// of one shard.
func (w *Watcher) shards(s *Status, of map[[2]int]times) {
	newest, paths := map[[2]int]*readLog{}, map[[2]int]string{}
	for path, l := range w.index.logs {
		at := [2]int{l.shard, l.of}
		if have := newest[at]; l.of > 0 && (have == nil || have.grown.Before(l.grown)) {
			newest[at], paths[at] = l, path
		}
	}
	missing := w.index.missing()
	for at, l := range newest {
		x := ShardStatus{Shard: l.shard, Of: l.of, Host: l.host, State: stateAlive, Age: since(l.grown)}
		x.Units = len(of[at])
		for n := range of[at] {
			x.Dots += w.units[n].dots
		}
		switch {
		case !slices.ContainsFunc(missing, func(n int) bool { return n%l.of == l.shard }):
			x.State = stateDone
		case l.ended(paths[at]):
			x.State = stateEnded
		case x.Age > of[at].patience().Seconds():
			x.State = stateSilent
		default:
			x.Rate = w.rate(of[at])
		}
		s.Shards = append(s.Shards, x)
	}
	slices.SortFunc(s.Shards, func(x, y ShardStatus) int { return cmp.Or(cmp.Compare(x.Of, y.Of), cmp.Compare(x.Shard, y.Shard)) })
}

// alive returns how many shards are.
func (s *Status) alive() int {
	n := 0
	for _, x := range s.Shards {
		if x.State == stateAlive {
			n++
		}
	}
	return n
}

// unattended reports whether nobody works on units that are not done.
func (s *Status) unattended() bool { return s.Done < s.Units && s.alive() == 0 }

// progress totals the units that are done, in the order of their completion.
func (w *Watcher) progress(s *Status, done times) {
	at := map[string]int{}
	for i, n := range done.order() {
		u := w.units[n]
		s.Dots += u.dots
		s.Mismatches += u.mismatches
		for name, cases := range u.causes {
			j, ok := at[name]
			if !ok {
				j = len(s.Causes)
				at[name] = j
				s.Causes = append(s.Causes, CauseStatus{Name: name, Since: since(done[n]), AtUnits: i + 1})
			}
			s.Causes[j].Cases += cases
		}
	}
	slices.SortFunc(s.Causes, func(x, y CauseStatus) int { return cmp.Or(cmp.Compare(y.Cases, x.Cases), cmp.Compare(x.Name, y.Name)) })
	if s.Done < s.Units && s.alive() > 0 {
		s.Rate = w.rate(done)
	}
	if s.Rate > 0 {
		s.ETA = float64(s.Count-min(s.Count, s.Dots)) / s.Rate
	}
}

// since returns the seconds that have passed since t, or 0 for the zero time.
func since(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, time.Since(t).Seconds())
}

// rateOver is the time over which a rate is measured, and coarse the shortest that gives one.
const (
	rateOver = 5 * time.Minute
	coarse   = time.Second
)

// rate returns the dot products a second of units, from those that were done within rateOver of the
// last one; 0: not known.
func (w *Watcher) rate(done times) float64 {
	if len(done) == 0 {
		return 0
	}
	units := done.order()
	last := done[units[len(units)-1]]
	dots, first := uint64(0), last
	for _, n := range units {
		at := done[n]
		if at.IsZero() || last.Sub(at) > rateOver {
			continue
		}
		if at.Before(first) {
			first = at
			continue // its dot products were computed before the interval began
		}
		dots += w.units[n].dots
	}
	if span := last.Sub(first); span >= coarse {
		return float64(dots) / span.Seconds()
	}
	return 0
}

// Prometheus writes a status in the format that the textfile collector of node_exporter
// reads. The file is replaced atomically.
func (s *Status) Prometheus(file string) error {
	var b bytes.Buffer
	metric := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	plan := fmt.Sprintf("plan=%q", s.Plan)
	metric("mmafuzz_units", "gauge", "Units of the plan by state.")
	for _, u := range []struct {
		state string
		n     int
	}{{"done", s.Done}, {"open", s.Units - s.Done}} {
		fmt.Fprintf(&b, "mmafuzz_units{%s,state=%q} %d\n", plan, u.state, u.n)
	}
	metric("mmafuzz_shards", "gauge", "Shards by state.")
	for _, state := range []string{stateAlive, stateDone, stateEnded, stateSilent} {
		n := 0
		for _, x := range s.Shards {
			if x.State == state {
				n++
			}
		}
		fmt.Fprintf(&b, "mmafuzz_shards{%s,state=%q} %d\n", plan, state, n)
	}
	metric("mmafuzz_dots_total", "counter", "Dot products compared.")
	fmt.Fprintf(&b, "mmafuzz_dots_total{%s} %d\n", plan, s.Dots)
	metric("mmafuzz_dots_planned", "gauge", "Dot products of the plan.")
	fmt.Fprintf(&b, "mmafuzz_dots_planned{%s} %d\n", plan, s.Count)
	if s.ETA > 0 {
		metric("mmafuzz_eta_seconds", "gauge", "Time until all units are done, if it is known.")
		fmt.Fprintf(&b, "mmafuzz_eta_seconds{%s} %.0f\n", plan, s.ETA)
	}
	metric("mmafuzz_mismatches_total", "counter", "Differing dot products by primary cause.")
	for _, c := range s.Causes {
		fmt.Fprintf(&b, "mmafuzz_mismatches_total{%s,cause=\"%s\"} %d\n", plan, labelValue.Replace(c.Name), c.Cases)
	}
	return corpus.ReplaceSharedFile(file, b.Bytes())
}

// labelValue escapes label values as the Prometheus text format requires.
var labelValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
