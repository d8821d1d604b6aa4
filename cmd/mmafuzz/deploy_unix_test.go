//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// yamlDocuments reads the documents of a file as JSON, with whatever can read YAML here.
func yamlDocuments(t *testing.T, file string) []json.RawMessage {
	t.Helper()
	if out, err := exec.Command("python3", "-c", "import yaml").CombinedOutput(); err != nil {
		t.Skipf("python3 with yaml (Debian: python3-yaml) is not here: %s is not checked: %s", file, out)
	}
	out, err := exec.Command("python3", "-c", "import json, sys, yaml; json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout, default=str)", file).Output()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// job is what the tests need of a Job.
type job struct {
	Spec struct {
		Completions      int
		PodFailurePolicy struct {
			Rules []struct {
				Action      string
				OnExitCodes *struct{ Values []int }
			}
		}
		Template struct {
			Spec struct {
				Containers []struct {
					Name string
					Args []string
				}
			}
		}
	}
}

// jobs reads the Jobs of the manifest after they were validated.
func jobs(t *testing.T) (shards, merge job) {
	t.Helper()
	body, err := os.ReadFile("deploy/job.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(body, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	documents := yamlDocuments(t, "deploy/campaign.job.yaml")
	if len(documents) != 2 {
		t.Fatalf("%d documents", len(documents))
	}
	for i, to := range []*job{&shards, &merge} {
		var object map[string]any
		if err := json.Unmarshal(documents[i], &object); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(object); err != nil {
			t.Errorf("document %d: %v", i, err)
		}
		// What the API would refuse, the schema refuses.
		spec := object["spec"].(map[string]any)
		pod := spec["template"].(map[string]any)["spec"].(map[string]any)
		for name, spoil := range map[string]func() func(){
			"misspelt":     func() func() { spec["backofLimit"] = 3.0; return func() { delete(spec, "backofLimit") } },
			"restart":      func() func() { pod["restartPolicy"] = "OnFailure"; return func() { pod["restartPolicy"] = "Never" } },
			"not a number": func() func() { spec["parallelism"] = "8"; return func() { delete(spec, "parallelism") } },
			"no containers": func() func() {
				c := pod["containers"]
				delete(pod, "containers")
				return func() { pod["containers"] = c }
			},
		} {
			undo := spoil()
			if resolved.Validate(object) == nil {
				t.Errorf("document %d, %s: the schema takes it", i, name)
			}
			undo()
		}
		if err := json.Unmarshal(documents[i], to); err != nil {
			t.Fatal(err)
		}
	}
	return shards, merge
}

// TestJob validates the manifest for Kubernetes and runs its containers as Kubernetes would:
// with their arguments and environment, and with what its policy does at their exit codes.
func TestJob(t *testing.T) {
	t.Parallel()
	shards, merge := jobs(t)
	if n := shards.Spec.Completions; shards.Spec.Template.Spec.Containers[0].Args[5] != fmt.Sprintf("$(JOB_COMPLETION_INDEX)/%d", n) {
		t.Errorf("%d completions, but %v", n, shards.Spec.Template.Spec.Containers[0].Args)
	}
	if testing.Short() {
		t.Skip("runs eight shards")
	}
	dir := t.TempDir()
	run := func(j job, index int) (code int, out string) {
		t.Helper()
		var args []string
		for _, a := range j.Spec.Template.Spec.Containers[0].Args {
			a = strings.ReplaceAll(a, "$(JOB_COMPLETION_INDEX)", fmt.Sprint(index))
			args = append(args, strings.Replace(strings.Replace(a, "/campaign/", dir+"/", 1), "/data/", dir+"/", 1))
		}
		if args[0] == "run" {
			args = append(args, "--wait", "1s") // nobody else comes while it waits
		}
		p := start(t, dir, args...)
		return p.wait(t), p.stdout.String() + p.stderr.String()
	}
	action := func(j job, code int) string {
		for _, r := range j.Spec.PodFailurePolicy.Rules {
			if r.OnExitCodes != nil {
				for _, v := range r.OnExitCodes.Values {
					if v == code {
						return r.Action
					}
				}
			}
		}
		return "Count"
	}
	plan := start(t, dir, "campaign", "plan", "--a", "sim:ampere", "--b", "sim:hopper", "--inst", "mma.m16n8k8.f32.f16.f16.f32",
		"--gen", "cut,raw", "--count", "4000", "--unit", "256", "--out", "campaign.json")
	if code := plan.wait(t); code != exitAgree {
		t.Fatalf("exit code %d: %s", code, &plan.stderr)
	}
	if code, out := run(merge, 0); code != exitTrouble || action(merge, code) != "FailJob" {
		t.Errorf("merge before there is anything: exit code %d: %s", code, out)
	}
	// One after the other, as on a cluster that has room for one: those that wait for others
	// are replaced.
	left := make([]int, shards.Spec.Completions)
	for i := range left {
		left[i] = i
	}
	for tries := 0; len(left) > 0; tries++ {
		i := left[0]
		left = left[1:]
		switch code, out := run(shards, i); {
		case code == exitIncomplete && action(shards, code) == "Ignore" && tries < 100:
			left = append(left, i)
		case code != exitAgree:
			t.Fatalf("shard %d: exit code %d: %s", i, code, out)
		}
	}
	if code, out := run(merge, 0); code != exitMismatch || action(merge, code) != "FailJob" || !strings.Contains(out, "; exit 1\n") {
		t.Errorf("merge: exit code %d: %s", code, out)
	}
	if got := action(shards, exitTrouble); got != "Count" {
		t.Errorf("trouble is to %s", got)
	}
}

// TestSbatchCampaign runs the script for Slurm as Slurm would: a task that is told to end is
// requeued, and merging waits for all.
func TestSbatchCampaign(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs("deploy/campaign.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bashSyntax(t, file, string(body))
	dir := t.TempDir()
	if code, out := sh(t, dir, file+" shard"); code != 2 || !strings.Contains(out, "task of an array") {
		t.Errorf("no array: exit code %d: %s", code, out)
	}
	// A program that ends with what it is told, and a scontrol that notes what it is asked.
	writeFile(t, filepath.Join(dir, "program"), "#!/bin/sh\necho \"$@\" >>log\n[ -z \"$WAIT\" ] || { trap 'exit 75' TERM; touch ready; while :; do sleep 0.05; done; }\nexit $CODE\n")
	writeFile(t, filepath.Join(dir, "bin", "scontrol"), "#!/bin/sh\necho scontrol \"$@\" >>log\n")
	env := []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "MMAFUZZ=" + filepath.Join(dir, "program"),
		"SLURM_ARRAY_JOB_ID=7", "SLURM_ARRAY_TASK_ID=12", "SLURM_ARRAY_TASK_MIN=10", "SLURM_ARRAY_TASK_COUNT=5"}
	const began = "run --campaign campaign.json --allow-exec --shard 2/5 --out units\n"
	for _, c := range []struct {
		args, want string
		env        []string
		code       int
	}{
		{"shard", began, []string{"CODE=0"}, 0},
		{"shard", began, []string{"CODE=2"}, 2},
		{"shard", began + "scontrol requeue 7_12\n", []string{"CODE=75"}, 75},
		{"shard", began, []string{"CODE=75", "SLURM_RESTART_COUNT=100"}, 75},
		{"merge", "merge units --allow-exec --out result\n", []string{"CODE=1"}, 1},
	} {
		os.Remove(filepath.Join(dir, "log"))
		code, out := sh(t, dir, file+" "+c.args, append(env, c.env...)...)
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		if code != c.code || string(log) != c.want {
			t.Errorf("%s %v: exit code %d, want %d: %s%s", c.args, c.env, code, c.code, log, out)
		}
	}
	os.Remove(filepath.Join(dir, "log"))
	code, out := sh(t, dir, file+" shard & p=$!; until [ -f ready ]; do sleep 0.05; done; kill -TERM $p; wait $p", append(env, "WAIT=1")...)
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	if code != exitIncomplete || string(log) != began+"scontrol requeue 7_12\n" {
		t.Errorf("TERM: exit code %d: %s%s", code, log, out)
	}
}

// TestWorkflowCampaign runs the scripts of the workflow, for two shards.
func TestWorkflowCampaign(t *testing.T) {
	t.Parallel()
	var w workflow
	if err := json.Unmarshal(yamlDocuments(t, "deploy/campaign.workflow.yml")[0], &w); err != nil {
		t.Fatal(err)
	}
	checkWorkflow(t, &w)
	if testing.Short() {
		t.Skip("runs some shards")
	}
	program, err := exec.LookPath("mmafuzz")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "mmafuzz"), "#!/bin/sh\nexec '"+program+"' \"$@\"\n")
	step := func(job, name string, code int, env ...string) string {
		t.Helper()
		for _, s := range w.Jobs[job].Steps {
			if s.Name == name {
				got, out := sh(t, dir, s.Run, env...)
				if got != code {
					t.Fatalf("%s: exit code %d, want %d: %s", name, got, code, out)
				}
				return out
			}
		}
		t.Fatalf("%s has no step %s", job, name)
		return ""
	}
	step("plan", "Plan", 0, "TARGETS=--a sim:ampere --b sim:hopper --gen raw,cut --inst mma.m16n8k8.f32.f16.f16.f32", "COUNT=3000")
	for i := range 2 {
		step("shard", "Shard", 0, fmt.Sprintf("INDEX=%d", i), "OF=2")
		if err := os.MkdirAll(filepath.Join(dir, "units"), 0o777); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("units-%d", i)
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "units", name)); err != nil {
			t.Fatal(err)
		}
	}
	if out := step("merge", "Merge", exitMismatch, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary")); !strings.Contains(out, "; exit 1\n") {
		t.Errorf("%s", out)
	}
}
