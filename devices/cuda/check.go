package cuda

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/toolkit"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// Checker tries kernels on a device in this process, one by one, and measures them.
type Checker struct {
	loader
	chip string
}

// NewChecker returns a checker of the target cuda:DEVICE with that name.
func NewChecker(target string) (*Checker, error) {
	_, argument, _ := strings.Cut(target, ":")
	o, err := gpu.ParseOptions(argument)
	if err != nil {
		return nil, err
	}
	_, d, err := device(o)
	if err != nil {
		return nil, err
	}
	return &Checker{loader{target, d, o.Deadline}, d.Chip()}, nil
}

// Accept has the driver load every kernel of an instruction, as PTX and through its
// linker. The linker's machine code is written into a directory; the text says which
// instructions it has.
func (c *Checker) Accept(i *mma.Instruction, dir string) (text string, err error) {
	ks, err := kernels(i, c.chip)
	if err != nil {
		return "", err
	}
	var said []string
	for _, k := range ks {
		if err := c.device.Accepts(k.Source); err != nil {
			return "", fmt.Errorf("%s: %w", k.Entry, err)
		}
		m, err := c.device.Module(k.Source)
		if err != nil {
			return "", fmt.Errorf("%s: %w", k.Entry, err)
		}
		if m.Code != nil {
			if err := keep(dir, k.Entry+".cubin", m.Code); err != nil {
				return "", err
			}
		}
		said = append(said, strings.TrimPrefix(k.Variant+": ", ": ")+verdict(k, m))
	}
	return strings.Join(said, "; "), nil
}

// keep writes a file.
func keep(dir, name string, body []byte) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), body, 0o666)
}

// Chips returns the chips from sm_75 on that a ptxas of NVIDIA's toolkit on this machine
// knows.
func Chips(ctx context.Context) []string {
	tools := toolkit.Find(ctx, "ptxas")
	var chips []string
	for _, a := range mma.Archs {
		known := func(t toolkit.Tool) bool { return t.Knows(0, a.Chip) || t.Knows(0, a.Chip+"a") }
		if strings.HasPrefix(a.Chip, "sm_") && a.Chip != "sm_70" && slices.ContainsFunc(tools, known) {
			chips = append(chips, a.Chip)
		}
	}
	return chips
}

// Assembly is what an assembler on this machine makes of the kernels of a chip.
type Assembly struct {
	Assembled int
	Refused   map[string]string // the assembler's error, by the kernel's entry
	Later     int               // kernels that need a later assembler
}

// Assemble has ptxas assemble all kernels of a chip. If the chip is this device's and
// there is an nvdisasm, listings of the machine code are written into a directory.
func (c *Checker) Assemble(ctx context.Context, chip, dir string) (*Assembly, error) {
	tools := toolkit.Find(ctx, "ptxas")
	var dumps []toolkit.Tool
	if chip == c.chip {
		dumps = toolkit.Find(ctx, "nvdisasm")
	}
	a := &Assembly{Refused: map[string]string{}}
	var all []*gpu.Kernel
	arch, _ := mma.FindArch(chip)
	for _, i := range mma.Of(arch.Name) {
		ks, _ := kernels(&i, chip) // none: the chip does not have the instruction
		all = append(all, ks...)
	}
	var mu sync.Mutex
	var wg parallel.Group
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, k := range all {
		n := slices.IndexFunc(tools, func(t toolkit.Tool) bool { return t.Knows(k.Driver, k.Target) })
		if n < 0 {
			a.Later++
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			err := assemble(ctx, &tools[n], dumps, k, dir)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				a.Assembled++
			case ctx.Err() == nil:
				a.Refused[k.Entry] = err.Error()
			}
		})
	}
	wg.Wait()
	return a, ctx.Err()
}

// assemble assembles a kernel, and writes the listing of its machine code into a directory
// if one of the disassemblers knows its chip.
func assemble(ctx context.Context, ptxas *toolkit.Tool, dumps []toolkit.Tool, k *gpu.Kernel, dir string) error {
	tmp, err := os.MkdirTemp("", "mmafuzz")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	code, err := ptxas.Assemble(ctx, tmp, k.Target, k.Source)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(dumps, func(t toolkit.Tool) bool { return t.Knows(k.Driver, k.Target) })
	if n < 0 {
		return nil
	}
	text, err := dumps[n].Disassemble(ctx, tmp, code)
	if err != nil {
		return err
	}
	return keep(dir, k.Entry+".sass", []byte(text))
}

// Name is what the driver calls the device.
func (c *Checker) Name() string { return c.device.Name }

// Close gives the device back.
func (c *Checker) Close() error { return c.device.Close() }
