package kernel

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// TestOrder draws orders of summation.
func TestOrder(t *testing.T) {
	const lanes = `{"cut": {"by": "size", "n": 30}, "merge": {"order": "forward"}},
		{"cut": {"by": "lanes", "n": 4, "vector": 2}, "merge": {"order": "halves"}, "tail": {"of": 8, "into": "after"}}`
	const halves = `{"cut": {"by": "count", "n": 2, "grain": 4}, "merge": {"order": "forward"}},
		{"cut": {"by": "lanes", "n": 4}, "merge": {"order": "halves"}}`
	for _, c := range []struct {
		name, levels string
		depth        int
		want         string
	}{
		{"plain", "", 100, ""},
		{"openblas-sgemm", "", 1000, `
  AAAAAAAAAAAAAAAAAAAABBBBBBBBBBBBBBBBBBBBCCCCCCCCCCCCDDDDDDDDDDD
  s1 = A + B
  s2 = s1 + C
  result = s2 + D
`},
		{"", lanes, 40, `
  AABBCCDDAABBCCDDAABBCCDDEEEEEEFFGGHHIIJJ
  s1 = A + C
  s2 = B + D
  s3 = s1 + s2
  s4 = s3 then E
  s5 = F + H
  s6 = G + I
  s7 = s5 + s6
  s8 = s7 then J
  result = s4 + s8
`},
		{"", halves, 1000, `
  ABCDABCDABCDABCDABCDABCDABCDABCDABCDABCDABCDABCDABCDABCDABCDABCD  and so on, up to k 499
  EFGHEFGHEFGHEFGHEFGHEFGHEFGHEFGHEFGHEFGHEFGHEFGHEFGHEFGHEFGHEFGH  and so on, up to k 999
  s1 = A + C
  s2 = B + D
  s3 = s1 + s2
  s4 = E + G
  s5 = F + H
  s6 = s4 + s5
  result = s3 + s6
`},
		{"", `{"cut": {"by": "lanes", "n": 3}, "merge": {"order": "forward"}}`, 100, `
  ABCABCABCABCABCABCABCABCABCABCABCABCABCABCABCABCABCABCABCABCABCA  and so on, up to k 99
  s1 = A + B
  result = s1 + C
`},
		{"", `{"cut": {"by": "size", "n": 65}, "merge": {"order": "forward"}}, {"cut": {"by": "lanes", "n": 2}, "merge": {"order": "forward"}}`, 650, `
  ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB  and so on, up to k 64
  CDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCD  and so on, up to k 129
  EFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEF  and so on, up to k 194
  GHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGHGH  and so on, up to k 259
  ... k 260..649 are not shown
  s1 = A + B
  s2 = C + D
  s3 = s1 + s2
  s4 = E + F
  s5 = s3 + s4
  s6 = G + H
  ... 10 more
  s17 = s15 + s16
  s18 = S + T
  result = s17 + s18
`},
		{"", `{"cut": {"by": "size", "n": 64}, "merge": {"order": "chain-reverse"}}`, 100, `
  BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBAAAAAAAAAAAAAAAAAA
  result = A then B
`},
		{"", `{"cut": {"by": "lanes", "n": 2}, "merge": {"order": "chain"}}`, 10, `
  ABABABABAB
  result = A then B
`},
		{"split-k-tail-lost", "", 75, `
  AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
  k 64..74: not summed
`},
		{"", `{"cut": {"by": "count", "n": 2}, "tail": {"of": 8, "into": "drop"}, "merge": {"order": "forward"}},
			{"cut": {"by": "lanes", "n": 8}, "tail": {"of": 8, "into": "drop"}, "merge": {"order": "halves"}}`, 24, `
  ABCDEFGH....IJKLMNOP
  k 8..11,20..23: not summed
  s1 = A + E
  s2 = B + F
  s3 = C + G
  s4 = D + H
  s5 = s1 + s3
  s6 = s2 + s4
  ... 6 more
  s13 = s9 + s11
  s14 = s12 + s13
  result = s7 + s14
`},
	} {
		s := sideOf(t, c.name, c.levels)
		orders := Orders("mine", s.Kernel, schedule.Shape{M: 1, N: 1, K: c.depth})
		got := ""
		for _, o := range orders {
			if err := o.Check(); err != nil {
				t.Error(err)
			}
			_, text, _ := strings.Cut(o.Text(), "right.")
			got += text
			if svg := string(o.Picture().SVG()); strings.Count(svg, "<path") != len(o.Sums) {
				t.Errorf("%s: %s", c.name, svg)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s%s: %s", c.name, c.levels, d)
		}
	}
}

// TestOrdersApart shows of two long orders the parts in which they differ, and of equal ones their first.
func TestOrdersApart(t *testing.T) {
	of := func(tail string) *schedule.Kernel {
		return sideOf(t, "", `{"cut": {"by": "size", "n": 65}, `+tail+`"merge": {"order": "forward"}}, {"cut": {"by": "lanes", "n": 2}, "merge": {"order": "forward"}}`).Kernel
	}
	whole, apart := of(""), of(`"tail": {"of": 600, "into": "after"}, `)
	for _, pair := range [][2]*schedule.Kernel{{whole, apart}, {apart, whole}, {whole, whole}} {
		for _, f := range figures([2]string{"a", "b"}, pair, 650) {
			text := f.(document.Figure).Text
			if differ := pair[0] != pair[1]; strings.Contains(text, "  ... k 0..584 are not shown\n  STST") != differ || strings.Contains(text, "  ABAB") == differ {
				t.Error(text)
			}
		}
	}
}

// TestOrderC draws where C enters, whatever the number of accumulators.
func TestOrderC(t *testing.T) {
	for _, c := range []struct{ kernel, want string }{
		{`"c_first": true, "schedules": [{}]`, `
  AAAAAAAAAAAA
  result = matrix C then A
`},
		{`"schedules": [{}], "epilogue": [{"op": "c"}, {"op": "cast", "format": "fp16"}]`, `
  AAAAAAAAAAAA
  result = A + matrix C
`},
		{`"schedules": [{"levels": [{"cut": {"by": "count", "n": 3}, "merge": {"order": "forward"}}]}], "epilogue": [{"op": "alpha"}, {"op": "beta-c"}]`, `
  AAAABBBBCCCC
  s1 = A + B
  s2 = s1 + C
  s3 = alpha * s2
  result = s3 + beta * matrix C
`},
		{`"c_first": true, "schedules": [{"levels": [{"cut": {"by": "count", "n": 2}, "merge": {"order": "forward"}}]}], "epilogue": [{"op": "alpha"}]`, `
  AAAAAABBBBBB
  s1 = matrix C then A
  s2 = s1 + B
  result = alpha * s2
`},
		{`"schedules": [{}], "epilogue": [{"op": "alpha-beta"}]`, `
  AAAAAAAAAAAA
  s1 = alpha * A
  result = s1 + beta * matrix C
`},
		{`"schedules": [{}], "epilogue": [{"op": "beta-c-mul"}]`, `
  AAAAAAAAAAAA
  result = A + beta * matrix C
`},
		{`"schedules": [{}], "epilogue": [{"op": "alpha"}]`, ""},
	} {
		k := kernelOf(t, `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, `+c.kernel+`}`)
		got := ""
		for _, o := range Orders("mine", k, schedule.Shape{M: 1, N: 1, K: 12}) {
			if err := o.Check(); err != nil {
				t.Error(err)
			}
			_, text, _ := strings.Cut(o.Text(), "right.")
			got += text
			if svg := string(o.Picture().SVG()); strings.Count(svg, "<path") != len(o.Sums) || strings.Contains(text, "beta") != strings.Contains(svg, "beta * matrix C") {
				t.Errorf("%s: %s", c.kernel, svg)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.kernel, d)
		}
	}
}

// TestSameOrder draws an order that both sides have once.
func TestSameOrder(t *testing.T) {
	of := func(merge string) *schedule.Kernel {
		return kernelOf(t, `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"levels": [{"cut": {"by": "count", "n": 2}, "merge": {`+merge+`}}]}]}`)
	}
	for other, want := range map[string][]string{`"order": "forward", "parts": "bf16"`: {"a and b"}, `"order": "reverse"`: {"a", "b"}} {
		var got []string
		for _, f := range figures([2]string{"a", "b"}, [2]*schedule.Kernel{of(`"order": "forward"`), of(other)}, 12) {
			title, _, _ := strings.Cut(f.(document.Figure).Text, ":")
			got = append(got, title)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", other, d)
		}
	}
}
