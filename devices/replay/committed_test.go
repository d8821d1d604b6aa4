package replay_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	recorder "github.com/mmafuzz/mmafuzz/fuzz/record"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestCommitted compares the recordings under corpus/recordings, of real machines,
// with the simulators of their architectures.
func TestCommitted(t *testing.T) {
	lines, err := compareRecordings(t, filepath.Join("..", "..", "corpus", "recordings"))
	for _, l := range lines {
		t.Log(l)
	}
	if err != nil {
		t.Error(err)
	}
	if len(lines) == 0 {
		t.Log("there are no recordings in corpus/recordings yet")
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

// compareRecorded compares a recorded instruction with its simulator.
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
	retarget(t, filepath.Join(dir, "liar.rec"), "ampere")
	_, err = compareRecordings(t, dir)
	if err == nil || strings.Count(err.Error(), "liar.rec: ampere/") != 1 || strings.Contains(err.Error(), "a100.rec") {
		t.Errorf("the liar: %v", err)
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

// retarget makes a recording one of another architecture.
func retarget(t *testing.T, file, arch string) {
	t.Helper()
	rec, err := corpus.OpenRecording(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := corpus.NewRecordingWriter(f, rec.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range rec.Data {
		s := *d.Section
		s.Arch = arch
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
