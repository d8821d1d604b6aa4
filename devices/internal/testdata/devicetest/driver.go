package devicetest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The environment variables that tell a test program to use a device instead of testing. It
// does so in a process of its own, because a process keeps the first library that it loads.
// helperVar names the file for the outcome, deviceVar the device; if AloneVar is not empty,
// targets run in the process itself and not in children.
const (
	helperVar = "MMAFUZZ_TEST_HELPER"
	deviceVar = "MMAFUZZ_TEST_DEVICE"
	AloneVar  = "MMAFUZZ_TEST_ALONE"
)

// DriverMain is the TestMain of packages that test a driver. use calls all its functions.
func DriverMain(m *testing.M, use func(device string) error) {
	gpu.Children = os.Getenv(AloneVar) == ""
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := serve(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	if file := os.Getenv(helperVar); file != "" {
		text := "fine"
		if err := use(os.Getenv(deviceVar)); err != nil {
			text = err.Error()
			if fault := (*devices.FaultError)(nil); errors.As(err, &fault) {
				text = "fault: " + text
			}
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve does what mmafuzz serve does.
func serve(name string) error {
	t, err := devices.Open(name)
	if err != nil {
		return errors.Join(err, child.Cannot(os.Stdout, err))
	}
	defer t.Close()
	o := child.Options{Children: 2, Deadline: 20 * time.Second, About: child.About(t)}
	able := slices.DeleteFunc(slices.Clone(t.Instructions()), func(i mma.Instruction) bool { return i.Refuse != "" })
	return child.Serve(os.Stdin, os.Stdout, o, child.Instructions(t, able)...)
}

// UseDevice runs DriverMain's use in a process of its own, with environment variables
// NAME=VALUE, and returns "fine" or the error, after "fault: " if the input is to blame.
func UseDevice(t testing.TB, device string, env ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "said")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), helperVar+"="+file, deviceVar+"="+device), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	said, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}
