package corpus

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// names returns what is in a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestRemoveGone removes what a process that is alive has moved away since it was listed.
func TestRemoveGone(t *testing.T) {
	dir := t.TempDir()
	for _, isDir := range []bool{false, true} {
		if err := removeTemporary(temporaryName(filepath.Join(dir, "gone")), isDir); err != nil {
			t.Error(err)
		}
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("there is %q, want nothing", got)
	}
}

// TestReplace replaces files, and leaves them, with nothing beside them in the end.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	read := func() string {
		body, err := os.ReadFile(file)
		if err != nil {
			return err.(*fs.PathError).Err.Error()
		}
		return string(body)
	}
	if err := ReplaceFile(file, []byte("one")); err != nil || read() != "one" {
		t.Fatalf("%q, %v", read(), err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	// One that was killed has left more than what is written now.
	if err := os.WriteFile(temporaryName(file), []byte("a longer text"), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Replace(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replace(file); !errors.Is(err, ErrInUse) {
		t.Errorf("twice at the same time: %v", err)
	}
	if err := RemoveStale(dir, 0); err != nil || len(names(t, dir)) != 2 {
		t.Errorf("what is being written is removed: %q, %v", names(t, dir), err)
	}
	if _, err := r.Write([]byte("two")); err != nil || read() != "one" {
		t.Errorf("%q before the end, %v", read(), err)
	}
	if err := r.Commit(); err != nil || read() != "two" {
		t.Errorf("%q, %v", read(), err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode has become %v, %v", info.Mode(), err)
	}
	if r, err = Replace(file); err != nil {
		t.Fatal(err)
	}
	if err := r.Discard(); err != nil || read() != "two" {
		t.Errorf("%q, %v", read(), err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a"}) {
		t.Errorf("there is %q, want a alone", got)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceFile(link, []byte("three")); err != nil || read() != "three" {
		t.Errorf("through a link: %q, %v", read(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is now %v, %v", info, err)
	}
	if err := ReplaceFile(dir, nil); err == nil || err.Error() != dir+" is a directory: name a regular file" {
		t.Errorf("a directory: %v", err)
	}
	if err := ReplaceFile(filepath.Join(dir, "no", "file"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a directory that is not there: %v", err)
	}
}

// TestNoLocks replaces a file on a file system without locks, twice at the same time: each has
// all of it. What is being written is not removed.
func TestNoLocks(t *testing.T) {
	defer func() { lockFile = systemLock }()
	lockFile = func(*os.File) error { return errNoLocks }
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	var all []*Replacement
	for range 2 {
		r, err := Replace(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Write([]byte("half")); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if err := RemoveStale(dir, 0); err != nil || len(names(t, dir)) != 2 {
		t.Errorf("there is %q, %v, want two temporary files", names(t, dir), err)
	}
	for _, r := range all {
		if !IsTemporary(r.f.Name()) {
			t.Errorf("%s is no name of a temporary file", r.f.Name())
		}
		if err := r.Save([]byte(" and half")); err != nil {
			t.Fatal(err)
		}
		if body, err := os.ReadFile(file); err != nil || string(body) != "half and half" {
			t.Errorf("%q, %v", body, err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a"}) {
		t.Errorf("there is %q, want a alone", got)
	}
	if err := WriteBundle(filepath.Join(dir, "b"), finding(), nil); err != nil {
		t.Error(err)
	}
}

// TestReplaceShared replaces a file several times at the same time, while others remove what they
// take for remains: the last one counts, and nothing else is left.
func TestReplaceShared(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if err := errors.Join(ReplaceSharedFile(file, []byte("all of it")), RemoveStale(dir, 0)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if body, err := os.ReadFile(file); err != nil || string(body) != "all of it" {
		t.Errorf("%q, %v", body, err)
	}
	// One that stays open is appended to, and what was begun before it is not removed.
	r, err := ReplaceShared(file)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ReplaceShared(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write([]byte("one,")); err != nil {
		t.Fatal(err)
	}
	f, err := r.CommitOpen()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(" two")); err != nil {
		t.Fatal(err)
	}
	if err := RemoveStale(dir, 0); err != nil || len(names(t, dir)) != 2 {
		t.Errorf("there is %q, %v", names(t, dir), err)
	}
	if err := errors.Join(f.Close(), other.Discard()); err != nil {
		t.Error(err)
	}
	if body, err := os.ReadFile(file); err != nil || string(body) != "one, two" || len(names(t, dir)) != 1 {
		t.Errorf("%q, %v, %q", body, err, names(t, dir))
	}
}

// TestRemoveStale leaves what killed processes leave, and what they do not.
func TestRemoveStale(t *testing.T) {
	dir := t.TempDir()
	put := func(files map[string]string) {
		t.Helper()
		for _, name := range slices.Sorted(maps.Keys(files)) {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(files[name]), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(map[string]string{
		".a.mmafuzz-tmp":                       "half a file",
		"x/.b.mmafuzz-tmp/lock":                "",
		"x/.b.mmafuzz-tmp/fresh/MANIFEST":      "half a bundle",
		"x/.moved.mmafuzz-tmp/lock":            "",
		"x/.moved.mmafuzz-tmp/old/MANIFEST":    "moved away",
		"x/.moved.mmafuzz-tmp/fresh/MANIFEST":  "new",
		"x/.replaced.mmafuzz-tmp/old/MANIFEST": "before",
		"x/replaced/MANIFEST":                  "after",
		"x/y/.c.mmafuzz-tmp":                   "deeper than asked for",
		".tmp-123":                             "a stranger's",
		".mmafuzz-tmp":                         "a stranger's",
		"a.mmafuzz-tmp":                        "a stranger's",
		".a.mmafuzz-tmp.txt":                   "a stranger's",
		"x/b/MANIFEST":                         "a bundle",
	})
	if err := RemoveStale(dir, 1); err != nil {
		t.Fatal(err)
	}
	left := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		left[filepath.ToSlash(name)] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"x/y/.c.mmafuzz-tmp": "deeper than asked for", ".tmp-123": "a stranger's", ".mmafuzz-tmp": "a stranger's", "a.mmafuzz-tmp": "a stranger's",
		".a.mmafuzz-tmp.txt": "a stranger's", "x/b/MANIFEST": "a bundle", "x/moved/MANIFEST": "moved away", "x/replaced/MANIFEST": "after",
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
	if got, want := names(t, filepath.Join(dir, "x")), []string{"b", "moved", "replaced", "y"}; !slices.Equal(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
	if err := RemoveStale(filepath.Join(dir, "nothing"), 0); err != nil {
		t.Errorf("no directory: %v", err)
	}
}

// treeToRemove is the variable of the environment with which TestRemoveTree starts itself to remove
// a tree.
const treeToRemove = "MMAFUZZ_TEST_REMOVE_TREE"

// TestRemoveTree kills a process that removes a directory: all files are at their place, or nothing is.
// What it leaves aside is removed with the next one of the name.
func TestRemoveTree(t *testing.T) {
	if dir := os.Getenv(treeToRemove); dir != "" {
		if err := RemoveTree(dir); err != nil {
			t.Error(err)
		}
		return
	}
	const files = 2000
	root := t.TempDir()
	dir := filepath.Join(root, "tree")
	there := func() int {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return 0
		}
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	killed := 0
	for n := 0; n < 20 && killed < 2; n++ {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range files {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		whole, err := os.Lstat(dir)
		if err != nil {
			t.Fatal(err)
		}
		untouched := func() bool {
			now, err := os.Lstat(dir)
			return err == nil && now.ModTime().Equal(whole.ModTime())
		}
		c := exec.Command(os.Args[0], "-test.run=^TestRemoveTree$")
		c.Env = append(os.Environ(), treeToRemove+"="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); untouched() && time.Now().Before(end); {
			time.Sleep(100 * time.Microsecond)
		}
		_ = c.Process.Kill()
		if c.Wait() != nil {
			killed++
		}
		if left := there(); left > 0 && left < files {
			t.Fatalf("%d of %d files are left at their place", left, files)
		}
	} // the next process finds what this one has left aside
	if err := RemoveTree(dir); err != nil || len(names(t, root)) > 0 {
		t.Errorf("%v is left, %v", names(t, root), err)
	}
	if killed == 0 {
		t.Error("no process was killed before its end")
	}
}

// TestWriteBundleAfterKill writes a bundle where one that was killed has left a part: of
// the same place, and with the bundle that was there moved away.
func TestWriteBundleAfterKill(t *testing.T) {
	dir := newBundle(t)
	parent, name := filepath.Dir(dir), filepath.Base(dir)
	tmp := temporaryName(dir)
	for what, leave := range map[string]func() error{
		"half a bundle": func() error {
			return errors.Join(os.MkdirAll(filepath.Join(tmp, temporaryFresh), 0o777), os.WriteFile(filepath.Join(tmp, temporaryFresh, "x"), nil, 0o666))
		},
		"the bundle moved away": func() error {
			return errors.Join(os.MkdirAll(tmp, 0o777), os.Rename(dir, filepath.Join(tmp, temporaryOld)))
		},
	} {
		if err := leave(); err != nil {
			t.Fatal(err)
		}
		if err := WriteBundle(dir, finding(), extraFiles); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := ReadBundle(dir); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got := names(t, parent); !slices.Equal(got, []string{name}) {
			t.Errorf("%s: there is %q, want %s alone", what, got, name)
		}
	}
}
