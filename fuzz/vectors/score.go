package vectors

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/tolerance"
)

// Score is which wrong results somebody's tests would let pass.
type Score struct {
	Instruction string   `json:"instruction"`
	Accept      string   `json:"accept"`
	Inputs      int      `json:"inputs"`
	Wrong       []Passed `json:"wrong"`     // of units that do not compute, in the order of the table
	Mutants     int      `json:"mutants"`   // other arithmetics
	Caught      int      `json:"caught"`    // of these, those of which some result is not accepted
	Survivors   []Passed `json:"survivors"` // the others
}

// Passed is a unit with the number of its results that are accepted.
type Passed struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Accepted int    `json:"accepted"`
}

const withoutC = "c left out"

// wrong are units that do not compute, as the results that they give beside the right ones.
var wrong = []struct {
	name string
	give func(m *sim.Model, f mma.Formats, dots []*mma.Dot, right []uint64) []uint64
}{
	{"all zeros", func(_ *sim.Model, _ mma.Formats, _ []*mma.Dot, right []uint64) []uint64 {
		return make([]uint64, len(right))
	}},
	{"all one code too large", changed(func(f *fp.Format, code uint64) uint64 {
		if code&^f.SignBit() < f.MaxFinite() {
			return code + 1<<f.Low
		}
		return code
	})},
	{"all of the other sign", changed(func(f *fp.Format, code uint64) uint64 { return code ^ f.SignBit() })},
	{"all of twice the size", changed(func(f *fp.Format, code uint64) uint64 {
		if up := code + 1<<(f.FracBits+uint8(f.Low)); code&^f.SignBit() != 0 && up&^f.SignBit() <= f.MaxFinite() {
			return up
		}
		return code
	})},
	{"shuffled: each the result of the test before", func(_ *sim.Model, _ mma.Formats, _ []*mma.Dot, right []uint64) []uint64 {
		return append(slices.Clone(right[len(right)-1:]), right[:len(right)-1]...)
	}},
	{withoutC, without(func(d *mma.Dot) { d.C = 0 })},
	{"the last product left out", without(func(d *mma.Dot) { d.A[len(d.A)-1], d.B[len(d.B)-1] = 0, 0 })},
	{"all but the first product left out", without(func(d *mma.Dot) { clear(d.A[1:]); clear(d.B[1:]) })},
}

// changed makes a unit of wrong that changes every right result.
func changed(change func(*fp.Format, uint64) uint64) func(*sim.Model, mma.Formats, []*mma.Dot, []uint64) []uint64 {
	return func(_ *sim.Model, f mma.Formats, _ []*mma.Dot, right []uint64) []uint64 {
		all := slices.Clone(right)
		for i, code := range all {
			all[i] = change(f.D.Get(), code)
		}
		return all
	}
}

// without makes a unit of wrong that drops something of every dot product.
func without(drop func(*mma.Dot)) func(*sim.Model, mma.Formats, []*mma.Dot, []uint64) []uint64 {
	return func(m *sim.Model, f mma.Formats, dots []*mma.Dot, _ []uint64) []uint64 {
		var less []*mma.Dot
		for _, d := range dots {
			d = d.Clone()
			drop(d)
			less = append(less, d)
		}
		return codes(m.Run, mma.BatchOf(f, len(dots[0].A), less))
	}
}

func codes(run func(in *mma.Batch, out []byte), in *mma.Batch) []uint64 {
	w := in.D.Width()
	out := make([]byte, in.Dots()*w)
	run(in, out)
	all := make([]uint64, in.Dots())
	for i := range all {
		all[i] = mma.Load(out, w, i)
	}
	return all
}

// ScoreInputs finds out which wrong results tests of an instruction let pass: dots are their inputs,
// and accept says which results pass beside the right ones.
func ScoreInputs(ctx context.Context, i *mma.Instruction, dots []*mma.Dot, accept *tolerance.Accept) (*Score, error) {
	model, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	goals, err := goalsOf(i, mma.Catalog())
	if err != nil {
		return nil, err
	}
	in := mma.BatchOf(i.Formats, i.K, dots)
	right := codes(model.Run, in)
	s := &Score{Instruction: i.FullName(), Accept: accept.String(), Inputs: len(dots), Wrong: []Passed{}, Survivors: []Passed{}}
	bits := oracle.NewComparer(i.D, oracle.DefaultPolicy(i.Unknown, 0))
	accepted := func(got []uint64) (n int, err error) {
		for k, d := range dots {
			ok := bits.Compare(got[k], right[k]) == oracle.Same
			if !ok && accept.String() != "bits" {
				v, err := accept.Judge(i.Formats, d, got[k], right[k])
				if err != nil {
					return 0, err
				}
				ok = v.Judged && !v.Beyond()
			}
			if ok {
				n++
			}
		}
		return n, ctx.Err()
	}
	for _, w := range wrong {
		if w.name == withoutC && i.C == fp.None {
			continue
		}
		n, err := accepted(w.give(model, i.Formats, dots, right))
		if err != nil {
			return nil, err
		}
		s.Wrong = append(s.Wrong, Passed{"wrong", w.name, n})
	}
	for _, g := range goals {
		if g.other == nil || g.same {
			continue
		}
		n, err := accepted(codes(g.results, in))
		if err != nil {
			return nil, err
		}
		s.Mutants++
		if n < len(dots) {
			s.Caught++
			continue
		}
		name := g.other.Name
		if len(g.other.Changes) > 0 && g.other.Kind != vectors.KindInstruction {
			name = readable.Converted(i.Formats, readable.Changes(g.other.Changes, 3))
		}
		s.Survivors = append(s.Survivors, Passed{g.other.Kind, name, n})
	}
	return s, nil
}

// LetPass reports whether the tests let something wrong pass that does not even compute, or
// another arithmetic.
func (s *Score) LetPass() bool {
	return len(s.Survivors) > 0 || slices.ContainsFunc(s.Wrong, func(p Passed) bool { return p.Accepted == s.Inputs })
}

// shownSurvivors is how many survivors are listed, without -v.
const shownSurvivors = 20

// Write writes the score for people.
func (s *Score) Write(w io.Writer, width int, all bool) {
	fmt.Fprint(w, readable.Hanging(fmt.Sprintf("%s, %s, accepted: %s", s.Instruction, readable.Plural(s.Inputs, "test"), s.Accept), width))
	g := readable.Table{Width: width}
	for _, p := range s.Wrong {
		said := fmt.Sprintf("caught by %s", readable.Plural(s.Inputs-p.Accepted, "test"))
		if p.Accepted == s.Inputs {
			said = "PASSES all tests"
		}
		g.Add("  "+p.Name, said)
	}
	g.Add("  other arithmetics", fmt.Sprintf("%d of %d caught (%s)", s.Caught, s.Mutants, readable.Share(uint64(s.Caught), uint64(s.Mutants))))
	g.Write(w, nil)
	list := s.Survivors
	if !all && len(list) > shownSurvivors {
		list = list[:shownSurvivors]
	}
	for _, p := range list {
		fmt.Fprint(w, readable.Indented(2, fmt.Sprintf("PASSES: %s %s", p.Kind, p.Name), width))
	}
	if n := len(s.Survivors) - len(list); n > 0 {
		fmt.Fprintf(w, "  and %d more that pass, with -v\n", n)
	}
}

// mostInput is the size of a file of tests in bytes.
const mostInput = 64 << 20

// Inputs reads the inputs of somebody's tests: a set of test vectors, or a text with the operands of
// a dot product on each line, as eval reads them. Further fields, such as a result, are ignored.
func Inputs(file string, i *mma.Instruction) ([]*mma.Dot, error) {
	if vectors.Is(file) {
		s, err := vectors.Open(file)
		if err != nil {
			return nil, err
		}
		cases, err := s.Cases()
		if err != nil {
			return nil, err
		}
		if s.Formats != i.Formats || s.K != i.K {
			return nil, fmt.Errorf("%s is about %s with K = %d, %s takes %s with K = %d", file, s.Formats, s.K, i.Name, i.Formats, i.K)
		}
		var dots []*mma.Dot
		for _, c := range cases {
			dots = append(dots, c.Dot)
		}
		return dots, nil
	}
	text, err := corpus.ReadFile(file, "tests", mostInput)
	if err != nil {
		return nil, err
	}
	fields := 3
	if i.Scale != fp.None {
		fields = 5
	}
	var dots []*mma.Dot
	for n, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		d, err := mma.ParseDot(i.Formats, i.K, false, words[:min(fields, len(words))])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n+1, err)
		}
		dots = append(dots, d)
	}
	if len(dots) == 0 {
		return nil, &os.PathError{Op: "read", Path: file, Err: fmt.Errorf("there is no test in it")}
	}
	return dots, nil
}
