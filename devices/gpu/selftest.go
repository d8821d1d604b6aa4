package gpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// SelfTest is the outcome of the tests that a unit has to pass before its results are
// trusted.
type SelfTest struct {
	Failures []Failure
	// NaN describes where the code of a NaN depends on its place or on the kernel, "" if
	// that was not seen. It is no failure: whether a result is NaN does not depend on them.
	NaN string
}

// Failure is a test that a unit does not pass.
type Failure struct{ Test, What string }

// selfTests are in the order in which they are run. Each returns what is wrong, "" if
// nothing is; the error says why the test could not run at all.
var selfTests = []struct {
	name string
	run  func(*tester) (string, error)
}{
	// The same tile gives the same results again, also in another warp.
	{"repeatability", (*tester).repeat},
	// Every element of the operands is where the kernel's tables say.
	{"layout", (*tester).layout},
	// A result depends on its own operands alone, not on its place in the tile, nor on
	// what else is there.
	{"position independence", (*tester).position},
	// Other kernels of the instruction give the same results.
	{"variants", (*tester).variants},
}

// Test runs the self-tests of a unit; others are units of other kernels of the same
// instruction, with tiles of the same shape. The error says why a test could not run.
func Test(ctx context.Context, u *Unit, others ...*Unit) (*SelfTest, error) {
	t := &tester{ctx: ctx, unit: u, others: others, rng: rand.New(rand.NewPCG(1, uint64(u.Instruction().K)))}
	var s SelfTest
	for _, test := range selfTests {
		what, err := test.run(t)
		if err != nil {
			return nil, fmt.Errorf("self-test: %w", err)
		}
		if what != "" {
			s.Failures = append(s.Failures, Failure{test.name, what})
		}
	}
	s.NaN = t.nan
	return &s, nil
}

// Err returns what was found wrong, nil if there is nothing.
func (s *SelfTest) Err() error {
	if len(s.Failures) > 0 {
		return fmt.Errorf("it fails its self-test: %s", s.failures())
	}
	return nil
}

// String returns the outcome on one line.
func (s *SelfTest) String() string {
	if len(s.Failures) > 0 {
		return "FAILED: " + s.failures()
	}
	passed := "passed: layout, position independence, repeatability"
	if s.NaN != "" {
		passed += "; but the code of a NaN is not always the same: " + s.NaN
	}
	return passed
}

func (s *SelfTest) failures() string {
	var all []string
	for _, f := range s.Failures {
		all = append(all, f.Test+": "+f.What)
	}
	return strings.Join(all, "; ")
}

// tester is a self-test under way.
type tester struct {
	ctx    context.Context
	unit   *Unit
	others []*Unit
	rng    *rand.Rand
	nan    string // what SelfTest.NaN will be
}

// inputs are the roles of a batch's operands.
var inputs = []Role{RoleA, RoleB, RoleC, RoleSA, RoleSB}

// batch returns a batch of zeros, with the given number of tiles of the kernel's shape.
func (t *tester) batch(tiles int) *mma.Batch {
	return mma.NewBatch(t.unit.Instruction().Formats, t.unit.kernel.shape(tiles))
}

// fill stores codes in all elements of a batch; draw is given an element's role and its
// tile.
func (t *tester) fill(b *mma.Batch, draw func(r Role, tile int) uint64) {
	for _, r := range inputs {
		buf, w := operand(b, r), t.unit.kernel.format(r).Width()
		for i := 0; i*w < len(buf); i++ {
			mma.Store(buf, w, i, draw(r, i/t.unit.kernel.elements(r)))
		}
	}
}

// hard returns a batch with operands that show how a unit computes: raw bits in every other
// tile, and numbers with magnitudes from 2^-8 to 2^8 in the rest, so that sums lose bits.
func (t *tester) hard() *mma.Batch {
	b := t.batch(256)
	t.fill(b, func(r Role, tile int) uint64 {
		f := t.unit.kernel.format(r).Get()
		if tile%2 == 0 {
			return t.rng.Uint64() & f.CodeMask()
		}
		v := (1 + t.rng.Float64()) * float64(uint64(1)<<t.rng.IntN(16)) / 256
		if t.rng.IntN(2) == 0 {
			v = -v
		}
		return f.FromFloat64(v)
	})
	return b
}

func (t *tester) run(u *Unit, in *mma.Batch) ([]byte, error) {
	out := make([]byte, in.Dots()*in.Formats.D.Width())
	return out, u.Run(t.ctx, in, out)
}

// place names an output of a batch.
func (t *tester) place(i int) string {
	k := t.unit.kernel
	return fmt.Sprintf("D[%d][%d] of tile %d", i/k.N%k.M, i%k.N, i/(k.M*k.N))
}

// comparison says which outputs of two runs have to be the same.
type comparison struct {
	at    func(i int) int // the output of the second run that output i of the first is to equal; nil: i
	nans  bool            // NaNs may have different codes
	where string          // the second output, in words
}

// differ describes the first output of a that is not the same in b, "" if there is none.
// The first NaNs with different codes, where those are allowed, are noted.
func (t *tester) differ(a, b []byte, c comparison) string {
	id := t.unit.Instruction().D
	f, w := id.Get(), id.Width()
	for i := range len(a) / w {
		j := i
		if c.at != nil {
			j = c.at(i)
		}
		x, y := mma.Load(a, w, i), mma.Load(b, w, j)
		if x == y {
			continue
		}
		what := fmt.Sprintf("%s is %s, and %s %s", t.place(i), mma.FormatCode(id, x), mma.FormatCode(id, y), c.where)
		if !c.nans || f.Decode(x).Class != fp.NaN || f.Decode(y).Class != fp.NaN {
			return what
		}
		if t.nan == "" {
			t.nan = what
		}
	}
	return ""
}

// repeat runs the same tiles twice, and a third time in the opposite order, which
// puts them into other warps and blocks.
func (t *tester) repeat() (string, error) {
	in := t.hard()
	turned := t.batch(in.Tiles)
	for _, r := range inputs {
		from, to := operand(in, r), operand(turned, r)
		n := len(from) / in.Tiles
		for i := range in.Tiles {
			copy(to[i*n:(i+1)*n], from[(in.Tiles-1-i)*n:])
		}
	}
	first, err := t.run(t.unit, in)
	if err != nil {
		return "", err
	}
	second, err := t.run(t.unit, in)
	if err != nil {
		return "", err
	}
	if what := t.differ(first, second, comparison{where: "when the same tiles come again"}); what != "" {
		return what, nil
	}
	other, err := t.run(t.unit, turned)
	if err != nil {
		return "", err
	}
	n := in.M * in.N
	opposite := func(i int) int { return (in.Tiles-1-i/n)*n + i%n }
	return t.differ(first, other, comparison{at: opposite, where: "when the tiles come in the opposite order"}), nil
}

// position gives all outputs of a tile the same operands, whose results must be the same,
// and also when one output has these operands and the others of its tile have others.
func (t *tester) position() (string, error) {
	mixed := t.hard()
	in, n := t.batch(mixed.Tiles), mixed.M*mixed.N
	d := mma.NewDot(in.Formats, in.K)
	places := make([]int, mixed.Tiles) // of the output of mixed that all of a tile of in have
	for tile := range places {
		places[tile] = tile*n + t.rng.IntN(n)
		mixed.Get(places[tile], d)
		for i := range n {
			in.Set(tile*n+i, d)
		}
	}
	same, err := t.run(t.unit, in)
	if err != nil {
		return "", err
	}
	among, err := t.run(t.unit, mixed)
	if err != nil {
		return "", err
	}
	first := func(i int) int { return i / n * n }
	if what := t.differ(same, same, comparison{at: first, nans: true, where: "in the first place of the tile"}); what != "" {
		return "one dot product in all places of a tile: " + what, nil
	}
	chosen := func(i int) int { return places[i/n] }
	return t.differ(same, among, comparison{at: chosen, nans: true, where: "among other dot products"}), nil
}

// variants runs the same tiles with every kernel of the instruction.
func (t *tester) variants() (string, error) {
	if len(t.others) == 0 {
		return "", nil
	}
	in := t.hard()
	want, err := t.run(t.unit, in)
	if err != nil {
		return "", err
	}
	for _, u := range t.others {
		got, err := t.run(u, in)
		if err != nil {
			return "", err
		}
		if what := t.differ(want, got, comparison{nans: true, where: "of the kernel with " + u.kernel.Variant}); what != "" {
			return what, nil
		}
	}
	return "", nil
}
