package devicetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Emulator is a program of qemu-user that executes this project built for another
// processor.
type Emulator struct {
	Program string // such as qemu-aarch64
	CPU     string // the processor with the most instructions
	GOARCH  string
	Arch    string // of the catalogue
}

// Emulators are the emulators that the tests use if they are installed.
var Emulators = []Emulator{
	{"qemu-aarch64", "max", "arm64", "arm"},
	{"qemu-ppc64le", "power10", "ppc64le", "power10"},
}

// qemuVar is the environment variable that lists directories, separated as in PATH, with
// versions of the emulators to use instead of those on the path.
const qemuVar = "MMAFUZZ_QEMU"

// Paths returns the files of the emulator. It skips the test if there is none.
func (e Emulator) Paths(t testing.TB) []string {
	t.Helper()
	var paths []string
	for _, dir := range filepath.SplitList(os.Getenv(qemuVar)) {
		path, err := exec.LookPath(filepath.Join(dir, e.Program))
		if err != nil {
			t.Fatalf("%s: %v", qemuVar, err)
		}
		paths = append(paths, path)
	}
	if paths != nil {
		return paths
	}
	path, err := exec.LookPath(e.Program)
	if err != nil {
		t.Skipf("%s IS NOT TESTED: there is no %s (Debian: qemu-user)", strings.ToUpper(e.Arch), e.Program)
	}
	return []string{path}
}

// Version returns the first line that the emulator at a path prints for --version.
func Version(t testing.TB, path string) string {
	t.Helper()
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		t.Fatalf("%s --version: %v", path, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// Command returns the command that runs a program of BuildTests in the emulator at a
// path, quoted for an exec: target.
func (e Emulator) Command(path, program string) string {
	return "'" + path + "' -cpu " + e.CPU + " '" + program + "'"
}

// BuildTests builds the tests of the package in the working directory for Linux on the emulator's
// processor, without cgo and without what needs a dynamic linker (tag nogpu), and returns the file.
func (e Emulator) BuildTests(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test."+e.GOARCH)
	cmd := exec.Command("go", "test", "-c", "-tags", "nogpu", "-o", file, ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+e.GOARCH, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return file
}
