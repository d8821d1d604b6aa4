package invariance_test

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/exec" // exec:
	"github.com/mmafuzz/mmafuzz/devices/open"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/invariance"
)

// spoilt is a model whose results of a batch are changed by something that is no operand of theirs.
type spoilt struct {
	devices.Unit
	i     mma.Instruction
	calls atomic.Uint64
	spoil func(calls uint64, in *mma.Batch, out []byte)
}

func (u *spoilt) Instruction() *mma.Instruction { return &u.i }

func (u *spoilt) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if err := u.Unit.Run(ctx, in, out); err != nil {
		return err
	}
	u.spoil(u.calls.Add(1), in, out)
	return nil
}

// flip changes the last bit of some results.
func flip(in *mma.Batch, out []byte, some func(tile, row, column int) bool) {
	for o := range in.Dots() {
		if size := in.M * in.N; some(o/size, o%size/in.N, o%in.N) {
			out[4*o] ^= 1
		}
	}
}

// TestAnswers asks units that depend on one thing.
func TestAnswers(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(calls uint64, in *mma.Batch, out []byte)
		want  string // the questions that are answered by yes
		there string // of the last of these
	}{
		{"nothing", func(uint64, *mma.Batch, []byte) {}, "", ""},
		{"the run", func(calls uint64, in *mma.Batch, out []byte) {
			flip(in, out, func(int, int, int) bool { return calls%3 == 0 })
		}, "run", "in a tile of its own"},
		{"the request", func(_ uint64, in *mma.Batch, out []byte) {
			flip(in, out, func(tile, _, _ int) bool { return in.Dots() == 1 })
		}, "request", "in a request of its own"},
		{"the place", func(_ uint64, in *mma.Batch, out []byte) {
			flip(in, out, func(_, row, column int) bool { return row == 2 && column == 1 })
		}, "place", "in a tile of 3x3, row 2, column 1"},
		{"the size", func(_ uint64, in *mma.Batch, out []byte) {
			flip(in, out, func(int, int, int) bool { return in.M >= 4 })
		}, "size", "in a tile of 4x1, row 0, column 0"},
		{"the row above", func(_ uint64, in *mma.Batch, out []byte) {
			flip(in, out, func(tile, row, _ int) bool {
				at := (tile*in.M + row) * in.K
				return row > 0 && mma.Load(in.A, 2, at) != mma.Load(in.A, 2, at-in.K)
			})
		}, "neighbours", "in a tile of 2x1, row 1, column 0, beside normal numbers"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			target, u, err := open.Unit("sim:hopper", "mma.m16n8k8.f32.f16.f16.f32", "")
			if err != nil {
				t.Fatal(err)
			}
			s := &spoilt{Unit: u, i: *u.Instruction(), spoil: tc.spoil}
			s.i.M, s.i.N = mma.Range{Min: 1, Max: 5, Step: 1}, mma.Range{Min: 1, Max: 5, Step: 1}
			q := invariance.Questions{Count: 8, Seed: 1, Open: func(string) (devices.Target, devices.Unit, error) { return target, s, nil }}
			var yes []string
			there := ""
			if err := q.Run(t.Context(), func(a *invariance.Answer) error {
				if a.Depends == invariance.Yes {
					yes, there = append(yes, a.Question), a.There
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(yes, " "); got != tc.want || there != tc.there {
				t.Errorf("depends on %q, %q; want %q, %q", got, there, tc.want, tc.there)
			}
		})
	}
}

// TestLibraries asks libraries that multiply matrices. Their results may depend on the size and the
// place, never on the run, or on rows and columns of others.
func TestLibraries(t *testing.T) {
	python := cmp.Or(os.Getenv("MMAFUZZ_PYTHON"), "python3")
	for _, tc := range []struct{ module, child string }{
		{"numpy", "numpy_matmul.py --type f32"},
		{"torch", "torch_matmul.py --type bf16 --op addmm"},
		{"torch", "torch_matmul.py --type f32"},
	} {
		t.Run(tc.child, func(t *testing.T) {
			if tc.module == "torch" && !tier.Long() {
				t.Skip("starts a large library: only with " + tier.Variable)
			}
			if err := exec.Command(python, "-c", "import "+tc.module).Run(); err != nil {
				t.Skipf("the package %s is not here: NOT TESTED", tc.module)
			}
			name := "exec:" + python + " " + filepath.Join("../../devices/exec/children", tc.child) + " -k 64 --fit --size 17x17"
			q := invariance.Questions{Count: 16, Seed: 1, Open: func(string) (devices.Target, devices.Unit, error) { return open.Live(name, "", "") }}
			if err := q.Run(t.Context(), func(a *invariance.Answer) error {
				t.Logf("%+v", *a)
				switch a.Question {
				case "run", "request", "neighbours":
					if a.Depends != invariance.No {
						t.Errorf("%s matters: %s", a.Question, a.Input)
					}
				case "size":
					if a.Differ == 0 && a.Kinds != nil {
						t.Errorf("sizes are of %d kinds and never differ", len(a.Kinds))
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
