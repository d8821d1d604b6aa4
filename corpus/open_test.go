package corpus

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpen opens what is a regular file of the right size, and what is not.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, bytes.Repeat([]byte("x"), size), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sparse := write("sparse", 0)
	if err := os.Truncate(sparse, 3<<30/2); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, path, want string // want "": it is read; % is the path
	}{
		{"empty", write("empty", 0), ""},
		{"largest", write("largest", 1000), ""},
		{"too large", write("large", 1001), "% has 1001 bytes, and a plan has 1000 bytes at most: name another file"},
		{"much too large", sparse, "% has 1.5 GiB, and a plan has 1000 bytes at most: name another file"},
		{"directory", dir, "% is a directory: name a regular file"},
		{"nothing", filepath.Join(dir, "nothing"), "open %: no such file or directory"},
	} {
		body, err := ReadFile(tc.path, "plan", 1000)
		if tc.want == "" {
			if info, _ := os.Stat(tc.path); err != nil || int64(len(body)) != info.Size() {
				t.Errorf("%s: %d bytes, %v", tc.name, len(body), err)
			}
			continue
		}
		if want := strings.ReplaceAll(tc.want, "%", tc.path); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", tc.name, err, want)
		}
	}
}

// TestOpenGrows reads a file that grows after it was opened, by whatever reads it.
func TestOpenGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	want := path + " has grown while it was read, and a plan has 10 bytes at most"
	for name, read := range map[string]func(r io.Reader) (int64, error){
		"ReadAll": func(r io.Reader) (int64, error) { b, err := io.ReadAll(r); return int64(len(b)), err },
		"Copy":    func(r io.Reader) (int64, error) { return io.Copy(io.Discard, r) },
		"a byte at a time": func(r io.Reader) (n int64, err error) {
			for {
				k, err := r.Read(make([]byte, 1))
				if n += int64(k); err != nil {
					return n, err
				}
			}
		},
	} {
		if err := os.WriteFile(path, []byte("0123456789"), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, "plan", 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 1000), 0o666); err != nil {
			t.Fatal(err)
		}
		if n, err := read(f); n != 10 || err == nil || err.Error() != want {
			t.Errorf("%s: %d bytes, %v, want 10 and %s", name, n, err, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
