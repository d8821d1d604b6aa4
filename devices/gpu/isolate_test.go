package gpu_test

import (
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

func TestParseOptions(t *testing.T) {
	for argument, want := range map[string]gpu.Options{
		"":                              {Deadline: 5 * time.Second},
		"0":                             {Device: "0", Deadline: 5 * time.Second},
		"GPU-1,inprocess":               {Device: "GPU-1", InProcess: true, Deadline: 5 * time.Second},
		"1,deadline=200ms,force":        {Device: "1", Force: true, Deadline: 200 * time.Millisecond},
		"1,force,inprocess,deadline=1h": {Device: "1", Force: true, InProcess: true, Deadline: time.Hour},
	} {
		if got, err := gpu.ParseOptions(argument); err != nil || *got != want {
			t.Errorf("%q: %+v, %v", argument, got, err)
		}
	}
	for argument, want := range map[string]string{
		"0,":            `unknown option "" (known: inprocess, force, deadline=TIME)`,
		"0,in-process":  `unknown option "in-process" (known: inprocess, force, deadline=TIME)`,
		"0,deadline":    "deadline= is no time such as 500ms or 10s",
		"0,deadline=-1": "deadline=-1 is no time such as 500ms or 10s",
	} {
		if _, err := gpu.ParseOptions(argument); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", argument, err, want)
		}
	}
}

// TestIsolated: a program that cannot be its own child makes none.
func TestIsolated(t *testing.T) {
	defer func() { gpu.Children = false }()
	for _, tc := range []struct{ children, inprocess, want bool }{{false, false, false}, {true, false, true}, {true, true, false}} {
		gpu.Children = tc.children
		if got := (&gpu.Options{InProcess: tc.inprocess}).Isolated(); got != tc.want {
			t.Errorf("children %v, in process %v: isolated %v", tc.children, tc.inprocess, got)
		}
	}
}
