package eval_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:
	"github.com/mmafuzz/mmafuzz/triage/eval"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// TestLines checks results, comments, and where a bad line ends it.
func TestLines(t *testing.T) {
	u, err := devices.OpenUnit("sim:ampere", "mma.m16n8k8.f32.f16.f16.f32", "")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	e := eval.Evaluator{Unit: u, Target: "sim:ampere"}
	e.Result = func(r *eval.Result) error {
		fmt.Fprintf(&out, "%d: ", r.Line)
		return r.Write(&out, report.TextOptions{Width: 80})
	}
	e.Comment = func(line string) error {
		_, err := fmt.Fprintln(&out, line)
		return err
	}
	err = e.Lines(t.Context(), strings.NewReader("# one\n3c00 3c00 00000000\n\n3c00 4000 3f800000\n3c00\n3c00 3c00 0\n"))
	if want := "line 5: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s...", err, want)
	}
	if got, want := out.String(), "# one\n2: 3f800000\n\n4: 40400000\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// endless is input without an end: the same line again and again.
type endless string

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

// TestReadingEnds stops at a bad line of endless input: no goroutine is left that reads on.
func TestReadingEnds(t *testing.T) {
	u, err := devices.OpenUnit("sim:ampere", "mma.m16n8k8.f32.f16.f16.f32", "")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		e := eval.Evaluator{Unit: u}
		if err := e.Lines(context.Background(), endless("3c00\n")); err == nil {
			t.Error("a bad line is no error")
		}
	})
}

// TestWithoutCallbacks evaluates for nobody, and still says where a bad line is.
func TestWithoutCallbacks(t *testing.T) {
	u, err := devices.OpenUnit("sim:ampere", "mma.m16n8k8.f32.f16.f16.f32", "")
	if err != nil {
		t.Fatal(err)
	}
	e := eval.Evaluator{Unit: u}
	err = e.Lines(t.Context(), strings.NewReader("# one\n3c00 3c00 00000000\n3c00\n"))
	if want := "line 3: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s...", err, want)
	}
}
