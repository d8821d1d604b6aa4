package cpu_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// encoded is a line of assembly whose instruction Go's assembler does not know: it
// is written as bytes, with what they mean in a comment.
var encoded = regexp.MustCompile(`(BYTE \$0x.*?)\s*\\?\s*// (\w.*)`)

// TestEncodings has a disassembler read those instructions of x86.
func TestEncodings(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("ENCODINGS ARE NOT TESTED: there is no objdump")
	}
	code := filepath.Join(t.TempDir(), "code")
	bytes, want := encodings(t)
	if err := os.WriteFile(code, bytes, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn", code).Output()
	if err != nil {
		t.Skipf("ENCODINGS ARE NOT TESTED: objdump knows no x86-64: %v", err)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		if address, inst, ok := strings.Cut(line, ":\t"); ok && address != "" {
			got = append(got, plain(inst))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d instructions, want %d:\n%s", len(got), len(want), out)
	}
	for n := range want {
		if got[n] != want[n] {
			t.Errorf("%s, want %s", got[n], want[n])
		}
	}
}

// encodings returns the bytes of all such lines, and what they should mean.
func encodings(t *testing.T) (code []byte, want []string) {
	t.Helper()
	for _, pattern := range []string{"*_amd64.s", "testdata/forms/*_amd64.s"} {
		files, err := filepath.Glob(pattern)
		if err != nil || files == nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range encoded.FindAllStringSubmatch(string(text), -1) {
				for word := range strings.SplitSeq(m[1], ";") {
					b, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(word), "BYTE $0x"), 16, 8)
					if err != nil {
						t.Fatalf("%s: %s: %v", file, m[0], err)
					}
					code = append(code, byte(b))
				}
				want = append(want, plain(m[2]))
			}
			if n := len(regexp.MustCompile(`BYTE[^/\n]*\n`).FindAllString(string(text), -1)); n > 0 {
				t.Errorf("%s: %d lines of bytes do not say what they are", file, n)
			}
		}
	}
	return code, want
}

// plain writes an instruction without blanks and without what objdump adds.
func plain(inst string) string {
	return strings.NewReplacer(" ", "", "\t", "", "\n", "", "*1", "", "ZMMWORD PTR ", "", "DWORD BCST ", "", "DWORD PTR ", "", "{1to16}", "").Replace(inst)
}
