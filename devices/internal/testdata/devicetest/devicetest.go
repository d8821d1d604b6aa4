// Package devicetest has what the tests of several kinds of targets need.
package devicetest

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// One returns a unit's result on one dot product, in hexadecimal. text is what
// mma.ParseDot reads.
func One(t testing.TB, u devices.Unit, text string) string {
	t.Helper()
	i := u.Instruction()
	d, err := mma.ParseDot(i.Formats, i.K, true, strings.Fields(text))
	if err != nil {
		t.Fatal(err)
	}
	b := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: len(d.A), Tiles: 1})
	b.Set(0, d)
	out := make([]byte, i.D.Width())
	if err := u.Run(t.Context(), b, out); err != nil {
		t.Fatal(err)
	}
	return mma.FormatCode(i.D, mma.Load(out, i.D.Width(), 0))
}
