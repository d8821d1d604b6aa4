package corpus

import (
	"errors"
	"fmt"
	"strings"
)

// Versions are digests, of 16 hexadecimal digits each, of what results depend on besides
// targets, flags and seeds. All are empty if they are not known, since an earlier program
// did not keep them. Package fuzz/gen/versions has those of this program.
type Versions struct {
	Catalogue  string `json:"catalogue"`  // every instruction with its formats, K and parameters
	Generators string `json:"generators"` // names, versions, weights and tiles
	Formats    string `json:"formats"`    // what the codes of every format mean
}

// ErrOtherVersion reports that another version of the program made something, and that this
// one cannot continue it: results of two versions would be mixed.
var ErrOtherVersion = errors.New("another version of mmafuzz made it")

// IsZero reports whether the digests are not known.
func (v Versions) IsZero() bool { return v == Versions{} }

// Named returns the digests under the names of what they identify.
func (v Versions) Named() map[string]string {
	return map[string]string{"catalogue": v.Catalogue, "generators": v.Generators, "formats": v.Formats}
}

// Check returns nil if something was made with the digests of this program, now; else an
// ErrOtherVersion that has both.
func (v Versions) Check(now Versions) error {
	if v == now {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrOtherVersion, v.Difference(now))
}

// Difference describes in which digests something differs from this program, now, with both
// values; "" if in none.
func (v Versions) Difference(now Versions) string {
	if v.IsZero() {
		return "one that did not keep the digests of its catalogue, generators and formats"
	}
	var differ, same []string
	for _, p := range []struct{ what, have, now string }{
		{"catalogue", v.Catalogue, now.Catalogue}, {"generators", v.Generators, now.Generators}, {"formats", v.Formats, now.Formats},
	} {
		if p.have == p.now {
			same = append(same, p.what)
			continue
		}
		differ = append(differ, fmt.Sprintf("its %s: %s, this program's: %s", p.what, p.have, p.now))
	}
	if len(differ) > 0 && len(same) > 0 {
		differ = append(differ, "the same "+strings.Join(same, " and "))
	}
	return strings.Join(differ, "; ")
}
