package ptx

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Every returns the kernels of all instructions of the catalogue on all chips, all
// variants, for the smallest tiles, and those for the largest where tiles have any
// size. A row without a kernel is an error.
func Every() ([]*gpu.Kernel, error) {
	var list []*gpu.Kernel
	for _, c := range chips {
		rows := mma.Of(c.arch)
		for n := range rows {
			m, columns := Tile(&rows[n], 1, 1)
			_, most := Tile(&rows[n], 1, 1<<20)
			ks, err := Kernels(&rows[n], c.name, m, columns)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rows[n].FullName(), err)
			}
			list = append(list, ks...)
			if most == columns {
				continue
			}
			if ks, err = Kernels(&rows[n], c.name, m, most); err != nil {
				return nil, fmt.Errorf("%s: %w", rows[n].FullName(), err)
			}
			list = append(list, ks...)
		}
	}
	return list, nil
}

// Module is the text of several kernels.
type Module struct {
	Target  string
	Driver  int // as gpu.Kernel.Driver
	Source  string
	Kernels []*gpu.Kernel
}

// Join makes one module of the kernels of each target and PTX version, at most so
// many in one. It saves time where all are assembled.
func Join(kernels []*gpu.Kernel, most int) []*Module {
	var all []*Module
	open := map[string]*Module{}
	for _, k := range kernels {
		head, body, _ := strings.Cut(k.Source, "\n\n")
		m := open[head]
		if m == nil || len(m.Kernels) == most {
			m = &Module{Target: k.Target, Driver: k.Driver, Source: head + "\n"}
			open[head] = m
			all = append(all, m)
		}
		m.Source += "\n" + body
		m.Kernels = append(m.Kernels, k)
	}
	return all
}
