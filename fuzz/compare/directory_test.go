package compare

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKilledClear holds that a comparison goes on where another one was killed: before the mark was
// in the new directory, and while bundles were removed.
func TestKilledClear(t *testing.T) {
	d := &Directory{path: t.TempDir()}
	bundles := filepath.Join(d.path, bundlesDir)
	if err := os.Mkdir(bundles, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := d.check(nil); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
	if err := d.mark(); err != nil {
		t.Fatal(err)
	}
	made, err := os.Stat(filepath.Join(bundles, mark))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(bundles, "a~b"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := d.clear(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(bundles)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	if left, err := entries[0].Info(); err != nil || !os.SameFile(left, made) {
		t.Errorf("the mark was removed: %v, %v", left, err)
	}
	if err := os.Remove(filepath.Join(bundles, mark)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bundles, "mine"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := d.check(nil); err == nil {
		t.Error("a directory of somebody else is taken")
	}
}
