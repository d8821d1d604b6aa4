package corpus

import (
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// CheckDot checks that operands that anybody may have written are a dot product of k elements of
// some formats. nil is an error, too.
func CheckDot(f mma.Formats, k int, d *mma.Dot) error {
	if d == nil {
		return errors.New("no operands")
	}
	blocks := f.Blocks(k)
	for _, o := range []struct {
		name  string
		codes []uint64
		n     int
		id    fp.ID
	}{{"a", d.A, k, f.A}, {"b", d.B, k, f.B}, {"c", []uint64{d.C}, 1, f.C}, {"sa", d.SA, blocks, f.Scale}, {"sb", d.SB, blocks, f.Scale}} {
		if len(o.codes) != o.n {
			return fmt.Errorf("%d elements of %s, not %d", len(o.codes), o.name, o.n)
		}
		for _, code := range o.codes {
			if code != 0 && (o.id == fp.None || code > o.id.Get().CodeMask()) {
				return fmt.Errorf("%x in %s is no %s code", code, o.name, o.id)
			}
		}
	}
	return nil
}
