package encode

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestEncodable checks that a field is refused by its name if its row does not say that it is
// encoded, and so is a value that an enumeration did not have when its row was written.
func TestEncodable(t *testing.T) {
	base := mma.TFDPA(8, 24, mma.To(mma.Catalog()[0].D, 1), 0)
	for _, f := range mma.Fields() {
		p := base
		f.SetInt(&p, 1)
		if err := encodable(&p, mma.Formats{}); (err == nil) != (f.Encoded != 0) {
			t.Errorf("%s = %s: %v, its row says %d", f.Path, f.Text(&p), err, f.Encoded)
		}
		now := f.Encoded
		f.Encoded = 0
		if err := encodable(&p, mma.Formats{}); err == nil || !strings.HasPrefix(err.Error(), f.Path+" = ") {
			t.Errorf("%s, not encoded: %v", f.Path, err)
		}
		f.Encoded = now
		if len(f.Values()) <= 2 {
			continue
		}
		f.SetInt(&p, 200)
		if err := encodable(&p, mma.Formats{}); err == nil || !strings.HasPrefix(err.Error(), f.Path+" ") {
			t.Errorf("%s = 200: %v", f.Path, err)
		}
	}
	if err := encodable(&base, mma.Formats{Down: 3, Block: 2}); err != nil {
		t.Error(err)
	}
}
