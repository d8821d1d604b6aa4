package kernel

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// hidden has partial sums that are rounded to FP16, which hides in nearly all products how they were added.
const hidden = `{"v": 1, "unit": {"op": "fma", "in": "fp16", "acc": "fp32"}, "schedules": [{"levels": [
	{"cut": {"by": "lanes", "n": 4, "vector": 16}, "merge": {"order": "reverse", "parts": "fp16"}},
	{"cut": {"by": "lanes", "n": 4}, "merge": {"order": "halves"}}]}], "epilogue": [{"op": "cast", "format": "fp32"}]}`

// TestOpen infers the hidden kernel: only what changes no bit may be open.
func TestOpen(t *testing.T) {
	tier.LongOnly(t)
	s := schedule.Shape{M: 2, N: 2, K: 64}
	r, err := Infer(t.Context(), newLibrary(t, read(t, hidden), s), s, Options{Seed: 1, Checks: 100_000, Policy: oracle.Policy{NaN: oracle.ByClass}})
	if err != nil || r.Verdict != Found {
		t.Fatal(r, err)
	}
	for _, f := range r.Fields {
		switch f.Name {
		case "unit.op", "levels[0].merge.start", "epilogue[0].round", "epilogue[0].subnormals": // products are exact, and a sum is never -0
		default:
			if len(f.Open) > 0 {
				t.Errorf("%s = %s is not told from %v on %d products", f.Name, f.Value, f.Open, f.Products)
			}
		}
	}
}

// opened tries open values of the hidden kernel on a black box.
func opened(t *testing.T, u devices.Unit, s schedule.Shape, open []openValue, fields []Field) map[int]*counter {
	t.Helper()
	b, err := newBox(u, s)
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{box: b, o: Options{Seed: 1, Checks: 50_000}, judge: &judge{workers: 1, id: b.D, same: oracle.NewComparer(b.D, oracle.Policy{NaN: oracle.ByClass})}}
	c := &class{positions: positions(s.M * s.N)}
	c.rectangle(s.N)
	for i := range open {
		open[i].plan = l.plan(open[i].kernel)
	}
	k := read(t, hidden)
	wrong, err := l.tryOpen(t.Context(), c, &finding{schedule: schedule.Schedule{Unit: k.Unit, Levels: k.Schedules[0].Levels}, epilogue: k.Epilogue}, open, fields)
	if err != nil {
		t.Fatal(err)
	}
	return wrong
}

// TestTryOpen tells orders apart in which partial sums are added, and not what does the same operations.
func TestTryOpen(t *testing.T) {
	s := schedule.Shape{M: 2, N: 2, K: 64}
	fields := []Field{{Name: "levels[0].merge.order"}, {Name: "levels[1].merge.order"}, {Name: "levels[1].cut.n"}, {Name: "unit.op"}}
	var open []openValue
	for _, v := range []struct {
		field      int
		value      string
		was, other string
	}{
		{0, "forward", `"reverse"`, `"forward"`}, {0, "neighbours", `"reverse"`, `"neighbours"`}, {0, "halves", `"reverse"`, `"halves"`},
		{1, "forward", `"halves"`, `"forward"`}, {2, "16", `"n": 4}, "merge": {"order": "halves"`, `"n": 16}, "merge": {"order": "halves"`}, {2, "32", `"n": 4}, "merge": {"order": "halves"`, `"n": 32}, "merge": {"order": "halves"`}, {3, "mul-add", `"fma"`, `"mul-add"`},
	} {
		open = append(open, openValue{field: v.field, value: v.value, kernel: read(t, strings.Replace(hidden, v.was, v.other, 1))})
	}
	if wrong := opened(t, newLibrary(t, read(t, hidden), s), s, open, fields); len(wrong) > 0 {
		t.Fatalf("the kernel itself is wrong in %d elements", len(wrong))
	}
	for i, want := range []string{"[forward neighbours halves] []", "[forward] []", "[16 32] []", "[] [mul-add]"} {
		f := &fields[i]
		if got := fmt.Sprint(f.Ruled, f.Open); got != want || (len(f.Open) > 0) != (f.Products > 0) {
			t.Errorf("%s: %s on %d products, want %s", f.Name, got, f.Products, want)
		}
	}
}

// TestTryOpenWrong has a black box that is another one where a row of A has few numbers, a large one and its
// negative among them: only questions about open values show it.
func TestTryOpenWrong(t *testing.T) {
	s := schedule.Shape{M: 2, N: 2, K: 64}
	u := &unlike{*newLibrary(t, read(t, hidden), s)}
	wrong := opened(t, u, s, nil, nil)
	if c := wrong[0]; len(wrong) != 4 || c == nil || c.Kind != "far apart" || c.D != "3f800000" || c.D == c.Model {
		t.Errorf("%d elements, witness %+v", len(wrong), c)
	}
}

// unlike is a library that gives ones for rows of few numbers.
type unlike struct{ library }

func (u *unlike) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	err := u.library.Run(ctx, in, out)
	for i := range in.Tiles * in.M {
		numbers := 0
		for _, v := range numbersOf(in.A[i*in.K*2:][:in.K*2], fp.FP16) {
			if v != 0 {
				numbers++
			}
		}
		for column := range in.N {
			if numbers < 7 {
				mma.Store(out, 4, i*in.N+column, 0x3f800000)
			}
		}
	}
	return err
}
