package kernel

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// sideOf returns a kernel of FP32 multiply-adds, or of a unit of its own.
func sideOf(t *testing.T, name, levels string) *Side {
	t.Helper()
	k, err := schedule.Named(name)
	if levels != "" {
		k, err = schedule.Read([]byte(`{"v": 1, "schedules": [{"levels": [` + levels + `]}]}`))
	}
	if err != nil {
		t.Fatal(err)
	}
	k = k.WithUnit(schedule.Unit{Op: "fma", Acc: fp.FP32})
	u, err := k.Unit.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return &Side{Name: name + levels, Unit: u, Kernel: k, Modelled: true}
}

// TestState goes on from a state that was saved, and finds what a run finds that was not interrupted.
func TestState(t *testing.T) {
	saveEvery = 0
	defer func() { saveEvery = time.Second }()
	var states [][]byte
	z := Fuzz{A: sideOf(t, "split-k", ""), B: sideOf(t, "split-k-tail-lost", ""), Seed: 1, Count: 3 * perRound, Workers: 2, Save: func(s *State) error {
		data, err := json.Marshal(s)
		states = append(states, data)
		return err
	}}
	whole, err := z.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(whole)
	if err != nil || len(states) != 3 {
		t.Fatal(len(states), err)
	}
	z.State = &State{}
	if err := json.Unmarshal(states[1], z.State); err != nil {
		t.Fatal(err)
	}
	if n := z.State.Found.Products; n != perRound {
		t.Errorf("%d products were looked at, not %d", n, perRound)
	}
	rest, err := z.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(rest); err != nil || string(got) != string(want) {
		t.Errorf("%s, %v\nnot %s", got, err, want)
	}
}

// TestFuzz finds differences between kernels, names the field, and shrinks the shape.
func TestFuzz(t *testing.T) {
	for n, c := range []struct {
		a, b, levels string // b is of the literature, or has levels
		label        string
		most         int // K of the smallest product, which has one element
	}{
		{"split-k", "split-k-tail-lost", "", "tail", 1},
		{"plain", "batch-invariant", "", "split-k", 2100},
		{"plain", "split-k", "", "split-k", 70},
		{"split-k", "", `{"cut": {"by": "count", "n": 4, "grain": 64}, "merge": {"order": "reverse"}}`, "k-order", 200},
		{"split-k", "", `{"cut": {"by": "count", "n": 4, "grain": 64}, "merge": {"order": "forward", "parts": "bf16"}}`, "promotion", 1},
		{"gemv", "", `{"cut": {"by": "lanes", "n": 16, "vector": 4}, "merge": {"order": "halves"}}`, "lanes", 200},
		{"gemv", "split-k", "", "lanes+split-k", 0},
		{"split-k", "", `{"cut": {"by": "count", "n": 4, "grain": 64}, "merge": {"order": "reverse"}, "tail": {"of": 16, "into": "drop"}}`, "k-order+tail", 1},
		{"plain", "plain", "", "", 0},
	} {
		if n%tier.Of(4, 4, 1) != 0 {
			continue
		}
		var found []*Found
		for _, workers := range []int{1, 2}[:1+len(c.levels)%2] {
			z := &Fuzz{A: sideOf(t, c.a, ""), B: sideOf(t, c.b, c.levels), Seed: 1, Count: 64, Workers: workers}
			f, err := z.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, f)
		}
		f := found[0]
		if !reflect.DeepEqual(f, found[len(found)-1]) {
			t.Errorf("%s, %s: another result with two workers", c.a, c.b)
		}
		if (f.Differ > 0) != (c.label != "") || f.Products != 64 {
			t.Errorf("%s, %s: %d of %d products differ", c.a, c.b, f.Differ, f.Products)
		}
		if f.Differ == 0 {
			continue
		}
		if f.Answer.Label != c.label || f.Rest != 0 {
			t.Errorf("%s, %s%s: %s (%s), want %s", c.a, c.b, c.levels, f.Answer.Label, f.Answer.Words, c.label)
		}
		if s := f.Smallest; c.most > 0 && (s.M != 1 || s.N != 1 || s.K > c.most) || s.A == s.B {
			t.Errorf("%s, %s%s: smallest %+v, want K %d at most", c.a, c.b, c.levels, s, c.most)
		}
		if lost := f.Lost != nil; lost != (strings.Contains(c.b, "lost") || strings.Contains(c.levels, "drop")) {
			t.Errorf("%s, %s: lost %v", c.a, c.b, f.Lost)
		}
	}
}

// TestBlackBox compares a kernel with a box that takes two K and loses a product.
func TestBlackBox(t *testing.T) {
	a := sideOf(t, "plain", "")
	unit := schedule.Unit{Op: "fma", In: fp.BF16, Acc: fp.FP32}
	a.Kernel.Unit = &unit
	a.Unit, _ = unit.Resolve()
	box := &Side{Name: "box", Unit: a.Unit, Box: map[int]devices.Unit{}}
	for _, k := range []int{40, 100} {
		i := &mma.Instruction{Name: "box", K: k, Formats: mma.Formats{A: fp.BF16, B: fp.BF16, D: fp.FP32}}
		box.Box[k] = devices.Func(i, func(d *mma.Dot) uint64 {
			sum := 0.0
			f := fp.BF16.Get()
			for n := range d.A[:k/8*8] {
				sum = float64(float32(sum + f.Float64(d.A[n])*f.Float64(d.B[n])))
			}
			return uint64(math.Float32bits(float32(sum)))
		})
	}
	z := &Fuzz{A: a, B: box, Seed: 1, Count: 128}
	f, err := z.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lost := []Lost{
		{Side: "box", K: 100, Sum: 96},
		{Side: "box", K: 100, Missing: []int{96, 98}, Tail: true, From: 96},
	}
	if s := f.Smallest; s.K != 100 || s.Terms != 1 || f.Label() != "tail" {
		t.Errorf("%+v, %+v", f, s)
	}
	slices.SortFunc(f.Lost, func(a, b Lost) int { return int(b.Sum - a.Sum) })
	if d := cmp.Diff(lost, f.Lost); d != "" {
		t.Error(d)
	}
	const want = "By powers of two that mark some k of K = 100, box has not summed: any of those that are marked from k 96 on; k 95 is summed."
	if got := f.Lost[1].String(); got != want {
		t.Error(got)
	}
}

// TestRoundedProducts compares FMAs in runs of 320 with a box of fewer products that rounds each.
// Lanes of one product each would explain it, too, but a reader looks for the multiply-add.
func TestRoundedProducts(t *testing.T) {
	a := sideOf(t, "openblas-sgemm", "")
	i := &mma.Instruction{Name: "box", K: 48, Formats: mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}}
	box := &Side{Name: "box", Unit: a.Unit, Box: map[int]devices.Unit{48: devices.Func(i, func(d *mma.Dot) uint64 {
		var sum float32
		for n := range d.A {
			sum += float32(math.Float32frombits(uint32(d.A[n])) * math.Float32frombits(uint32(d.B[n])))
		}
		return uint64(math.Float32bits(sum))
	})}}
	f, err := (&Fuzz{A: a, B: box, Seed: 1, Count: 16}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f.Label() != "unit" || !slices.Equal(f.Answer.Others, []string{"lanes"}) {
		t.Errorf("%s: %s, also %v", f.Label(), f.Answer.Words, f.Answer.Others)
	}
}

// TestShapes draws shapes that both sides take, if there are some.
func TestShapes(t *testing.T) {
	kernel := func(when string) *Side {
		k, err := schedule.Read([]byte(`{"v": 1, "when": {` + when + `}, "schedules": [{}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return &Side{Kernel: k}
	}
	for _, c := range []struct{ a, b, want string }{
		{`"m": "8-64/8"`, `"n": "3"`, ""},
		{`"k": "100-200"`, `"k": "7-1000/7"`, ""},
		{`"k": "100"`, `"k": "101-1000"`, "the sides have no K in common"},
		{`"m": "1"`, `"m": "2"`, "the sides have no number of rows, or of columns, in common"},
	} {
		a, b := kernel(c.a), kernel(c.b)
		s, err := shapesOf(a, b)
		if (err != nil) != (c.want != "") || err != nil && err.Error() != c.want {
			t.Errorf("%s, %s: %v", c.a, c.b, err)
		}
		if err != nil {
			continue
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for range 1000 {
			d := s.draw(rng)
			for _, k := range []*Side{a, b} {
				if w := k.Kernel.When; !w.M.Has(d.M) || !w.N.Has(d.N) || !w.K.Has(d.K) {
					t.Fatalf("%s, %s: %v", c.a, c.b, d)
				}
			}
		}
	}
}

// TestVaries has a side change its answers: that explains nothing.
func TestVaries(t *testing.T) {
	a := sideOf(t, "naive", "")
	box := &Side{Name: "box", Unit: a.Unit, Box: map[int]devices.Unit{}}
	i := &mma.Instruction{Name: "box", K: 9, Formats: mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}}
	n := uint32(0)
	box.Box[9] = devices.Func(i, func(d *mma.Dot) uint64 { n++; return uint64(n) })
	f, err := (&Fuzz{A: a, B: box, Seed: 1, Count: 10, Workers: 1}).Run(t.Context())
	if err != nil || f.Varies != "box" || f.Label() != "varies" || f.Answer != nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestMarks finds what is missing and what is taken twice by products whose results are known.
func TestMarks(t *testing.T) {
	a := sideOf(t, "plain", "")
	box := &Side{Name: "box", Unit: a.Unit, Box: map[int]devices.Unit{}}
	i := &mma.Instruction{Name: "box", K: 10, Formats: mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}}
	box.Box[10] = devices.Func(i, func(d *mma.Dot) uint64 {
		sum := 0.0
		f := fp.FP32.Get()
		for n, times := range []float64{1, 1, 0, 1, 1, 2, 1, 1, 1, 1} {
			sum += times * f.Float64(d.A[n]) * f.Float64(d.B[n])
		}
		return f.FromFloat64(sum)
	})
	f, err := (&Fuzz{A: a, B: box, Seed: 1, Count: 40}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Lost{{Side: "box", K: 10, Missing: []int{2}, Repeated: []int{5}, From: 10}}, f.Lost); d != "" || f.Label() != "unexplained" {
		t.Errorf("%s: %s", f.Label(), d)
	}
}

// TestBundle has a program in Python compute the element of a bundle again, to the bit.
func TestBundle(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 runs reproduce.py: ", err)
	}
	for _, c := range []struct{ a, b, levels string }{
		{"plain", "", `{"cut": {"by": "lanes", "n": 4}, "merge": {"order": "halves"}}`},
		{"split-k", "", `{"cut": {"by": "count", "n": 4, "grain": 64}, "merge": {"order": "forward", "parts": "bf16"}}`},
		{"naive", "openblas-sgemm", ""}, // no change explains it, which takes a long search
	}[:tier.Of(2, 2, 3)] {
		z := &Fuzz{A: sideOf(t, c.a, ""), B: sideOf(t, c.b, c.levels), Seed: 2, Count: 64}
		f, err := z.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		dir, err := f.Save(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(python, filepath.Join(dir, "reproduce.py")).CombinedOutput()
		if n := strings.Count(string(out), ", computed again\n"); err != nil || n < 2 {
			t.Errorf("%+v: %v\n%s", c, err, out)
		}
	}
}

// TestSame says for which K kernels are the same function.
func TestSame(t *testing.T) {
	const two = `{"cut": {"by": "count", "n": 2}, "merge": {"order": `
	for _, c := range []struct{ a, b, levels, want string }{
		{"plain", "plain", "", "every K up to 2048"},
		{"plain", "split-k", "", "for K below 65,"},
		{"plain", "batch-invariant", "", "every K up to 2048"},
		{"plain", "gemv", "", "different operations even for K = 1"}, // lanes of zeros are added
		{"plain", "naive", "", "different operations even for K = 1"},
		{"plain", "stream-k", "", ""},
		{"plain", "", two + `"chain"}}`, "every K up to 2048"},
		{two + `"forward"}}`, "", two + `"reverse"}}`, "every K up to 2048"}, // x + y and y + x
		{two + `"forward"}}`, "", two + `"forward", "start": "zero"}}`, "different operations even for K = 1"},
		{"split-k", "", `{"cut": {"by": "count", "n": 4, "grain": 64}, "merge": {"order": "neighbours"}}`, "for K below 193,"},
	} {
		a := c.a
		levels := ""
		if strings.HasPrefix(a, "{") {
			a, levels = "", a
		}
		if got := same(sideOf(t, a, levels), sideOf(t, c.b, c.levels)); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s, %s%s: %s", c.a, c.b, c.levels, got)
		}
	}
}

// TestCompare lists the fields that differ, and measures by how much.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b, verdict string
		fields        []FieldChange
	}{
		{"plain", "batch-invariant", SameFunction, []FieldChange{
			{"schedules[0].levels[0].cut.by", "-", "size"},
			{"schedules[0].levels[0].cut.n", "-", "2048"},
			{"schedules[0].levels[0].merge.order", "-", "forward"},
		}},
		{"split-k", "split-k-tail-lost", Differs, []FieldChange{
			{"schedules[0].levels[0].tail.into", "-", "drop"},
			{"schedules[0].levels[0].tail.of", "-", "64"},
		}},
	} {
		d, err := Compare(t.Context(), sideOf(t, c.a, ""), sideOf(t, c.b, ""), 1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.fields, d.Fields); diff != "" || d.Verdict != c.verdict || (d.Smallest != nil) != (c.verdict == Differs) {
			t.Errorf("%s, %s: %+v %s", c.a, c.b, d, diff)
		}
		for _, m := range d.Measured {
			sum := 0
			for _, n := range m.Counts {
				sum += n
			}
			if sum != m.Elements || m.Counts[0]+m.Differ != sum || (m.Differ == 0) != (m.K%64 == 0) {
				t.Errorf("%s, %s: %+v", c.a, c.b, m)
			}
		}
	}
}

// TestCaseText says which products are left, if that is short.
func TestCaseText(t *testing.T) {
	c := &Case{Shape: schedule.Shape{M: 1, N: 1, K: 500}, A: 0x3c00, D: fp.FP16, Terms: 3, left: schedule.SetOf([]int{3, 4, 483})}
	if want := "smallest: 1 x 1 elements, K = 500, all but 3 products zero (k 3-4,483). Element (0,0): A 3c00 = 1, B 0000 = 0."; c.String() != want {
		t.Errorf("%s, want %s", c, want)
	}
}

// TestInfinity: an infinity is no number of products that were summed.
func TestInfinity(t *testing.T) {
	a := sideOf(t, "plain", "")
	box := &Side{Name: "box", Unit: a.Unit, Box: map[int]devices.Unit{}}
	i := &mma.Instruction{Name: "box", K: 10, Formats: mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}}
	box.Box[10] = devices.Func(i, func(*mma.Dot) uint64 { return 0x7f800000 })
	f, err := (&Fuzz{A: a, B: box, Seed: 1, Count: 40}).Run(t.Context())
	if err != nil || f.Lost != nil {
		t.Errorf("%+v, %v", f, err)
	}
}
