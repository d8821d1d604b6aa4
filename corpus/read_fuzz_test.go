package corpus

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// FuzzReadMismatch reads anything as the mismatch.json of a bundle: what is read and
// written is read as the same, and its operands are those of its formats.
func FuzzReadMismatch(f *testing.F) {
	body, _, _ := seedBundle(f)
	f.Add(body)
	f.Add(bytes.Replace(body, []byte(`"k": 8`), []byte(`"k": -8`), 1))
	f.Add(bytes.Replace(body, []byte(`"target": "`), []byte(`"target": "exec:sh -c \u001b`), 1))
	f.Add(bytes.Replace(body, []byte(`"k": 8`), []byte(`"k": 8, "K": 16, "k": 8`), 1))
	f.Add(bytes.Replace(body, []byte(`"target"`), []byte(`"TARGET"`), 1))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, again := &Mismatch{}, &Mismatch{}
		if m.parse(body) != nil {
			return
		}
		dot, err := m.Dot()
		if err != nil || len(dot.A) != m.K {
			t.Fatalf("%v, %v", dot, err)
		}
		text := mma.FormatDot(m.Formats, dot)
		if again, err := mma.ParseDot(m.Formats, m.K, false, strings.Fields(text)); err != nil || !again.Equal(dot) {
			t.Fatalf("%q is read as %v, %v", text, again, err)
		}
		once, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.parse(once); err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, _ := json.Marshal(again); !bytes.Equal(once, twice) {
			t.Errorf("%s\nis read again as\n%s", once, twice)
		}
	})
}

// FuzzReadBundle reads a bundle of any manifest: what it lists are files of the bundle.
func FuzzReadBundle(f *testing.F) {
	_, manifest, dir := seedBundle(f)
	f.Add(manifest)
	f.Add([]byte(nil))
	f.Add(manifest[:len(manifest)/2])
	f.Add(bytes.Replace(manifest, []byte("  case.txt"), []byte("  ../b/case.txt"), 1))
	f.Add(bytes.ReplaceAll(manifest, []byte("\n"), []byte("\r\n")))
	f.Fuzz(func(t *testing.T, manifest []byte) {
		if err := os.WriteFile(filepath.Join(dir, manifestFile), manifest, 0o666); err != nil {
			t.Fatal(err)
		}
		b, err := ReadBundle(dir)
		if err != nil {
			return
		}
		for _, name := range []string{mismatchFile, caseFile} {
			if body, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(body, b.Files[name]) {
				t.Errorf("%q: %s is %q, %v", manifest, name, b.Files[name], err)
			}
		}
		if len(b.Files) != 2 {
			t.Errorf("%q lists %d files", manifest, len(b.Files))
		}
	})
}

// seedBundle writes a bundle, and returns its mismatch.json, its manifest and its
// directory.
func seedBundle(f *testing.F) (body, manifest []byte, dir string) {
	f.Helper()
	var err error
	dir = filepath.Join(f.TempDir(), "b")
	if err = WriteBundle(dir, finding(), nil); err != nil {
		f.Fatal(err)
	}
	for name, to := range map[string]*[]byte{mismatchFile: &body, manifestFile: &manifest} {
		if *to, err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			f.Fatal(err)
		}
	}
	return body, manifest, dir
}

// FuzzReadHWVectors reads anything as recorded results of GPUs: each case is of its
// instruction's formats, and as a recording it has as many.
func FuzzReadHWVectors(f *testing.F) {
	f.Add([]byte(hwText))
	f.Add(zipped(f, hwText))
	f.Add([]byte("# gpu=V100 in=fp16 k=4 columns\n3c00,0 3c00,0 0 3f800000 -\n"))
	f.Add([]byte("# gpu=H100 in=e5m2 k=32 columns\n3c 3c 7fc00001 7f800000 7fc00000\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		vs, err := hwVectors(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, v := range vs {
			text := mma.FormatDot(v.Inst.Formats, v.Dot)
			if d, err := mma.ParseDot(v.Inst.Formats, v.Inst.K, false, strings.Fields(text)); err != nil || !d.Equal(v.Dot) || v.D > v.Inst.D.Get().CodeMask() {
				t.Fatalf("%s: %s = %x, %v", v.Inst.FullName(), text, v.D, err)
			}
		}
		rec, err := readHWVectors(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, d := range rec.Data {
			n += d.Batch.Dots()
		}
		if n != len(vs) {
			t.Errorf("%d cases, but the recording has %d", len(vs), n)
		}
	})
}
