package gpu

import "fmt"

// Timing is how long the parts of a launch of an instruction take; a field is zero if it
// was not measured.
type Timing struct {
	Tiles    int     `json:"tiles"`     // of the launch
	PackNs   float64 `json:"pack_ns"`   // for each tile, on one processor
	UnpackNs float64 `json:"unpack_ns"` // for each tile, on one processor
	LaunchUs float64 `json:"launch_us"` // copies, kernel and waiting, for all tiles
	KernelUs float64 `json:"kernel_us"` // for all tiles, by the device's clock
	OneUs    float64 `json:"one_us"`    // the launch of a single tile: the overhead
	// Latency is the cycles of an instruction that waits for the result of the one
	// before, Interval the cycles between two instructions of a warp that do not wait.
	Latency  float64 `json:"latency_cycles,omitempty"`
	Interval float64 `json:"interval_cycles,omitempty"`
}

// String returns the timing on one line.
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
	Throughput float64 `json:"fma_per_cycle"`  // multiply-adds a cycle
}

// Assembly is what an assembler on this machine makes of the kernels of a chip.
type Assembly struct {
	Assembled int
	Refused   map[string]string // the assembler's error, by the kernel's entry
	Later     int               // kernels that need a later assembler
}
