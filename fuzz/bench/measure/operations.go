package measure

import (
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Operation is an instruction whose model is measured.
type Operation struct {
	Name string // operation/format/architecture
	Arch string
	Inst string
}

// Operations has an instruction for each operation and operand format.
var Operations = []Operation{
	{"t-fdpa/fp16/ampere", "ampere", "mma.m16n8k16.f32.f16.f16.f32"},
	{"t-fdpa/fp16/hopper", "hopper", "mma.m16n8k16.f32.f16.f16.f32"},
	{"t-fdpa/fp16-fp16/hopper", "hopper", "mma.m16n8k16.f16.f16.f16.f16"},
	{"t-fdpa/bf16/hopper", "hopper", "mma.m16n8k16.f32.bf16.bf16.f32"},
	{"t-fdpa/tf32/hopper", "hopper", "mma.m16n8k8.f32.tf32.tf32.f32"},
	{"t-fdpa/e4m3/hopper", "hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"},
	{"t-fdpa/e5m2/blackwell", "blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f32.e5m2.e5m2"},
	{"t-fdpa/e3m2-e2m3/blackwell", "blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f32.e3m2.e2m3"},
	{"t-fdpa/e2m1/blackwell", "blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f32.e2m1.e2m1"},
	{"t-fdpa/e4m3-fp16/blackwell", "blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f16.e4m3.e4m3"},
	{"st-fdpa/e4m3/blackwell", "blackwell", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"},
	{"gst-fdpa/e2m1/blackwell", "blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"},
	{"split-hmma/e4m3/hopper", "hopper", "mma.m16n8k32.f32.e4m3.e4m3.f32"},
	{"e-fdpa/fp16/cdna1", "cdna1", "v_mfma_f32_16x16x16f16"},
	{"e-fdpa/bf16/cdna1", "cdna1", "v_mfma_f32_16x16x8bf16"},
	{"ftz-addmul/fp16/cdna2", "cdna2", "v_mfma_f32_16x16x16f16"},
	{"ftz-addmul/bf16/cdna2", "cdna2", "v_mfma_f32_16x16x16bf16_1k"},
	{"tr-fdpa/fp16/cdna3", "cdna3", "v_mfma_f32_16x16x16_f16"},
	{"tr-fdpa/bf16/cdna3", "cdna3", "v_mfma_f32_16x16x16_bf16"},
	{"tr-fdpa/xf32/cdna3", "cdna3", "v_mfma_f32_16x16x8_xf32"},
	{"gtr-fdpa/fp8/cdna3", "cdna3", "v_mfma_f32_16x16x32_fp8_fp8"},
	{"fma/fp32/cdna3", "cdna3", "v_mfma_f32_16x16x4_f32"},
	{"fma/fp64/hopper", "hopper", "mma.m16n8k16.f64.f64.f64.f64"},
}

// Products is the unit of the measurements: the products of an m16n8k16 tile.
const Products = 16 * 8 * 16

// Tiles is how many tiles a batch has: so many that the fixed cost of a batch does not
// count, and so few that they fit a cache.
const Tiles = 64

// Shape returns the shape of a batch of m16n8k16 tiles, or of tiles with the instruction's K
// if that is larger. An instruction with a smaller K is executed repeatedly, as in a GEMM.
func Shape(i *mma.Instruction, tiles int) mma.Shape {
	return mma.Shape{M: 16, N: 8, K: max(i.K, 16/i.K*i.K), Tiles: tiles}
}

// Inputs are what batches are filled with.
type Inputs string

// The inputs.
const (
	Raw    Inputs = "raw"    // random bits: most rows and columns have an Inf or a NaN, if the format has these
	Finite Inputs = "finite" // finite numbers, with every exponent field equally often
)

// Batch returns a batch that depends on nothing but the arguments.
func Batch(i *mma.Instruction, s mma.Shape, seed uint64, what Inputs) *mma.Batch {
	r := rand.New(rand.NewPCG(seed, 1))
	b := mma.NewBatch(i.Formats, s)
	for _, o := range []struct {
		buf []byte
		id  fp.ID
	}{{b.A, i.A}, {b.B, i.B}, {b.C, i.C}, {b.SA, i.Scale}, {b.SB, i.Scale}} {
		if o.id == fp.None {
			continue
		}
		f := o.id.Get()
		for n := range len(o.buf) / int(f.Width) {
			code := r.Uint64() & f.CodeMask()
			if what == Finite {
				code = finite(r, f)
			}
			mma.Store(o.buf, int(f.Width), n, code)
		}
	}
	return b
}

// finite returns a finite number with a random exponent field, the lowest included.
func finite(r *rand.Rand, f *fp.Format) uint64 {
	field := uint64(r.IntN(int(f.Emax()-f.Emin()) + 2))
	code := (r.Uint64()&(1<<f.FracBits-1) | field<<f.FracBits) << f.Low
	code = min(code, f.MaxFinite()) | r.Uint64()&f.SignBit()
	if f.Specials == fp.NegZeroNaN && code == f.SignBit() {
		return 0
	}
	return code
}
