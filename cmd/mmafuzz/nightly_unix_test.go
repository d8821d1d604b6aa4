//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// workflow is what these tests need of .github/workflows/nightly.yml.
type workflow struct {
	Jobs map[string]struct {
		RunsOn   any `json:"runs-on"`
		Needs    string
		Strategy struct{ Matrix struct{ Machine string } }
		Steps    []step
	}
}

type step struct {
	Name, Uses, Run, Shell string
}

// readWorkflow parses the workflow with whatever can read YAML here.
func readWorkflow(t *testing.T) *workflow {
	t.Helper()
	const file = "../../.github/workflows/nightly.yml"
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("python3", "-c", "import yaml").CombinedOutput(); err != nil {
		t.Skipf("python3 with yaml (Debian: python3-yaml) is not here: %s is not checked: %s", file, out)
	}
	cmd := exec.Command("python3", "-c", "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout, default=str)")
	cmd.Stdin = strings.NewReader(string(body))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	w := &workflow{}
	// The key on is true in YAML 1.1; what follows is plain JSON.
	if err := json.Unmarshal(out, w); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return w
}

// TestWorkflow checks that the workflow holds together: actions are pinned to
// commits, scripts are right for bash, and the machines' list is one.
func TestWorkflow(t *testing.T) {
	w := readWorkflow(t)
	checkWorkflow(t, w)
	if w.Jobs["record"].Needs != "build" || w.Jobs["compare"].Needs != "record" {
		t.Errorf("jobs in another order: %+v", w.Jobs)
	}
	for _, m := range machines(t, w) {
		if m.Name == "" || m.Target == "" || len(m.Runner) == 0 {
			t.Errorf("machine %+v", m)
		}
	}
}

// checkWorkflow checks that actions are pinned to commits and scripts are right for bash.
func checkWorkflow(t *testing.T, w *workflow) {
	t.Helper()
	pinned := regexp.MustCompile(`^actions/[a-z/-]+@[0-9a-f]{40}$`)
	for name, j := range w.Jobs {
		for _, s := range j.Steps {
			if s.Uses != "" && !pinned.MatchString(s.Uses) {
				t.Errorf("%s uses %s, which is not pinned", name, s.Uses)
			}
			if s.Run != "" {
				bashSyntax(t, name+": "+s.Name, s.Run)
			}
		}
	}
}

type nightlyMachine struct {
	Name, Target string
	Runner       []string
}

// machines is the list that the workflow has if nobody gives it one.
func machines(t *testing.T, w *workflow) []nightlyMachine {
	t.Helper()
	m := regexp.MustCompile(`(?s)^\$\{\{ fromJSON\(vars\.MMAFUZZ_MACHINES \|\| '(.*)'\) \}\}$`).FindStringSubmatch(w.Jobs["record"].Strategy.Matrix.Machine)
	if m == nil {
		t.Fatalf("the matrix is %q", w.Jobs["record"].Strategy.Matrix.Machine)
	}
	var list []nightlyMachine
	if err := json.Unmarshal([]byte(m[1]), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func bashSyntax(t *testing.T, name, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-n")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", name, err, out)
	}
}

// sh runs a script with variables and returns its exit code and what it said.
func sh(t *testing.T, dir, script string, env ...string) (int, string) {
	t.Helper()
	cmd := exec.Command("bash", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// tinyPlan is one that is recorded and compared in no time.
const tinyPlan = `{"v": 1, "name": "tiny", "seed": 1, "entries": [{"instructions": ["mma.m16n8k8.f32.f16.f16.f32", "v_mfma_f32_32x32x8_f16"],
	"inputs": [{"source": "cut@1[24,25]", "count": 64}]}]}`

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
}

// TestWorkflowNights runs the scripts of the workflow for some nights, on
// simulators that pose as the machines of two vendors: the first night is all news,
// the second one none, a machine that changes is the only news of the third, and one
// that is away loses nothing.
func TestWorkflowNights(t *testing.T) {
	if !tier.Long() {
		t.Skip("takes some nights: only with MMAFUZZ_LONG=1")
	}
	w := readWorkflow(t)
	script := func(job, name string) string {
		steps := w.Jobs[job].Steps
		i := slices.IndexFunc(steps, func(s step) bool { return s.Name == name })
		if i < 0 || steps[i].Shell != "bash" {
			t.Fatalf("%s has no step %s for bash", job, name)
		}
		return steps[i].Run
	}
	program, err := exec.LookPath("mmafuzz")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"mmafuzz-amd64", "mmafuzz-arm64"} {
		writeFile(t, filepath.Join(dir, name), "#!/bin/sh\nexec '"+program+"' \"$@\"\n")
	}
	writeFile(t, filepath.Join(dir, "plan.json"), tinyPlan)
	known, err := os.ReadFile("../../.github/known.json")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, ".github", "known.json"), string(known))
	writeFile(t, filepath.Join(dir, "changed.json"), `{"v":1,"base":"hopper/mma.m16n8k8.f32.f16.f16.f32","set":{"join.align.f":26}}`)
	list := machines(t, w)
	nights := []struct {
		change func(m *nightlyMachine) (away bool)
		code   int
		want   string
	}{
		{nil, 1, `\n[1-9][0-9]* new, 0 expired, 0 still there, 0 known, 0 gone, `},
		{nil, 0, `\n0 new, 0 expired, [1-9][0-9]* still there, 0 known, 0 gone, `},
		{func(m *nightlyMachine) bool { return m.Name == "sim-cdna3" }, 0, `\n0 new, 0 expired, 1 still there, 0 known, 0 gone, `},
		{func(m *nightlyMachine) bool {
			if m.Name == "sim-hopper" {
				m.Target = "model:changed.json"
			}
			return false
		}, 1, `\n  sim-hopper  mma.m16n8k8.f32.f16.f16.f32 computes as sim:hopper with kept bits \(F\) 25→26; last time as sim:hopper\n`},
	}
	for night, tc := range nights {
		recordings := filepath.Join(dir, "recordings")
		if err := os.RemoveAll(recordings); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(recordings, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			if tc.change != nil && tc.change(&m) {
				continue
			}
			if code, out := sh(t, dir, script("record", "Record"), "NAME="+m.Name, "TARGET="+m.Target, "PLAN=plan.json"); code != 0 {
				t.Fatalf("night %d, %s: exit code %d: %s", night, m.Name, code, out)
			}
			if err := os.Rename(filepath.Join(dir, m.Name+".rec"), filepath.Join(recordings, m.Name+".rec")); err != nil {
				t.Fatal(err)
			}
		}
		code, out := sh(t, dir, script("compare", "Compare"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"))
		if code != tc.code || !regexp.MustCompile(tc.want).MatchString(out) {
			t.Fatalf("night %d: exit code %d, want %d with %s: %s", night, code, tc.code, tc.want, out)
		}
	}
	if summary, err := os.ReadFile(filepath.Join(dir, "summary")); err != nil || strings.Count(string(summary), "MACHINE") != len(nights) {
		t.Errorf("summary: %v: %s", err, summary)
	}
}

// TestSbatch runs the script for Slurm as Slurm would, for two nights.
func TestSbatch(t *testing.T) {
	const file = "../../corpus/plans/nightly.sbatch"
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bashSyntax(t, file, string(body))
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "nightly.sbatch"), string(body))
	writeFile(t, filepath.Join(dir, "plan.json"), tinyPlan)
	writeFile(t, filepath.Join(dir, "nights", "machines.txt"), "a100 sim:ampere\nh100 sim:hopper\n")
	job := func(night string, code int, args string, env ...string) string {
		t.Helper()
		got, out := sh(t, dir, "./nightly.sbatch "+args, append(env, "NIGHT="+night, "PLAN=plan.json")...)
		if got != code {
			t.Fatalf("%s %s: exit code %d, want %d: %s", night, args, got, code, out)
		}
		return out
	}
	for n, night := range []string{"2026-01-01", "2026-01-02"} {
		for _, task := range []string{"0", "1", "1"} { // one was requeued
			job(night, 0, "record", "SLURM_ARRAY_TASK_ID="+task)
		}
		job(night, 1-n, "compare")
	}
	job("2026-01-03", 2, "record", "SLURM_ARRAY_TASK_ID=2")
	job("2026-01-03", 2, "record")
	job("2026-01-03", 2, "")
	writeFile(t, filepath.Join(dir, "nights", "known.json"), `{"v":1,"known":[{"id":"x","reason":"by design","changes":["join.align.f 24→25"]}]}`)
	job("2026-01-02", 0, "compare")
	report, err := os.ReadFile(filepath.Join(dir, "nights", "2026-01-02", "report.txt"))
	if err != nil || !strings.Contains(string(report), "\n0 new, 0 expired, 0 still there, 1 known, 0 gone, ") {
		t.Errorf("%v: %s", err, report)
	}
}
