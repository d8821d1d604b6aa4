package compare

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/record"
)

// fleet records machines of the given targets and returns the files by their names. more are
// inputs beside those that all fleets have.
func fleet(t *testing.T, targets map[string]string, more ...corpus.PlanInput) map[string]string {
	t.Helper()
	plan := &corpus.Plan{Version: 1, Name: "p", Seed: 1, Entries: []corpus.PlanEntry{{Instructions: []string{"mma.m16n8k8.f32.tf32.tf32.f32", "v_mfma_f32_16x16x8_xf32"},
		Inputs: append(more, corpus.PlanInput{Source: "cut@1[24,25]", Count: 96})}}}
	files := map[string]string{}
	for name, spec := range targets {
		target, err := devices.Open(spec)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = filepath.Join(t.TempDir(), name+".rec")
		if _, err := record.Run(t.Context(), record.Config{Target: target, Plan: plan, File: files[name], Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// follow is an observer that calls a function before two machines are compared.
type follow func(a, b string)

func (follow) Models(*fuzz.State)                {}
func (follow) Progress(*fuzz.State)              {}
func (f follow) Machines(n, of int, a, b string) { f(a, b) }

// comparison opens files for a comparison.
func comparison(t *testing.T, o Options, files ...string) *Comparison {
	t.Helper()
	var sides []*Side
	for _, f := range files {
		s, err := Open(f)
		if err != nil {
			t.Fatal(err)
		}
		sides = append(sides, s)
	}
	o.Known.Day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c, err := New(sides, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// through returns the result of a comparison and the machines that were compared on the way.
func through(t *testing.T, c *Comparison) (r *Result, pairs []string) {
	t.Helper()
	c.Observer = follow(func(a, b string) { pairs = append(pairs, a+" ~ "+b) })
	r, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r, pairs
}

// TestFold compares machines of which some are equal: all pairs of two kinds become one.
func TestFold(t *testing.T) {
	f := fleet(t, map[string]string{"a1": "sim:ampere", "a2": "sim:ampere", "h1": "sim:hopper", "h2": "sim:hopper", "h3": "sim:hopper"})
	r, pairs := through(t, comparison(t, Options{}, f["h3"], f["a2"], f["h1"], f["a1"], f["h2"]))
	if d := cmp.Diff([]string{"h3 ~ h1", "a2 ~ a1", "h1 ~ a1", "h1 ~ h2"}, pairs); d != "" {
		t.Error(d)
	}
	equal := map[string]string{}
	for _, m := range r.Machines {
		equal[m.Name] = m.EqualTo
	}
	if d := cmp.Diff(map[string]string{"a1": "", "a2": "a1", "h1": "", "h2": "h1", "h3": "h1"}, equal); d != "" {
		t.Error(d)
	}
	explained := map[string]string{}
	for _, m := range r.Models {
		explained[m.Machine] = m.Base
	}
	const inst = "/mma.m16n8k8.f32.tf32.tf32.f32"
	if d := cmp.Diff(map[string]string{"a1": "ampere" + inst, "a2": "ampere" + inst, "h1": "hopper" + inst, "h2": "hopper" + inst, "h3": "hopper" + inst}, explained); d != "" {
		t.Error(d)
	}
	if len(r.Cells) != 4 || r.Counts.New != 2 || r.Differences[0].A != "h1" || r.Differences[0].B != "a1" {
		t.Errorf("%d cells, %+v", len(r.Cells), r.Differences)
	}
	// Without the machines that stood for the others, nothing is new.
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	baseline, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r, _ = through(t, comparison(t, Options{Baseline: baseline}, f["a2"], f["h3"]))
	if r.Counts.New != 0 || r.Counts.Still != 2 {
		t.Errorf("%+v", r.Counts)
	}
}

// interrupter is an observer that cancels a comparison before two machines are compared, or
// while models are searched for them.
type interrupter struct {
	machines string // the second of them
	models   bool
	cancel   context.CancelFunc

	there bool
}

func (i *interrupter) Progress(*fuzz.State) {}

func (i *interrupter) Machines(_, _ int, _, b string) {
	if i.there = b == i.machines; i.there && !i.models {
		i.cancel()
	}
}

func (i *interrupter) Models(*fuzz.State) {
	if i.there {
		i.cancel()
	}
}

// TestCutOff interrupts comparisons before the campaign of two machines: the result has the
// machines that were compared until then.
func TestCutOff(t *testing.T) {
	f := fleet(t, map[string]string{"a": "sim:ampere", "b": "sim:hopper", "c": "sim:blackwell"})
	for _, tc := range []struct {
		machines string
		models   bool
		compared []string
		why      string
	}{
		{"b", false, nil, ""},
		{"b", true, nil, ""},
		{"c", false, []string{"a ~ b"}, "incomplete: interrupted; no dot product was compared; this was a ~ c, pair 2 of 3"},
		{"c", true, []string{"a ~ b"}, "incomplete: interrupted; no dot product was compared; this was a ~ c, pair 2 of 3"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		c := comparison(t, Options{Observer: &interrupter{machines: tc.machines, models: tc.models, cancel: cancel}}, f["a"], f["b"], f["c"])
		r, err := c.Run(ctx)
		cancel()
		if tc.compared == nil {
			if r != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %v: %v, %v; want no result", tc.machines, tc.models, r, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, %v: %v", tc.machines, tc.models, err)
			continue
		}
		var compared []string
		for _, cell := range r.Cells {
			compared = append(compared, cell.A+" ~ "+cell.B)
		}
		if d := cmp.Diff(tc.compared, compared); d != "" || !r.CutOff || r.Exit != exitIncomplete {
			t.Errorf("%s, %v: cut off %v, exit %d %s", tc.machines, tc.models, r.CutOff, r.Exit, d)
		}
		if d := cmp.Diff([]string{tc.why}, r.Incomplete); d != "" {
			t.Error(d)
		}
	}
}

// TestResume interrupts a comparison before each of its pairs: the next one begins there, and
// the result is the same.
func TestResume(t *testing.T) {
	f := fleet(t, map[string]string{"a": "sim:ampere", "b": "sim:hopper", "c": "sim:hopper", "d": "sim:blackwell"})
	files := []string{f["a"], f["b"], f["c"], f["d"]}
	hold := func(dir string, o Options) (*Comparison, *Directory) {
		d, err := Hold(dir)
		if err != nil {
			t.Fatal(err)
		}
		o.Out = dir
		c := comparison(t, o, files...)
		if err := c.Resume(d); err != nil {
			t.Fatal(err)
		}
		return c, d
	}
	dir := t.TempDir()
	c, d := hold(filepath.Join(dir, "complete"), Options{})
	complete, all := through(t, c)
	if err := d.Save(complete); err != nil || len(all) < 3 {
		t.Fatalf("%v, %v", all, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "complete", logFile)); err == nil {
		t.Error("the log is left after the end")
	}
	cut := filepath.Join(dir, "cut")
	for n := range all {
		c, d := hold(cut, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var pairs []string
		c.Observer = follow(func(a, b string) {
			if pairs = append(pairs, a+" ~ "+b); len(pairs) == 2 {
				cancel()
			}
		})
		r, err := c.Run(ctx)
		cancel()
		if d := cmp.Diff(all[n:min(n+2, len(all))], pairs); d != "" {
			t.Errorf("%d: %s", n, d)
		}
		if n < len(all)-1 {
			if err != nil || !r.CutOff {
				t.Fatalf("%d: %v", n, err)
			}
			if err := d.Release(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		replace := func(r *Result) string {
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			return strings.ReplaceAll(string(text), cut, filepath.Join(dir, "complete"))
		}
		if d := cmp.Diff(replace(complete), replace(r)); err != nil || d != "" {
			t.Errorf("%v %s", err, d)
		}
		if err := d.Release(); err != nil {
			t.Fatal(err)
		}
	}
	// Other options, or a damaged log, begin again.
	c, d = hold(cut, Options{MaxFindings: 3})
	if _, pairs := through(t, c); len(pairs) != len(all) {
		t.Errorf("other options: %v", pairs)
	}
	d.Release()
	if err := os.WriteFile(filepath.Join(cut, logFile), []byte("x\ny\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c, d = hold(cut, Options{})
	if _, pairs := through(t, c); len(pairs) != len(all) {
		t.Errorf("a damaged log: %v", pairs)
	}
	d.Release()
}
