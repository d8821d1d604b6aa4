package fuzz

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// A journal with correct checksums need not be one that a campaign wrote. Every record is
// checked before it is used: what no campaign of these pairs can write is an error.

// Limits that no epoch of a pair reaches, and no campaign.
const (
	maxEpochDots = 1 << 40
	maxStateDots = 1 << 60
)

func (p *pairRun) checkDelta(d *pairDelta, st *PairState, index int, most uint64) error {
	if err := d.checkCounts(most); err != nil {
		return err
	}
	if p.recorder != nil && st.Dots+d.Dots > uint64(p.recorder.Recorded()) {
		return fmt.Errorf("%d dot products, but %d are recorded", st.Dots+d.Dots, p.recorder.Recorded())
	}
	for _, name := range slices.Sorted(maps.Keys(d.Next)) {
		if err := p.checkNext(name, d.Next[name]); err != nil {
			return err
		}
	}
	for _, ref := range d.Corpus {
		if err := p.checkCase(ref); err != nil {
			return err
		}
		if ref.Source == recordedSource {
			return errors.New("a recorded case cannot be mutated")
		}
	}
	for _, s := range slices.Concat(d.Differ, d.Agree) {
		if err := p.checkSample(&s); err != nil {
			return err
		}
	}
	if err := p.checkVerdict(d.Verdict); err != nil {
		return fmt.Errorf("verdict: %w", err)
	}
	if n := details(d.Buckets); n > detailsMost {
		return fmt.Errorf("%d details, more than are kept", n)
	}
	for _, f := range d.Findings {
		if err := p.checkFinding(f, index); err != nil {
			return fmt.Errorf("finding: %w", err)
		}
	}
	return nil
}

// checkNext checks how far a source got.
func (p *pairRun) checkNext(name string, next uint64) error {
	src, err := canonical(name)
	if err != nil {
		return err
	}
	if p.recorder != nil {
		return fmt.Errorf("%s is generated, but the inputs are recorded", name)
	}
	if g := src.Generator; next%uint64(g.M*g.N) != 0 {
		return fmt.Errorf("%s ends at %d, within a tile", name, next)
	}
	return nil
}

// canonical parses the name of a source; only the full form, which campaigns write, is valid.
func canonical(name string) (gen.Source, error) {
	src, err := gen.ParseSource(name)
	if err == nil && src.String() != name {
		err = fmt.Errorf("%q is not the name of a source in full, %s is", name, src)
	}
	return src, err
}

// checkCase checks that a case can be made again.
func (p *pairRun) checkCase(ref CaseRef) error {
	if p.recorder == nil {
		_, err := canonical(ref.Source)
		return err
	}
	if n := p.recorder.Recorded(); ref.Source != recordedSource || ref.Index >= uint64(n) {
		return fmt.Errorf("case %d of %q, but the inputs are %d recorded ones", ref.Index, ref.Source, n)
	}
	return nil
}

func (p *pairRun) checkSample(s *Sample) error {
	if err := p.checkCase(s.CaseRef); err != nil {
		return err
	}
	return p.checkResults(s.Class, s.A, s.B)
}

func (p *pairRun) checkResults(class oracle.Class, codes ...uint64) error {
	if class > oracle.Fault {
		return fmt.Errorf("there is no class %d", class)
	}
	for _, code := range codes {
		if code > mask(p.spec.D) {
			return fmt.Errorf("%x is no %s code", code, p.spec.D)
		}
	}
	return nil
}

// mask returns the bits that a code of a format may have set; none for fp.None.
func mask(id fp.ID) uint64 {
	if id == fp.None {
		return 0
	}
	return id.Get().CodeMask()
}

// checkVerdict checks that the changes of a verdict can be applied and computed with.
func (p *pairRun) checkVerdict(v *triage.Verdict) error {
	if v == nil {
		return nil
	}
	if p.baseUnit == nil {
		return errors.New("there is one, but neither unit's arithmetic is known")
	}
	if v.Explained < 0 || v.Kept < 0 || v.Asked < 0 || v.Explained > v.Differ || v.Kept > v.Agree {
		return fmt.Errorf("it explains %d of %d cases and keeps %d of %d", v.Explained, v.Differ, v.Kept, v.Agree)
	}
	for _, changes := range append(v.Equivalent, v.Changes) {
		program := p.base
		if err := program.Apply(changes); err != nil {
			return err
		}
	}
	if !v.Found() {
		return nil
	}
	if v.Known && p.given == nil {
		return errors.New("the programs of both sides are given, but one is not known")
	}
	if v.K != p.A.Instruction().K && v.K != p.B.Instruction().K && !(v.Known && v.K == p.otherK) {
		return fmt.Errorf("its K is %d, which is neither unit's", v.K)
	}
	return v.Program.Validate(p.spec.Formats, v.K)
}

// check returns an error if a bucket is impossible, is not of that name, or has more cases.
func (b *Bucket) check(name string, most uint64) error {
	switch {
	case b == nil:
		return fmt.Errorf("bucket %q is null", name)
	case b.Name != name:
		return fmt.Errorf("bucket %q calls itself %q", name, b.Name)
	case b.MaxUlp < 0:
		return fmt.Errorf("bucket %q: an error of %g ulp", name, b.MaxUlp)
	case b.Cases > most:
		return fmt.Errorf("bucket %q: %d cases, more than an epoch or a campaign can have", name, b.Cases)
	}
	in := b.More
	for i := range b.Details {
		d := &b.Details[i]
		if err := errors.Join(checkBucketName(d.Name), d.check(most)); err != nil {
			return fmt.Errorf("bucket %q: %w", name, err)
		}
		in += d.Cases
	}
	classes := uint64(0)
	for _, n := range b.Classes {
		classes += min(n, most)
	}
	if in != b.Cases || classes != b.Cases {
		return fmt.Errorf("bucket %q: %d cases, but details of %d and classes of %d", name, b.Cases, in, classes)
	}
	return checkBucketName(name)
}

func (d *Detail) check(most uint64) error {
	switch {
	case d.Class > oracle.Fault:
		return fmt.Errorf("detail %q: there is no class %d", d.Name, d.Class)
	case d.MaxUlp < 0:
		return fmt.Errorf("detail %q: an error of %g ulp", d.Name, d.MaxUlp)
	case d.Cases > most:
		return fmt.Errorf("detail %q: %d cases, more than an epoch or a campaign can have", d.Name, d.Cases)
	}
	return nil
}

// checkBucketName checks that a name can stand in a line and in the name of a file.
func checkBucketName(name string) error {
	const most = 1000
	if name == "" || len(name) > most || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("%.40q cannot be the name of a bucket", name)
	}
	return nil
}

func (p *pairRun) checkFinding(f *Case, index int) error {
	switch {
	case f == nil:
		return errors.New("it is null")
	case f.Pair != index:
		return fmt.Errorf("it is of pair %d", f.Pair)
	case f.Number < 1 || f.Queries < 0 || f.Batches < 0 || f.Stable < 0 || f.Of < 0:
		return fmt.Errorf("number %d, %d queries in %d batches, stable %d of %d", f.Number, f.Queries, f.Batches, f.Stable, f.Of)
	}
	return errors.Join(
		checkBucketName(f.Bucket),
		checkBucketName(f.Detail),
		p.checkCase(f.Origin),
		p.checkResults(f.Class, f.A, f.B),
		p.checkDot("dot", f.Dot),
		p.checkDot("start", f.Start),
		p.checkMask(f.Mask),
		p.checkVerdict(f.Verdict),
	)
}

// checkDot checks that operands are a dot product of the pair.
func (p *pairRun) checkDot(what string, d *mma.Dot) error {
	if err := corpus.CheckDot(p.spec.Formats, p.K, d); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// checkMask checks that a mask fits the dot products of the pair.
func (p *pairRun) checkMask(m *minimize.Mask) error {
	if m == nil {
		return nil
	}
	blocks := p.spec.Blocks(p.K)
	if len(m.A) != p.K || len(m.B) != p.K || len(m.SA) != blocks || len(m.SB) != blocks {
		return fmt.Errorf("the mask is of %d, %d elements and %d, %d scales", len(m.A), len(m.B), len(m.SA), len(m.SB))
	}
	for _, list := range [][]minimize.Free{m.A, m.B, {m.C}, m.SA, m.SB} {
		for _, free := range list {
			if free.Bits > mask(p.spec.A)|mask(p.spec.B)|mask(p.spec.C)|mask(p.spec.Scale) {
				return fmt.Errorf("the mask has bits %x, which no operand has", free.Bits)
			}
			if free.Set&^free.Bits != 0 {
				return fmt.Errorf("the mask has the set %x of bits %x", free.Set, free.Bits)
			}
		}
	}
	return nil
}
