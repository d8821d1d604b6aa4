package bundle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// TestDefectText holds that the numbers of what speaks for a defect add up to all inputs asked.
func TestDefectText(t *testing.T) {
	for _, c := range []struct {
		d    corpus.Defect
		want string
	}{
		{corpus.Defect{Confirmed: 40, Beside: 30, Both: 10, Tested: 100},
			"30 asked to test it show the error, 20 just outside its condition do not, 10 show it in one product and are just outside in another, 40 are those that it was found from, or would not show it"},
		{corpus.Defect{Confirmed: 40, Beside: 60, Tested: 100}, "40 asked to test it show the error, 60 just outside its condition do not"},
	} {
		c.d.Target, c.d.Rule = "x", "y"
		if got, want := DefectText(&c.d), "x: y (true of all 100 inputs asked: "+c.want+")"; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
