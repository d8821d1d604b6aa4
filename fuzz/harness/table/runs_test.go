//go:build linux

package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/harness"
)

// run is one run of an engine.
type run struct {
	fault, engine string
	seed          int
	found         bool
	executions    int
	cpu           time.Duration
}

func (r *run) is(fault, engine string) bool { return r.fault == fault && r.engine == engine }

const runsHead = "fault\tengine\tseed\tfound\texecutions\tcpu"

func (r run) String() string {
	return fmt.Sprintf("%s\t%s\t%d\t%v\t%d\t%v", r.fault, r.engine, r.seed, r.found, r.executions, r.cpu.Round(10*time.Millisecond))
}

func readRuns(name string) ([]run, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rs []run
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		var r run
		var cpu string
		cells := strings.Split(line, "\t")
		if len(cells) != 6 {
			return nil, fmt.Errorf("%s:%d: %d columns, want 6", name, n+2, len(cells))
		}
		r.fault, r.engine = cells[0], cells[1]
		if _, err := fmt.Sscan(strings.Join(cells[2:], " "), &r.seed, &r.found, &r.executions, &cpu); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n+2, err)
		}
		if r.cpu, err = time.ParseDuration(cpu); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n+2, err)
		}
		rs = append(rs, r)
	}
	return rs, nil
}

func writeRuns(name string, rs []run) error {
	var s strings.Builder
	fmt.Fprintln(&s, runsHead)
	for i := range harness.Faults {
		for _, e := range engines {
			for seed := 1; seed <= seeds; seed++ {
				for _, r := range rs {
					if r.is(harness.Faults[i].Name, e.name) && r.seed == seed {
						fmt.Fprintln(&s, r)
					}
				}
			}
		}
	}
	return corpus.ReplaceFile(name, []byte(s.String()))
}
