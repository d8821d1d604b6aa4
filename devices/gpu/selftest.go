package gpu

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// SelfTest lists what has to hold before the results of a unit are trusted. Each field
// describes what was found wrong, "" if nothing was.
type SelfTest struct {
	// Layout: every element of the operands is where the kernel's tables say.
	// Matrices of small integers give their exact product.
	Layout string
	// Position: a result depends on its own operands alone, not on its place in
	// the tile, nor on what else is there.
	Position string
	// Repeat: the same tile gives the same results again, also in another warp.
	Repeat string
	// Variants: other kernels of the instruction give the same results.
	Variants string
	// NaN describes where the code of a NaN depends on its place or on the kernel, "" if
	// that was not seen. It is no failure: whether a result is NaN does not depend on them.
	NaN string
}

// The numbers of tiles of the tests.
const (
	layoutTiles   = 16
	positionTiles = 256
	repeatTiles   = 256
)

// Test runs the self-test of a unit; others are units of other kernels of the same
// instruction, with tiles of the same shape. The error says why the test could not run at
// all.
func Test(ctx context.Context, u *Unit, others ...*Unit) (*SelfTest, error) {
	t := &tester{ctx: ctx, unit: u, others: others, rng: rand.New(rand.NewPCG(1, uint64(u.Instruction().K)))}
	var s SelfTest
	for _, part := range []struct {
		text *string
		run  func() (string, error)
	}{{&s.Repeat, t.repeat}, {&s.Layout, t.layout}, {&s.Position, t.position}, {&s.Variants, t.variants}} {
		var err error
		if *part.text, err = part.run(); err != nil {
			return nil, fmt.Errorf("self-test: %w", err)
		}
	}
	s.NaN = t.nan
	return &s, nil
}

// Err returns what was found wrong, nil if there is nothing.
func (s *SelfTest) Err() error {
	if f := s.failures(); len(f) > 0 {
		return fmt.Errorf("it fails its self-test: %s", strings.Join(f, "; "))
	}
	return nil
}

// String returns the outcome on one line.
func (s *SelfTest) String() string {
	if f := s.failures(); len(f) > 0 {
		return "FAILED: " + strings.Join(f, "; ")
	}
	passed := "passed: layout, position independence, repeatability"
	if s.NaN != "" {
		passed += "; but the code of a NaN is not always the same: " + s.NaN
	}
	return passed
}

func (s *SelfTest) failures() []string {
	var f []string
	for _, part := range []struct{ name, text string }{
		{"layout", s.Layout}, {"position independence", s.Position}, {"repeatability", s.Repeat}, {"variants", s.Variants},
	} {
		if part.text != "" {
			f = append(f, part.name+": "+part.text)
		}
	}
	return f
}

// tester is a self-test under way.
type tester struct {
	ctx    context.Context
	unit   *Unit
	others []*Unit
	rng    *rand.Rand
	nan    string // what SelfTest.NaN will be
}

// batch returns a batch of zeros, with the given number of tiles of the kernel's shape.
func (t *tester) batch(tiles int) *mma.Batch {
	return mma.NewBatch(t.unit.Instruction().Formats, t.unit.kernel.shape(tiles))
}

func (t *tester) run(in *mma.Batch) ([]byte, error) {
	out := make([]byte, in.Dots()*in.Formats.D.Width())
	return out, t.unit.Run(t.ctx, in, out)
}

// place names an output of a batch.
func (t *tester) place(i int) string {
	k := t.unit.kernel
	return fmt.Sprintf("D[%d][%d] of tile %d", i/k.N%k.M, i%k.N, i/(k.M*k.N))
}

// code writes the code of an output.
func (t *tester) code(d []byte, i int) string {
	f := t.unit.Instruction().D
	return mma.FormatCode(f, mma.Load(d, f.Width(), i))
}

// repeat runs the same tiles twice, and a third time in the opposite order, which
// puts them into other warps and blocks.
func (t *tester) repeat() (string, error) {
	in := t.batch(repeatTiles)
	t.hard(in)
	first, err := t.run(in)
	if err != nil {
		return "", err
	}
	again, err := t.run(in)
	if err != nil {
		return "", err
	}
	if i := t.differ(first, again); i >= 0 {
		return fmt.Sprintf("the same tiles give %s as %s, then as %s", t.place(i), t.code(first, i), t.code(again, i)), nil
	}
	turned := t.batch(repeatTiles)
	for _, b := range []struct{ dst, src []byte }{{turned.A, in.A}, {turned.B, in.B}, {turned.C, in.C}, {turned.SA, in.SA}, {turned.SB, in.SB}} {
		turn(b.dst, b.src, repeatTiles)
	}
	other, err := t.run(turned)
	if err != nil {
		return "", err
	}
	back := make([]byte, len(other))
	turn(back, other, repeatTiles)
	if i := t.differ(first, back); i >= 0 {
		return fmt.Sprintf("%s is %s, and %s when the tiles come in the opposite order", t.place(i), t.code(first, i), t.code(back, i)), nil
	}
	return "", nil
}

// turn copies tiles in the opposite order.
func turn(dst, src []byte, tiles int) {
	n := len(src) / tiles
	for i := range tiles {
		copy(dst[i*n:(i+1)*n], src[(tiles-1-i)*n:])
	}
}

// differ returns the first output in which two results differ, -1 if there is
// none.
func (t *tester) differ(a, b []byte) int {
	w := t.unit.Instruction().D.Width()
	for i := 0; i*w < len(a); i++ {
		if !bytes.Equal(a[i*w:(i+1)*w], b[i*w:(i+1)*w]) {
			return i
		}
	}
	return -1
}

// alike reports whether two results, output i of one batch and output j of another, are
// the same or both NaNs. The first NaNs with different codes are noted; where describes the
// second one.
func (t *tester) alike(a []byte, i int, b []byte, j int, where func(j int) string) bool {
	id := t.unit.Instruction().D
	f, x, y := id.Get(), mma.Load(a, id.Width(), i), mma.Load(b, id.Width(), j)
	if x == y {
		return true
	}
	if f.Decode(x).Class != fp.NaN || f.Decode(y).Class != fp.NaN {
		return false
	}
	if t.nan == "" {
		t.nan = fmt.Sprintf("%s is %s, and %s %s", t.place(i), t.code(a, i), t.code(b, j), where(j))
	}
	return true
}

// position gives all outputs of a tile the same operands, whose results must be the same,
// and also when one output has these operands and the others of its tile have others.
func (t *tester) position() (string, error) {
	k := t.unit.kernel
	in, mixed := t.batch(positionTiles), t.batch(positionTiles)
	t.hard(mixed)
	d := mma.NewDot(in.Formats, in.K)
	places := make([]int, positionTiles)
	for tile := range positionTiles {
		places[tile] = tile*k.M*k.N + t.rng.IntN(k.M*k.N)
		mixed.Get(places[tile], d)
		for i := range k.M * k.N {
			in.Set(tile*k.M*k.N+i, d)
		}
	}
	same, err := t.run(in)
	if err != nil {
		return "", err
	}
	among, err := t.run(mixed)
	if err != nil {
		return "", err
	}
	for tile := range positionTiles {
		first := tile * k.M * k.N
		for i := first; i < first+k.M*k.N; i++ {
			if !t.alike(same, first, same, i, func(j int) string { return "as " + t.place(j) }) {
				return fmt.Sprintf("one dot product in all places of a tile gives %s as %s and %s as %s", t.place(first), t.code(same, first), t.place(i), t.code(same, i)), nil
			}
		}
		if i := places[tile]; !t.alike(same, i, among, i, func(int) string { return "among other dot products" }) {
			return fmt.Sprintf("%s is %s, and %s among other dot products", t.place(i), t.code(same, i), t.code(among, i)), nil
		}
	}
	return "", nil
}

// variants runs the same tiles with every kernel of the instruction.
func (t *tester) variants() (string, error) {
	if len(t.others) == 0 {
		return "", nil
	}
	in := t.batch(repeatTiles)
	t.hard(in)
	want, err := t.run(in)
	if err != nil {
		return "", err
	}
	for _, u := range t.others {
		got := make([]byte, len(want))
		if err := u.Run(t.ctx, in, got); err != nil {
			return "", err
		}
		for i := range in.Dots() {
			if !t.alike(want, i, got, i, func(int) string { return "of the kernel with " + u.kernel.Variant }) {
				return fmt.Sprintf("%s is %s, and %s of the kernel with %s", t.place(i), t.code(want, i), t.code(got, i), u.kernel.Variant), nil
			}
		}
	}
	return "", nil
}

// hard fills a batch with operands that show how a unit computes: raw bits in every other
// tile, and numbers of similar exponents in the rest, so that sums lose bits.
func (t *tester) hard(b *mma.Batch) {
	f := b.Formats
	for _, o := range []struct {
		id  fp.ID
		buf []byte
	}{{f.A, b.A}, {f.B, b.B}, {f.C, b.C}, {f.Scale, b.SA}, {f.Scale, b.SB}} {
		if len(o.buf) == 0 {
			continue
		}
		w, per := o.id.Width(), len(o.buf)/o.id.Width()/b.Tiles
		for i := range b.Tiles * per {
			mma.Store(o.buf, w, i, t.element(o.id.Get(), i/per%2 == 0))
		}
	}
}

// element draws a code: any code if raw, or else a number whose magnitude is between 2^-8
// and 2^8.
func (t *tester) element(f *fp.Format, raw bool) uint64 {
	if raw {
		return t.rng.Uint64() & f.CodeMask()
	}
	v := (1 + t.rng.Float64()) * float64(uint64(1)<<t.rng.IntN(16)) / 256
	if t.rng.IntN(2) == 0 {
		v = -v
	}
	return f.FromFloat64(v)
}
