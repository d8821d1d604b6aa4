package fleet

import "testing"

// look returns the status of a campaign's directory.
func look(t *testing.T, dir string) *Status {
	t.Helper()
	w, err := NewWatcher(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Look()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
