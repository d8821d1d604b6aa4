package encode

import (
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// encoded are fields that the encoder knows. STAGE stands for stage0 and stage1, ROUND for
// every place of a rounding.
var encoded = strings.Fields(`
	in.widen in.sub in.c in.acc prod.exp prod.up scale order l lanes merge tail start leaf
	STAGE.sum STAGE.split STAGE.group STAGE.deep STAGE.fixed STAGE.plus STAGE.align.f STAGE.align.mode STAGE.align.floor
	join.align.f join.align.mode join.align.floor join.cf join.cmode join.cdrop
	ROUND.frac ROUND.mode ROUND.emin ROUND.emax ROUND.flush ROUND.over
	special.nan special.negzero special.tinysign special.cleft`)

// TestEncodable checks that a field is refused unless it is one that the encoder knows,
// and that a value is refused that an enumeration did not have when it was written.
func TestEncodable(t *testing.T) {
	base := mma.TFDPA(8, 24, mma.To(mma.Catalog()[0].D, 1), 0)
	for _, f := range mma.Fields() {
		path := f.Path
		for _, stage := range []string{"stage0.", "stage1."} {
			if rest, ok := strings.CutPrefix(path, stage); ok && !strings.HasPrefix(rest, "round.") {
				path = "STAGE." + rest
			}
		}
		for _, round := range []string{"prod.round.", "stage0.round.", "stage1.round.", "join.post.", "acc.", "late.", "out."} {
			if rest, ok := strings.CutPrefix(path, round); ok {
				path = "ROUND." + rest
			}
		}
		p := base
		f.SetInt(&p, 1)
		err := encodable(&p, mma.Formats{})
		isKnown := f.Encoded != 0
		if slices.Contains(encoded, path) && !isKnown {
			t.Errorf("%s is encoded, and its row does not say so", f.Path)
		}
		if (err == nil) != isKnown {
			t.Errorf("%s = %s: %v, is known: %v", f.Path, f.Text(&p), err, isKnown)
		} else if err != nil && !strings.Contains(err.Error(), "is not encoded") {
			t.Errorf("%s: %v", f.Path, err)
		}
		if n := len(f.Values()); isKnown && n > 2 {
			f.SetInt(&p, 200)
			if err := encodable(&p, mma.Formats{}); err == nil {
				t.Errorf("%s: a value that there is not is accepted", f.Path)
			} else if want := f.Path + " "; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: the error names another field: %v", f.Path, err)
			}
		}
	}
	if err := encodable(&base, mma.Formats{Down: 3, Block: 2}); err != nil {
		t.Error(err)
	}
	if err := encodable(&base, mma.Formats{D: fp.E4M3}); err == nil {
		t.Error("results in E4M3 are accepted")
	}
}
