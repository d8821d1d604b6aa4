package gen

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// goldenUnits are instructions of every kind of formats: of each width, without
// C, with scales of both kinds and block sizes.
var goldenUnits = []string{
	"cdna1/v_mfma_f32_16x16x4f32",
	"ampere/mma.m8n8k4.f64.f64.f64.f64",
	"volta/mma.m8n8k4.f32.f16.f16.f16",
	"ampere/mma.m16n8k8.f16.f16.f16.f16",
	"hopper/mma.m16n8k16.f32.bf16.bf16.f32",
	"hopper/mma.m16n8k8.f32.tf32.tf32.f32",
	"hopper/wgmma.m64n8k32.f32.e4m3.e5m2.c0",
	"cdna3/v_mfma_f32_32x32x16_fp8_bf8",
	"blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e2m3.e3m2",
	"blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.ue8m0",
	"blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
}

func lookup(t testing.TB, name string) *mma.Instruction {
	t.Helper()
	arch, inst, _ := strings.Cut(name, "/")
	i, err := mma.Lookup(arch, inst)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// hashDot adds a dot product to a hash.
func hashDot(h hash.Hash, d *mma.Dot) {
	for _, codes := range [][]uint64{d.A, d.B, {d.C}, d.SA, d.SB} {
		for _, c := range codes {
			h.Write(binary.LittleEndian.AppendUint64(nil, c))
		}
	}
}

func sum(h hash.Hash) string { return fmt.Sprintf("%x", h.Sum(nil)[:8]) }

// The golden file has, for each source, a hash of the first inputs and one of an
// input far away.
const (
	goldenFirst = 256
	goldenFar   = 1_000_007
)

// sources are those of the golden file: every generator, also of earlier versions,
// without arguments and aimed at the instruction's arithmetic, and a mutation.
func sources(i *mma.Instruction) []Source {
	sp := Spec{i.Formats, i.K}
	var all []Source
	for _, gen := range Versions() {
		all = append(all, Source{Generator: gen})
		if aimed := gen.Aimed(sp, &i.Params); len(aimed.Args) > 0 {
			all = append(all, aimed)
		}
	}
	cut, err := Find("cut@1") // whichever generator is the newest
	if err != nil {
		panic(err)
	}
	aimed := cut.Aimed(sp, &i.Params)
	base := aimed.Mutate(5)
	all = append(all, base, base.Mutate(3))
	for i := range arounds {
		around, _ := aimed.aroundBy(arounds[i].Version)
		all = append(all, around, around.Mutate(70))
	}
	return all
}

// TestGeneratorsGolden holds every generator to its stream: a case of an old
// report must stay the same input. A generator that is to give other inputs gets
// a new version beside the old one.
func TestGeneratorsGolden(t *testing.T) {
	tier.SkipUnderRace(t)
	var s strings.Builder
	for _, name := range goldenUnits {
		i := lookup(t, name)
		sp := Spec{i.Formats, i.K}
		for _, src := range sources(i) {
			first, far := sha256.New(), sha256.New()
			for n := range uint64(goldenFirst) {
				hashDot(first, src.Dot(sp, 1, n))
			}
			hashDot(far, src.Dot(sp, 1, goldenFar))
			fmt.Fprintf(&s, "%s/%d:%s %s %s\n", i.Formats, i.K, strings.ReplaceAll(src.String(), " ", "_"), sum(first), sum(far))
		}
	}
	golden.Rows(t, "testdata/generators.golden", s.String())
}

// TestRandomAccess checks that a batch from any index on, of any size, has the
// inputs that single requests give, in any order.
func TestRandomAccess(t *testing.T) {
	for _, name := range goldenUnits {
		i := lookup(t, name)
		for _, sp := range []Spec{{i.Formats, i.K}, {i.Formats, 2 * i.K}} {
			for _, src := range sources(i) {
				g := src.Generator
				per := uint64(g.M * g.N)
				const tiles = 5
				whole := mma.NewBatch(sp.Formats, mma.Shape{M: g.M, N: g.N, K: sp.K, Tiles: tiles})
				src.Fill(whole, 9, 100*per)
				part := mma.NewBatch(sp.Formats, mma.Shape{M: g.M, N: g.N, K: sp.K, Tiles: 2})
				src.Fill(part, 9, 103*per)
				want, got := mma.NewDot(sp.Formats, sp.K), mma.NewDot(sp.Formats, sp.K)
				for n := tiles*int(per) - 1; n >= 0; n -= max(1, int(per)/3) {
					whole.Get(n, want)
					if d := src.Dot(sp, 9, 100*per+uint64(n)); !d.Equal(want) {
						t.Fatalf("%s %s: input %d alone is %v, in a batch %v", name, src, n, d, want)
					}
					if later := n - 3*int(per); later >= 0 {
						if part.Get(later, got); !got.Equal(want) {
							t.Fatalf("%s %s: input %d in a later batch is %v, before %v", name, src, n, got, want)
						}
					}
				}
			}
		}
	}
}

// TestFillerForgets: what a filler gives does not depend on the sources that it was asked for before, such as a
// case that is mutated.
func TestFillerForgets(t *testing.T) {
	i := lookup(t, "blackwell/cvt.rs.satfinite.e4m3x4.f32")
	sp := Spec{i.Formats, 1} // with random bits, of which a mutated case keeps some
	var used Filler
	for _, g := range Every(sp) {
		src := Source{Generator: g}
		if !src.Mutable() {
			continue
		}
		for n := range uint64(64) {
			mutated := src.Mutate(n)
			used.Dot(mutated, mutated.String(), sp, 1, 0)
			if got, want := used.Dot(src, src.String(), sp, 1, n), src.Dot(sp, 1, n); !got.Equal(want) {
				t.Errorf("%s: input %d is %v after a mutated one, and %v before", src, n, got, want)
				break
			}
		}
	}
}

// TestInputsAreCodes checks that inputs have no bits beyond their formats, that
// C is 0 where there is none, and that seeds, indexes and generators differ.
func TestInputsAreCodes(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, name := range goldenUnits {
		i := lookup(t, name)
		sp := Spec{i.Formats, i.K}
		streams := map[string]string{}
		for _, src := range sources(i) {
			for _, seed := range []uint64{1, 2} {
				h := sha256.New()
				distinct := map[string]bool{}
				for n := range uint64(100) {
					d := src.Dot(sp, seed, n)
					checkCodes(t, sp, d)
					one := sha256.New()
					hashDot(one, d)
					distinct[sum(one)] = true
					hashDot(h, d)
				}
				if t.Failed() {
					t.Fatalf("%s %s", name, src)
				}
				if len(distinct) < 30 {
					t.Errorf("%s %s: only %d different inputs of 100", name, src, len(distinct))
				}
				key := fmt.Sprint(src, " seed ", seed)
				if other, dup := streams[sum(h)]; dup && src.Generator.Size == nil {
					t.Errorf("%s: %s gives the inputs of %s", name, key, other)
				}
				streams[sum(h)] = key
			}
		}
	}
}

// TestMutatedConversions has B's format without a bit, which no mutation may set.
func TestMutatedConversions(t *testing.T) {
	sp := Spec{mma.Formats{A: fp.FP32, B: fp.One, D: fp.BF16}, 1}
	for _, g := range Every(sp) {
		src, err := ParseSource(g.Name)
		if err != nil || !src.Mutable() {
			continue
		}
		for n := range uint64(64) {
			checkCodes(t, sp, src.Mutate(n).Dot(sp, 1, 0))
		}
	}
}

func checkCodes(t testing.TB, sp Spec, d *mma.Dot) {
	t.Helper()
	blocks := sp.Blocks(sp.K)
	if len(d.A) != sp.K || len(d.B) != sp.K || len(d.SA) != blocks || len(d.SB) != blocks {
		t.Errorf("%d, %d elements, %d, %d scales for K = %d", len(d.A), len(d.B), len(d.SA), len(d.SB), sp.K)
	}
	c := []uint64{d.C}
	if sp.C == fp.None {
		c = nil
		if d.C != 0 {
			t.Errorf("c = %x without a C", d.C)
		}
	}
	for _, o := range []struct {
		id    fp.ID
		codes []uint64
	}{{sp.A, d.A}, {sp.B, d.B}, {sp.C, c}, {sp.Scale, d.SA}, {sp.Scale, d.SB}} {
		for _, code := range o.codes {
			if code > o.id.Get().CodeMask() {
				t.Errorf("%x is not a %s code", code, o.id)
			}
		}
	}
}

// TestPatternsCoverTheirTable checks that the enumeration has every case of its
// table, and of lanes every pair.
func TestPatternsCoverTheirTable(t *testing.T) {
	g, err := Find("pattern")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []mma.Formats{
		{A: fp.E2M1, B: fp.E2M1, D: fp.FP32},
		{A: fp.E4M3, B: fp.E2M1, D: fp.FP16},
	} {
		sp := Spec{f, 4}
		size := g.Size(sp)
		seen, pairs := map[string]bool{}, map[string]bool{}
		b := mma.NewBatch(f, mma.Shape{M: 1, N: 1, K: 4, Tiles: int(size)})
		Source{Generator: g}.Fill(b, 1, 0)
		d := mma.NewDot(f, 4)
		for n := range int(size) {
			b.Get(n, d)
			var lanes, products []string
			for k := range d.A {
				if p := fmt.Sprintf("%x*%x", d.A[k], d.B[k]); p != "0*0" {
					lanes, products = append(lanes, fmt.Sprint(k)), append(products, p)
				}
			}
			slices.Sort(products)
			seen[fmt.Sprint(products, d.C)] = true
			if len(lanes) == 2 {
				pairs[fmt.Sprint(lanes)] = true
			}
		}
		if len(pairs) != 6 {
			t.Errorf("%s: products in the lanes %v alone", f, pairs)
		}
		// Beside 0*0 there is no other product of zeros to be the same, and beside
		// -0*0 none to be the negative. The negative's negative is the same case, and that is a
		// third of them.
		if want := size*5/6 - 2; uint64(len(seen)) != want {
			t.Errorf("%s: %d different cases, want %d", f, len(seen), want)
		}
	}
}

// TestGeneratorTable checks what people see.
func TestGeneratorTable(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range All() {
		if seen[g.Name] || g.Doc == "" || g.Version < 1 || g.Weight < 1 || g.M*g.N < 1 || strings.ContainsAny(g.Name, "@[]()#,") {
			t.Errorf("%+v", g)
		}
		seen[g.Name] = true
		found, err := Find(g.Name)
		if err != nil || found.Name != g.Name {
			t.Errorf("%s: %v", g.Name, err)
		}
	}
	if _, err := Find("x"); err == nil || !strings.HasPrefix(err.Error(), `unknown generator "x" (known: corner, pattern, `) {
		t.Errorf("%v", err)
	}
}

func TestParseSource(t *testing.T) {
	for _, name := range goldenUnits {
		i := lookup(t, name)
		for _, src := range sources(i) {
			back, err := ParseSource(src.String())
			if err != nil || back.String() != src.String() || back.nesting() != src.nesting() {
				t.Errorf("%s comes back as %s, %v", src, back, err)
				continue
			}
			sp := Spec{i.Formats, i.K}
			if !back.Dot(sp, 3, 17).Equal(src.Dot(sp, 3, 17)) {
				t.Errorf("%s: another input after it was written and read", src)
			}
		}
	}
	for text, want := range map[string]string{"raw": "raw@2", "raw@1": "raw@1", "cut": "cut@3", "cut[1,-2]": "cut@3[1,-2]"} {
		if s, err := ParseSource(text); err != nil || s.String() != want {
			t.Errorf("%s: %s, %v", text, s, err)
		}
	}
	for _, text := range []string{
		"", "x", "raw@3", "raw@", "raw@x", "raw@1[1]", "cut@1[", "cut@1[]", "cut@1[1", "cut@1[1,]", "cut@1[x]", "cut@1[1]x",
		"mutate", "mutate@1", "mutate@2(raw@1#0)", "mutate@1(raw@1)", "mutate@1(raw@1#)", "mutate@1(raw@1#-1)", "mutate@1(raw@1#x)",
		"mutate@1(raw@1#0", "mutate@1(x#0)", "mutate@1(#0)", "mutate@1(mutate@1#0)",
		"mutate@1(mutate@1(mutate@1(mutate@1(raw@1#0)#0)#0)#0)", strings.Repeat("mutate@1(", 1<<20),
	} {
		if s, err := ParseSource(text); err == nil {
			t.Errorf("%q is read as %s", text, s)
		}
	}
}

// TestAims checks that what a generator aims at is what the arithmetic decides
// by.
func TestAims(t *testing.T) {
	a, b := lookup(t, "ampere/mma.m16n8k16.f32.bf16.bf16.f32"), lookup(t, "hopper/mma.m16n8k16.f32.bf16.bf16.f32")
	sp := Spec{a.Formats, a.K}
	aims := map[string][]int{"cut": {24, 25}, "floor": {-158, -156}} // the last bits kept

	for name, want := range aims {
		g, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		args := g.Aimed(sp, &a.Params, &b.Params).Args
		if !slices.IsSorted(args) || len(slices.Compact(slices.Clone(args))) != len(args) {
			t.Errorf("%s: %v is not sorted or has duplicates", name, args)
		}
		for _, w := range want {
			if !slices.Contains(args, w) {
				t.Errorf("%s: %v without %d", name, args, w)
			}
		}
		if got := (Source{Generator: g}); g.Aimed(sp).String() != got.String() {
			t.Errorf("%s: aimed at nothing it is %s", name, g.Aimed(sp))
		}
	}
}

// FuzzDecode decodes any bytes: the result is always a dot product of an
// instruction, missing bytes are zeros, and what is literal can be encoded
// again.
func FuzzDecode(f *testing.F) {
	insts := mma.Arithmetics()
	f.Add([]byte(nil))
	for g := range generators {
		f.Add([]byte{byte(g + 1)})
		f.Add(append([]byte{byte(g + 1), 3, 0}, slices.Repeat([]byte{0xff}, 200)...))
	}
	for n := range insts {
		f.Add([]byte{0, byte(n), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
		f.Add(append([]byte{byte(n), byte(n), byte(n)}, slices.Repeat([]byte{0x80, 1}, 50)...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		i, d := Decode(data, insts)
		checkCodes(t, Spec{i.Formats, i.K}, d)
		j, e := Decode(append(slices.Clone(data), make([]byte, 1+len(data)%9)...), insts)
		if i != j || !d.Equal(e) {
			t.Errorf("with zeros behind: %s %v, without %s %v", j.FullName(), e, i.FullName(), d)
		}
		index := slices.IndexFunc(insts, func(o mma.Instruction) bool { return o == *i })
		k, back := Decode(Encode(insts, index, d), insts)
		if k != i || !back.Equal(d) {
			t.Errorf("%s %v is encoded as %s %v", i.FullName(), d, k.FullName(), back)
		}
	})
}

// TestEncode checks that Decode undoes Encode.
func TestEncode(t *testing.T) {
	insts := mma.Arithmetics()
	for n := range insts {
		sp := Spec{insts[n].Formats, insts[n].K}
		for g := range generators {
			src := Source{Generator: &generators[g]}
			d := src.Dot(sp, 7, 3)
			i, back := Decode(Encode(insts, n, d), insts)
			if i != &insts[n] || !back.Equal(d) {
				t.Fatalf("%s %s: %v came back as %v", insts[n].FullName(), src, d, back)
			}
		}
	}
	if i, d := Decode(nil, insts); i != &insts[0] || !d.Equal(mma.NewDot(i.Formats, i.K)) {
		t.Error("no bytes are not all zeros")
	}
}

// TestCorners checks that the classes of corners, multiplied, are their number, and that the
// first round has all of them.
func TestCorners(t *testing.T) {
	g, err := Find("corner")
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range map[fp.ID]uint64{fp.FP32: g.Once, fp.None: 2520} {
		if n := g.Size(Spec{mma.Formats{A: fp.FP16, B: fp.FP16, C: c, D: fp.FP32}, 8}); n != want {
			t.Errorf("%d corners with %s as c, want %d", n, c, want)
		}
	}
	// The largest sum: all lanes with all significands of all ones, plus, and c too.
	sp := Spec{mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, 4}
	found := 0
	for i := range g.Size(sp) {
		d := (Source{Generator: g}).Dot(sp, 1, i)
		ok := d.C>>23 == 127 && d.C&(1<<23-1) == 1<<23-1
		for k := range d.A {
			ok = ok && d.A[k] == 0x3fff && d.B[k] == 0x3fff
		}
		if ok {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d cases of the largest sum, want 1", found)
	}
}

// TestLongProbe asks for rounds of very long dot products: those that would not fit into
// memory have none.
func TestLongProbe(t *testing.T) {
	tier.SkipUnderRace(t)
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	if n := len(Probe(Spec{Formats: f, K: 65024}, 1, 0)); n == 0 {
		t.Error("no first round")
	}
	if n := len(Probe(Spec{Formats: f, K: 65024}, 1, 4)); n != 0 {
		t.Errorf("a round of %d", n)
	}
	if n := len(Probe(Spec{Formats: f, K: mma.MaxK}, 1, 8)); n == 0 {
		t.Error("no last round of programs")
	}
}

// TestAllCodes compares the inputs that are made as a batch with those made one by one.
func TestAllCodes(t *testing.T) {
	codes, err := Find("codes")
	if err != nil {
		t.Fatal(err)
	}
	single := *codes
	single.all = nil
	for _, a := range []fp.ID{fp.FP64, fp.FP32, fp.TF32, fp.FP16, fp.E4M3, fp.E2M1} {
		for _, f := range []mma.Formats{
			{A: a, B: fp.One, D: fp.FP16}, {A: a, B: fp.FP16, D: fp.FP16}, {A: a, B: fp.One, C: fp.FP32, D: fp.FP32},
		} {
			for _, k := range []int{1, 2} {
				shape := mma.Shape{M: 1, N: 1, K: k, Tiles: 1000}
				got, want := mma.NewBatch(f, shape), mma.NewBatch(f, shape)
				for i := range got.B {
					got.B[i] = 0xff // as an earlier batch may leave it
				}
				Source{Generator: codes}.Fill(got, 1, 1<<33+12345)
				Source{Generator: &single}.Fill(want, 1, 1<<33+12345)
				if string(got.A) != string(want.A) || string(got.B) != string(want.B) || string(got.C) != string(want.C) {
					t.Errorf("%v, k = %d: other inputs", f, k)
				}
			}
		}
	}
}
