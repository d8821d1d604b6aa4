package fleet

import "testing"

// look returns the status of a campaign's directories.
func look(t *testing.T, dirs ...string) *Status {
	t.Helper()
	w, err := NewWatcher(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Look()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
