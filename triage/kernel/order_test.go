package kernel

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// TestOrder draws orders of summation.
func TestOrder(t *testing.T) {
	const lanes = `{"cut": {"by": "size", "n": 30}, "merge": {"order": "forward"}},
		{"cut": {"by": "lanes", "n": 4, "vector": 2}, "merge": {"order": "halves"}, "tail": {"of": 8, "into": "after"}}`
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
  D = s2 + D
`},
		{"", lanes, 40, `
  AABBCCDDAABBCCDDAABBCCDDEEEEEEFFGGHHIIJJ
  s1 = A + C
  s2 = B + D
  s3 = s1 + s2
  s4 = s3 then E
  s5 = F + H
  s6 = G + I
  ...
  D = s4 + s8
`},
		{"split-k-tail-lost", "", 75, `
  AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA......
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
