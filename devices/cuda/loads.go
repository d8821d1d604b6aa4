package cuda

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

// Load is an instruction that loads from shared memory, with the addresses that it is given.
type Load struct {
	Name string // ldmatrix.x1, ld.shared.u32
	// Ways is how many words of one bank it asks for: shared memory has 32 banks of 4 bytes and
	// serves one word of each in a cycle. ldmatrix.xN and wider loads have conflicts of their
	// own (Sun et al., section 7).
	Ways int
}

// Loads are those of Sun et al., Tables 9 and 10, and ldmatrix with rows that meet in a bank.
var Loads = []Load{
	{"ldmatrix.x1", 1}, {"ldmatrix.x1", 2}, {"ldmatrix.x1", 4}, {"ldmatrix.x1", 8},
	{"ldmatrix.x2", 2}, {"ldmatrix.x2", 4}, {"ldmatrix.x2", 8},
	{"ldmatrix.x4", 4}, {"ldmatrix.x4", 8},
	{"ld.shared.u32", 1}, {"ld.shared.u32", 2}, {"ld.shared.u32", 4}, {"ld.shared.u32", 8},
	{"ld.shared.u64", 2}, {"ld.shared.u64", 4}, {"ld.shared.u64", 8},
}

// String names the load and its conflicts.
func (l Load) String() string { return fmt.Sprintf("%s %d-way", l.Name, l.Ways) }

// Bytes is what one instruction loads into the registers of a warp (Table 8).
func (l Load) Bytes() int { return 128 * l.least() }

// least is the number of words of one bank that the load asks for in any case.
func (l Load) least() int {
	switch l.Name {
	case "ldmatrix.x2", "ld.shared.u64":
		return 2
	case "ldmatrix.x4":
		return 4
	}
	return 1
}

// matrix reports whether the load is an ldmatrix, whose lanes give addresses of rows of 16 bytes.
func (l Load) matrix() bool { return strings.HasPrefix(l.Name, "ldmatrix") }

// stride is the distance in bytes of the addresses of neighbouring lanes.
func (l Load) stride() int {
	if l.matrix() {
		return 16 * l.Ways / l.least()
	}
	return 4 * l.Ways
}

// entry names the kernel that times the load.
func (l Load) entry(s issue) string {
	return fmt.Sprintf("%s_%dway%s", strings.NewReplacer(".", "_").Replace(l.Name), l.Ways, s.suffix())
}

// source returns the kernel that times the load: each chain is a chain of pointers. What a lane
// loads is the address that it has given, so that the next load has to wait for it and needs
// no other instruction. A matrix of ldmatrix gives lane 4r+w the word w of the row at the
// address of lane r.
func (l Load) source(s issue) string {
	var b strings.Builder
	op := func(format string, args ...any) { fmt.Fprintf(&b, "\t"+format+";\n", args...) }
	chip, width := "sm_70", 32
	if l.matrix() {
		chip = "sm_75"
	} else if l.least() == 2 {
		width = 64
	}
	region := 32 * l.stride() // of a chain
	fmt.Fprintf(&b, ".version 6.5\n.target %s\n.address_size 64\n\n", chip)
	fmt.Fprintf(&b, ".visible .entry %s(\n\t.param .u64 in,\n\t.param .u64 out,\n\t.param .u32 tiles\n)\n.reqntid %d\n{\n", l.entry(s), 32*s.warps)
	op(".shared .align 128 .b8 data[%d]", s.ilp*region)
	op(".reg .b%d %%x<%d>, %%own, %%at", width, s.ilp)
	op(".reg .b32 %%lane, %%row, %%word, %%base, %%own32, %%at32, %%tiles, %%warp, %%other<4>")
	op(".reg .b64 %%out")
	op("ld.param.u64 %%out, [out]")
	op("ld.param.u32 %%tiles, [tiles]")
	op("cvta.to.global.u64 %%out, %%out")
	op("mov.u32 %%warp, %%tid.x")
	op("shr.u32 %%warp, %%warp, 5")
	op("mad.wide.u32 %%out, %%warp, %d, %%out", loadOut)
	op("mov.u32 %%lane, %%laneid")
	op("mov.u32 %%base, data")
	op("mad.lo.u32 %%own32, %%lane, %d, %%base", l.stride())
	if op("mov.u32 %%at32, %%own32"); l.matrix() {
		op("shr.u32 %%row, %%lane, 2")
		op("and.b32 %%word, %%lane, 3")
		op("mad.lo.u32 %%at32, %%row, %d, %%base", l.stride())
		op("mad.lo.u32 %%at32, %%word, 4, %%at32")
	}
	move := "mov.b32"
	if width == 64 {
		move = "cvt.u64.u32"
	}
	op(move + " %%own, %%own32")
	op(move + " %%at, %%at32")
	for n := range s.ilp {
		op("add.u%d %%x%d, %%own, %d", width, n, n*region)
		op("st.volatile.shared.u%d [%%at+%d], %%x%d", width, n*region, n)
	}
	var body strings.Builder
	for n := range s.ilp {
		if l.matrix() {
			fmt.Fprintf(&body, "\tldmatrix.sync.aligned.m8n8.x%d.shared.b16 {%%x%d%s}, [%%x%[2]d];\n", l.least(), n, others[l.least()])
		} else {
			fmt.Fprintf(&body, "\tld.volatile.shared.u%d %%x%d, [%%x%[2]d];\n", width, n)
		}
	}
	loop(&b, body.String())
	for n := range s.ilp {
		op("st.volatile.global.b%d [%%out+8], %%x%d", width, n)
	}
	b.WriteString(loopEnd)
	return b.String()
}

// others are the registers of the matrices but the first, by the number of matrices.
var others = map[int]string{2: ", %other0", 4: ", %other0, %other1, %other2"}

// loadOut is the size of what a warp stores: its cycles and a chain.
const loadOut = 16

// LoadPipeline measures a load as Pipeline does an instruction; Throughput is in bytes a cycle.
// It returns nil if the device has no such instruction.
func (c *Checker) LoadPipeline(ctx context.Context, l Load, warps []int, ilp int) ([]Issue, error) {
	if l.matrix() && c.chip == "sm_70" {
		return nil, nil
	}
	return pipeline(warps, ilp, l.Bytes(), func(s issue) (float64, error) {
		// The input is not used.
		k := &gpu.Kernel{Threads: 32 * s.warps, InBytes: loadOut, OutBytes: loadOut}
		_, f, err := c.function(k, l.source(s), l.entry(s))
		if err != nil {
			return 0, fmt.Errorf("timed kernel: %w", err)
		}
		out := make([]byte, s.warps*loadOut)
		_, err = f.Loop(ctx, make([]byte, len(out)), out, rounds, c.deadline)
		return slowest(out, loadOut), err
	})
}

// pipeline measures all issues; work is what one instruction does.
func pipeline(warps []int, ilp, work int, cycles func(issue) (float64, error)) ([]Issue, error) {
	var all []Issue
	for _, w := range warps {
		for n := 1; n <= ilp; n++ {
			c, err := cycles(issue{w, n})
			if err != nil || c == 0 {
				return nil, err
			}
			all = append(all, Issue{Warps: w, ILP: n, Latency: c, Throughput: float64(w*n*work) / c})
		}
	}
	return all, nil
}

// slowest returns the cycles of an iteration in the slowest warp, each of which has stored the
// cycles of the loop at the beginning of its size bytes.
func slowest(out []byte, size int) float64 {
	var most uint32
	for at := 0; at < len(out); at += size {
		most = max(most, binary.LittleEndian.Uint32(out[at:]))
	}
	return float64(most) / (rounds * iterations)
}
