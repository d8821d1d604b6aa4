package bisect

import (
	"os"
	"testing"
)

// TestFileTarget has the name of a program that has to be quoted.
func TestFileTarget(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, want := range map[string]string{
		"unit":      "exec:./unit",
		"it's mine": `exec:'./it'\''s mine'`,
	} {
		if err := os.WriteFile(name, nil, 0o777); err != nil {
			t.Fatal(err)
		}
		if got, planned, err := fileTarget(name, Word); err != nil || planned || got != want {
			t.Errorf("%s is %s, %v, %v, want %s", name, got, planned, err, want)
		}
	}
}
