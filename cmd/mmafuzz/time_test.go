package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestTimeIsACount checks that a run that was stopped by the clock says which
// count gives the same findings, and that it does.
func TestTimeIsACount(t *testing.T) {
	// found runs a campaign in an empty directory, and returns its exit code, output and files.
	found := func(limit ...string) (int, string, map[string]string) {
		t.Helper()
		t.Chdir(t.TempDir())
		args := append([]string{"run", "--targets", "sim:ampere,sim:hopper,sim:turing", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--out", "out"}, limit...)
		var stdout, stderr bytes.Buffer
		code := run(args, nil, &stdout, &stderr)
		if code != exitMismatch && code != exitAgree {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		files, err := readTree("out")
		if err != nil {
			t.Fatal(err)
		}
		return code, stdout.String(), files
	}
	var code int
	var text string
	var timed map[string]string
	for limit := 100 * time.Millisecond; len(timed) < 10; limit *= 2 { // a slow machine finds nothing at first
		if limit > time.Minute {
			t.Fatalf("only %d files: the test tests nothing", len(timed))
		}
		code, text, timed = found("--time", limit.String())
	}
	if code != exitMismatch {
		t.Errorf("with the clock: exit code %d", code)
	}
	said := regexp.MustCompile(`(?m)^the same findings without a clock: --count (\d+)$`).FindStringSubmatch(text)
	if said == nil {
		t.Fatal("no count is said")
	}
	code, text, counted := found("--count", said[1])
	if code != exitMismatch {
		t.Errorf("--count %s: exit code %d", said[1], code)
	}
	if strings.Contains(text, "without a clock") {
		t.Error("a counted run talks of the clock")
	}
	if d := differences(timed, counted); d != "" {
		t.Errorf("--count %s: %d files, %d with the clock; different: %s", said[1], len(counted), len(timed), d)
	}
}
