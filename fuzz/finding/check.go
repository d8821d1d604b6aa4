package finding

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
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

// A journal with correct checksums need not be one that a campaign wrote. Every record is
// checked before it is used: what no campaign of these pairs can write is an error.

// Limits that no epoch of a pair reaches, and no campaign.
const (
	MaxEpochDots = 1 << 40
	MaxStateDots = 1 << 60
)

// CheckSum returns an error if an epoch cannot add this to the state of the pair with a number, or
// one of its numbers is above most.
func (p *Pair) CheckSum(d *Sum, st *PairState, index int, most uint64) error {
	if err := d.CheckCounts(most); err != nil {
		return err
	}
	if p.Recorder != nil && st.Dots+d.Dots > uint64(p.Recorder.Recorded()) {
		return fmt.Errorf("%d dot products, but %d are recorded", st.Dots+d.Dots, p.Recorder.Recorded())
	}
	for _, name := range slices.Sorted(maps.Keys(d.Next)) {
		if err := p.checkNext(name, d.Next[name]); err != nil {
			return err
		}
	}
	for _, ref := range d.Corpus {
		if err := p.CheckCase(ref); err != nil {
			return err
		}
		if ref.Source == Recorded {
			return errors.New("a recorded case cannot be mutated")
		}
	}
	for _, s := range slices.Concat(d.Differ, d.Agree) {
		if err := p.CheckSample(&s); err != nil {
			return err
		}
	}
	for i := range d.Inferred {
		if err := p.CheckInferred(&d.Inferred[i]); err != nil {
			return err
		}
	}
	for i := range d.Stochastic {
		if err := p.checkStochastic(&d.Stochastic[i]); err != nil {
			return err
		}
	}
	p.Learn(d.Inferred)
	st.BaseA = p.unknownIsB
	if err := p.CheckVerdict(d.Verdict); err != nil {
		return fmt.Errorf("verdict: %w", err)
	}
	if n := details(d.Buckets); n > detailsMost {
		return fmt.Errorf("%d details, more than are kept", n)
	}
	for _, f := range d.Findings {
		if err := p.CheckFinding(f, index); err != nil {
			return fmt.Errorf("finding: %w", err)
		}
	}
	return nil
}

// checkNext checks how far a source got.
func (p *Pair) checkNext(name string, next uint64) error {
	src, err := ParseSource(name)
	if err != nil {
		return err
	}
	if p.Recorder != nil {
		return fmt.Errorf("%s is generated, but the inputs are recorded", name)
	}
	if g := src.Generator; next%uint64(g.M*g.N) != 0 {
		return fmt.Errorf("%s ends at %d, within a tile", name, next)
	}
	return nil
}

// ParseSource parses the name of a source; only the full form, which campaigns write, is valid.
func ParseSource(name string) (gen.Source, error) {
	src, err := gen.ParseSource(name)
	if err == nil && src.String() != name {
		err = fmt.Errorf("%q is not the name of a source in full, %s is", name, src)
	}
	return src, err
}

// CheckCase checks that a case can be made again.
func (p *Pair) CheckCase(ref CaseRef) error {
	if p.Recorder == nil {
		_, err := ParseSource(ref.Source)
		return err
	}
	if n := p.Recorder.Recorded(); ref.Source != Recorded || ref.Index >= uint64(n) {
		return fmt.Errorf("case %d of %q, but the inputs are %d recorded ones", ref.Index, ref.Source, n)
	}
	return nil
}

// CheckSample checks that a sample is a case of the pair with possible results.
func (p *Pair) CheckSample(s *Sample) error {
	if err := p.CheckCase(s.CaseRef); err != nil {
		return err
	}
	return p.checkResults(s.Class, s.A, s.B)
}

func (p *Pair) checkResults(class oracle.Class, codes ...uint64) error {
	if class > oracle.Fault {
		return fmt.Errorf("there is no class %d", class)
	}
	for _, code := range codes {
		if code > mask(p.Spec.D) {
			return fmt.Errorf("%x is no %s code", code, p.Spec.D)
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

// CheckVerdict checks that the changes of a verdict can be applied and computed with.
func (p *Pair) CheckVerdict(v *triage.Verdict) error {
	if v == nil {
		return nil
	}
	if v.Sums != nil {
		return p.newSums(v.Sums).check(p)
	}
	if p.baseUnit == nil && (v.Found() || v.Defect != nil) {
		return errors.New("there is one, but neither unit's arithmetic is known")
	}
	if v.Explained < 0 || v.Kept < 0 || v.Asked < 0 || v.Explained > v.Differ || v.Kept > v.Agree || v.Same < 0 || v.Same > len(v.Equivalent) {
		return fmt.Errorf("it explains %d of %d cases and keeps %d of %d", v.Explained, v.Differ, v.Kept, v.Agree)
	}
	for _, changes := range append(v.Equivalent, v.Changes) {
		program := p.base
		if err := program.Apply(changes); err != nil {
			return err
		}
	}
	if v.Defect != nil {
		if _, err := defect.NewPredictor(p.Spec.Formats, v.K, v.Program, v.Defect.Rule); err != nil {
			return err
		}
	}
	if !v.Found() {
		return nil
	}
	if v.Known && p.Programs == nil {
		return errors.New("it is of the programs of both sides, but one is not known")
	}
	if v.K != p.A.Instruction().K && v.K != p.B.Instruction().K && !(v.Known && v.K == p.otherK) {
		return fmt.Errorf("its K is %d, which is neither unit's", v.K)
	}
	return v.Program.Validate(p.Spec.Formats, v.K)
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
		if err := errors.Join(CheckName(d.Name), d.check(most)); err != nil {
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
	return CheckName(name)
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

// CheckName checks that a name can stand in a line and in the name of a file.
func CheckName(name string) error {
	const most = 1000
	if name == "" || len(name) > most || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("%.40q cannot be the name of a bucket", name)
	}
	return nil
}

// CheckFinding checks that a finding is one of the pair with a number.
func (p *Pair) CheckFinding(f *Case, index int) error {
	switch {
	case f == nil:
		return errors.New("it is null")
	case f.Pair != index:
		return fmt.Errorf("it is of pair %d", f.Pair)
	case f.Number < 1 || f.Queries < 0 || f.Batches < 0 || f.Stable < 0 || f.Of < 0:
		return fmt.Errorf("number %d, %d queries in %d batches, stable %d of %d", f.Number, f.Queries, f.Batches, f.Stable, f.Of)
	}
	if f.Before != nil {
		if err := p.checkDot("before", f.Before); err != nil {
			return err
		}
	}
	return errors.Join(
		CheckName(f.Bucket),
		CheckName(f.Detail),
		p.CheckCase(f.Origin),
		p.checkResults(f.Class, f.A, f.B),
		p.checkDot("dot", f.Dot),
		p.checkDot("start", f.Start),
		p.checkMask(f.Mask),
		p.CheckVerdict(f.Verdict),
	)
}

// checkDot checks that operands are a dot product of the pair.
func (p *Pair) checkDot(what string, d *mma.Dot) error {
	if err := corpus.CheckDot(p.Spec.Formats, p.K, d); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// checkMask checks that a mask fits the dot products of the pair.
func (p *Pair) checkMask(m *minimize.Mask) error {
	if m == nil {
		return nil
	}
	blocks := p.Spec.Blocks(p.K)
	if len(m.A) != p.K || len(m.B) != p.K || len(m.SA) != blocks || len(m.SB) != blocks {
		return fmt.Errorf("the mask is of %d, %d elements and %d, %d scales", len(m.A), len(m.B), len(m.SA), len(m.SB))
	}
	for _, list := range [][]minimize.Free{m.A, m.B, {m.C}, m.SA, m.SB} {
		for _, free := range list {
			if free.Bits > mask(p.Spec.A)|mask(p.Spec.B)|mask(p.Spec.C)|mask(p.Spec.Scale) {
				return fmt.Errorf("the mask has bits %x, which no operand has", free.Bits)
			}
			if free.Set&^free.Bits != 0 {
				return fmt.Errorf("the mask has the set %x of bits %x", free.Set, free.Bits)
			}
		}
	}
	return nil
}

// CheckCounts returns an error if the numbers of a record are impossible for any pair, or one of
// them is above most.
func (d *Sum) CheckCounts(most uint64) error {
	compared := uint64(0)
	for _, n := range d.Classes {
		compared += min(n, most)
	}
	switch {
	case d.Dots > most || d.Units > most:
		return fmt.Errorf("%d dot products in %d chunks, more than an epoch or a campaign can have", d.Dots, d.Units)
	case compared != d.Dots:
		return fmt.Errorf("%d dot products, but the classes count %d", d.Dots, compared)
	case d.Changed > d.Checked:
		return fmt.Errorf("%d cases changed, but only %d were checked", d.Changed, d.Checked)
	case d.Unstable > d.Dots-d.Classes[oracle.Same]:
		return fmt.Errorf("%d cases are unstable, but only %d differ", d.Unstable, d.Dots-d.Classes[oracle.Same])
	}
	if d.Rounded > d.Unstable {
		return fmt.Errorf("%d cases are of stochastic rounding, but only %d are unstable", d.Rounded, d.Unstable)
	}
	for _, h := range d.History {
		if h.Side&^1 != 0 || h.Every < 0 || h.Every > longestPeriod || h.Confirmed < 0 || h.Beside < 0 || h.Tested < h.Confirmed+h.Beside {
			return fmt.Errorf("the history of side %d is damaged", h.Side)
		}
	}
	for _, x := range d.Drift {
		if x.Side&^1 != 0 || x.Changed < 0 || x.Of < x.Changed || x.Dots > most {
			return fmt.Errorf("the drift of side %d is damaged", x.Side)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Buckets)) {
		if err := d.Buckets[name].check(name, most); err != nil {
			return err
		}
	}
	if slices.Contains(d.Findings, nil) {
		return errors.New("finding: it is null")
	}
	return d.Where.Check(d.Dots)
}
