package checklist

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// names are the instructions of the tests' target, by what is wrong with them.
const (
	right  = "mma.m8n8k4.f32.f16.f16.f32"
	faulty = "mma.m8n8k4.f16.f16.f16.f16" // faults on every input
	absent = "mma.m8n8k4.f32.f16.f16.f16" // cannot be opened
)

// target is a Volta, or what is left of it.
type target struct {
	bad   bool // faulty and absent are
	panic bool // and right panics when it is opened
	opens []string
}

func (t *target) Name() string                    { return "test:volta" }
func (t *target) Instructions() []mma.Instruction { return mma.Of("volta") }
func (t *target) Environment() map[string]string  { return map[string]string{"kind": "test"} }
func (t *target) Close() error                    { return nil }

func (t *target) Open(i *mma.Instruction) (devices.Unit, error) {
	t.opens = append(t.opens, i.Name)
	if t.panic {
		panic("opening " + i.Name)
	}
	u, err := simulated.Open(i)
	if err != nil || !t.bad {
		return u, err
	}
	switch i.Name {
	case faulty:
		return &broken{u}, nil
	case absent:
		return nil, errors.New("it fails its self-test: layout: wrong")
	}
	return u, nil
}

type broken struct{ devices.Unit }

func (*broken) Run(context.Context, *mma.Batch, []byte) error {
	return &devices.FaultError{Target: "test:volta", What: "error 715"}
}

// options are those of the tests. The comparison says what it was asked.
func options(t *testing.T, dir string, target devices.Target) Options {
	return Options{
		Dir: dir, Archive: filepath.Join(dir, Archive), Target: target, Time: time.Minute, Dots: 100, Plan: "smoke", Instructions: right + "," + faulty + "," + absent,
		compare: func(ctx context.Context, p devices.Pair, dir string, generators []string, count uint64, limit time.Duration) (*comparison, error) {
			if p.TargetB != "sim:volta" || count != 100 || limit <= 0 || len(generators) == 0 {
				t.Errorf("comparison with %s of %d in %s with %v", p.TargetB, count, limit, generators)
			}
			in := mma.NewBatch(p.Formats(), mma.Shape{M: 1, N: 1, K: p.K, Tiles: 1})
			return &comparison{Dots: 1}, p.A.Run(ctx, in, make([]byte, 4))
		},
		infer: func(context.Context, devices.Unit, string, time.Duration) (Row, error) {
			return Row{State: Skipped}, nil
		},
	}
}

// states are the rows of a report in short.
func states(r *Report) map[string]string {
	all := map[string]string{}
	for _, s := range r.Steps {
		for _, row := range s.Rows {
			all[s.Name+" "+row.Key] = string(row.State)
		}
	}
	return all
}

// TestFailures runs the checklist of a device on which one instruction is missing
// and one faults: everything else is done.
func TestFailures(t *testing.T) {
	dir := t.TempDir()
	rep, err := Run(t.Context(), options(t, dir, &target{bad: true}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"loader environment": "ok", "loader discovery": "skipped", "kernels -": "skipped", "interface -": "skipped",
		"inference " + right: "skipped", "inference " + faulty: "skipped", "inference " + absent: "failed",
		"self-test " + right: "ok", "self-test " + faulty: "ok", "self-test " + absent: "failed",
		"questions " + right: "ok", "questions " + faulty: "failed", "questions " + absent: "failed",
		"recordings smoke":               "differs",
		"differential " + right + " raw": "ok", "differential " + right + " directed": "ok",
		"differential " + faulty + " raw": "failed", "differential " + faulty + " directed": "failed",
		"differential " + absent + " raw": "failed", "differential " + absent + " directed": "failed",
		"speed " + right: "ok", "speed " + faulty: "failed", "speed " + absent: "failed",
	}
	if diff := cmp.Diff(want, states(rep)); diff != "" {
		t.Error(diff)
	}
	if n := rep.Count(Failed); n != 8+1+1 {
		t.Errorf("%d failures", n)
	}
	files, err := zip.OpenReader(filepath.Join(dir, Archive))
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for _, name := range []string{"report.md", "report.json", "journal", "smoke.rec"} {
		if _, err := fs.Stat(files, name); err != nil {
			t.Error(err)
		}
	}
	inside, err := corpus.OpenRecording(filepath.Join(dir, Archive))
	if err != nil {
		t.Fatal(err)
	}
	own, err := corpus.OpenRecording(filepath.Join(dir, "smoke.rec"))
	if err != nil {
		t.Fatal(err)
	}
	_, there, err := inside.Data[0].Load()
	_, here, errOwn := own.Data[0].Load()
	if err != nil || errOwn != nil || len(inside.Data) != len(own.Data) || !bytes.Equal(there, here) {
		t.Errorf("the recording in the archive has %d frames, the first %x, %v; itself it has %d, %x, %v", len(inside.Data), there, err, len(own.Data), here, errOwn)
	}
}

// TestInterfaces compares a device with itself by another interface, under which one of its
// instructions has another name, and another none.
func TestInterfaces(t *testing.T) {
	same, err := devices.Open("sim:llvmpipe")
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, t.TempDir(), &target{})
	o.Same = same
	var compared []string
	o.compare = func(_ context.Context, p devices.Pair, _ string, _ []string, count uint64, limit time.Duration) (*comparison, error) {
		if p.TargetB == "sim:llvmpipe" {
			compared = append(compared, p.A.Instruction().Name+" "+p.B.Instruction().Name)
			return &comparison{Dots: 7, Mismatches: 2, Buckets: []bucket{{Name: "order"}}}, nil
		}
		return &comparison{Dots: 1}, nil
	}
	rep, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{right + " coopmat.m8n8k8.f32.f16.f16.f32", faulty + " coopmat.m8n8k8.f16.f16.f16.f16"}
	if d := cmp.Diff(want, compared); d != "" {
		t.Error(d)
	}
	got := states(rep)
	for name, state := range map[string]State{right: Differs, faulty: Differs, absent: Skipped} {
		if got["interface "+name] != string(state) {
			t.Errorf("%s: %s, want %s", name, got["interface "+name], state)
		}
	}
}

// TestResume runs a checklist without time, then with: what was not reached is done,
// and what was done is not done again.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir, &target{})
	o.Time = time.Nanosecond
	rep, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Count(OK) != 0 || rep.Count(Skipped) < 10 {
		t.Errorf("without time: %v", states(rep))
	}
	o.Time = time.Minute
	if rep, err = Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if rep.Count(Failed) != 0 || rep.Count(OK) != 1+3+3+1+6+3 {
		t.Errorf("with time: %v", states(rep))
	}
	again := &target{panic: true} // would show that something is opened
	o.Target = again
	before, err := os.ReadFile(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	if rep, err = Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	if len(again.opens) > 0 || string(before) != string(after) || rep.Count(OK) != 17 {
		t.Errorf("what is done is done again: %v, %v", again.opens, states(rep))
	}
}

// TestInference has an inference that succeeds, fails or finds another arithmetic.
func TestInference(t *testing.T) {
	o := options(t, t.TempDir(), &target{})
	o.infer = func(_ context.Context, u devices.Unit, dir string, limit time.Duration) (Row, error) {
		if limit < time.Second || limit > time.Minute || filepath.Base(dir) != u.Instruction().Name {
			t.Errorf("inference in %s for %s", dir, limit)
		}
		switch u.Instruction().Name {
		case faulty:
			return Row{}, errors.New("no program explains it")
		case absent:
			return Row{State: Differs, Text: "F 24"}, nil
		}
		return Row{State: OK, Text: "as in the catalogue"}, nil
	}
	rep, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	got := states(rep)
	for name, want := range map[string]string{right: "ok", faulty: "failed", absent: "differs"} {
		if got["inference "+name] != want {
			t.Errorf("%s: %s, want %s", name, got["inference "+name], want)
		}
	}
}

// TestPanic has units that panic.
func TestPanic(t *testing.T) {
	o := options(t, t.TempDir(), &target{panic: true})
	o.Instructions = right
	rep, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := states(rep)["self-test "+right]; got != "failed" {
		t.Errorf("a panic is %s", got)
	}
}

// TestCancel ends a checklist from outside: what was found is there.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	o := options(t, dir, &target{})
	o.Observe = func(step, key string, _ time.Duration) {
		if step == "questions" {
			cancel()
		}
	}
	rep, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	if rep == nil || states(rep)["self-test "+right] != "ok" {
		t.Errorf("%v", rep)
	}
	if _, err := os.Stat(filepath.Join(dir, Archive)); err != nil {
		t.Error(err)
	}
}

func TestRunErrors(t *testing.T) {
	o := options(t, t.TempDir(), &target{})
	o.Instructions = "nothing"
	if _, err := Run(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), `test:volta has no instruction "nothing"; nearest: `) {
		t.Error(err)
	}
	o.Instructions, o.Dir = "", filepath.Join(o.Dir, "file")
	if err := os.WriteFile(o.Dir, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("a file is taken for a directory")
	}
}

// TestJournal reads journals that were cut short, or are others', or damaged.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := openJournal(path, "test:volta")
	if err != nil {
		t.Fatal(err)
	}
	j.close()
	first, _ := os.ReadFile(path)
	begun, _ := journal.Body(first)
	head := string(begun)
	write := func(records ...any) {
		t.Helper()
		var all []byte
		for _, r := range records {
			if text, ok := r.(string); ok {
				r = json.RawMessage(text)
			}
			line, err := journal.Line(r)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, line...)
		}
		if err := os.WriteFile(path, all, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	row := func(state State) Row { return Row{"loader", "k", state, "x", nil} }
	write(head, row(OK), Row{Step: "loader", Key: "l", State: OK})
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, body[:len(body)-20], 0o666); err != nil {
		t.Fatal(err)
	}
	if j, err = openJournal(path, "test:volta"); err != nil {
		t.Fatal(err)
	}
	if r, ok := j.done("loader", "k"); !ok || r.Text != "x" {
		t.Errorf("%+v, %v", r, ok)
	}
	if _, ok := j.done("loader", "l"); ok {
		t.Error("half a line counts")
	}
	if err := errors.Join(j.do("loader", "l", func() Row { return Row{State: OK} }), j.close()); err != nil {
		t.Fatal(err)
	}
	if j, err = openJournal(path, "test:volta"); err != nil {
		t.Fatal(err)
	}
	if len(j.of("loader")) != 2 {
		t.Errorf("%d rows", len(j.of("loader")))
	}
	j.close()

	// What has ended the program twice is not begun a third time.
	write(head, row(Began), row(Began))
	if j, err = openJournal(path, "test:volta"); err != nil {
		t.Fatal(err)
	}
	if err := j.do("loader", "k", func() Row { panic("begun") }); err != nil {
		t.Fatal(err)
	}
	if r, _ := j.done("loader", "k"); r.State != Failed || r.Text != "it has ended the program 2 times and is left alone" {
		t.Errorf("%+v", r)
	}
	j.close()

	now := versions.Current().Catalogue
	changed := func(from, to string) []any { return []any{strings.Replace(head, from, to, 1)} }
	for _, tc := range []struct {
		records []any
		want    string
	}{
		{changed("test:volta", "cuda:0"), "the journal is of another checklist: its target is cuda:0, not test:volta"},
		{[]any{`{"checklist":1,"target":"test:volta"}`}, "the first line is not that of a checklist: the file is damaged, or something else"},
		{changed(`"v":3`, `"v":2`), "another version of mmafuzz made it: its journal is of version 2, this program's of version 3"},
		{changed(now, "0123456789abcdef"), "another version of mmafuzz made it: its catalogue: 0123456789abcdef, this program's: " + now + "; the same generators and formats"},
		{[]any{head, "[]"}, "line 2: it is an array, not an object"},
		{[]any{head, "{}"}, `line 2: there is no step ""`},
		{[]any{head, row(OK), `{"step":"loader","state":"odd"}`}, `line 3: there is no state "odd"`},
	} {
		write(tc.records...)
		if _, err := openJournal(path, "test:volta"); err == nil || err.Error() != path+": "+tc.want {
			t.Errorf("%v:\n got %v\nwant %s: %s", tc.records, err, path, tc.want)
		}
	}
}
