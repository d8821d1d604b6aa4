package fleet

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/engine"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// Status is the progress of the campaign in a directory.
type Status struct {
	Plan       string        `json:"plan"`
	Count      uint64        `json:"count"`
	Units      int           `json:"units"`
	Done       int           `json:"done"`
	Leased     int           `json:"leased"`
	Rounds     int           `json:"rounds"`
	Round      int           `json:"round"`
	Dots       uint64        `json:"dots"`
	Mismatches uint64        `json:"mismatches"`
	Triaged    int           `json:"triaged"`
	Rate       float64       `json:"rate"`
	ETA        float64       `json:"eta_seconds"`
	Shards     []ShardStatus `json:"shards"`
	Causes     []CauseStatus `json:"causes"`
}

// ShardStatus is what a shard's heartbeat says of it.
type ShardStatus struct {
	Name  string  `json:"name"`
	Shard int     `json:"shard"`
	Of    int     `json:"of"`
	Host  string  `json:"host"`
	State string  `json:"state"`
	Age   float64 `json:"age"`
	Units int     `json:"units"`
	Dots  uint64  `json:"dots"`
	Rate  float64 `json:"rate"`
}

// CauseStatus counts the cases of a cause.
type CauseStatus struct {
	Name    string  `json:"name"`
	Cases   uint64  `json:"cases"`
	Since   float64 `json:"since"`    // seconds since the first unit with the cause was done; 0: not known, its result was merged
	AtUnits int     `json:"at_units"` // how many units were done by then; merged results count in the order of their numbers
}

// The states of a shard.
const (
	stateAlive  = "alive"
	stateEnded  = "ended"
	stateSilent = "silent" // no heartbeat for longer than DefaultLease
)

// Watcher looks at a directory repeatedly, and reads every result only once.
type Watcher struct {
	dir   string
	plan  *Plan
	index *index
	units map[int]seenUnit
}

// seenUnit is what a watcher keeps of a unit.
type seenUnit struct {
	dots, mismatches uint64
	causes           map[string]uint64
	at               time.Time // when its file was written; zero: it was read from merged results
}

// NewWatcher returns a watcher of a directory of shards or of merged results.
func NewWatcher(dir string) (*Watcher, error) {
	p, err := ReadPlan(filepath.Join(dir, planFile))
	if err != nil {
		return nil, err
	}
	return &Watcher{dir, p, newIndex(p), map[int]seenUnit{}}, nil
}

// Look returns the campaign's progress so far.
func (w *Watcher) Look() (*Status, error) {
	if _, err := w.index.add(w.dir); err != nil {
		return nil, err
	}
	for n := range w.index.at {
		if _, ok := w.units[n]; ok {
			continue
		}
		u, err := w.unit(n)
		if err != nil {
			return nil, err
		}
		w.units[n] = u
	}
	s := &Status{Plan: w.plan.Digest(), Units: len(w.plan.Units()), Done: len(w.units), Rounds: w.plan.Rounds, Round: w.index.complete(),
		Shards: []ShardStatus{}, Causes: []CauseStatus{}}
	for i := range w.plan.Pairs {
		for _, src := range w.plan.Pairs[i].Sources {
			s.Count += src.Dots
		}
	}
	if err := w.leases(s); err != nil {
		return nil, err
	}
	if err := w.triaged(s); err != nil {
		return nil, err
	}
	err := w.shards(s)
	w.progress(s)
	return s, err
}

// unit reads the result of a unit and returns what a watcher keeps of it.
func (w *Watcher) unit(n int) (u seenUnit, err error) {
	if p := w.index.at[n]; p.to == 0 {
		if info, err := os.Stat(p.file); err == nil {
			u.at = info.ModTime()
		}
	}
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

func (w *Watcher) leases(s *Status) error {
	entries, err := os.ReadDir(filepath.Join(w.dir, leasesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if n, ok := numberOf(e.Name()); ok {
			if _, done := w.units[n]; !done {
				s.Leased++
			}
		}
	}
	return nil
}

func (w *Watcher) triaged(s *Status) error {
	entries, err := os.ReadDir(filepath.Join(w.dir, triageDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // it is being written
			s.Triaged++
		}
	}
	return err
}

// rateOver is the time over which the rate is measured.
const rateOver = 5 * time.Minute

// progress totals the units that are done, in the order of their completion.
func (w *Watcher) progress(s *Status) {
	var order []int
	for n := range w.units {
		order = append(order, n)
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(w.units[x].at.Compare(w.units[y].at), cmp.Compare(x, y)) })
	at := map[string]int{}
	for i, n := range order {
		u := w.units[n]
		s.Dots += u.dots
		s.Mismatches += u.mismatches
		for name, cases := range u.causes {
			j, ok := at[name]
			if !ok {
				j = len(s.Causes)
				at[name] = j
				s.Causes = append(s.Causes, CauseStatus{Name: name, Since: since(u.at), AtUnits: i + 1})
			}
			s.Causes[j].Cases += cases
		}
	}
	slices.SortFunc(s.Causes, func(x, y CauseStatus) int { return cmp.Or(cmp.Compare(y.Cases, x.Cases), cmp.Compare(x.Name, y.Name)) })
	w.rate(s, order)
}

// since returns the seconds that have passed since t, or 0 for the zero time.
func since(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, time.Since(t).Seconds())
}

// rate sets Rate and ETA from the units whose files were written within rateOver of the
// newest one, while a shard is alive. Only times of files are compared, so that clocks of
// machines do not matter.
func (w *Watcher) rate(s *Status, order []int) {
	if len(order) == 0 || s.Done == s.Units || s.alive() == 0 {
		return
	}
	last := w.units[order[len(order)-1]].at
	dots, first := uint64(0), last
	for _, n := range order {
		u := w.units[n]
		if u.at.IsZero() || last.Sub(u.at) > rateOver {
			continue
		}
		if u.at.Before(first) {
			first = u.at
			continue // its dot products were computed before the interval began
		}
		dots += u.dots
	}
	if span := last.Sub(first); span >= coarse {
		s.Rate = float64(dots) / span.Seconds()
		s.ETA = float64(s.Count-min(s.Count, s.Dots)) / max(s.Rate, 1)
	}
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
	}{{"done", s.Done}, {"leased", s.Leased}, {"open", s.Units - s.Done - s.Leased}} {
		fmt.Fprintf(&b, "mmafuzz_units{%s,state=%q} %d\n", plan, u.state, u.n)
	}
	metric("mmafuzz_shards", "gauge", "Shards by state.")
	for _, state := range []string{stateAlive, stateEnded, stateSilent} {
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
	metric("mmafuzz_eta_seconds", "gauge", "Time until all units are done; 0: unknown or finished.")
	fmt.Fprintf(&b, "mmafuzz_eta_seconds{%s} %.0f\n", plan, s.ETA)
	metric("mmafuzz_mismatches_total", "counter", "Differing dot products by primary cause.")
	for _, c := range s.Causes {
		fmt.Fprintf(&b, "mmafuzz_mismatches_total{%s,cause=\"%s\"} %d\n", plan, labelValue.Replace(c.Name), c.Cases)
	}
	return write(file, fmt.Sprintf("status-%d", os.Getpid()), b.Bytes())
}

// labelValue escapes label values as the Prometheus text format requires.
var labelValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
