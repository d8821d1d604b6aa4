package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIsLitter tells what file managers and editors leave behind from what a person hides.
func TestIsLitter(t *testing.T) {
	want := map[string]bool{
		".DS_Store": true, "._README.md": true, "Thumbs.db": true, "desktop.ini": true, ".notes.txt.swp": true,
		".case.txt.mmafuzz-tmp": true, ".bundle-1.mmafuzz-tmp/": true,
		".notes": false, ".gitignore": false, "notes.swp": false, "journal": false, ".git/": false, "._mine/": false,
	}
	dir := t.TempDir()
	for name := range want {
		path := filepath.Join(dir, name)
		var err error
		if strings.HasSuffix(name, "/") {
			err = os.Mkdir(path, 0o777)
		} else {
			err = os.WriteFile(path, nil, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		if got := IsLitter(e); got != want[name] {
			t.Errorf("%s: %v", name, got)
		}
	}
}
