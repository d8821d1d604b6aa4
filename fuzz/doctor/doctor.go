// Package doctor reports what a machine can run, what stands in the way of the rest, and
// what to do about it.
//
// # JSON
//
// doctor, an object for each thing that was looked at:
//
//	what    string   processors, simulators, gpu, ...
//	state   string   ok, absent or problem
//	detail  string
//	remedy  string?  what to do
//
// The API of this package is not promised: it may change in any version.
package doctor

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices/exec"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Line is what doctor says of one thing that it looked at.
type Line struct {
	What   string `json:"what"` // processors, simulators, cpu:0, ...
	State  State  `json:"state"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"` // what to do; "": nothing
}

// Write writes the line for people, in a number of columns.
func (l Line) Write(w io.Writer, width int) {
	head := fmt.Sprintf("%-8s %-12s ", l.State, l.What)
	texts := readable.Wrap(l.Detail, width-len(head))
	if l.Remedy != "" {
		texts = append(texts, readable.Wrap("→ "+l.Remedy, width-len(head))...)
	}
	for _, text := range texts {
		fmt.Fprintln(w, head+text)
		head = strings.Repeat(" ", len(head))
	}
}

// State says how something is.
type State string

// The states.
const (
	OK      State = "ok"
	Problem State = "problem" // it ought to work and does not
	Absent  State = "absent"  // this machine or this program does not have it
)

// Look looks at everything: the simulators, child processes, the processor, GPUs. It opens
// devices only if the program imports the packages of their targets.
func Look() []Line {
	lines := []Line{
		{"processors", OK, fmt.Sprintf("%d, %s/%s", runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH), ""},
		simulators(),
		{"programs", OK, fmt.Sprintf("exec:COMMAND tests any simulator, protocol version %d: mmafuzz help protocol", exec.Protocol), ""},
	}
	return slices.Concat(lines, processor(), gpus(), vulkan())
}

// simulators runs every model against the oracle, on one input of each generator. Instructions
// that only their names and shapes tell apart have one model.
func simulators() Line {
	type program struct {
		formats mma.Formats
		k       int
		params  mma.Params
	}
	seen := map[program]bool{}
	n, refused := 0, 0
	for _, i := range mma.Catalog() {
		if i.Refuse != "" {
			refused++
			continue
		}
		n++
		p := program{i.Formats, i.K, i.Params}
		if seen[p] {
			continue
		}
		seen[p] = true
		m, err := sim.ForInstruction(&i)
		if err != nil {
			return Line{"simulators", Problem, err.Error(), "this is a bug: please report it"}
		}
		for _, g := range gen.All() {
			sp := gen.Spec{Formats: i.Formats, K: i.K}
			d := g.Aimed(sp, &i.Params).Dot(sp, 1, 0)
			if m.Dot(d, nil) != oracle.Eval(&i.Params, i.Formats, i.K, d) {
				return Line{"simulators", Problem, i.FullName() + " and the oracle differ", "this is a bug: please report it"}
			}
		}
	}
	return Line{"simulators", OK, fmt.Sprintf("%d instructions of %d architectures, %d listed without a model", n, len(mma.Archs), refused), ""}
}
