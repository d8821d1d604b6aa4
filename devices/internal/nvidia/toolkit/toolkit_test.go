package toolkit

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// script writes a program.
func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o777); err != nil {
		t.Fatal(err)
	}
	return file
}

// fake is a ptxas of a version that knows some chips and refuses texts with "bad".
func fake(version, chips string) string {
	return `case "$1" in
--version) echo "Cuda compilation tools, release ` + version + `, V` + version + `.0" ;;
--help) echo "Allowed values for this option:  ` + chips + `" ;;
*) if grep -q bad "$2"; then echo "line 7: bad" >&2; exit 255; fi; { echo "$1"; cat "$2"; } > "$4" ;;
esac
`
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	newer := script(t, dir, "newer", fake("13.0", "'sm_75','sm_110a','compute_75'"))
	older := script(t, dir, "older", fake("12.9", "'sm_70','sm_90a','sm_100f'"))
	again := script(t, dir, "again", fake("12.9", "'sm_70'"))
	broken := script(t, dir, "broken", "exit 1\n")
	mute := script(t, dir, "mute", "echo nothing\n")
	t.Setenv("MMAFUZZ_PTXAS", strings.Join([]string{newer, filepath.Join(dir, "absent"), older, again, broken, mute}, string(os.PathListSeparator)))
	got := Find(t.Context(), "ptxas")
	want := []Tool{
		{older, 12090, []string{"sm_70", "sm_90a", "sm_100f"}},
		{newer, 13000, []string{"sm_75", "sm_110a"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	for _, tc := range []struct {
		version int
		chip    string
		want    bool
	}{{12090, "sm_70", true}, {12000, "sm_90a", true}, {13000, "sm_70", false}, {12090, "sm_90", false}} {
		if got[0].Knows(tc.version, tc.chip) != tc.want {
			t.Errorf("knows %d for %s: %v", tc.version, tc.chip, !tc.want)
		}
	}
}

func TestFindInPath(t *testing.T) {
	dir := t.TempDir()
	file := script(t, dir, "nvdisasm", fake("13.1", "'SM75','SM90a'"))
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv("MMAFUZZ_NVDISASM", "")
	for _, tool := range Find(t.Context(), "nvdisasm") {
		if tool.Path == file {
			if diff := cmp.Diff(Tool{file, 13010, []string{"sm_75", "sm_90a"}}, tool); diff != "" {
				t.Error(diff)
			}
			return
		}
	}
	t.Error("not found")
}

func TestAssemble(t *testing.T) {
	dir := t.TempDir()
	tool := Tool{Path: script(t, dir, "ptxas", fake("12.9", "")), Version: 12090}
	code, err := tool.Assemble(t.Context(), t.TempDir(), "sm_90a", "good\n")
	if err != nil || string(code) != "-arch=sm_90a\ngood\n" {
		t.Errorf("%q, %v", code, err)
	}
	_, err = tool.Assemble(t.Context(), t.TempDir(), "sm_90a", "bad\n")
	if want := "ptxas 12.9 for sm_90a: exit status 255\nline 7: bad\n"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestDisassemble(t *testing.T) {
	dir := t.TempDir()
	tool := Tool{Path: script(t, dir, "nvdisasm", "if grep -q bad \"$2\"; then exit 3; fi\necho \"$1\"; cat \"$2\"\n"), Version: 13010}
	text, err := tool.Disassemble(t.Context(), t.TempDir(), []byte("code"))
	if err != nil || text != "-c\ncode" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err = tool.Disassemble(t.Context(), t.TempDir(), []byte("bad")); err == nil || err.Error() != "nvdisasm 13.1: exit status 3" {
		t.Errorf("%v", err)
	}
}
