package kernel

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// written computes products of matrices of any formats by a function, which is given the numbers of all
// of A, row after row, and of B, column after column.
type written struct {
	inst *mma.Instruction
	f    func(a, b []float64, row, column int) float64
	code func(v float64) uint64 // of a result; nil: rounded to nearest even
}

func newWritten(f mma.Formats, s schedule.Shape, of func(a, b []float64, row, column int) float64) *written {
	return &written{inst: matmul(f, s, nil).inst, f: of}
}

func (w *written) Instruction() *mma.Instruction { return w.inst }
func (w *written) Model() *mma.Params            { return nil }
func (w *written) Run(_ context.Context, in *mma.Batch, out []byte) error {
	d := w.inst.D
	for t := range in.Tiles {
		p := in.Part(t, 1)
		a, b := numbersOf(p.A, w.inst.A), numbersOf(p.B, w.inst.B)
		for i := range in.M * in.N {
			v := w.f(a, b, i/in.N, i%in.N)
			code := uint64(0)
			switch {
			case w.code != nil:
				code = w.code(v)
			case math.IsNaN(v):
				code = d.Get().QuietNaN(false)
			case math.IsInf(v, 0) || math.Abs(v) >= math.Ldexp(2-math.Ldexp(1, -int(d.Get().FracBits)-1), int(d.Get().Emax())):
				code = d.Get().InfCode(v < 0)
			default:
				code = d.Get().FromFloat64(v)
			}
			mma.Store(out, d.Width(), t*in.M*in.N+i, code)
		}
	}
	return nil
}

func numbersOf(codes []byte, id fp.ID) []float64 {
	all := make([]float64, len(codes)/id.Width())
	for i := range all {
		all[i] = id.Get().Float64(mma.Load(codes, id.Width(), i))
	}
	return all
}

// chain32 adds the products of some k to a sum in FP32, each by an FMA.
func chain32(s float64, a, b []float64, ks ...int) float64 {
	x := float32(s)
	for _, k := range ks {
		x = fma(float32(a[k]), float32(b[k]), x)
	}
	return float64(x)
}

func (w *written) infer(t *testing.T, s schedule.Shape) *Result {
	t.Helper()
	r, err := Infer(t.Context(), w, s, Options{Seed: 1, Checks: 20_000, Policy: oracle.Policy{NaN: oracle.ByClass}})
	if err != nil {
		t.Fatal(err)
	}
	short := ""
	if r.Kernel != nil {
		short = strings.Join(strings.Fields(text(r.Kernel)), "")
	}
	t.Logf("%s: %s %s", r.Verdict, r.Why, short)
	return r
}

// writtens are kernels of other formats than FP32, and of so few products that many schedules have the same
// partial sums.
var writtens = []struct {
	name string
	mma.Formats
	schedule.Shape
	want string // the end of the kernel, without spaces; or a reason
	f    func(a, b []float64) float64
}{
	{"FP64, the last block of 32 is one product", mma.Formats{A: fp.FP64, B: fp.FP64, D: fp.FP64}, schedule.Shape{M: 2, N: 2, K: 33},
		`[{"cut":{"by":"size","n":32},"merge":{"order":"forward","start":"zero"}}]`, func(a, b []float64) (s float64) {
			for k := 0; k < 32; k++ {
				s = math.FMA(a[k], b[k], s)
			}
			return 0 + s + a[32]*b[32]
		}},
	{"the last block of 17 is one product", mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}, schedule.Shape{M: 1, N: 1, K: 18},
		`[{"cut":{"by":"size","n":17},"merge":{"order":"forward","start":"zero"}}]`, func(a, b []float64) float64 {
			return float64(0 + float32(chain32(0, a, b, stride(0, 17, 1)...)) + float32(chain32(0, a, b, 17)))
		}},
	{"BF16, the second of each pair first", mma.Formats{A: fp.BF16, B: fp.BF16, D: fp.FP32}, schedule.Shape{M: 2, N: 2, K: 21},
		`[{"cut":{"by":"size","n":2},"merge":{"order":"chain"}},{"cut":{"by":"size","n":1},"merge":{"order":"chain-reverse"}}]`, func(a, b []float64) (s float64) {
			for k := 0; k+1 < len(a); k += 2 {
				s = chain32(s, a, b, k+1, k)
			}
			return chain32(s, a, b, len(a)-1)
		}},
	{"a sum in FP64, rounded and added to a C of zeros", mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}, schedule.Shape{M: 2, N: 2, K: 21},
		`[{"cut":{"by":"size","n":21},"merge":{"order":"forward","format":"fp32","parts":"fp32","start":"zero"}}]`, func(a, b []float64) (s float64) {
			for k := range a {
				s += a[k] * b[k]
			}
			return float64(0 + float32(s))
		}},
	{"runs of six, last first", mma.Formats{A: fp.BF16, B: fp.BF16, D: fp.FP32}, schedule.Shape{M: 2, N: 2, K: 21},
		`[{"cut":{"by":"size","n":6},"merge":{"order":"chain-reverse"}}]`, func(a, b []float64) (s float64) {
			for k := 18; k >= 0; k -= 6 {
				s = chain32(s, a, b, stride(k, min(k+6, len(a)), 1)...)
			}
			return s
		}},
}

// float32s adds products in FP32, each by an FMA.
func float32s(a, b []float64) float64 { return chain32(0, a, b, stride(0, len(a), 1)...) }

// casts are kernels that end in a cast, each with how it rounds: fma and mul-add chains in FP32.
var casts = []struct {
	name string
	d    fp.ID
	want string
	code func(sum float32) uint64
}{
	{"BF16, bits are dropped", fp.BF16, `{"op":"cast","format":"bf16","round":"zero"}`, func(x float32) uint64 {
		if x != x {
			return 0x7fc0
		}
		return uint64(math.Float32bits(x) >> 16)
	}},
	{"BF16, half a unit is added", fp.BF16, `{"op":"cast","format":"bf16","round":"away"}`, func(x float32) uint64 {
		if x != x {
			return 0x7fc0
		}
		return uint64((math.Float32bits(x) + 0x8000) >> 16)
	}},
	{"BF16, subnormal numbers are zeros", fp.BF16, `{"op":"cast","format":"bf16","subnormals":"zero"}`, func(x float32) uint64 {
		if x != x {
			return 0x7fc0
		}
		return uint64(math.Float32bits(bf16(flushed(x))) >> 16)
	}},
	{"FP16, the largest number instead of infinities", fp.FP16, `{"op":"cast","format":"fp16","saturate":true}`, func(x float32) uint64 {
		if x != x {
			return 0x7e00
		}
		return fp.FP16.Get().FromFloat64(min(max(float64(x), -65504), 65504))
	}},
	{"FP16, but NaN is zero", fp.FP16, "no unit that is known here gives its results with ", func(x float32) uint64 {
		if x != x {
			return 0
		}
		return fp.FP16.Get().FromFloat64(min(max(float64(x), -65504), 65504))
	}},
}

// TestCasts infers the kernels of casts.
func TestCasts(t *testing.T) {
	for n, tc := range casts {
		if n%tier.Of(5, 5, 1) != 0 {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			s := schedule.Shape{M: 2, N: 3, K: 21}
			in := tc.d
			w := newWritten(mma.Formats{A: in, B: in, D: tc.d}, s, func(a, b []float64, row, column int) float64 {
				return float32s(a[row*s.K:][:s.K], b[column*s.K:][:s.K])
			})
			w.code = func(v float64) uint64 { return tc.code(float32(v)) }
			r := w.infer(t, s)
			if got := r.Why + strings.Join(strings.Fields(text(r.Kernel)), ""); !strings.Contains(got, tc.want) {
				t.Errorf("%s, want %s", got, tc.want)
			}
			if r.Verdict == Found {
				told := 0
				for _, f := range r.Fields {
					if strings.HasPrefix(f.Name, "epilogue[0].") && f.distinguished() {
						told++
					}
				}
				if told != 3 {
					t.Errorf("%d fields of the cast are distinguished, not 3: %+v", told, r.Fields)
				}
			}
		})
	}
}

// TestRoundedWords has what a report says of the end of a sum.
func TestRoundedWords(t *testing.T) {
	for kernel, want := range map[string]string{
		`"epilogue": [{"op": "cast", "format": "bf16"}]`:                                                                                                                 "The sum is rounded to bf16.",
		`"epilogue": [{"op": "cast", "format": "bf16", "round": "zero"}]`:                                                                                                "The sum is rounded to bf16 towards zero.",
		`"epilogue": [{"op": "cast", "format": "bf16", "round": "away"}]`:                                                                                                "The sum is rounded to bf16, to nearest, away from zero where two numbers are as near.",
		`"epilogue": [{"op": "cast", "format": "fp16", "saturate": true}]`:                                                                                               "The sum is rounded to fp16; what is too large, and an infinity, becomes the largest number.",
		`"epilogue": [{"op": "cast", "format": "bf16", "subnormals": "zero"}]`:                                                                                           "The sum is rounded to bf16; subnormal numbers become zeros.",
		`"schedules": [{"levels": [{"cut": {"by": "lanes", "n": 4}, "tail": {"of": 4, "into": "deal", "last": true}, "merge": {"order": "forward"}}]}]`:                  "The last products of K = 9 beyond a multiple of 4, k 8, are dealt to the last of these accumulators, after their own.",
		`"schedules": [{"levels": [{"cut": {"by": "lanes", "n": 4}, "tail": {"of": 5, "into": "lane", "last": true, "reverse": true}, "merge": {"order": "forward"}}]}]`: "The last products of K = 9 beyond a multiple of 5, k 5..8, are added by the last accumulator, after its own, last first.",
		`"schedules": [{"levels": [{"cut": {"by": "lanes", "n": 4}, "tail": {"of": 5, "into": "lane", "front": true}, "merge": {"order": "forward"}}]}]`:                 "The first products of K = 9 beyond a multiple of 5, k 0..3, are added by the first accumulator, before its own.",
		`"schedules": [{"levels": [{"cut": {"by": "pairwise", "n": 3}, "merge": {"order": "pairwise"}}]}]`:                                                               "K = 9 is cut into 4 blocks: k 0..1; k 2..3; k 4..5; k 6..8. Each block has a sum of its own; these are added: the sum of the first half of all products and that of the second, each of which is halved in the same way until it is a block, rounded to fp32.",
		`"schedules": [{"levels": [{"cut": {"by": "size", "n": 9}, "merge": {"order": "forward", "parts": "fp32", "start": "zero"}}]}]`:                                  "The sum of K = 9 is rounded to fp32 and added to zero in the end, as if C were cleared first: no result is -0.",
		`"schedules": [{}]`: "One accumulator adds all products one after the other, ascending in k: a fused multiply-add in fp32",
		`"schedules": [{"levels": [{"cut": {"by": "lanes", "n": 2}, "merge": {"order": "forward"}}]}]`:               "these are added: first + second, rounded to fp32. Each lane has an accumulator, which adds its products one after the other, ascending in k: ",
		`"schedules": [{"levels": [{"cut": {"by": "size", "n": 4}, "merge": {"order": "chain", "store": "bf16"}}]}]`: "The accumulator adds the products of each block one after the other, ascending in k: ",
		`"schedules": [{"levels": [{"cut": {"by": "lanes", "n": 4}, "merge": {"order": "1-2"}}]}]`:                   "these are added: those 1 apart, then those 2 apart, until one is left, rounded to fp32.",
	} {
		if !strings.Contains(kernel, "schedules") {
			kernel += `, "schedules": [{}]`
		}
		k := read(t, `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, `+kernel+`}`)
		if got := strings.Join(words(k, &k.Schedules[0], 9), " "); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestWritten infers the kernels of writtens.
func TestWritten(t *testing.T) {
	for n, tc := range writtens {
		if n%tier.Of(4, 4, 1) != 0 {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			r := newWritten(tc.Formats, tc.Shape, func(a, b []float64, row, column int) float64 {
				return tc.f(a[row*tc.K:][:tc.K], b[column*tc.K:][:tc.K])
			}).infer(t, tc.Shape)
			if got := r.Why + strings.Join(strings.Fields(text(r.Kernel)), ""); !strings.Contains(got, tc.want) {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// TestWhy has the ways in which a search may end.
func TestWhy(t *testing.T) {
	for _, tc := range []struct {
		schedules   int
		tried, more bool
		spent       bool
		want        string
	}{
		{0, false, false, true, "no schedule with its partial sums was found in the time that a search takes at most: "},
		{0, false, false, false, "its partial sums are those of no schedule that can be described: "},
		{7, true, false, false, "of the schedules that have its partial sums only the first 7 were tried, and no unit that is known here gives its results with one of these: "},
		{7, false, true, false, "of the schedules that have its partial sums only the first 7 were tried, and no unit that is known here gives its results with one of these: "},
		{7, false, false, true, "of the schedules that have its partial sums only the first 7 were tried, and no unit that is known here gives its results with one of these: "},
		{7, false, false, false, "no unit that is known here gives its results with one of the 7 schedules that were found to have its partial sums: "},
		{1, false, false, false, "no unit that is known here gives its results with the one schedule that was found to have its partial sums: "},
	} {
		e := &enumeration{ctx: t.Context(), sums: newSums(2), more: tc.more}
		if tc.spent {
			e.work = 1 << 62
		}
		if got := e.why(tc.schedules, tc.tried); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

// TestOpenWords has what a report says of fields that were not determined.
func TestOpenWords(t *testing.T) {
	for _, tc := range []struct {
		field     Field
		schedules int
		want      string
	}{
		{Field{Name: "levels[0].merge.order", Value: "forward", Open: []string{"reverse"}}, 1, "the order in which partial sums are added (levels[0].merge.order may be forward or reverse)"},
		{Field{Schedule: 1, Name: "unit.start", Value: "default", Open: []string{"empty", "second"}}, 2, "to what the first product is added (schedule 1, unit.start may be default or empty or second)"},
		{Field{Name: "levels[0].cut.n", Value: "4", Open: []string{"8"}}, 1, "levels[0].cut.n may be 4 or 8"},
	} {
		if got := tc.field.openWords(tc.schedules); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}
