package measure

import (
	"runtime"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/cpu" // cpu:0
	"github.com/mmafuzz/mmafuzz/sim"
)

// Machine is what measurements depend on.
type Machine struct {
	Processor  string  `json:"processor"`
	Processors int     `json:"processors"` // that the program may use
	OS         string  `json:"os"`
	Arch       string  `json:"arch"`
	Go         string  `json:"go"`
	Path       string  `json:"path"` // the models' best path: portable, avx2 or avx512
	CycleNs    float64 `json:"cycle_ns"`
}

// Here returns the machine at hand. It measures the length of a cycle.
func Here() *Machine {
	paths := sim.Paths()
	return &Machine{processor(), runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, runtime.Version(), paths[len(paths)-1].String(), Cycle()}
}

// processor returns the processor's name for itself, or its architecture if it has none.
func processor() string {
	if t, err := devices.Open("cpu:0"); err == nil {
		defer t.Close()
		if name := t.Environment()["processor"]; name != "" {
			return name
		}
	}
	return runtime.GOARCH
}
