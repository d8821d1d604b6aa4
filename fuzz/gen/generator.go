// Package gen makes inputs: dot products drawn by generators, raw or aimed at the
// decisions of given arithmetics, and the decoder through which go test -fuzz and
// go-fuzz reach the same generators. It knows formats and parameters (sim/fp,
// sim/mma) and nothing of units or campaigns.
//
// # Cases
//
// A case is (source, seed, index): a Source is a generator, its version and its
// arguments, written as cut@1[24,25]. Together with the operand formats and K it
// gives the same operands forever; a golden file holds that.
//
// # Turns
//
// A Schedule gives every source its turns, without regard to what it has found. A bandit that
// gives half of them to the generators whose inputs had the most new features lately was
// measured beside it, by the processor time until a campaign has separated each mutant of
// an arithmetic, in ms, median, 99 of 100 and the last, of 20 seeds (AMD EPYC with AVX-512;
// the time for the bandit's own features is not counted):
//
//	                         schedule              bandit
//	hopper FP16, FP32 sums   0.03   0.21   0.80    0.04   0.22   0.93
//	hopper FP16, FP16 sums   0.05   1.1    2.2     0.06   1.2    2.0
//	cdna3 BF16               0.06   2.7   13.1     0.08   3.1   24.3
//	blackwell E4M3           0.08   0.36   1.5     0.06   0.34   1.3
//
// The bandit gains nothing: most mutants are separated before features are of use. It is left
// out, since what a source is given would depend on all results before. To see it again:
//
//	go test -run xxx -bench 'Schedule/.*/.*/(varied|bandit)' -benchtime 1x ./fuzz/selfcheck -seeds 20
//
// Over all arithmetics of the catalogue the schedule takes 0.05, 1.5 and 23 ms (3 seeds):
//
//	go test -run xxx -bench Schedule/all/varied -benchtime 1x ./fuzz/selfcheck -seeds 3
//
// For devices, which may compute 39 million tiles of 16 x 8 a second, a turn takes about as
// long for every source, raw bits included, and variations come in such tiles: one core makes
// 3.1 million tiles a second (2.4 million would do for 16 cores and such a device), 0.7 million
// with the turns of simulators:
//
//	go test -run xxx -bench Generate/.*/campaign -count 5 ./fuzz/engine
//
// All but the last mutants are separated as soon as with the turns of simulators. Over all
// arithmetics, in ms of processor time as above, with chunks as large as devices want them, for
// the inputs alone and with a model on each side (20 seeds):
//
//	                         inputs              and models
//	turns for devices        0.03   1.35  21.9   0.05   1.61  39.8
//	turns for simulators     0.03   1.34  19.6   0.05   1.69  23.7
//
//	go test -run xxx -bench Schedule/all/device -benchtime 1x ./fuzz/selfcheck -seeds 20
//
// # Adding a generator
//
// Write NAME.go with one function and add a row to generators. The tests of this
// package, the golden file and the table of what each generator finds (fuzz/selfcheck)
// pick it up. A generator that is to give other inputs gets a new version: the old
// row, with its function, moves to retired.
package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Generator is one way of making dot products.
type Generator struct {
	Name    string
	Version int
	Doc     string
	Weight  int // share of a campaign's inputs

	// M and N are the rows and columns of one tile. A generator of whole tiles
	// makes 128 dot products that share rows and columns at once; one that
	// designs single dot products has tiles of 1 x 1.
	M, N int

	// Size is the number of different cases for a given K, for generators that
	// enumerate; nil: endless.
	Size func(sp Spec) uint64

	// Aims are the arguments that an arithmetic suggests (bit positions,
	// exponents); nil: the generator takes none. Without arguments a generator
	// that takes some draws them itself, from the whole range.
	Aims func(sp Spec, p *mma.Params) []int

	// Once is the number of dot products that a campaign makes at any cost: all cases of an
	// enumeration.
	Once uint64
	// rare: what it designs, such as a zero or an infinity, is lost in a small variation.
	rare bool
	// bits: random ones as they are, which cost next to nothing.
	bits bool

	// One of these makes the inputs: a dot product, of zeros and scales of 1 when it is
	// called, or a whole tile.
	dot  func(d *draw)
	fill func(d *draw, b *mma.Batch, tile int)
	// all makes the tiles of a batch from a number on, as dot does, where it can do so faster.
	all func(b *mma.Batch, first uint64) bool
}

// Spec is what the dot products are made for.
type Spec struct {
	mma.Formats
	K int
}

const (
	tileM = 16
	tileN = 8
)

// generators is the table. The order is that of the first inputs of a campaign.
var generators = []Generator{
	{Name: "corner", Version: 1, Weight: 1, M: 1, N: 1, Size: cornerSize, Once: cornerAll, dot: cornerDot,
		Doc: "extremes by construction, enumerated: lanes, significands of all ones or 1, exponents, signs, sums at overflow, c"},
	{Name: "pattern", Version: 2, Weight: 3, M: 1, N: 1, Size: patternSize, dot: pattern,
		Doc: "exponent and significand patterns in the style of TestFloat, enumerated, in two lanes that are drawn"},
	{Name: "cut", Version: 3, Weight: 4, M: 1, N: 1, Aims: cutAims, dot: cutDot,
		Doc: "terms that straddle the cut of an alignment, below one that is dropped out by cancellation or not, sums that carry, and sums that fill an adder"},
	{Name: "tie", Version: 2, Weight: 2, M: 1, N: 1, Aims: tieAims, dot: tieDot,
		Doc: "sums half way between two results, exactly or but for the last bits that an alignment retains"},
	{Name: "order", Version: 1, Weight: 2, M: 1, N: 1, dot: orderDot,
		Doc: "large terms that cancel with small ones between them: order, grouping, place of c"},
	{Name: "spread", Version: 1, Weight: 2, M: 1, N: 1, dot: spreadDot,
		Doc: "terms of random exponents in a window"},
	{Name: "floor", Version: 2, Weight: 1, M: 1, N: 1, Aims: floorAims, dot: floorDot,
		Doc: "all terms below the exponent that zero has, and sums that the last bits retained decide"},
	{Name: "tiny", Version: 1, Weight: 1, M: 1, N: 1, dot: tinyDot,
		Doc: "products, partial sums and results around the smallest normal number"},
	{Name: "huge", Version: 1, Weight: 1, M: 1, N: 1, dot: hugeDot,
		Doc: "products, partial sums and results around the largest number"},
	{Name: "zero", Version: 1, Weight: 1, M: 1, N: 1, rare: true, dot: zeroDot,
		Doc: "zeros of both signs, exact cancellation, underflow to zero"},
	{Name: "special", Version: 1, Weight: 1, M: 1, N: 1, rare: true, dot: specialDot,
		Doc: "infinities and NaNs of every kind among numbers and zeros"},
	{Name: "subnormal", Version: 2, Weight: 1, M: 1, N: 1, Aims: cutAims, dot: subnormalDot,
		Doc: "subnormal factors, whose exponent fields exceed the exponents of their values"},
	{Name: "cancel", Version: 1, Weight: 1, M: 1, N: 1, dot: cancelDot,
		Doc: "sums of a chosen condition number"},
	{Name: "raw", Version: 2, Weight: 4, M: tileM, N: tileN, bits: true, fill: rawWords,
		Doc: "uniformly random bits"},
	{Name: "normal", Version: 2, Weight: 1, M: tileM, N: tileN, fill: sampleTile("normal", normalValue),
		Doc: "normal distribution N(0, 1)"},
	{Name: "uniform", Version: 2, Weight: 1, M: tileM, N: tileN, fill: sampleTile("uniform", uniformValue),
		Doc: "uniform distribution on [-1, 1)"},
	{Name: "dnn", Version: 2, Weight: 1, M: tileM, N: tileN, fill: sampleTile("dnn", dnnValue),
		Doc: "activations of neural networks: N(0, 1) + Bernoulli(0.001) N(0, 100)"},
}

// retired are earlier versions of generators, which cases, plans and recordings
// name. Campaigns use them if they are asked to.
var retired = []Generator{
	{Name: "cut", Version: 1, Weight: 4, M: 1, N: 1, Aims: cutAims, dot: func(d *draw) { d.straddle(d.aim(5, 40)) },
		Doc: "terms that straddle the cut of an alignment, below one that is dropped out by cancellation or not"},
	{Name: "cut", Version: 2, Weight: 4, M: 1, N: 1, Aims: cutAims, dot: cutDot2,
		Doc: "terms that straddle the cut of an alignment, below one that is dropped out by cancellation or not, and sums that carry"},
	{Name: "pattern", Version: 1, Weight: 3, M: 1, N: 1, Size: patternSize, dot: pattern1,
		Doc: "exponent and significand patterns in the style of TestFloat, enumerated"},
	{Name: "tie", Version: 1, Weight: 2, M: 1, N: 1, Aims: tieAims1, dot: tieDot1,
		Doc: "sums half way between two results, exactly or nearly"},
	{Name: "floor", Version: 1, Weight: 1, M: 1, N: 1, Aims: floorAims, dot: floorDot1,
		Doc: "all terms below the exponent that zero has"},
	{Name: "subnormal", Version: 1, Weight: 1, M: 1, N: 1, dot: func(d *draw) { d.manySubnormals() },
		Doc: "subnormal operands beside normal ones of the same products"},
	{Name: "integer", Version: 1, Weight: 16, M: 1, N: 1, rare: true, dot: integerDot1,
		Doc: "the ends of the ranges of integers, and c for which the sum is one or next to one, for integers"},
	{Name: "raw", Version: 1, Weight: 4, M: tileM, N: tileN, bits: true, fill: rawTile,
		Doc: "uniformly random bits"},
	{Name: "normal", Version: 1, Weight: 1, M: tileM, N: tileN, fill: valueTile(normalValue),
		Doc: "normal distribution N(0, 1)"},
	{Name: "uniform", Version: 1, Weight: 1, M: tileM, N: tileN, fill: valueTile(uniformValue),
		Doc: "uniform distribution on [-1, 1)"},
	{Name: "dnn", Version: 1, Weight: 1, M: tileM, N: tileN, fill: valueTile(dnnValue),
		Doc: "activations of neural networks: N(0, 1) + Bernoulli(0.001) N(0, 100)"},
}

// Versions returns all generators, earlier versions before the current one.
func Versions() []*Generator {
	var all []*Generator
	for i := range generators {
		for j := range retired {
			if retired[j].Name == generators[i].Name {
				all = append(all, &retired[j])
			}
		}
		all = append(all, &generators[i])
	}
	return all
}

// Current reports whether a generator is the newest version.
func (g *Generator) Current() bool {
	newest, err := Find(g.Name)
	return err == nil && newest == g
}

// All returns the current versions for dot products.
func All() []Generator { return slices.Clone(generators) }

// Current returns the current versions of all generators.
func Current() []*Generator { return append(pointers(generators), Conversions()...) }

func pointers(table []Generator) []*Generator {
	all := make([]*Generator, len(table))
	for i := range table {
		all[i] = &table[i]
	}
	return all
}

// Find returns the generator of a name: the current version, or with
// NAME@VERSION another one.
func Find(name string) (*Generator, error) {
	base, version, hasVersion := strings.Cut(name, "@")
	var names []string
	for _, g := range Current() {
		if g.Name == base && hasVersion {
			return g.version(version)
		}
		if g.Name == base {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return nil, fmt.Errorf("unknown generator %q (known: %s)", base, strings.Join(names, ", "))
}

// Source is a generator with its arguments; of mutate, with the case that it
// changes; of around, with the source of the cases that it varies.
type Source struct {
	Generator *Generator
	Args      []int
	Base      *Base
}

// Base is a case of another source, or all of them.
type Base struct {
	Source Source
	Index  uint64 // of the case for mutate; 0 for around
}

// String writes NAME@VERSION[ARGS], mutate@VERSION(SOURCE#INDEX) or
// around@VERSION(SOURCE).
func (s Source) String() string {
	text := fmt.Sprintf("%s@%d", s.Generator.Name, s.Generator.Version)
	if s.isAround() {
		return fmt.Sprintf("%s(%s)", text, s.Base.Source)
	}
	if s.Base != nil {
		return fmt.Sprintf("%s(%s#%d)", text, s.Base.Source, s.Base.Index)
	}
	if len(s.Args) == 0 {
		return text
	}
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = strconv.Itoa(a)
	}
	return text + "[" + strings.Join(args, ",") + "]"
}

// ParseSource is the inverse of Source.String. Without @VERSION it means the
// current one.
func ParseSource(text string) (Source, error) {
	if n := strings.Count(text, mutateGenerator.Name); n > maxNesting {
		return Source{}, fmt.Errorf("%.80q: %d nested mutations; at most %d are possible", text, n, maxNesting)
	}
	if strings.HasPrefix(text, mutateGenerator.Name) {
		return parseMutate(text)
	}
	if strings.HasPrefix(text, aroundName+"@") {
		return parseAround(text)
	}
	name, args, hasArgs := strings.Cut(text, "[")
	g, err := Find(name)
	if err != nil {
		return Source{}, err
	}
	s := Source{Generator: g}
	if !hasArgs {
		return s, nil
	}
	if g.Aims == nil {
		return Source{}, fmt.Errorf("%.200q: generator %s takes no arguments", text, g.Name)
	}
	list, ok := strings.CutSuffix(args, "]")
	if !ok {
		return Source{}, fmt.Errorf("%.200q: the arguments do not end in ]", text)
	}
	for a := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(a)
		if err != nil {
			return Source{}, fmt.Errorf("%.200q: %.40q is no whole number, or too large", text, a)
		}
		s.Args = append(s.Args, n)
	}
	return s, nil
}

// version returns a version of a generator.
func (g *Generator) version(v string) (*Generator, error) {
	versions := []*Generator{g}
	for i := range retired {
		if retired[i].Name == g.Name {
			versions = append(versions, &retired[i])
		}
	}
	var known []string
	for _, g := range versions {
		n := strconv.Itoa(g.Version)
		if n == v {
			return g, nil
		}
		known = append(known, n)
	}
	return nil, fmt.Errorf("generator %s: version %s is not known (known: %s)", g.Name, v, strings.Join(known, ", "))
}

func parseMutate(text string) (Source, error) {
	head, rest, ok := strings.Cut(text, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	at := strings.LastIndexByte(inner, '#')
	if !ok || !closed || at < 0 || head != fmt.Sprintf("%s@%d", mutateGenerator.Name, mutateGenerator.Version) {
		return Source{}, fmt.Errorf("%q is not of the form mutate@1(SOURCE#INDEX)", text)
	}
	base, err := ParseSource(inner[:at])
	if err != nil {
		return Source{}, err
	}
	index, err := strconv.ParseUint(inner[at+1:], 10, 64)
	if err != nil {
		return Source{}, fmt.Errorf("%.200q: %.40q is no index", text, inner[at+1:])
	}
	return Source{Generator: &mutateGenerator, Base: &Base{base, index}}, nil
}

// nesting is the number of mutations that lead to the source.
func (s Source) nesting() int {
	if s.Base == nil || s.isAround() {
		return 0
	}
	return 1 + s.Base.Source.nesting()
}

// Aimed returns the source of a generator that aims at every decision of the
// given arithmetics; with none, the generator draws its aims itself.
func (g *Generator) Aimed(sp Spec, ps ...*mma.Params) Source {
	s := Source{Generator: g}
	if g.Aims == nil {
		return s
	}
	for _, p := range ps {
		s.Args = append(s.Args, g.Aims(sp, p)...)
	}
	slices.Sort(s.Args)
	s.Args = slices.Compact(s.Args)
	return s
}

// Fill writes the dot products from index first on into a batch of the
// generator's M and N. first must be a multiple of M*N.
func (s Source) Fill(b *mma.Batch, seed, first uint64) {
	(&Filler{}).Fill(s, s.String(), b, seed, first)
}

// Filler fills batches, for one goroutine at a time. The zero Filler is ready for use;
// from the second batch of a Spec on it needs no new memory.
type Filler struct {
	draws map[Spec]*draw
	one   mma.Batch // the tile of Dot
}

// Fill is Source.Fill; name must be s.String().
func (f *Filler) Fill(s Source, name string, b *mma.Batch, seed, first uint64) {
	if all := s.Generator.all; all != nil && all(b, first) {
		return
	}
	d := f.draw(Spec{b.Formats, b.K})
	d.args, d.base, d.around = s.Args, nil, nil
	if s.isAround() {
		d.around, d.args = s.Base.Source.Generator, s.Base.Source.Args
		name = aroundWhat(name)
	} else if s.Base != nil {
		d.base = s.Base.Source.Dot(d.Spec, seed, s.Base.Index)
	}
	key := key(name, seed)
	perTile := uint64(b.M * b.N)
	for t := range b.Tiles {
		d.index = first/perTile + uint64(t)
		d.start(key, d.index)
		s.Generator.make(d, b, t)
	}
	byvalue.Share(b, 0)
}

func (f *Filler) draw(sp Spec) *draw {
	d := f.draws[sp]
	if d == nil {
		if f.draws == nil {
			f.draws = map[Spec]*draw{}
		}
		d = newDraw(sp)
		f.draws[sp] = d
	}
	return d
}

// Dot returns the dot product of an index.
func (s Source) Dot(sp Spec, seed, index uint64) *mma.Dot {
	return (&Filler{}).Dot(s, s.String(), sp, seed, index)
}

// Dot is Source.Dot; name must be s.String().
func (f *Filler) Dot(s Source, name string, sp Spec, seed, index uint64) *mma.Dot {
	output := f.tile(&f.one, s, name, sp, seed, index)
	dot := mma.NewDot(sp.Formats, sp.K)
	f.one.Get(output, dot)
	return dot
}

// Tile returns the tile that has the dot product of an index as one of its
// outputs, and which of them.
func (s Source) Tile(sp Spec, seed, index uint64) (b *mma.Batch, output int) {
	b = &mma.Batch{}
	return b, (&Filler{}).tile(b, s, s.String(), sp, seed, index)
}

func (f *Filler) tile(b *mma.Batch, s Source, name string, sp Spec, seed, index uint64) (output int) {
	g := s.Generator
	output = int(index % uint64(g.M*g.N))
	b.Reset(sp.Formats, mma.Shape{M: g.M, N: g.N, K: sp.K, Tiles: 1})
	f.Fill(s, name, b, seed, index-uint64(output))
	return output
}

// key mixes a source's name (FNV-1a) and the seed.
func key(name string, seed uint64) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return Mix(h ^ Mix(seed))
}

// make makes a tile of a batch.
func (g *Generator) make(d *draw, b *mma.Batch, tile int) {
	if g.fill != nil {
		g.fill(d, b, tile)
		return
	}
	d.reset()
	g.dot(d)
	if n := d.Spec.B.RandomBits(); n != 0 {
		d.randomBits(n)
	}
	b.Set(tile, d.dot)
}
