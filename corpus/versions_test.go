package corpus

import (
	"errors"
	"testing"
)

// testVersions are those of the programs of these tests.
var testVersions = Versions{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"}

func TestVersionsCheck(t *testing.T) {
	for _, tc := range []struct {
		name string
		have Versions
		want string // "": the same
	}{
		{"the same", testVersions, ""},
		{"the catalogue", Versions{"x", testVersions.Generators, testVersions.Formats},
			"another version of mmafuzz made it: its catalogue: x, this program's: aaaaaaaaaaaaaaaa; the same generators and formats"},
		{"two", Versions{"x", testVersions.Generators, "y"},
			"another version of mmafuzz made it: its catalogue: x, this program's: aaaaaaaaaaaaaaaa; its formats: y, this program's: cccccccccccccccc; the same generators"},
		{"all", Versions{"x", "y", "z"}, "another version of mmafuzz made it: its catalogue: x, this program's: aaaaaaaaaaaaaaaa; " +
			"its generators: y, this program's: bbbbbbbbbbbbbbbb; its formats: z, this program's: cccccccccccccccc"},
		{"none", Versions{}, "another version of mmafuzz made it: one that did not keep the digests of its catalogue, generators and formats"},
	} {
		err := tc.have.Check(testVersions)
		if tc.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
			continue
		}
		if !errors.Is(err, ErrOtherVersion) || err.Error() != tc.want {
			t.Errorf("%s:\n got %v\nwant %s", tc.name, err, tc.want)
		}
	}
}
