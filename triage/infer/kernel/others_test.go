package kernel

import (
	"fmt"
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

// TestOthers has products whose elements depend on other rows and columns than their own. The witness has
// the fewest of these, and the function gives what it says.
func TestOthers(t *testing.T) {
	f := mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}
	s := schedule.Shape{M: 5, N: 5, K: 20}
	line := func(x []float64, n int) []float64 { return x[n*s.K:][:s.K] }
	chain := func(a, b []float64, row, column int) float64 {
		return chain32(0, line(a, row), line(b, column), stride(0, s.K, 1)...)
	}
	for _, tc := range []struct {
		name string
		want []string // the other lines; nil: it depends on none
		f    func(a, b []float64, row, column int) float64
	}{
		{"own", nil, func(a, b []float64, row, column int) float64 {
			return max(-1, chain(a, b, row, column))
		}},
		{"transposed", []string{"row ROW of A", "column COLUMN of B"}, func(a, b []float64, row, column int) float64 { return chain(a, b, column, row) }},
		{"shifted", []string{"row ROW of A"}, func(a, b []float64, row, column int) float64 { return chain(a, b, (row+1)%s.M, column) }},
		{"added to the last column", []string{"column 4 of B"}, func(a, b []float64, row, column int) float64 {
			return chain(a, b, row, column) + 0*b[0] + b[4*s.K+3]
		}},
		{"one row in another order", []string{"row 2 of A"}, func(a, b []float64, row, column int) float64 {
			if row != 2 && a[2*s.K] < 0 {
				return chain32(chain32(0, line(a, row), line(b, column), stride(7, s.K, 1)...), line(a, row), line(b, column), stride(0, 7, 1)...)
			}
			return chain(a, b, row, column)
		}},
		{"the same in all rows", []string{"row 0 of A", "row 1 of A", "row 2 of A", "row 3 of A", "row 4 of A"}, func(a, b []float64, row, column int) float64 {
			for other := range s.M {
				if !slices.Equal(line(a, other), line(a, row)) {
					return chain(a, b, row, column)
				}
			}
			return 1 + chain(a, b, row, column)
		}},
	}[:tier.Of(1, 2, 6)] {
		t.Run(tc.name, func(t *testing.T) {
			h := newWritten(f, s, tc.f)
			r := h.infer(t, s)
			w := r.Witness
			if r.Verdict != Unexplained || w == nil {
				t.Fatalf("%s", r.Verdict)
			}
			if tc.want == nil {
				if w.Others != nil || w.Alone != "" {
					t.Errorf("%s", w)
				}
				return
			}
			var want, got []string
			for _, name := range tc.want {
				name = strings.NewReplacer("ROW", fmt.Sprint(w.Column), "COLUMN", fmt.Sprint(w.Row)).Replace(name)
				if tc.name == "shifted" {
					name = fmt.Sprintf("row %d of A", (w.Row+1)%s.M)
				}
				if name != fmt.Sprintf("row %d of A", w.Row) {
					want = append(want, name)
				}
			}
			a, b := make([]float64, s.M*s.K), make([]float64, s.N*s.K)
			fill := func(to []float64, codes []string) {
				for k, code := range codes {
					var c uint64
					if _, err := fmt.Sscanf(code, "%x", &c); err != nil {
						t.Fatal(err)
					}
					to[k] = fp.FP32.Get().Float64(c)
				}
			}
			check := func(want string) {
				t.Helper()
				if got := fmt.Sprintf("%08x", math.Float32bits(float32(tc.f(a, b, w.Row, w.Column)))); got != want {
					t.Errorf("%s, not %s", got, want)
				}
			}
			fill(line(a, w.Row), w.A)
			fill(line(b, w.Column), w.B)
			check(w.Alone)
			for i := range w.Others {
				o := &w.Others[i]
				got = append(got, o.String())
				fill(line(map[string][]float64{"A": a, "B": b}[o.Of], o.Number), o.Codes)
			}
			check(w.D)
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if why := fmt.Sprintf("element (%d,%d) depends on more than its row of A and its column of B: where all others are zeros it is %s, and with other numbers in ", w.Row, w.Column, w.Alone); !strings.HasPrefix(r.Why, why) || w.Model != "" {
				t.Errorf("%s", r.Why)
			}
			report := Report{Result: r}
			if page := fmt.Sprint(report.found()); !strings.Contains(page, "and "+w.Alone+" where all other rows of A and columns of B are zeros") {
				t.Error(page)
			}
		})
	}
}

// TestAlternates has a product whose results change with a period that divides the number of products that are
// asked again.
func TestAlternates(t *testing.T) {
	s := schedule.Shape{M: 4, N: 4, K: 12}
	calls := 0
	h := newWritten(mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}, s, func(a, b []float64, row, column int) float64 {
		calls++
		ks := stride(0, s.K, 1)
		if (calls-1)/(4*s.M*s.N)%2 == 1 {
			slices.Reverse(ks)
		}
		return chain32(0, a[row*s.K:][:s.K], b[column*s.K:][:s.K], ks...)
	})
	if r := h.infer(t, s); r.Verdict != Varies {
		t.Errorf("%s: %s", r.Verdict, r.Why)
	}
}

// TestChanges asks about a product whose results change after they were found to depend on others: nothing is said.
func TestChanges(t *testing.T) {
	s := schedule.Shape{M: 2, N: 2, K: 4}
	calls := 0.0
	h := newWritten(mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}, s, func(_, _ []float64, _, _ int) float64 { calls++; return calls })
	b, err := newBox(h, s)
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{box: b, o: Options{Seed: 1}, judge: &judge{workers: 1, id: b.D, same: oracle.NewComparer(b.D, oracle.Policy{})}}
	if err := l.others(t.Context(), nil); err != nil {
		t.Errorf("%v", err)
	}
}
