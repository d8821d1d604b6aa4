package corpus

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMarks adds marks in any order and writes and reads them.
func TestMarks(t *testing.T) {
	var up, down Marks
	for i := range uint32(3 * MostMarks) {
		up = up.Add(Mark{i, 7}, Mark{i, 7})
		down = down.Add(Mark{3*MostMarks - 1 - i, 7})
	}
	if d := cmp.Diff(up, down); d != "" || len(up) != MostMarks || up[MostMarks-1] != (Mark{MostMarks - 1, 7}) {
		t.Errorf("%d marks %s", len(up), d)
	}
	text, err := up.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var again Marks
	if err := again.UnmarshalText(text); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(up, again); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"x", "0123456789abcdex", "0123456789abcdef0", "0123456 789abcdef"} {
		if err := again.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is read as %v", bad, again)
		}
	}
}
