package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/fuzz/record"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// plan is a plan with sources of all kinds, for two instructions of sim:hopper.
func plan(t testing.TB) *corpus.Plan {
	t.Helper()
	p, err := corpus.ReadPlan(strings.NewReader(`{"v":1,"name":"test","seed":5,"entries":[
		{"instructions":["mma.m16n8k8.f32.f16.f16.f32"],"k":16,"inputs":[{"source":"raw@1","count":2500},{"source":"cut@1[24]","count":1030}]},
		{"instructions":["hopper/mma.m16n8k8.f32.tf32.tf32.f32"],"inputs":[{"source":"normal@1","count":1},{"source":"cut@1[*]","count":100},{"source":"pattern@1","count":3}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t testing.TB, name string) devices.Target {
	t.Helper()
	target, err := devices.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// config records sim:hopper into a new file.
func config(t testing.TB) record.Config {
	return record.Config{Target: open(t, "sim:hopper"), Plan: plan(t), File: filepath.Join(t.TempDir(), "x.rec"), Name: "lab",
		Environment: map[string]string{"mmafuzz": "test"}, Workers: 2}
}

// run makes a recording and returns its bytes.
func run(t testing.TB, cfg record.Config) []byte {
	t.Helper()
	res, err := record.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Complete || res.Done != res.Of {
		t.Fatalf("not complete: %+v", res)
	}
	body, err := os.ReadFile(cfg.File)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// frames describes what a recording holds.
func frames(rec *corpus.Recording) []string {
	var all []string
	for _, d := range rec.Data {
		s := d.Section
		all = append(all, fmt.Sprintf("%s %s seed %d: %d of %dx%dx%d from %d, section from %d", s.Instruction, s.Generator, s.Seed,
			s.Shape.Tiles, s.Shape.M, s.Shape.N, s.Shape.K, d.First, s.First))
	}
	return all
}

// TestRun records a simulator: the inputs are those of the plan, the results those
// of the simulator.
func TestRun(t *testing.T) {
	cfg := config(t)
	run(t, cfg)
	rec, err := inMemory(cfg.File)
	if err != nil {
		t.Fatal(err)
	}
	aims := rec.Data[6].Section.Generator
	if !strings.HasPrefix(aims, "cut@1[") || strings.Contains(aims, "*") {
		t.Errorf("aims of the catalogue: %s", aims)
	}
	const half, tf32 = "mma.m16n8k8.f32.f16.f16.f32 ", "mma.m16n8k8.f32.tf32.tf32.f32 "
	want := []string{
		half + "raw@1 seed 5: 8 of 16x8x16 from 0, section from 0",
		half + "raw@1 seed 5: 8 of 16x8x16 from 1024, section from 0",
		half + "raw@1 seed 5: 4 of 16x8x16 from 2048, section from 2048",
		half + "cut@1[24] seed 5: 1024 of 1x1x16 from 0, section from 0",
		half + "cut@1[24] seed 5: 6 of 1x1x16 from 1024, section from 1024",
		tf32 + "normal@1 seed 5: 1 of 16x8x8 from 0, section from 0",
		tf32 + aims + " seed 5: 100 of 1x1x8 from 0, section from 0",
		tf32 + "pattern@1 seed 5: 3 of 1x1x8 from 0, section from 0",
	}
	if diff := cmp.Diff(want, frames(rec)); diff != "" {
		t.Error(diff)
	}
	h := rec.Header
	if h.Version != 2 || h.Name != "lab" || h.Target != "sim:hopper" || h.Environment["mmafuzz"] != "test" || h.Environment["kind"] != "simulator" ||
		h.Work == "" || h.Date != "" || !rec.Complete || cmp.Diff(plan(t), h.Plan) != "" {
		t.Errorf("complete %v, header %+v", rec.Complete, h)
	}
	for n, d := range rec.Data {
		src, err := gen.ParseSource(d.Section.Generator)
		if err != nil {
			t.Fatal(err)
		}
		b := mma.NewBatch(d.Batch.Formats, d.Batch.Shape)
		src.Fill(b, 5, d.First)
		i, err := mma.Lookup("hopper", d.Section.Instruction)
		if err != nil {
			t.Fatal(err)
		}
		u, err := simulated.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, len(d.D))
		if err := u.Run(t.Context(), b, out); err != nil {
			t.Fatal(err)
		}
		if cmp.Diff(b, d.Batch) != "" || !bytes.Equal(out, d.D) {
			t.Errorf("frame %d is not what the generator and the simulator give", n)
		}
	}
}

// TestWorkers checks that the number of workers changes nothing.
func TestWorkers(t *testing.T) {
	want := run(t, config(t))
	for _, n := range []int{0, 1, 7} {
		cfg := config(t)
		cfg.Workers = n
		if !bytes.Equal(run(t, cfg), want) {
			t.Errorf("%d workers record other bytes than two", n)
		}
	}
}

// TestSameInputs records two targets: what they share is recorded on the same
// inputs.
func TestSameInputs(t *testing.T) {
	var recs []*corpus.Recording
	for _, name := range []string{"sim:hopper", "sim:blackwell"} {
		cfg := config(t)
		cfg.Target = open(t, name)
		cfg.Plan.Entries[1].Instructions = []string{"*.f32.tf32.tf32.f32"}
		run(t, cfg)
		rec, err := inMemory(cfg.File)
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
	}
	inputs := func(r *corpus.Recording) map[string]*mma.Batch {
		m := map[string]*mma.Batch{}
		for _, d := range r.Data {
			m[fmt.Sprint(d.Section.Instruction, d.Section.Generator, d.First)] = d.Batch
		}
		return m
	}
	if diff := cmp.Diff(inputs(recs[0]), inputs(recs[1])); diff != "" {
		t.Error(diff)
	}
}

// TestTorn cuts a recording at many places and goes on: the end is the same to the
// byte. Workers and what is observed on the way are others.
func TestTorn(t *testing.T) {
	cfg := config(t)
	complete := run(t, cfg)
	resumed := 0
	for cut := 0; ; cut = min(len(complete), cut+1+len(complete)/20) {
		if err := os.WriteFile(cfg.File, complete[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		cfg.Workers = 1 + cut%3
		var last record.Progress
		cfg.Observe = func(p record.Progress) { last = p }
		if !bytes.Equal(run(t, cfg), complete) {
			t.Fatalf("cut at %d of %d: other bytes in the end", cut, len(complete))
		}
		if last.Done != last.Of || last.Bytes != int64(len(complete)) || last.Resumed < uint64(resumed) || last.Resumed > last.Of {
			t.Fatalf("cut at %d: %+v after %d", cut, last, resumed)
		}
		resumed = int(last.Resumed)
		if cut == len(complete) {
			if last.Resumed != last.Of {
				t.Errorf("a complete recording is done again: %+v", last)
			}
			return
		}
	}
}

// TestInterrupted stops recordings after each wave and goes on.
func TestInterrupted(t *testing.T) {
	want := run(t, config(t))
	cfg := config(t)
	cfg.Workers = 1
	for stops := 0; ; stops++ {
		ctx, stop := context.WithCancel(t.Context())
		waves := 0
		cfg.Observe = func(record.Progress) {
			if waves++; waves == 2 {
				stop()
			}
		}
		res, err := record.Run(ctx, cfg)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if res.Complete {
			if stops < 2 {
				t.Errorf("stopped %d times only", stops)
			}
			break
		}
	}
	if got, _ := os.ReadFile(cfg.File); !bytes.Equal(got, want) {
		t.Error("other bytes in the end")
	}
}

// TestOtherRecording goes on with a recording of something else.
func TestOtherRecording(t *testing.T) {
	cfg := config(t)
	complete := run(t, cfg)
	for name, change := range map[string]func(*record.Config){
		"its target is sim:hopper, here it is sim:blackwell; its list of instructions": func(c *record.Config) { c.Target = open(t, "sim:blackwell") },
		"its plan is another one: test with other contents (seed: 5 and 6)":            func(c *record.Config) { c.Plan.Seed++ },
		"its plan is another one: test":                                                func(c *record.Config) { c.Plan.Name = "other" },
		"its name is lab, here it is sim:hopper":                                       func(c *record.Config) { c.Name = "" },
		"its date is not given, here it is 2026-01-02":                                 func(c *record.Config) { c.Date = "2026-01-02" },
		"its mmafuzz is test, here it is v2":                                           func(c *record.Config) { c.Environment["mmafuzz"] = "v2" },
	} {
		other := config(t)
		other.File = cfg.File
		change(&other)
		_, err := record.Run(t.Context(), other)
		if !errors.Is(err, corpus.ErrOtherRecording) || !strings.Contains(err.Error(), "another recording: "+name) {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(cfg.File); !bytes.Equal(got, complete) {
			t.Fatalf("%s: the file was changed", name)
		}
	}
}

// TestNotAsPlanned goes on with a file whose header is right and whose contents
// are not: of a plan that was recorded in another order.
func TestNotAsPlanned(t *testing.T) {
	cfg := config(t)
	run(t, cfg)
	rec, err := inMemory(cfg.File)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(rec.Data)
	for name, fill := range map[string]func(w *corpus.RecordingWriter) error{
		"other order": func(w *corpus.RecordingWriter) error {
			return w.Add(*rec.Data[0].Section, rec.Data[0].Batch, rec.Data[0].D)
		},
		"other problem": func(w *corpus.RecordingWriter) error {
			return w.Problem(corpus.Problem{Arch: "hopper", Instruction: "x", What: "y"})
		},
		"too much": func(w *corpus.RecordingWriter) error {
			for _, n := range []string{"mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k8.f32.tf32.tf32.f32", "x"} {
				if err := w.Problem(corpus.Problem{Arch: "hopper", Instruction: n, What: "y"}); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		var buf bytes.Buffer
		w, err := corpus.NewRecordingWriter(&buf, rec.Header)
		if err != nil {
			t.Fatal(err)
		}
		if err := fill(w); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(cfg.File, buf.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err = record.Run(t.Context(), cfg)
		if want := cfg.File + ": what the file holds is not what its header says"; err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlanErrors(t *testing.T) {
	for _, tc := range []struct{ source, target, want string }{
		{"nothing@1", "sim:hopper", "plan test: entry 2: unknown generator"},
		{"raw@7", "sim:hopper", "plan test: entry 2: generator raw: version 7 is not known"},
		{"raw", "sim:hopper", `plan test: entry 2: "raw": name a version, such as raw@2: plans outlive generators`},
		{"raw@1[*]", "sim:hopper", `plan test: entry 2: "raw@1[*]": [*] is for a generator that takes arguments, in their place`},
		{"cut@1[24][*]", "sim:hopper", `plan test: entry 2: `},
		{"cut@1[24", "sim:hopper", `plan test: entry 2: "cut@1[24": the arguments do not end in ]`},
		{"raw@1", "ref:exact", "ref:exact works on any formats: there are no instructions of its own to record"},
		{"raw@1", "sim:cdna1", "plan test has no pattern for any instruction of sim:cdna1"},
	} {
		cfg := config(t)
		cfg.Plan.Entries[1].Inputs[0].Source = tc.source
		cfg.Target = open(t, tc.target)
		if _, err := record.Run(t.Context(), cfg); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.source, err, tc.want)
		}
		if _, err := os.Stat(cfg.File); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the file was begun (%v)", tc.source, err)
		}
	}
}

// TestLengths records instructions that cannot have dot products of the plan's
// length.
func TestLengths(t *testing.T) {
	cfg := config(t)
	cfg.Plan.Entries = []corpus.PlanEntry{{Instructions: []string{"wgmma.m64n8k16.f32.f16.f16.c0", "mma.m16n8k16.f32.f16.f16.f32", "mma.m16n8k8.f32.f16.f16.f32"}, K: 24,
		Inputs: []corpus.PlanInput{{Source: "raw@1", Count: 1}}}}
	res, err := record.Run(t.Context(), cfg)
	if err != nil || !res.Complete || res.GivenUp != 2 || res.Instructions != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
	want := []corpus.Problem{
		{Arch: "hopper", Instruction: "mma.m16n8k16.f32.f16.f16.f32", What: "its K is 16: the plan's dot products of 24 elements cannot be made of it"},
		{Arch: "hopper", Instruction: "wgmma.m64n8k16.f32.f16.f16.c0", What: "its K is 16: the plan's dot products of 24 elements cannot be made of it"},
	}
	if diff := cmp.Diff(want, res.Problems); diff != "" {
		t.Error(diff)
	}
	cfg = config(t)
	cfg.Plan.Entries = []corpus.PlanEntry{{Instructions: []string{"wgmma.m64n8k16.f32.f16.f16.c0"}, K: 32, Inputs: []corpus.PlanInput{{Source: "raw@1", Count: 1}}}}
	if res, err = record.Run(t.Context(), cfg); err != nil || len(res.Problems) != 1 ||
		res.Problems[0].What != "its D cannot be C: it cannot be repeated for the plan's dot products of 32 elements" {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestPlans checks the plans that come with the program on every simulator.
func TestPlans(t *testing.T) {
	tier.SkipUnderRace(t)
	all, err := corpus.Plans()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		for _, a := range mma.Archs {
			target := open(t, "sim:"+a.Name)
			n := 0
			for _, i := range target.Instructions() {
				if i.Refuse == "" {
					n++
				}
			}
			// A context that is done: the plan is resolved, and nothing recorded.
			ctx, stop := context.WithCancel(t.Context())
			stop()
			res, err := record.Run(ctx, record.Config{Target: target, Plan: p, File: filepath.Join(t.TempDir(), "x.rec")})
			if n == 0 {
				if err == nil {
					t.Errorf("%s: plan %s is for no instruction", a.Name, p.Name)
				}
				continue
			}
			if err != nil || res.Instructions != n || res.Complete {
				t.Errorf("%s: plan %s: %+v, %v", a.Name, p.Name, res, err)
			}
		}
	}
}

// inMemory reads a recording with its operands and results.
func inMemory(file string) (*corpus.Recording, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return corpus.ReadRecording(f)
}

// TestTooMuch records plans that come to more than a recording holds: they are refused before
// any work.
func TestTooMuch(t *testing.T) {
	const count = "4294967296"
	for _, inputs := range []string{
		`{"source":"raw@1","count":` + count + `}`,
		strings.Repeat(`{"source":"cut@1[*]","count":30000000},`, 10000) + `{"source":"raw@1","count":` + count + `}`,
	} {
		cfg := config(t)
		p, err := corpus.ReadPlan(strings.NewReader(`{"v":1,"name":"x","seed":1,"entries":[{"instructions":["*"],"inputs":[` + inputs + `]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		cfg.Plan = p
		_, err = record.Run(t.Context(), cfg)
		if !errors.As(err, new(*record.PlanError)) || !strings.Contains(err.Error(), "the recording would have more than 4 GiB of operands and results") {
			t.Errorf("%v", err)
		}
		if _, err := os.Stat(cfg.File); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a file was made: %v", err)
		}
	}
}

// TestByValue records instructions for FP8 of OCP and of FNUZ on inputs that both have, and on
// others. The recordings are compared by value on all of the first, and have the results of models.
func TestByValue(t *testing.T) {
	p, err := corpus.ReadPlan(strings.NewReader(`{"v":1,"name":"fp8","seed":5,"entries":[
		{"instructions":["wgmma.m64n8k32.f32.e4m3.e5m2","v_mfma_f32_16x16x32_fp8_bf8"],"inputs":[{"source":"raw@1","count":128},{"source":"common tie@1[*]","count":60},{"source":"common normal@1","count":128}]},
		{"instructions":["mma.m16n8k8.f32.f16.f16.f32"],"inputs":[{"source":"common raw@1","count":128},{"source":"raw@1","count":128}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var parts []devices.Recorder
	for _, name := range []string{"sim:hopper", "sim:cdna3"} {
		cfg := config(t)
		cfg.Target, cfg.Plan = open(t, name), p
		run(t, cfg)
		recording := open(t, "replay:"+cfg.File)
		i := recording.Instructions()[len(recording.Instructions())-1]
		u, err := recording.Open(&i)
		if err != nil {
			t.Fatal(err)
		}
		of, err := devices.ByValue(u)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := cfg.Target.Open(&i)
		if err != nil {
			t.Fatal(err)
		}
		model, err := devices.ByValue(asked)
		if err != nil {
			t.Fatal(err)
		}
		r := of.(devices.Recorder)
		f, n := r.Instruction().Formats, r.Recorded()
		in := mma.NewBatch(f, mma.Shape{M: 1, N: 1, K: r.Length(), Tiles: n})
		got, again, want := make([]byte, n*f.D.Width()), make([]byte, n*f.D.Width()), make([]byte, n*f.D.Width())
		if err := errors.Join(r.Load(0, in, got), r.Run(t.Context(), in, again), model.Run(t.Context(), in, want)); err != nil {
			t.Fatal(err)
		}
		if f != model.Instruction().Formats || !bytes.Equal(got, want) || !bytes.Equal(again, want) {
			t.Errorf("%s: the recording has other results than its model, or formats %s", name, f)
		}
		parts = append(parts, r)
	}
	both, err := devices.Overlap(t.Context(), parts[0], parts[1])
	if err != nil {
		t.Fatal(err)
	}
	if source, _, _ := both.Origin(0); both.Recorded() != 60+128 || !strings.HasPrefix(source, "common tie@1[") {
		t.Errorf("%d inputs in common, of %d and %d, the first of %s", both.Recorded(), parts[0].Recorded(), parts[1].Recorded(), source)
	}
}
