package corpus

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// fileHeader is that of the recordings of these tests.
func fileHeader() Header {
	return Header{Versions: testVersions, Name: "lab", Target: "test", Environment: map[string]string{"driver": "570", "os": "linux"},
		Plan: &Plan{Version: 1, Name: "p", Seed: 1}, Work: "abc"}
}

// fileSteps is what they hold, step by step.
func fileSteps(t *testing.T) []func(*RecordingFile) error {
	t.Helper()
	var steps []func(*RecordingFile) error
	for n := range 5 {
		b, d := recorded(half, tile, uint64(n))
		s := Section{Arch: "hopper", Instruction: "x", K: 4, Generator: "raw@1", Seed: 7}
		var faults []Fault
		switch n {
		case 1:
			faults = []Fault{{3, 2, "illegal address"}}
		case 3, 4:
			s.Instruction = "y"
		}
		p, err := Pack(s, b, d, faults)
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, func(f *RecordingFile) error { return f.Write(p) })
	}
	note := func(f *RecordingFile) error { return f.Note(Note{"hopper", "y", map[string]string{"opcode": "HMMA"}}) }
	steps = append(steps[:3], append([]func(*RecordingFile) error{note}, steps[3:]...)...)
	problem := func(f *RecordingFile) error { return f.Problem(Problem{"hopper", "y", "gone"}) }
	return append(steps, problem, (*RecordingFile).Finish)
}

// finishFile opens a file and does the steps that are missing.
func finishFile(t *testing.T, path string) {
	t.Helper()
	f, err := OpenRecordingFile(path, fileHeader())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	steps := fileSteps(t)
	if f.Complete != (len(f.Steps) == len(steps)) && len(f.Steps) > len(steps)-1 {
		t.Fatalf("complete %v after %d steps", f.Complete, len(f.Steps))
	}
	if f.Complete {
		return
	}
	for _, step := range steps[len(f.Steps):] {
		if err := step(f); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRecordingFileTorn cuts a recording at many bytes and takes it up again: the
// end is the same to the byte, and no step that was whole is asked for again.
func TestRecordingFileTorn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "complete")
	finishFile(t, path)
	complete, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := OpenRecording(path); err != nil || !rec.Complete || len(rec.Data) != 5 || len(rec.Problems) != 1 {
		t.Fatalf("%+v, %v", rec, err)
	}
	torn := filepath.Join(dir, "torn")
	most := 0
	for cut := 0; ; cut = min(len(complete), cut+1+cut%37) {
		if err := os.WriteFile(torn, complete[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := OpenRecordingFile(torn, fileHeader())
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if n := len(f.Steps); n < most {
			t.Fatalf("cut at %d: %d steps, %d before", cut, n, most)
		} else {
			most = n
		}
		f.Close()
		finishFile(t, torn)
		if got, err := os.ReadFile(torn); err != nil || !bytes.Equal(got, complete) {
			t.Fatalf("cut at %d: %v, other bytes", cut, err)
		}
		if cut == len(complete) {
			break
		}
	}
	if most != 7 {
		t.Errorf("%d steps in the end, want 7", most)
	}
}

// TestRecordingFileZeros leaves zeros of a recording from many bytes on, as a crash of
// the machine may, some behind its end: it is resumed and ends the same to the byte.
func TestRecordingFileZeros(t *testing.T) {
	tier.SkipUnderRace(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "complete")
	finishFile(t, path)
	complete, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(dir, "torn")
	for from := 0; from <= len(complete); from += 1 + from%29 {
		for _, behind := range []int{0, 1, 5000} {
			body := append(bytes.Clone(complete[:from]), make([]byte, len(complete)-from+behind)...)
			if err := os.WriteFile(torn, body, 0o666); err != nil {
				t.Fatal(err)
			}
			if rec, err := OpenRecording(torn); err == nil && rec.Complete && from < len(complete)-1 {
				t.Fatalf("zeros from %d: it counts as complete", from)
			} else if err != nil && from > 1000 {
				t.Fatalf("zeros from %d: %v", from, err)
			}
			finishFile(t, torn)
			got, err := os.ReadFile(torn)
			if err != nil || !bytes.HasPrefix(got, complete) || len(bytes.Trim(got[len(complete):], "\x00")) > 0 {
				t.Fatalf("zeros from %d: %v, other bytes", from, err)
			}
		}
	}
	// What has something behind the zeros is damaged.
	body := bytes.Clone(complete)
	clear(body[len(body)/2 : len(body)/2+100])
	if _, err := ReadRecording(bytes.NewReader(body)); err == nil || !strings.HasSuffix(err.Error(), "the file is damaged") {
		t.Errorf("zeros in the middle: %v", err)
	}
}

// TestRecordingFileSteps checks what a file that is resumed says about itself.
func TestRecordingFileSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	finishFile(t, path)
	f, err := OpenRecordingFile(path, fileHeader())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type step struct {
		Inst   string
		First  uint64
		Faults int
	}
	var got []step
	for _, s := range f.Steps {
		if s.Note != nil {
			got = append(got, step{Inst: "note " + s.Note.Instruction})
		} else if s.Problem != nil {
			got = append(got, step{Inst: "problem " + s.Problem.Instruction})
		} else {
			got = append(got, step{s.Section.Instruction, s.First, s.Faults})
		}
	}
	want := []step{{"x", 0, 0}, {"x", 30, 2}, {"x", 60, 0}, {Inst: "note y"}, {"y", 0, 0}, {"y", 30, 0}, {Inst: "problem y"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.Size(); err != nil || n != info.Size() {
		t.Errorf("size %d, %v, want %d", n, err, info.Size())
	}
}

// TestRecordingFileOther opens files that hold something else: they are left as
// they are.
func TestRecordingFileOther(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	finishFile(t, good)
	complete, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(complete)
	damaged[len(damaged)/2] ^= 1
	v1, err := os.ReadFile("testdata/version1.rec")
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(complete) // of another program: a digest of as many digits, and the checksum of the frame
	copy(other[bytes.Index(other, []byte(testVersions.Generators)):], "0123456789abcdef")
	first := other[len(recordingMagic):]
	size := binary.LittleEndian.Uint32(first[1:])
	binary.LittleEndian.PutUint32(first[5:], frameSum(frameHeader, first[frameHead:][:size]))
	change := func(f func(*Header)) Header {
		h := fileHeader()
		f(&h)
		return h
	}
	for _, tc := range []struct {
		name   string
		body   []byte
		header Header
		want   string // % is the file
	}{
		{"text", []byte("mmafuzz recordings are good"), fileHeader(), "%: this is not an mmafuzz recording"},
		{"short text", []byte("hello"), fileHeader(), "%: this is not an mmafuzz recording"},
		{"damage", damaged, fileHeader(), "%: frame 5: the checksum is wrong: the file is damaged"},
		{"version 1", v1, Header{Target: "test", Environment: map[string]string{"driver": "1"}}, "%: frame 0: recording version 1, this program reads 2"},
		{"other generators", other, fileHeader(), "%: another version of mmafuzz made it: its generators: 0123456789abcdef, this program's: " +
			testVersions.Generators + "; the same catalogue and formats"},
		{"target", complete, change(func(h *Header) { h.Target = "cuda:0" }), "%: the file holds another recording: its target is test, here it is cuda:0"},
		{"name", complete, change(func(h *Header) { h.Name = "" }), "%: the file holds another recording: its name is lab, here it is not given"},
		{"date", complete, change(func(h *Header) { h.Date = "2026-01-02" }), "%: the file holds another recording: its date is not given, here it is 2026-01-02"},
		{"plan", complete, change(func(h *Header) { h.Plan = &Plan{Version: 1, Name: "q"} }), "%: the file holds another recording: its plan is another one: p"},
		{"changed plan", complete, change(func(h *Header) { h.Plan = &Plan{Version: 1, Name: "p", Seed: 2} }),
			"%: the file holds another recording: its plan is another one: p with other contents (seed: 1 and 2)"},
		{"no plan", complete, change(func(h *Header) { h.Plan = nil }), "%: the file holds another recording: its plan is another one: p"},
		{"work", complete, change(func(h *Header) { h.Work = "def" }), "%: the file holds another recording: its list of instructions and inputs is abc, here it is def"},
		{"environment", complete, change(func(h *Header) { h.Environment["driver"], h.Environment["ecc"] = "575", "on" }),
			"%: the file holds another recording: its driver is 570, here it is 575; its ecc is not given, here it is on"},
	} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, tc.body, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := OpenRecordingFile(path, tc.header)
		if err == nil {
			f.Close()
		}
		if want := strings.Replace(tc.want, "%", path, 1); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", tc.name, err, want)
		}
		if other := strings.Contains(tc.want, "another recording"); errors.Is(err, ErrOtherRecording) != other {
			t.Errorf("%s: %v", tc.name, err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, tc.body) {
			t.Errorf("%s: the file was changed (%v)", tc.name, err)
		}
	}
	if _, err := OpenRecordingFile(filepath.Join(dir, "no", "file"), fileHeader()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a directory that is not there: %v", err)
	}
}

// TestRecordingFileFull writes to a file that cannot be written any more.
func TestRecordingFileFull(t *testing.T) {
	f, err := OpenRecordingFile(filepath.Join(t.TempDir(), "x"), fileHeader())
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for n, step := range fileSteps(t) {
		if err := step(f); !errors.Is(err, os.ErrClosed) {
			t.Errorf("step %d: %v", n, err)
		}
	}
}
