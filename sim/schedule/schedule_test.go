package schedule

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// TestParts lists the lengths of the parts of sequences, or for lanes their first products.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		cut  Cut
		n    int
		want string
	}{
		{Cut{By: "size", N: 4}, 10, "4 4 2"},
		{Cut{By: "size", N: 4}, 8, "4 4"},
		{Cut{By: "size", N: 4}, 0, "0"},
		{Cut{By: "size", N: 4, Rest: "first"}, 10, "2 4 4"},
		{Cut{By: "size", N: 320, Rest: "halve", Grain: 8}, 1000, "320 320 184 176"}, // OpenBLAS sgemm
		{Cut{By: "size", N: 256, Rest: "halve", Grain: 4}, 1000, "256 256 244 244"}, // dgemm
		{Cut{By: "size", N: 320, Rest: "halve"}, 363, "182 181"},
		{Cut{By: "size", N: 320, Rest: "halve-down", Grain: 8}, 369, "184 185"},
		{Cut{By: "size", N: 320, Rest: "halve"}, 200, "200"},
		{Cut{By: "count", N: 7, Grain: 64}, 1000, "192 192 192 192 192 40"},
		{Cut{By: "count", N: 4}, 3, "1 1 1"},
		{Cut{By: "spread", N: 3}, 7, "2 2 3"},
		{Cut{By: "spread", N: 3, Grain: 16}, 100, "32 32 36"},
		{Cut{By: "spread", N: 9}, 2, "1 1"},
		{Cut{By: "pairwise", N: 128, Grain: 8}, 300, "72 72 72 84"}, // numpy.sum
		{Cut{By: "pairwise", N: 128, Grain: 8}, 264, "128 64 72"},
		{Cut{By: "pairwise", N: 128, Grain: 8}, 128, "128"},
		{Cut{By: "pairwise", N: 3, Rest: "halve"}, 9, "3 2 2 2"},
		{Cut{By: "pairwise", N: 3, Rest: "halve", Grain: 4}, 9, "4 4 1"},
		{Cut{By: "pairwise", N: 1, Grain: 4}, 7, "7"}, // no half has a grain
		{Cut{By: "stream", Tile: [2]int{1, 1}, N: 1}, 9, "4 5"},
	} {
		seq := make([]int32, c.n)
		var got []string
		for _, p := range c.cut.parts(seq, []int{4}) {
			got = append(got, fmt.Sprint(len(p)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v of %d: %s, want %s", c.cut, c.n, got, c.want)
		}
	}
	lanes := Cut{By: "lanes", N: 3, Vector: 2}
	if got := fmt.Sprint(lanes.parts([]int32{0, 1, 2, 3, 4, 5, 6, 7}, nil)); got != "[[0 1 6 7] [2 3] [4 5]]" {
		t.Error(got)
	}
}

// TestTails lists the parts of ten products in four lanes, and what is left over.
func TestTails(t *testing.T) {
	for _, c := range []struct {
		tail Tail
		want string
	}{
		{Tail{Of: 4, Into: "lane"}, "[[0 4 8 9] [1 5] [2 6] [3 7]] []"},
		{Tail{Of: 4, Into: "lane", Last: true, Reverse: true}, "[[0 4] [1 5] [2 6] [3 7 9 8]] []"},
		{Tail{Of: 4, Into: "lane", Front: true, Reverse: true}, "[[1 0 2 6] [3 7] [4 8] [5 9]] []"},
		{Tail{Of: 4, Into: "deal", Last: true}, "[[0 4] [1 5] [2 6 8] [3 7 9]] []"},
		{Tail{Of: 4, Into: "deal", Front: true, Last: true}, "[[2 6] [3 7] [0 4 8] [1 5 9]] []"},
		{Tail{Of: 11, Into: "deal", Last: true}, "[[2 6] [3 7] [0 4 8] [1 5 9]] []"},
		{Tail{Of: 4, Into: "after", Front: true, Reverse: true}, "[[2 6] [3 7] [4 8] [5 9]] [1 0]"},
	} {
		l := Level{Cut: Cut{By: "lanes", N: 4}, Tail: &c.tail}
		parts, _, rest := l.Parts([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, nil)
		if got := fmt.Sprint(parts, rest); got != c.want {
			t.Errorf("%+v: %s, want %s", c.tail, got, c.want)
		}
	}
}

// TestStream lists where three workers cut each of 2 x 2 tiles of 5 grains.
func TestStream(t *testing.T) {
	s := Schedule{Levels: []Level{{Cut: Cut{By: "stream", N: 3, Grain: 8, Tile: [2]int{4, 4}}}}}
	var got []string
	for _, at := range [][2]int{{0, 0}, {3, 7}, {4, 0}, {7, 7}} {
		got = append(got, fmt.Sprint(s.cutsOf(Shape{8, 8, 40}, at[0], at[1])))
	}
	if text := strings.Join(got, " "); text != "[] [8] [24] []" {
		t.Error(text)
	}
}

// TestPlan writes plans in words.
func TestPlan(t *testing.T) {
	for _, c := range []struct{ levels, want string }{
		{``, "k 0..9"},
		{`{"cut": {"by": "size", "n": 4}, "merge": {"order": "chain"}}`, "block 1 of 3, k 0..3"}, // one run
		{`{"cut": {"by": "size", "n": 5}, "merge": {"order": "forward"}}`, "block 1 of 2, k 0..4; block 2 of 2, k 5..9; block 2 of 2, add"},
		{`{"cut": {"by": "pairwise", "n": 4, "grain": 2}, "merge": {"order": "pairwise"}}`,
			"block 1 of 3, k 0..3; block 2 of 3, k 4..5; block 3 of 3, k 6..9; 2 + 4 products; 4 + 6 products"},
		{`{"cut": {"by": "lanes", "n": 4}, "merge": {"order": "halves"}, "tail": {"of": 4, "into": "after"}}`,
			"lane 1 of 4, k 0, 4; lane 2 of 4, k 1, 5; lane 3 of 4, k 2, 6; lane 4 of 4, k 3, 7; lane 1 + 3; lane 2 + 4; lane 1 + 2; tail, k 8..9"},
		{`{"cut": {"by": "lanes", "n": 2}, "merge": {"order": "forward", "store": "bf16"}, "tail": {"of": 4, "into": "drop"}}`,
			"lane 1 of 2, k 0, 2, 4, 6; lane 1 of 2, to bf16; lane 2 of 2, k 1, 3, 5, 7; lane 2 of 2, add, to fp32; lane 2 of 2, add; lane 2 of 2, add, to bf16"},
	} {
		k, err := Read([]byte(`{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"levels": [` + c.levels + `]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		areas, err := k.Layout(Shape{1, 1, 10}, Given{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, op := range areas[0].Plan.Ops {
			got = append(got, op.What)
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.levels, text, c.want)
		}
	}
}

// TestRefused reads files that are wrong, or of no use for a shape.
func TestRefused(t *testing.T) {
	level := func(cut, rest string) string {
		return `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"levels": [{"cut": {` + cut + `}, "merge": {"order": "forward"}` + rest + `}]}]}`
	}
	merge := func(m string) string {
		return `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"levels": [{"cut": {"by": "size", "n": 4}, "merge": {` + m + `}}]}]}`
	}
	cast := func(fields string) string {
		return `{"v": 1, "unit": {"op": "fma", "acc": "fp32", "cast_a": {` + fields + `}}, "schedules": [{}]}`
	}
	for _, c := range []struct{ text, want string }{
		{`{"v": 2}`, `"v" is 2`},
		{`{"v": 1}`, `"schedules" is empty`},
		{`{"v": 1, "schedule": []}`, "schedule"},
		{`{"v": 1, "unit": {"op": "fms", "acc": "fp32"}, "schedules": [{}]}`, `"op" is "fms", not fma or mul-add`},
		{`{"v": 1, "unit": {"op": "fma"}, "schedules": [{}]}`, `"op" needs "acc"`},
		{`{"v": 1, "unit": {"op": "fma", "acc": "e4m3", "product": "fp32"}, "schedules": [{}]}`, `"product" belongs to`},
		{cast(`"format": "e2m1"`), `cast_a: of fp32 to e2m1: only a cast of a format with infinities to one with a NaN`},
		{cast(`"format": "fp64"`), `cast_a: fp64 is not narrower than fp32`},
		{cast(`"round": "zero"`), `cast_a: there is no "format"`},
		{cast(`"format": "bf16", "round": "up"`), `cast_a: "round" is "up", not away, zero, drop`},
		{cast(`"format": "fp16", "round": "drop"`), `cast_a: "drop" needs a format with the exponents`},
		{`{"v": 1, "unit": {"instruction": "hopper/nothing", "cast_b": {"format": "bf16"}}, "schedules": [{}]}`, `"cast_b", "product", "acc", "sum", "start" and "subnormals" belong to "op"`},
		{`{"v": 1, "unit": {"instruction": "hopper/nothing"}, "schedules": [{}]}`, `nothing`},
		{`{"v": 1, "unit": {"instruction": "hopper/nothing", "op": "fma"}, "schedules": [{}]}`, `give one of "instruction", "model" and "op"`},
		{`{"v": 1, "schedules": [{"where": [{"rows": "3-1"}]}]}`, `"3-1" is empty`},
		{`{"v": 1, "schedules": [{"where": [{"rows": "a"}]}]}`, `"a" is not a number`},
		{`{"v": 1, "schedules": [{"name": "x", "levels": [{"cut": {"by": "sice", "n": 1}}]}]}`, `schedules[0] ("x"): levels[0]: "by" is "sice", not size, count`},
		{level(`"by": "size", "n": 0`, ``), `"n" is 0`},
		{level(`"by": "size", "n": 4, "grain": 3`, ``), `"grain" belongs to`},
		{level(`"by": "count", "n": 4, "vector": 3`, ``), `"vector" belongs to`},
		{level(`"by": "stream", "n": 4`, ``), `"tile", rows and columns, belongs to`},
		{level(`"by": "size", "n": 4, "rest": "middle"`, ``), `"rest" is "middle", not last, first, halve, halve-down`},
		{level(`"by": "size", "n": 4`, `, "tail": {"of": 1, "into": "drop"}`), `tail: "of" is 1`},
		{level(`"by": "size", "n": 4`, `, "tail": {"of": 8, "into": "lane", "format": "fp64"}`), `"format" belongs to apart`},
		{level(`"by": "lanes", "n": 4`, `, "tail": {"of": 4, "into": "after", "last": true}`), `"last" belongs to lane and deal`},
		{level(`"by": "lanes", "n": 4`, `, "tail": {"of": 4, "into": "deal", "reverse": true}`), `"reverse" does not belong to deal`},
		{level(`"by": "lanes", "n": 4`, `, "head": 2, "tail": {"of": 4, "into": "lane", "front": true}`), `a level with "head" has no "tail" in "front"`},
		{level(`"by": "pairwise", "n": 4`, `, "tail": {"of": 4, "into": "lane"}`), `"pairwise" cuts all of a sequence`},
		{level(`"by": "pairwise", "n": 4, "rest": "first"`, ``), `the "rest" of pairwise is "first", not halve`},
		{level(`"by": "count", "n": 4, "rest": "first"`, ``), `"rest" belongs to`},
		{merge(`"order": "pairwise"`), `the order pairwise belongs to "by": "pairwise"`},
		{merge(`"order": "4-3"`), `"order" is "4-3"`},
		{merge(`"order": "chain", "format": "fp64"`), `a chain adds no partial sums`},
		{merge(`"order": "halves", "start": "zero"`), `"start" belongs to`},
		{merge(`"order": "forward", "scale": "(sa*sb)*p"`), `"scale" needs "scale_a"`},
		{merge(`"order": "forward", "format": "e2m1"`), `e2m1`},
		{`{"v": 1, "schedules": [{}], "epilogue": [{"op": "scale-a"}]}`, `epilogue[0]: scale-a needs "scale_a"`},
		{`{"v": 1, "schedules": [{}], "epilogue": [{"op": "alpha", "round": "zero"}]}`, `epilogue[0]: "round" and "subnormals" belong to "op": "cast"`},
		{`{"v": 1, "schedules": [{}], "epilogue": [{"op": "cast", "zeroes": "nan"}]}`, `epilogue[0]: "zeroes" belongs to "op": "relu"`},
		{`{"v": 1, "schedules": [{}], "epilogue": [{"op": "bias", "factor": 2}]}`, `epilogue[0]: "factor" belongs to "op": "alpha", "beta-c" or "beta-c-mul"`},
		{`{"v": 1, "schedules": [{}], "epilogue": [{"op": "cast", "round": "up"}]}`, `epilogue[0]: "round" is "up", not away, zero`},
		{`{"v": 1, "schedules": [{}], "epilogue": [{"op": "cast", "subnormals": "one"}]}`, `epilogue[0]: "subnormals" is "one", not zero`},
		{`{"v": 1, "schedules": [{}]}`, `the kernel has no unit`},
		{`{"v": 1, "when": {"k": "1-8"}, "schedules": [{}]}`, `the kernel is for K = 1-8, not 40`},
		{`{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"where": [{"rows": "0-3"}]}]}`, `no schedule has element (4,0)`},
		{`{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"where": [{"rows": "0-3"}]}, {"unit": {"op": "fma", "acc": "fp64"}}]}`, `one schedule gives fp32, another fp64`},
		{`{"v": 1, "unit": {"instruction": "x86/vpdpbssd"}, "schedules": [{}], "epilogue": [{"op": "cast", "format": "bf16"}]}`, `s32 is not converted to bf16: only s32 to fp32 or fp64 is`},
		{merge(`"order": "1-2"`), `the order 1-2 does not add part 5 of 10`},
		{`{"v": 1, "unit": {"instruction": "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"}, "schedules": [{"levels": [{"cut": {"by": "lanes", "n": 2}, "merge": {"order": "forward"}}]}]}`,
			`would share a scale`},
	} {
		k, err := Read([]byte(c.text))
		if err == nil {
			_, err = k.Layout(Shape{8, 8, 40}, Given{})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestSets reads and writes sets.
func TestSets(t *testing.T) {
	var s Set
	if err := s.UnmarshalText([]byte("0-5,12,64-256/8")); err != nil {
		t.Fatal(err)
	}
	if s.String() != "0-5,12,64-256/8" || !s.Has(72) || s.Has(73) || s.Has(6) {
		t.Error(s)
	}
	if got := SetOf([]int{1, 2, 3, 7, 9, 10}).String(); got != "1-3,7,9-10" {
		t.Error(got)
	}
}

// FuzzRead reads anything; what is read can be written, and its layout is made or refused.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"levels": [{"cut": {"by": "stream", "n": 4, "tile": [2, 2]}, "merge": {"order": "forward"}}]}]}`))
	f.Add([]byte(`{"v": 1, "when": {"k": "1-9/2"}, "schedules": [{"where": [{"rows": "0-3"}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, err := Read(text)
		if err != nil {
			return
		}
		var b strings.Builder
		if err := k.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := Read([]byte(b.String())); err != nil {
			t.Fatalf("%s, written as %s: %v", text, &b, err)
		}
		if areas, err := k.WithUnit(Unit{Op: "fma", Acc: fp.FP32}).Layout(Shape{3, 3, 9}, Given{C: true, Bias: true}); err == nil && len(areas) == 0 {
			t.Error("no area")
		}
	})
}

// TestIntegers writes plans of units whose sums are integers, which are converted before they are scaled or
// added in a format of floating-point numbers.
func TestIntegers(t *testing.T) {
	for name, want := range map[string]string{
		"ggml-q8-0": "block 1 of 2, k 0..31; block 1 of 2, scale; block 1 of 2, scale, to fp32; block 1 of 2, scale; block 1 of 2, add; " +
			"block 2 of 2, k 32..39; block 2 of 2, scale; block 2 of 2, scale, to fp32; block 2 of 2, scale; block 2 of 2, add",
		"int8-dequantized": "k 0..39; epilogue: scale-ab; epilogue: scale-ab, to fp32; epilogue: scale-ab",
	} {
		k, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		areas, err := k.Layout(Shape{1, 1, 40}, Given{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, op := range areas[0].Plan.Ops {
			got = append(got, op.What)
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s:\n%s, want\n%s", name, text, want)
		}
	}
}

// TestPlaces says which elements schedules of a kernel are of, with rows, columns, both or neither.
func TestPlaces(t *testing.T) {
	rows, columns := Set{{First: 0, Last: 3, Step: 1}}, Set{{First: 8, Last: 8, Step: 1}}
	k := &Kernel{Schedules: []Schedule{{Where: []Where{{Rows: rows, Columns: columns}, {Columns: columns}}}, {Where: []Where{{Rows: rows}}}, {}}}
	for n, want := range []string{"rows 0-3 in columns 8; columns 8", "rows 0-3", "all other elements"} {
		if got := k.Places(n); got != want {
			t.Errorf("schedule %d: %q, want %q", n, got, want)
		}
	}
	if got := (&Kernel{Schedules: []Schedule{{}}}).Places(0); got != "all elements" {
		t.Errorf("the only schedule: %q", got)
	}
}
