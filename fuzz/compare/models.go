package compare

import (
	"context"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// model is the arithmetic that explains all recorded results of an instruction: a row of
// the catalogue, with or without changes. If nothing explains them, it has no params.
type model struct {
	machine     string
	instruction string
	other       string           // architecture of the instruction that it is compared with, "" if it has none
	rec         devices.Recorder // nil once the model was looked for
	formats     mma.Formats      // of the recorded instruction
	base        *mma.Instruction
	params      mma.Params // zero: nothing explains it
	k           int        // the K that params have
	changes     []mma.Change
	alike       []string // known targets that give all recorded results
	dots        uint64
	mismatches  uint64 // between the recording and base without changes
}

func (m *model) explained() bool { return m.params != mma.Params{} }

// modelled is a recorder with the model that explains it, if one does.
type modelled struct {
	devices.Recorder
	inst      *mma.Instruction
	explained bool
}

func (m *modelled) Instruction() *mma.Instruction { return m.inst }
func (m *modelled) Explained() bool               { return m.explained }

// Environment returns the recorder's environment, if it has one.
func (m *modelled) Environment() map[string]string {
	if p, ok := m.Recorder.(devices.Provenance); ok {
		return p.Environment()
	}
	return nil
}

// explaining returns a recorder whose instruction has the model's arithmetic.
func (m *model) explaining(r devices.Recorder) devices.Recorder {
	i := *r.Instruction()
	i.Params = m.params
	if m.explained() {
		i.K = m.k
	}
	if i.Common {
		i.Formats = m.formats
		if common, err := byvalue.Instruction(&i); err == nil { // as r has it
			i = *common
		}
	}
	return &modelled{r, &i, m.explained()}
}

// findModels looks for the models of recordings: each recording is compared with the
// simulator of its base.
func (c *Comparison) findModels(ctx context.Context, models []*model) error {
	bits := oracle.Bits
	cfg := fuzz.Config{Seed: 1, Workers: c.Workers, NaN: c.NaN, Zero: c.Zero, Observe: modelFollower{c.Observer}}
	if cfg.NaN == nil {
		cfg.NaN = &bits
	}
	if cfg.Zero == nil {
		cfg.Zero = &bits
	}
	var of []*model
	for _, m := range models {
		if m.base = baseOf(m.rec, m.other); m.base == nil {
			continue
		}
		u, err := devices.OpenUnit("sim:"+m.base.Arch, m.base.Name, "")
		if err != nil {
			return err
		}
		cfg.Pairs = append(cfg.Pairs, devices.Pair{A: u, B: m.rec, TargetA: "sim:" + m.base.Arch, TargetB: m.machine, K: m.rec.Length()})
		of = append(of, m)
	}
	if len(cfg.Pairs) == 0 {
		return nil
	}
	campaign, err := fuzz.New(cfg)
	if err != nil {
		return err
	}
	if err := campaign.Run(ctx); err != nil {
		return err
	}
	for i, st := range campaign.State().Pairs {
		of[i].take(st)
	}
	for _, m := range models {
		m.rec = nil // its memory can be freed
	}
	return nil
}

// take keeps what a campaign that compared the base with the recording has found.
func (m *model) take(st *fuzz.PairState) {
	m.dots, m.mismatches = st.Dots, st.Mismatches()
	switch {
	case m.mismatches == st.Classes[oracle.Fault]:
		m.params, m.k = m.base.Params, m.base.K
	case st.Verdict != nil && st.Verdict.Complete() && !unexplained(st):
		m.params, m.k, m.changes, m.alike = st.Verdict.Program, st.Verdict.K, st.Verdict.Changes, st.Verdict.Alike
	}
}

// unexplained reports whether there are cases that a pair's verdict does not explain.
func unexplained(st *fuzz.PairState) bool {
	for name := range st.Buckets {
		if strings.HasPrefix(name, string(triage.Unexplained)) {
			return true
		}
	}
	return false
}

// baseOf returns the row of the catalogue from which the search for a recording's model
// starts: the recorded instruction's own row, or else, of the rows that take its operands,
// one that gives all its results, else one of its name, else the one that gives most of them. Of
// several, one of its name comes first, and of these one of the architecture that it is compared
// with. nil: there is none.
func baseOf(r devices.Recorder, other string) *mma.Instruction {
	i := r.Instruction()
	if own, err := mma.Lookup(i.Arch, i.Name); err == nil && own.Refuse == "" && own.Params != (mma.Params{}) {
		return own
	}
	in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: r.Length(), Tiles: min(baseSample, r.Recorded())})
	want := make([]byte, in.Dots()*i.D.Width())
	_ = r.Load(0, in, want) // a fault counts as a difference
	var best *mma.Instruction
	var least []int // whether it neither gives all nor has the name, what differs, other name, other architecture, likeness
	for _, row := range mma.Catalog() {
		if !modelFits(r, &row) {
			continue
		}
		rank := []int{0, differ(&row, in, want), 0, 0, -commonPrefix(row.Name, i.Name)}
		if row.Name != i.Name {
			rank[0], rank[2] = min(rank[1], 1), 1
		}
		if row.Arch != other {
			rank[3] = 1
		}
		if best == nil || slices.Compare(rank, least) < 0 {
			best, least = &row, rank
		}
	}
	return best
}

// commonPrefix returns the length of what two names begin with.
func commonPrefix(x, y string) int {
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// baseSample is the number of dot products on which rows are tried to choose a base.
const baseSample = 4096

// modelFits reports whether a row of the catalogue has a model that takes the dot
// products of a recording.
func modelFits(r devices.Recorder, row *mma.Instruction) bool {
	chains := row.C != fp.None && row.C == row.D
	return row.Refuse == "" && row.Params != (mma.Params{}) && devices.Comparable(r.Instruction().Formats, row.Formats) == nil &&
		(r.Length() == row.K || r.Length()%row.K == 0 && chains)
}

// differ counts the results in want that a row's model does not give.
func differ(row *mma.Instruction, in *mma.Batch, want []byte) int {
	m, err := sim.ForInstruction(row)
	if err != nil {
		return in.Dots()
	}
	got := make([]byte, len(want))
	m.Run(in, got)
	n, w := 0, row.D.Width()
	for i := range in.Dots() {
		if mma.Load(got, w, i) != mma.Load(want, w, i) {
			n++
		}
	}
	return n
}

// modelsOf returns a model, still to be found, for each recorded instruction of the pairs
// that has none yet.
func (c *Comparison) modelsOf(pairs []pair) []*model {
	var all []*model
	add := func(s *Side, u, other devices.Unit) {
		if s.equalTo != nil {
			return // it has the model of the recording that it is equal to
		}
		if s.Recording == nil || modelOf(all, s, u) != nil || modelOf(c.models, s, u) != nil {
			return
		}
		full, err := s.Target.Open(u.Instruction()) // all that was recorded, not only what another side has too
		if err != nil {
			return
		}
		all = append(all, &model{machine: s.Name, instruction: u.Instruction().Name, other: other.Instruction().Arch, formats: full.Instruction().Formats, rec: full.(devices.Recorder)})
	}
	for i := range pairs {
		add(pairs[i].a, pairs[i].A, pairs[i].B)
		add(pairs[i].b, pairs[i].B, pairs[i].A)
	}
	return all
}

func modelOf(models []*model, s *Side, u devices.Unit) *model {
	for _, m := range models {
		if m.machine == s.Name && m.instruction == u.Instruction().Name {
			return m
		}
	}
	return nil
}

// findBase returns the row of the catalogue with the name ARCH/INSTRUCTION.
func findBase(name string) (*mma.Instruction, error) {
	arch, inst, _ := strings.Cut(name, "/")
	return mma.Lookup(arch, inst)
}

// withModel returns a unit with the model that was found for it, or the unit itself.
func withModel(s *Side, u devices.Unit, models []*model) devices.Unit {
	if m := modelOf(models, s, u); m != nil {
		return m.explaining(u.(devices.Recorder))
	}
	return u
}

// modelFollower is the observer of the search for models.
type modelFollower struct{ Observer }

func (modelFollower) Finding(*fuzz.Case, bool) error { return nil }
func (w modelFollower) Progress(s *fuzz.State)       { w.Models(s) }
