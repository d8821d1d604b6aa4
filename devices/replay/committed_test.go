package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	recorder "github.com/mmafuzz/mmafuzz/fuzz/record"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

var recordings = filepath.Join("..", "..", "corpus", "recordings")

// TestCommitted compares the recordings under corpus/recordings, of real machines,
// with the simulators of their architectures.
func TestCommitted(t *testing.T) {
	tier.SkipUnderRace(t)
	lines, err := compareRecordings(t, recordings)
	for _, l := range lines {
		t.Log(l)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestProvenance checks that the table of corpus/recordings/README.md has a line for
// every recording, with the number of its dot products, and no other.
func TestProvenance(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(recordings, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{} // the number of dot products, by name of the file
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*?)` \\|.*\\| ([0-9,]+) \\| [0-9-]+ \\|$").FindAllStringSubmatch(string(text), -1) {
		table[row[1]] = strings.ReplaceAll(row[2], ",", "")
	}
	files, err := filepath.Glob(filepath.Join(recordings, "*.rec"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, file := range files {
		rec, err := corpus.OpenRecording(file)
		if err != nil {
			t.Error(err)
			continue
		}
		dots := 0
		for _, d := range rec.Data {
			dots += d.Section.Shape.Dots()
		}
		name := filepath.Base(file)
		if got := table[name]; got != fmt.Sprint(dots) {
			t.Errorf("the table of corpus/recordings/README.md has %q dot products for %s, the file %d: add or mend its line", got, name, dots)
		}
		delete(table, name)
	}
	for name := range table {
		t.Errorf("corpus/recordings/README.md has a line for %s, which is not there", name)
	}
}

// compareRecordings compares every instruction of every recording in a directory
// with its simulator. The error has a line for each that differs and is not known.
func compareRecordings(t *testing.T, dir string) (lines []string, err error) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.rec"))
	if err != nil {
		return nil, err
	}
	known, err := corpus.OpenKnown(filepath.Join(dir, "known.json"))
	if errors.Is(err, fs.ErrNotExist) {
		known, err = &corpus.Known{}, nil
	}
	for _, file := range files {
		target, openErr := devices.Open("replay:" + file)
		if openErr != nil {
			err = errors.Join(err, openErr)
			continue
		}
		if e := target.Environment()["recorded emulator"]; e != "" {
			err = errors.Join(err, fmt.Errorf("%s: recorded in the emulator %s, not on a machine", filepath.Base(file), e))
			continue
		}
		for _, i := range target.Instructions() {
			line, bad, one := compareRecorded(t, target, &i)
			line = filepath.Base(file) + ": " + line
			lines = append(lines, line)
			if bad > 0 && isKnown(known, filepath.Base(file), &i) {
				bad = 0
			}
			if one != nil || bad > 0 {
				err = errors.Join(err, one, errors.New(line))
			}
		}
	}
	return lines, err
}

func isKnown(known *corpus.Known, file string, i *mma.Instruction) bool {
	d := &corpus.Difference{A: strings.TrimSuffix(file, ".rec"), B: "sim:" + i.Arch, Instructions: []string{i.Name}}
	for _, e := range known.Entries {
		if e.Covers(d) { // whenever that expires: what is recorded does not change
			return true
		}
	}
	return false
}

// compareRecorded compares a recorded instruction with its simulator: all bits, but
// for what the catalogue says is not known.
func compareRecorded(t *testing.T, target devices.Target, i *mma.Instruction) (line string, bad int, err error) {
	t.Helper()
	u, err := target.Open(i)
	if err != nil {
		return i.FullName(), 0, err
	}
	rec := u.(devices.Recorder)
	row, err := mma.Lookup(i.Arch, i.Name)
	if err != nil || row.Refuse != "" {
		return fmt.Sprintf("%s: %d recorded, there is no simulator", i.FullName(), rec.Recorded()), 0, nil
	}
	sim, err := devices.OpenUnit("sim:"+i.Arch, i.Name, "")
	if err != nil {
		return i.FullName(), 0, err
	}
	policy := oracle.DefaultPolicy(0, row.Unknown)
	n, w := rec.Recorded(), i.D.Width()
	in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: rec.Length(), Tiles: n})
	want, got := make([]byte, n*w), make([]byte, n*w)
	if err := rec.Load(0, in, want); err != nil {
		return i.FullName(), 0, err
	}
	if err := sim.Run(t.Context(), in, got); err != nil {
		return i.FullName(), 0, err
	}
	for x := range n {
		if oracle.Compare(i.D, policy, mma.Load(got, w, x), mma.Load(want, w, x)) != oracle.Same {
			bad++
		}
	}
	return fmt.Sprintf("%s: %d recorded, %d differ from the simulator", i.FullName(), n, bad), bad, nil
}

// TestCompareRecordings checks that the comparison above can fail: on a machine that
// is not what it says.
func TestCompareRecordings(t *testing.T) {
	plan := &corpus.Plan{Version: 1, Name: "p", Entries: []corpus.PlanEntry{{Instructions: []string{inst, "mma.m16n8k4.f32.tf32.tf32.f32"},
		Inputs: []corpus.PlanInput{{Source: "raw@1", Count: 256}, {Source: "cut@1[24,25]", Count: 64}}}}}
	dir := t.TempDir()
	recordTo := func(name, arch string) {
		t.Helper()
		cfg := recorder.Config{Target: open(t, "sim:"+arch), Plan: plan, File: filepath.Join(dir, name+".rec")}
		if _, err := recorder.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	recordTo("a100", "ampere")
	lines, err := compareRecordings(t, dir)
	if err != nil || len(lines) != 2 || lines[1] != "a100.rec: ampere/"+inst+": 320 recorded, 0 differ from the simulator" &&
		lines[0] != "a100.rec: ampere/"+inst+": 320 recorded, 0 differ from the simulator" {
		t.Fatalf("%v, %v", lines, err)
	}
	// A hopper that says it is an ampere.
	recordTo("liar", "hopper")
	liar := filepath.Join(dir, "liar.rec")
	rewrite(t, liar, liar, func(_ *corpus.Header, s *corpus.Section) { s.Arch = "ampere" })
	_, err = compareRecordings(t, dir)
	if err == nil || strings.Count(err.Error(), "liar.rec: ampere/") != 1 || strings.Contains(err.Error(), "a100.rec") {
		t.Errorf("the liar: %v", err)
	}
	// An emulator.
	emulated := filepath.Join(dir, "emulated.rec")
	rewrite(t, filepath.Join(dir, "a100.rec"), emulated, func(h *corpus.Header, _ *corpus.Section) { h.Environment = map[string]string{"emulator": "QEMU"} })
	_, err = compareRecordings(t, dir)
	if err == nil || !strings.Contains(err.Error(), "emulated.rec: recorded in the emulator QEMU, not on a machine") {
		t.Errorf("an emulator: %v", err)
	}
	if err := os.Remove(emulated); err != nil {
		t.Fatal(err)
	}
	known := `{"v":1,"known":[{"id":"x","reason":"y","pair":["liar","sim:ampere"],"instruction":"mma.m16n8k8*"}]}`
	if err := os.WriteFile(filepath.Join(dir, "known.json"), []byte(known), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := compareRecordings(t, dir); err != nil {
		t.Errorf("a known difference: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "damaged.rec"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := compareRecordings(t, dir); err == nil || !strings.Contains(err.Error(), "this is not an mmafuzz recording") {
		t.Errorf("a damaged file: %v", err)
	}
	if lines, err := compareRecordings(t, t.TempDir()); len(lines) != 0 || err != nil {
		t.Errorf("an empty directory: %v, %v", lines, err)
	}
}

// rewrite copies the section of inst of a recording with changes.
func rewrite(t *testing.T, from, to string, change func(*corpus.Header, *corpus.Section)) {
	t.Helper()
	body, err := os.ReadFile(from) // which may be the file that is written
	if err != nil {
		t.Fatal(err)
	}
	rec, err := corpus.ReadRecording(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	header := rec.Header
	change(&header, &corpus.Section{})
	w, err := corpus.NewRecordingWriter(f, header)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range rec.Data {
		s := *d.Section
		change(&header, &s)
		if s.Instruction != inst {
			continue
		}
		if err := w.Add(s, d.Batch, d.D); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
