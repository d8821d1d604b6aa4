package gpu

import "fmt"

// Timing is what a launch of an instruction consists of; zero where it was not
// measured.
type Timing struct {
	Tiles    int     `json:"tiles"`     // of the launch
	PackNs   float64 `json:"pack_ns"`   // a tile, on one processor
	UnpackNs float64 `json:"unpack_ns"` // a tile, on one processor
	LaunchUs float64 `json:"launch_us"` // copies, kernel and waiting, of all tiles
	KernelUs float64 `json:"kernel_us"` // of all tiles, by the device's clock
	OneUs    float64 `json:"one_us"`    // the launch of a single tile: the overhead
	// Latency is the cycles of one instruction that waits for the one before,
	// Interval those from one to the next of a warp that need not wait.
	Latency  float64 `json:"latency_cycles,omitempty"`
	Interval float64 `json:"interval_cycles,omitempty"`
}

// String is the timing on one line.
func (t *Timing) String() string {
	s := fmt.Sprintf("%d tiles: pack %.0f ns and unpack %.0f ns a tile, launch %.0f us of which the kernel %.1f us; one tile %.0f us",
		t.Tiles, t.PackNs, t.UnpackNs, t.LaunchUs, t.KernelUs, t.OneUs)
	if t.Latency > 0 {
		s += fmt.Sprintf("; latency %.1f cycles, one every %.1f", t.Latency, t.Interval)
	}
	return s
}

// Issue is how fast an instruction is on one multiprocessor when a number of warps
// issue it, each in a number of independent chains.
type Issue struct {
	Warps      int     `json:"warps"`
	ILP        int     `json:"ilp"`            // instruction-level parallelism: chains of a warp
	Latency    float64 `json:"latency_cycles"` // from one instruction of a chain to its next
	Throughput float64 `json:"fma_per_cycle"`  // multiplications with additions a cycle
}

// Assembly is what an assembler on this machine makes of the kernels of a chip.
type Assembly struct {
	Assembled int
	Refused   map[string]string // what it says against a kernel, by the kernel's entry
	Later     int               // kernels that need a later assembler
}
