package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// TestTimeIsACount checks that a run that was stopped by the clock says which
// count gives the same findings, and that it does.
func TestTimeIsACount(t *testing.T) {
	t.Chdir(t.TempDir())
	command := func(out string, limit ...string) string {
		t.Helper()
		args := append([]string{"run", "--targets", "sim:ampere,sim:hopper,sim:turing", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--out", out}, limit...)
		var stdout, stderr bytes.Buffer
		if code := run(args, nil, &stdout, &stderr); code != exitMismatch {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		return stdout.String()
	}
	said := regexp.MustCompile(`(?m)^the same findings without a clock: --count (\d+)$`).FindStringSubmatch(command("out", "--time", "100ms"))
	if said == nil {
		t.Fatal("no count is said")
	}
	timed, err := readTree("out")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if text := command("out", "--count", said[1]); strings.Contains(text, "without a clock") {
		t.Error("a counted run talks of the clock")
	}
	counted, err := readTree("out")
	if err != nil {
		t.Fatal(err)
	}
	if d := differences(timed, counted); d != "" {
		t.Errorf("--count %s: %d files, %d with the clock; different: %s", said[1], len(counted), len(timed), d)
	}
	if len(timed) < 10 {
		t.Errorf("only %d files: the test tests nothing", len(timed))
	}
}
