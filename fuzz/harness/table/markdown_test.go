//go:build linux

package table

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/harness"
)

// markdown returns the table, with a row for each fault and a column for each engine.
func markdown(rs []run) string {
	var s strings.Builder
	fmt.Fprint(&s, `# Fuzzing engines on planted faults

Written by `+"`go test ./fuzz/harness/table -update`"+` (see `+"`table/table_test.go`"+`): how many executions and how much processor
time it takes until a fault shows. These are medians of the runs that find it, of 10 runs or
else as marked; a dash where none does within the time. An execution of mmafuzz is one dot product of
a batch, of the others one call. The time includes the start of all processes, which takes
go-fuzz 0.3 s and the others about 0.1 s. The faults were chosen before the runs, but for
`+"`zero-exponent` and `infinite-c`"+`: they replace two of which no run found an input, and which
FP16 products perhaps cannot show.

`)
	head, line := "| fault |", "| --- |"
	for _, e := range engines {
		head, line = head+" "+e.name+" |", line+" ---: |"
	}
	fmt.Fprintf(&s, "%s\n%s\n", head, line)
	for i := range harness.Faults {
		f := &harness.Faults[i]
		fmt.Fprintf(&s, "| `%s` |", f.Name)
		for _, e := range engines {
			fmt.Fprintf(&s, " %s |", cell(rs, f.Name, e.name))
		}
		fmt.Fprintln(&s)
	}
	fmt.Fprintln(&s)
	for i := range harness.Faults {
		fmt.Fprintf(&s, "- `%s`: %s\n", harness.Faults[i].Name, harness.Faults[i].Doc)
	}
	return s.String()
}

func cell(rs []run, fault, engine string) string {
	var executions []int
	var cpu []time.Duration
	all := 0
	most := time.Duration(0)
	for _, r := range rs {
		if !r.is(fault, engine) {
			continue
		}
		all++
		most = max(most, r.cpu)
		if r.found {
			executions, cpu = append(executions, r.executions), append(cpu, r.cpu)
		}
	}
	slices.Sort(executions)
	slices.Sort(cpu)
	switch n := len(cpu); {
	case all == 0:
		return "not run"
	case n == 0:
		return fmt.Sprintf("- (0 of %d in %.0f s)", all, most.Seconds())
	default:
		text := fmt.Sprintf("%s, %.2f s", readable.Thousands(uint64(executions[n/2])), cpu[n/2].Seconds())
		if n < seeds {
			text += fmt.Sprintf(" (%d of %d)", n, all)
		}
		return text
	}
}
