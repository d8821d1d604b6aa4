package kernel

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// writtenC is written with a C, of which f gets an element.
type writtenC struct {
	inst *mma.Instruction
	f    func(a, b []float64, c float64) float64
}

func (w *writtenC) Instruction() *mma.Instruction { return w.inst }
func (w *writtenC) Model() *mma.Params            { return nil }
func (w *writtenC) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	size := in.M * in.N
	for t := range in.Tiles {
		p := in.Part(t, 1)
		c := numbersOf(p.C, w.inst.C)
		one := written{inst: w.inst, f: func(a, b []float64, row, column int) float64 {
			return w.f(a[row*in.K:][:in.K], b[column*in.K:][:in.K], c[row*in.N+column])
		}}
		if err := one.Run(ctx, p, out[t*size*w.inst.D.Width():][:size*w.inst.D.Width()]); err != nil {
			return err
		}
	}
	return nil
}

// TestAddend infers products to which a C is added, in the ways that are known and in two that are not.
func TestAddend(t *testing.T) {
	bf16 := func(v float64) float64 { // of a number of FP32
		u := math.Float32bits(float32(v))
		if v == v {
			u = (u + 0x7fff + u>>16&1) &^ 0xffff
		}
		return float64(math.Float32frombits(u))
	}
	chain := func(c float64, a, b []float64) float64 { return chain32(c, a, b, stride(0, len(a), 1)...) }
	lanes := func(c float64, a, b []float64) float64 {
		return float64(float32(chain32(c, a, b, stride(0, len(a), 2)...)) + float32(chain32(0, a, b, stride(1, len(a), 2)...)))
	}
	negative := func(a, b []float64, ks ...int) float64 { return chain32(math.Copysign(0, -1), a, b, ks...) }
	of := func(ab, c, d fp.ID) mma.Formats { return mma.Formats{A: ab, B: ab, C: c, D: d} }
	single := of(fp.FP32, fp.FP32, fp.FP32)
	for _, tc := range []struct {
		name string
		mma.Formats
		want string // how C is added; "": it is not known
		json string // in the kernel
		f    func(a, b []float64, c float64) float64
	}{
		{"first", single, "first", `"c_first":true`, func(a, b []float64, c float64) float64 { return chain(c, a, b) }},
		{"last", single, "to the sum", `"epilogue":[{"op":"c"}]`, func(a, b []float64, c float64) float64 { return float64(float32(chain(0, a, b)) + float32(c)) }},
		{"half of it", single, "times beta, in one rounding", `"epilogue":[{"op":"beta-c"}]`, func(a, b []float64, c float64) float64 { return float64(float32(chain(0, a, b) + 0.5*c)) }},
		{"three tenths of it", single, "times beta, rounded", `"epilogue":[{"op":"beta-c-mul"}]`, func(a, b []float64, c float64) float64 {
			return float64(float32(chain(0, a, b)) + float32(float32(0.3)*float32(c)))
		}},
		{"twice", single, "", "", func(a, b []float64, c float64) float64 { return chain(2*c, a, b) }},
		{"never", single, "nowhere", "", func(a, b []float64, c float64) float64 { return chain(0, a, b) }},
		{"in the first lane", single, "first", `"c_first":true`, func(a, b []float64, c float64) float64 { return lanes(c, a, b) }},
		{"after lanes that begin with nothing", single, "to the sum", `"start":"empty"`, func(a, b []float64, c float64) float64 {
			return float64(float32(negative(a, b, stride(0, len(a), 2)...)) + float32(negative(a, b, stride(1, len(a), 2)...)) + float32(c))
		}},
		{"before the sum is rounded", of(fp.BF16, fp.FP32, fp.BF16), "to the sum", `"epilogue":[{"op":"c"},{"op":"cast","format":"bf16"}]`, func(a, b []float64, c float64) float64 {
			return float64(float32(chain(0, a, b)) + float32(c))
		}},
		{"after the sum is rounded", of(fp.BF16, fp.BF16, fp.BF16), "to the rounded sum", `{"op":"c","format":"fp32"}`, func(a, b []float64, c float64) float64 {
			return float64(float32(bf16(chain(0, a, b))) + float32(c))
		}},
		{"of FP16, first", of(fp.FP16, fp.FP16, fp.FP32), "first", `"c_first":true`, func(a, b []float64, c float64) float64 { return chain(c, a, b) }},
		{"to a multiple", single, "to the scaled sum", `"epilogue":[{"op":"alpha","factor":0.3},{"op":"c"}]`, func(a, b []float64, c float64) float64 {
			return float64(float32(float32(chain(0, a, b))*float32(0.3)) + float32(c))
		}},
		{"half of it, to a multiple", single, "times beta, to the scaled sum in one rounding", `"epilogue":[{"op":"alpha","factor":0.3},{"op":"beta-c"}]`, func(a, b []float64, c float64) float64 {
			return float64(float32(float64(float32(chain(0, a, b))*float32(0.3)) + 0.5*c))
		}},
		{"rounded to BF16", single, "", "", func(a, b []float64, c float64) float64 { return chain(bf16(c), a, b) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := schedule.Shape{M: 2, N: 3, K: 12}
			h := &writtenC{matmul(tc.Formats, s, nil).inst, tc.f}
			r, err := Infer(t.Context(), h, s, Options{Seed: 1, Checks: tier.Of(5_000, 5_000, 200_000, 1_000_000), Policy: oracle.Policy{NaN: oracle.ByClass}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != Found {
				t.Fatalf("%s: %s", r.Verdict, r.Why)
			}
			i := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == "addend" })
			if tc.want == "" {
				if w := r.Witness; i >= 0 || r.Restricted != onlyWithoutC || r.Kernel.AddsC() || w == nil || w.C == "" || w.D == w.Model {
					t.Errorf("restricted: %q, witness %+v, fields %+v", r.Restricted, r.Witness, r.Fields)
				}
				return
			}
			kernel := strings.Join(strings.Fields(text(r.Kernel)), "")
			if i < 0 || r.Fields[i].Value != tc.want || !strings.Contains(kernel, tc.json) || r.Restricted != "" || len(r.Fields[i].Open) > 0 {
				t.Errorf("%+v, want %s and %s, in %s", r.Fields[i:], tc.want, tc.json, kernel)
			}
			if r.addendWords() == "" {
				t.Error("nothing is said of C")
			}
		})
	}
}
