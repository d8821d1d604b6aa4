package cuda

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/toolkit"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Checker tries kernels on a device in this process, one by one, and measures them.
type Checker struct {
	device *driver.Device
	chip   string
	limit  time.Duration
}

// NewChecker returns a checker of the target cuda:DEVICE with that name.
func NewChecker(target string) (*Checker, error) {
	_, argument, _ := strings.Cut(target, ":")
	o, err := gpu.ParseOptions(argument)
	if err != nil {
		return nil, err
	}
	lib, err := driver.Open()
	if err != nil {
		return nil, err
	}
	n, err := find(lib, o.Device)
	if err != nil {
		return nil, err
	}
	d, err := lib.Device(n)
	if err != nil {
		return nil, err
	}
	return &Checker{d, d.Chip(), o.Deadline}, nil
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
func (c *Checker) Chips(ctx context.Context) []string {
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

// Assemble has ptxas assemble all kernels of a chip. If the chip is this device's and
// there is an nvdisasm, listings of the machine code are written into a directory.
func (c *Checker) Assemble(ctx context.Context, chip, dir string) (gpu.Assembly, error) {
	a := &assembler{tools: toolkit.Find(ctx, "ptxas"), Assembly: gpu.Assembly{Refused: map[string]string{}}}
	if chip == c.chip {
		a.dumps, a.listings = toolkit.Find(ctx, "nvdisasm"), dir
	}
	tmp, err := os.MkdirTemp("", "mmafuzz")
	if err != nil {
		return a.Assembly, err
	}
	defer os.RemoveAll(tmp)
	jobs := make(chan *gpu.Kernel)
	var wg sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		own := filepath.Join(tmp, strconv.Itoa(w))
		if err := os.Mkdir(own, 0o777); err != nil {
			return a.Assembly, err
		}
		wg.Go(func() {
			for k := range jobs {
				a.assemble(ctx, own, k)
			}
		})
	}
	arch, _ := mma.FindArch(chip)
	rows := mma.Of(arch.Name)
	for i := range rows {
		ks, err := kernels(&rows[i], chip)
		if err != nil {
			continue // the chip does not have the instruction
		}
		for _, k := range ks {
			jobs <- k
		}
	}
	close(jobs)
	wg.Wait()
	return a.Assembly, ctx.Err()
}

// assembler runs programs of the toolkit.
type assembler struct {
	tools, dumps []toolkit.Tool
	listings     string

	mu sync.Mutex
	gpu.Assembly
}

// assemble assembles a kernel. No other call may use dir at the same time.
func (a *assembler) assemble(ctx context.Context, dir string, k *gpu.Kernel) {
	knows := func(t toolkit.Tool) bool { return t.Knows(k.Driver, k.Target) }
	n := slices.IndexFunc(a.tools, knows)
	if n < 0 {
		a.mu.Lock()
		a.Later++
		a.mu.Unlock()
		return
	}
	code, err := a.tools[n].Assemble(ctx, dir, k.Target, k.Source)
	if err == nil {
		err = a.list(ctx, dir, k, code)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		a.Assembled++
	case ctx.Err() == nil:
		a.Refused[k.Entry] = err.Error()
	}
}

// list writes the listing of a kernel's machine code.
func (a *assembler) list(ctx context.Context, dir string, k *gpu.Kernel, code []byte) error {
	for _, d := range a.dumps {
		if !d.Knows(k.Driver, k.Target) {
			continue
		}
		text, err := d.Disassemble(ctx, dir, code)
		if err != nil {
			return err
		}
		return keep(a.listings, k.Entry+".sass", []byte(text))
	}
	return nil
}

// launches is how many launches are timed; their median is reported.
const launches = 15

// Time measures the parts of a launch of an instruction.
func (c *Checker) Time(ctx context.Context, i *mma.Instruction) (*gpu.Timing, error) {
	ks, err := kernels(i, c.chip)
	if err != nil {
		return nil, err
	}
	k := ks[0]
	p, err := gpu.NewPacker(k)
	if err != nil {
		return nil, err
	}
	t := &gpu.Timing{Tiles: min(4096, max(1, 8<<20/k.InBytes))}
	in := mma.NewBatch(i.Formats, mma.Shape{M: k.M, N: k.N, K: i.K, Tiles: t.Tiles})
	packed, results := make([]byte, t.Tiles*k.InBytes), make([]byte, t.Tiles*k.OutBytes)
	out := make([]byte, in.Dots()*i.D.Width())
	if t.PackNs, err = perTile(t.Tiles, func() error { return p.Pack(packed, in) }); err != nil {
		return nil, err
	}
	f, err := c.function(k, k.Source, k.Entry)
	if err != nil {
		return nil, err
	}
	if t.LaunchUs, t.KernelUs, err = c.launches(ctx, f, packed, results, t.Tiles); err != nil {
		return nil, err
	}
	if t.UnpackNs, err = perTile(t.Tiles, func() error { return p.Unpack(out, results) }); err != nil {
		return nil, err
	}
	if t.OneUs, _, err = c.launches(ctx, f, packed[:k.InBytes], results[:k.OutBytes], 1); err != nil {
		return nil, err
	}
	if t.Latency, err = c.cycles(ctx, k, issue{1, 1}); err != nil {
		return nil, err
	}
	const chains = 4
	t.Interval, err = c.cycles(ctx, k, issue{1, chains})
	t.Interval /= chains
	return t, err
}

// perTile returns the median time of three runs of work on that many tiles, in
// nanoseconds for each tile.
func perTile(tiles int, work func() error) (float64, error) {
	var took []time.Duration
	for range 3 {
		began := time.Now()
		if err := work(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return float64(took[len(took)/2].Nanoseconds()) / float64(tiles), nil
}

// function loads a kernel from a source, which need not be its own.
func (c *Checker) function(k *gpu.Kernel, source, entry string) (*driver.Function, error) {
	m, err := c.device.Module(source)
	if err != nil {
		return nil, err
	}
	return c.device.Function(m, entry, driver.Grid{Threads: k.Threads, Tiles: k.Tiles, InBytes: k.InBytes, OutBytes: k.OutBytes})
}

// launches returns the median times of whole launches and of their kernels alone, in
// microseconds.
func (c *Checker) launches(ctx context.Context, f *driver.Function, in, out []byte, tiles int) (whole, kernel float64, err error) {
	var wholes, kernels []time.Duration
	for range launches {
		began := time.Now()
		took, err := f.Launch(ctx, in, out, tiles, c.limit)
		if err != nil {
			return 0, 0, err
		}
		wholes, kernels = append(wholes, time.Since(began)), append(kernels, took)
	}
	slices.Sort(wholes)
	slices.Sort(kernels)
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	return us(wholes[launches/2]), us(kernels[launches/2]), nil
}

// Name is what the driver calls the device.
func (c *Checker) Name() string { return c.device.Name }

// Close gives the device back.
func (c *Checker) Close() error { return c.device.Close() }
