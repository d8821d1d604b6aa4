package discover

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAMD reads a recorded topology: a processor, three GPUs of the catalogue and
// one that is not.
func TestAMD(t *testing.T) {
	want := []Device{
		{Kind: "amd", Name: "gfx942", Arch: "cdna3", UUID: "GPU-882540a516e61024", PCI: "0000:c1:00.0"},
		{Kind: "amd", Name: "gfx90a", Arch: "cdna2", PCI: "0001:83:00.0"},
		{Kind: "amd", Name: "gfx1101", Arch: "rdna3"},
		{Kind: "amd", Name: "gfx1030"},
	}
	if diff := cmp.Diff(want, amd("testdata/kfd")); diff != "" {
		t.Error(diff)
	}
	if got := amd(filepath.Join("testdata", "absent")); got != nil {
		t.Errorf("without the driver: %v", got)
	}
	if got := amd("[]"); got != nil {
		t.Errorf("a path that is a bad pattern: %v", got)
	}
}

// TestAMDTargets numbers the GPUs as the HIP runtime does: also one that cannot be
// used has a number.
func TestAMDTargets(t *testing.T) {
	t.Setenv(topologyVar, "testdata/kfd")
	var targets []string
	for _, d := range AMD() {
		targets = append(targets, d.Name+" "+d.Target)
	}
	if diff := cmp.Diff([]string{"gfx942 hip:0", "gfx90a hip:1", "gfx1101 hip:2", "gfx1030 "}, targets); diff != "" {
		t.Error(diff)
	}
}

// TestAMDUnreadable has a file that cannot be read.
func TestAMDUnreadable(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "1", "properties")
	if err := os.MkdirAll(file, 0o777); err != nil { // a directory in its place
		t.Fatal(err)
	}
	got := amd(root)
	if len(got) != 1 || got[0].Kind != "amd" || got[0].Name != file || got[0].Problem == "" || got[0].Remedy != "read access to "+root {
		t.Errorf("%+v", got)
	}
}

func TestGfxName(t *testing.T) {
	for version, want := range map[string]string{
		"90008": "gfx908", "90010": "gfx90a", "90402": "gfx942", "90500": "gfx950",
		"100300": "gfx1030", "110000": "gfx1100", "120001": "gfx1201", "x": "gfx?", "": "gfx?",
	} {
		if got := gfxName(version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

func TestProperty(t *testing.T) {
	const text = "a 1\nb 2 3\naa 4\nc\nd  5\na 6\n"
	for name, want := range map[string]string{"a": "1", "b": "", "aa": "4", "c": "", "d": "5", "e": ""} {
		if got := property(text, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestDevices looks at the machine that it runs on: whatever is there, it has a
// kind and a name, and a problem comes with a remedy.
func TestDevices(t *testing.T) {
	for _, d := range Devices() {
		t.Logf("%+v", d)
		if d.Kind != "nvidia" && d.Kind != "amd" || d.Name == "" {
			t.Errorf("%+v", d)
		}
	}
}
