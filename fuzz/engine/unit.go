package engine

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Unit is the unit of work of every campaign: a range of the inputs of one source for one pair,
// which one goroutine computes. What it finds depends on the configuration and, where
// Campaign.Fed reports it, on what earlier epochs found; it does not depend on other units of
// its epoch, on the machine or on the order.
type Unit struct {
	Pair int `json:"pair"`
	// Source is a name that gen.Source.String returns; "recorded" for the inputs of a
	// recording; or "mutate": the range then counts mutations of the inputs with new features
	// that earlier epochs found, taken in turn.
	Source string `json:"source"`
	First  uint64 `json:"first"` // a multiple of Chunk
	Dots   uint64 `json:"dots"`
	Chunk  uint64 `json:"chunk"` // dot products that are computed at once, of complete tiles
}

// Mutated is the source of units that mutate inputs with new features.
const Mutated = "mutate"

// Result is what a unit has found: all its counts, and a few cases of every kind.
type Result struct {
	Dots       uint64                   `json:"dots"` // of complete tiles: may exceed the unit's
	Classes    [oracle.Fault + 1]uint64 `json:"classes"`
	Codes      uint64                   `json:"codes,omitempty"`      // of the same, those with other codes: NaNs and zeros that are compared by class
	Kinds      []finding.Kind           `json:"kinds,omitempty"`      // of cases with a cause, in the order in which they appeared
	Unnamed    samples                  `json:"unnamed,omitempty"`    // differing cases to which the verdict known before the epoch assigns no cause
	Unexamined uint64                   `json:"unexamined,omitempty"` // number of further such cases, which are not kept
	Differ     samples                  `json:"differ,omitempty"`     // differing cases to be rechecked; they become evidence for triage
	Agree      samples                  `json:"agree,omitempty"`
	Against    samples                  `json:"against,omitempty"` // cases that agree, and by the verdict known before the epoch would not
	Fresh      []FreshInput             `json:"fresh,omitempty"`   // inputs with features that no earlier input of the unit had
	Where      finding.Where            `json:"where"`             // without Sources

	features []uint32 // memory for those of Fresh
}

// FreshInput is an input with new features.
type FreshInput struct {
	finding.CaseRef
	Features []uint32 `json:"features"`
}

// What a unit keeps of its cases, beside the counts. The first two are for all units, the
// others for those whose results go into files.
const (
	differPerUnit = 8    // differing cases of each class
	agreePerUnit  = 4    // cases that agree
	unitKinds     = 256  // kinds of differing cases; cases of further kinds are counted by primary cause alone
	unitUnnamed   = 2048 // differing cases without a cause
)

// reset empties r and keeps its memory.
func (r *Result) reset() {
	r.Where.Reset()
	*r = Result{Where: r.Where, Kinds: r.Kinds[:0], Unnamed: r.Unnamed[:0], Differ: r.Differ[:0], Agree: r.Agree[:0], Against: r.Against[:0], Fresh: r.Fresh[:0], features: r.features[:0]}
}

// chunk returns the chunk of a unit that begins at a dot product of it. inputs are those with
// new features; ok is false if there are none to mutate.
func (u *Unit) chunk(at uint64, inputs []finding.CaseRef) (ch finding.Chunk, ok bool) {
	ch = finding.Chunk{Pair: u.Pair, Name: u.Source, First: u.First + at, Dots: int(min(u.Chunk, u.Dots-at))}
	switch u.Source {
	case finding.Recorded:
		ch.Recorded = true
	case Mutated:
		if len(inputs) == 0 {
			return ch, false
		}
		ch.Source = inputs[ch.First/u.Chunk%uint64(len(inputs))].Mutated()
		ch.Name = ch.Source.String()
	default:
		ch.Source = finding.SourceOf(u.Source)
		tile := ch.Source.Generator.M * ch.Source.Generator.N
		ch.Dots = (ch.Dots + tile - 1) / tile * tile
	}
	return ch, true
}

// chunkOf returns the chunk of a unit that has shown a case.
func (u *Unit) chunkOf(ref finding.CaseRef) finding.Chunk {
	one := *u
	one.Source = ref.Source // of a mutation: the one that it was
	ch, _ := one.chunk((ref.Index-u.First)/u.Chunk*u.Chunk, nil)
	return ch
}

// complete returns the number of dot products of the tiles that a unit begins.
func (u *Unit) complete() uint64 {
	if u.Source == finding.Recorded || u.Source == Mutated {
		return u.Dots
	}
	g := finding.SourceOf(u.Source).Generator
	tile := uint64(g.M * g.N)
	return (u.Dots + tile - 1) / tile * tile
}

// generator is the name of a unit's generator.
func (u *Unit) generator() string {
	if u.Source == finding.Recorded || u.Source == Mutated {
		return u.Source
	}
	return finding.SourceOf(u.Source).Generator.Name
}

// checkPlanned returns an error if a unit is impossible.
func (p *pair) checkPlanned(u *Unit) error {
	const most = 1 << 24 // dot products of a chunk: all are in memory
	if u.Dots == 0 || u.Dots > finding.MaxEpochDots || u.First > finding.MaxEpochDots || u.Chunk == 0 || u.Chunk > most {
		return fmt.Errorf("%d dot products from %d on, in chunks of %d", u.Dots, u.First, u.Chunk)
	}
	if u.Source == Mutated && p.Recorder == nil {
		return nil
	}
	if p.Recorder != nil {
		return errors.Join(p.CheckCase(finding.CaseRef{Source: u.Source, Index: u.First}), p.CheckCase(finding.CaseRef{Source: u.Source, Index: u.First + u.Dots - 1}))
	}
	src, err := finding.ParseSource(u.Source)
	if err != nil {
		return err
	}
	if tile := uint64(src.Generator.M * src.Generator.N); u.First%tile != 0 || u.Chunk%tile != 0 {
		return fmt.Errorf("%s: dot products from %d on in chunks of %d are no complete tiles", u.Source, u.First, u.Chunk)
	}
	return nil
}

// checkResult returns an error if the result of a unit is impossible: it may come from anywhere.
func (p *pair) checkResult(u *Unit, r *Result) error {
	compared, accounted := uint64(0), r.Unexamined+uint64(len(r.Unnamed))
	for _, n := range r.Classes {
		compared += min(n, finding.MaxEpochDots)
	}
	if dots := u.complete(); r.Dots != dots && (u.Source != Mutated || r.Dots != 0) || compared != r.Dots || r.Unexamined > r.Dots || r.Codes > r.Classes[oracle.Same] {
		return fmt.Errorf("%d dot products in classes of %d, but the unit has %d", r.Dots, compared, u.Dots)
	}
	for i := range r.Kinds {
		k := &r.Kinds[i]
		if accounted += k.Cases; k.Cases > r.Dots || k.MaxUlp < 0 || k.First.Class != k.Class || k.Primary != triage.PrimaryIn(k.Detail) {
			return fmt.Errorf("kind %.40q of cases is damaged", k.Detail)
		}
		if err := errors.Join(finding.CheckName(k.Detail), p.checkOf(u, r, k.First)); err != nil {
			return err
		}
	}
	if differ := r.Dots - r.Classes[oracle.Same]; accounted != differ {
		return fmt.Errorf("%d cases differ, %d are accounted for", differ, accounted)
	}
	if err := p.checkOf(u, r, slices.Concat(r.Unnamed, r.Differ, r.Agree, r.Against)...); err != nil {
		return err
	}
	for i := range r.Fresh {
		if err := p.CheckCase(r.Fresh[i].CaseRef); err != nil {
			return err
		}
	}
	return r.Where.Check(r.Dots)
}

// checkOf checks cases of a unit.
func (p *pair) checkOf(u *Unit, r *Result, ss ...finding.Sample) error {
	for i := range ss {
		if err := p.CheckSample(&ss[i]); err != nil {
			return err
		}
		if at := ss[i].Index; u.Source != Mutated && ss[i].Source != u.Source || at < u.First || at-u.First >= r.Dots {
			return fmt.Errorf("case %d of %.80s is not one of the unit", at, ss[i].Source)
		}
	}
	return nil
}

// samples are cases as the result of a unit has them in a file, where they are packed: there
// may be many. Most have the same source.
type samples []finding.Sample

// packed is the JSON of samples.
type packed struct {
	Sources []string `json:"sources"`
	Cases   []byte   `json:"cases"` // of each: number of its source, index, class, both results
}

// MarshalJSON packs cases.
func (ss samples) MarshalJSON() ([]byte, error) {
	var p packed
	for i := range ss {
		s := &ss[i]
		n := slices.Index(p.Sources, s.Source)
		if n < 0 {
			n, p.Sources = len(p.Sources), append(p.Sources, s.Source)
		}
		for _, x := range []uint64{uint64(n), s.Index, uint64(s.Class), s.A, s.B} {
			p.Cases = binary.AppendUvarint(p.Cases, x)
		}
	}
	return json.Marshal(p)
}

// UnmarshalJSON reads cases; which cases and results are possible, it does not know.
func (ss *samples) UnmarshalJSON(body []byte) error {
	var p packed
	if err := strictjson.UnmarshalKnown(body, &p, "value"); err != nil {
		return err
	}
	*ss = (*ss)[:0]
	for left := p.Cases; len(left) > 0; {
		var x [5]uint64
		for i := range x {
			n := 0
			if x[i], n = binary.Uvarint(left); n <= 0 {
				return errors.New("the list of cases is damaged")
			}
			left = left[n:]
		}
		if x[0] >= uint64(len(p.Sources)) || x[2] > uint64(oracle.Fault) {
			return errors.New("the list of cases is damaged")
		}
		*ss = append(*ss, finding.Sample{CaseRef: finding.CaseRef{Source: p.Sources[x[0]], Index: x[1]}, A: x[3], B: x[4], Class: oracle.Class(x[2])})
	}
	return nil
}
