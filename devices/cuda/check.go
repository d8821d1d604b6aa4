package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/cuda/driver"
	"github.com/mmafuzz/mmafuzz/devices/cuda/sass"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Checker tries kernels on a device in this process, one by one, and measures them.
type Checker struct {
	device *driver.Device
	chip   string
	limit  time.Duration
}

// NewChecker returns the checker of a target, by its name.
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

// Accept has the driver load every kernel of an instruction as PTX and by its
// linker, whose machine code goes into a directory. The text says what that is.
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

// tool finds a program of the CUDA toolkit, "" if there is none.
func tool(name string) string {
	for _, place := range []string{name, "/usr/local/cuda/bin/" + name} {
		if path, err := exec.LookPath(place); err == nil {
			return path
		}
	}
	return ""
}

// Chips are the chips from sm_75 on, if there is an assembler.
func (c *Checker) Chips() []string {
	var chips []string
	for _, a := range mma.Archs {
		if strings.HasPrefix(a.Chip, "sm_") && a.Chip != "sm_70" && tool("ptxas") != "" {
			chips = append(chips, a.Chip)
		}
	}
	return chips
}

// Assemble has ptxas assemble all kernels of a chip. It returns how many there are
// and what is said against some, by their entries. Listings of the machine code of
// those for this device go into a directory, where there is cuobjdump.
func (c *Checker) Assemble(ctx context.Context, chip, dir string) (n int, refused map[string]string, err error) {
	a := &assembler{ptxas: tool("ptxas"), refused: map[string]string{}}
	if a.ptxas == "" {
		return 0, nil, errors.New("there is no ptxas on the path")
	}
	if chip == c.chip {
		a.listings, a.dump = dir, tool("cuobjdump")
	}
	if a.tmp, err = os.MkdirTemp("", "mmafuzz"); err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(a.tmp)
	arch, _ := mma.FindArch(chip)
	rows := mma.Of(arch.Name)
	jobs := make(chan *gpu.Kernel)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for k := range jobs {
				a.assemble(ctx, k)
			}
		})
	}
	for i := range rows {
		ks, err := kernels(&rows[i], chip)
		if err != nil {
			continue // the chip does not have it: Rows says so
		}
		for _, k := range ks {
			n++
			jobs <- k
		}
	}
	close(jobs)
	wg.Wait()
	return n, a.refused, ctx.Err()
}

// assembler runs programs of the toolkit.
type assembler struct {
	ptxas, dump   string
	tmp, listings string

	mu      sync.Mutex
	refused map[string]string
}

// assemble assembles a kernel.
func (a *assembler) assemble(ctx context.Context, k *gpu.Kernel) {
	in, out := filepath.Join(a.tmp, k.Entry+".ptx"), filepath.Join(a.tmp, k.Entry+".cubin")
	said, err := []byte(nil), os.WriteFile(in, []byte(k.Source), 0o666)
	if err == nil {
		said, err = exec.CommandContext(ctx, a.ptxas, "-arch="+k.Target, "-o", out, in).CombinedOutput()
	}
	if err == nil && a.dump != "" {
		var listing []byte
		if listing, err = exec.CommandContext(ctx, a.dump, "--dump-sass", out).Output(); err == nil {
			err = keep(a.listings, k.Entry+".sass", listing)
		}
	}
	_ = os.Remove(out)
	_ = os.Remove(in)
	if err != nil && ctx.Err() == nil {
		a.mu.Lock()
		a.refused[k.Entry] = strings.TrimSpace(fmt.Sprintf("%v: %s", err, said))
		a.mu.Unlock()
	}
}

// launches is how many are timed, of which the median counts.
const launches = 15

// Time measures what a launch of an instruction consists of.
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
	if t.Latency, err = c.cycles(ctx, k, 1, packed, results); err != nil {
		return nil, err
	}
	t.Interval, err = c.cycles(ctx, k, 4, packed, results)
	return t, err
}

// perTile is the time of work on so many tiles, in nanoseconds for one.
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

// function loads a kernel of some source.
func (c *Checker) function(k *gpu.Kernel, source, entry string) (*driver.Function, error) {
	m, err := c.device.Module(source)
	if err != nil {
		return nil, err
	}
	return c.device.Function(m, entry, driver.Grid{Threads: k.Threads, Tiles: k.Tiles, InBytes: k.InBytes, OutBytes: k.OutBytes})
}

// launches returns the medians of the times of launches and of their kernels, in
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

// rounds is how often a loop of unroll instructions is run to time it.
const rounds = 1000

// cycles returns the cycles for each instruction of a loop that has so many chains
// of them; 0 where there is no such loop, or where the compiler makes the instruction
// of others, some of which it takes out of the loop.
func (c *Checker) cycles(ctx context.Context, k *gpu.Kernel, chains int, in, out []byte) (float64, error) {
	source, ok := timed(k, chains)
	tiles := k.Threads / 32 // a block's
	if !ok || len(in) < tiles*k.InBytes {
		return 0, nil
	}
	m, err := c.device.Module(source)
	if err != nil {
		return 0, fmt.Errorf("timed kernel: %w", err)
	}
	if counts, err := sass.Scan(m.Code); err == nil && !counts.Native(k.Needs) {
		return 0, nil
	}
	f, err := c.function(k, source, k.Entry+timedSuffix)
	if err != nil {
		return 0, fmt.Errorf("timed kernel: %w", err)
	}
	if _, err := f.Loop(ctx, in[:tiles*k.InBytes], out[:tiles*k.OutBytes], rounds, c.limit); err != nil {
		return 0, fmt.Errorf("timed kernel: %w", err)
	}
	return float64(binary.LittleEndian.Uint32(out)) / (rounds * unroll), nil
}

// Close gives the device back.
func (c *Checker) Close() error { return c.device.Close() }
