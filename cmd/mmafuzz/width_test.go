package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestWidth checks that what commands say fits the columns of --width. A word stays whole
// however long it is, and so does a command, which is there to be copied.
func TestWidth(t *testing.T) {
	set, err := filepath.Abs("../../corpus/vectors/sets/volta/mma.m8n8k4.f32.f16.f16.f32.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	const inst = "mma.m16n8k8.f32.f16.f16.f32"
	one := `{"v": 1, "name": "one", "about": "one instruction", "seed": 1, "entries": [{"instructions": ["` + inst + `"], "inputs": [{"source": "cut@1[*]", "count": 64}]}]}`
	if err := os.WriteFile("plan-of-one.json", []byte(one), 0o666); err != nil {
		t.Fatal(err)
	}
	wide := `{"v": 1, "base": "volta/mma.m8n8k4.f32.f16.f16.f32", "name": "wide", "set": {"join.align.f": 24}}`
	if err := os.WriteFile("wide.json", []byte(wide), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "--inst", inst, "--count", "20000", "--out", "run"},
		{"campaign", "plan", "--inst", inst, "--count", "20000", "--rounds", "1", "--out", "plan.json"},
		{"run", "--campaign", "plan.json", "--shard", "0/1", "--out", "shards"},
		{"record", "--target", "sim:ampere", "--name", "a100", "--plan", "plan-of-one.json", "--out", "a100.rec"},
		{"record", "--target", "sim:hopper", "--name", "h100", "--plan", "plan-of-one.json", "--out", "h100.rec"},
		{"record", "--target", "sim:turing", "--name", "t4", "--plan", "plan-of-one.json", "--out", "t4.rec"},
	} {
		said(t, args...)
	}
	bundle := filepath.Join("run", inst, "truncation-width-1")
	commands := []string{
		"list targets", "list generators", "list plans", "list labels", "list formats", "list parameters",
		"list instructions", "list instructions -v", "list instructions --unverified", "list instructions sim:hopper",
		"doctor", "version", "status shards", "show " + bundle, "replay " + bundle, "triage run",
		"minimize " + bundle + " --out smaller", "vectors --check " + set + " --target model:wide.json",
		"compare a100.rec h100.rec t4.rec --out compared -v",
		"diff ampere hopper", "prove ampere hopper", "probe --target sim:hopper --inst " + inst + " --profile 10",
		"infer --target sim:x86 --inst vfmadd231ps --checks 100", "campaign plan --count 10 --out other.json",
		"study operations --count 100", "study bounds sim:hopper/" + inst + " --count 20", "study bias --count 10",
		"study chain --count 10", "study refine --count 10", "study multiword --count 10", "study solve --size 32",
		"study discrepancy sim:hopper/" + inst + " sim:ampere/" + inst + " --count 100",
		"tolerance --count 100 --target sim:hopper --inst " + inst, "run --accept bound=u*S --count 1000 --a sim:hopper --b sim:ampere --inst " + inst,
		"invariance sim:hopper --inst " + inst,
		"bisect --a sim:ampere --versions a100.rec,h100.rec --inst " + inst,
	}
	widths := []int{60, 80, 120}
	for _, width := range widths[:tier.Of(1, 1, 3)] { // 60 is the hardest
		for n, command := range commands {
			if n%tier.Of(2, 2, 1) != 0 {
				continue
			}
			args := append(strings.Fields(command), "--width", fmt.Sprint(width))
			for line := range strings.Lines(said(t, args...)) {
				if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > width && breakable(line) {
					t.Errorf("mmafuzz %s: a line of %d columns: %s", strings.Join(args, " "), utf8.RuneCountInString(line), line)
				}
			}
		}
	}
}

// said runs a command in this process and returns its output. There is some.
func said(t *testing.T, args ...string) string {
	t.Helper()
	os.RemoveAll("smaller")
	os.Remove("other.json")
	var stdout, stderr bytes.Buffer
	if code := run(args, strings.NewReader(""), &stdout, &stderr); code == exitTrouble && args[0] != "doctor" {
		t.Fatalf("mmafuzz %s: %s", strings.Join(args, " "), &stderr)
	}
	if stdout.Len() == 0 {
		t.Errorf("mmafuzz %s says nothing", strings.Join(args, " "))
	}
	return stdout.String()
}

// breakable reports whether a line could have been shorter: whether it is more than a word, and no
// command with a heading before it.
func breakable(line string) bool {
	words := strings.Fields(line)
	return len(words) > 1 && !slices.Contains(words[:2], command())
}
