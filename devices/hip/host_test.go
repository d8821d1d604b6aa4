package hip

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestText runs the text of every kernel, compiled for the host: what it loads
// and stores, with the second statement of the layouts in place of the matrix
// instruction. The last wave has too few tiles, and one wave has none.
func TestText(t *testing.T) {
	if testing.Short() {
		t.Skip("what a compiler makes of the kernels does not change with -race or without cgo")
	}
	compilers := findClangs()
	if len(compilers) == 0 {
		t.Skip("THE TEXT OF THE KERNELS IS NOT RUN: there is no clang")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for n, chip := range chips {
		if n%tier.Of(1, 4, 1) != 0 {
			continue
		}
		t.Run(chip, func(t *testing.T) {
			all := kernels(t, chip)
			h := startHost(t, compilers[0], all)
			for n, k := range all {
				throughPacked(t, k, fill(rng, k, 2*k.Tiles+1), func(in, out []byte, tiles int) error {
					return h.launch(n, k, in, out, tiles)
				})
			}
		})
	}
}

// host is the program of testdata/host.cc.
type host struct {
	in  io.Writer
	out *bufio.Reader
}

// startHost compiles and starts it for some kernels.
func startHost(t *testing.T, c *clangProgram, all []*gpu.Kernel) *host {
	t.Helper()
	dir := t.TempDir()
	text := joined(t, all)
	var inc strings.Builder
	builtins := regexp.MustCompile(`__builtin_amdgcn_(?:mfma|smfmac|wmma|swmmac)_\w+`).FindAllString(text, -1)
	slices.Sort(builtins)
	for _, b := range slices.Compact(builtins) {
		fmt.Fprintf(&inc, "#define %s matrix\n", b)
	}
	inc.WriteString(text + "static void (*const kernel_table[])(const word *, word *, word) = {")
	for _, k := range all {
		inc.WriteString("mmafuzz::" + k.Entry + ", ")
	}
	inc.WriteString("};\n")
	if err := os.WriteFile(filepath.Join(dir, "kernels.inc"), []byte(inc.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "host")
	out, err := exec.Command(c.Path, "-x", "c++", "-std=c++17", "-w", "-O1", "-fno-exceptions", "-I", dir, "-o", program, filepath.Join("testdata", "host.cc")).CombinedOutput()
	if err != nil {
		if bytes.Contains(out, []byte("stdio.h' file not found")) {
			t.Skip("THE TEXT OF THE KERNELS IS NOT RUN: there are no headers of a C library")
		}
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &host{stdin, bufio.NewReader(stdout)}
}

// canary is what the host's outputs hold before, and one tile after the last.
const canary = 0xa5

func (h *host) launch(n int, k *gpu.Kernel, in, out []byte, tiles int) error {
	s := state(k.Instruction)
	waves := (tiles+k.Tiles-1)/k.Tiles + 1
	padded := bytes.Repeat([]byte{canary}, len(out)+k.OutBytes)
	head := []uint32{uint32(n), uint32(tiles), uint32(waves), uint32(k.Threads), uint32(len(in) / 4), uint32(len(padded) / 4)}
	if err := errors.Join(h.write(head), h.write(in), h.write(padded)); err != nil {
		return err
	}
	all := make([]registers, waves)
	for w := range all {
		r, err := h.readWave(s, k, w < waves-1)
		if err != nil {
			return fmt.Errorf("wave %d: %w", w, err)
		}
		all[w] = r
	}
	for _, r := range all[:waves-1] {
		d, err := s.execute(k.Instruction, r)
		if err != nil {
			return err
		}
		for _, lane := range d {
			if err := h.write(lane); err != nil {
				return err
			}
		}
	}
	if _, err := io.ReadFull(h.out, padded); err != nil {
		return err
	}
	if copy(out, padded); !bytes.Equal(padded[len(out):], bytes.Repeat([]byte{canary}, k.OutBytes)) {
		return errors.New("it wrote behind the last tile")
	}
	return nil
}

// readWave reads the registers of a wave that executes the instruction or does
// not.
func (h *host) readWave(s *statement, k *gpu.Kernel, executes bool) (registers, error) {
	r := registers{}
	for range s.lanes {
		counts := make([]uint32, 4)
		if err := h.read(counts); err != nil {
			return nil, err
		}
		words := make([][]uint32, 4)
		for n := range words {
			words[n] = make([]uint32, counts[n])
			if err := h.read(words[n]); err != nil {
				return nil, err
			}
		}
		if !executes {
			if counts[2] != 0 {
				return nil, errors.New("it has no tile and executes the instruction")
			}
			continue
		}
		if err := r.add(k, words); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add takes what a lane gives the builtin.
func (r registers) add(k *gpu.Kernel, words [][]uint32) error {
	i, rest := k.Instruction, words[3]
	r["a"], r["b"], r["c"] = append(r["a"], words[0]), append(r["b"], words[1]), append(r["c"], words[2])
	code := map[string]uint32{"fp8": 0, "bf8": 1, "fp6": 2, "bf6": 3, "fp4": 4}
	var want []uint32
	switch {
	case strings.Contains(i.Name, "_f8f6f4_"):
		f := strings.Split(i.Name, "_f8f6f4_")[1]
		if len(rest) != 6 {
			return fmt.Errorf("%d arguments follow c", len(rest))
		}
		sa, sb := rest[3], rest[5]
		if strings.Contains(i.Name, "_scale_") {
			r["scale_a"], r["scale_b"] = append(r["scale_a"], []uint32{sa}), append(r["scale_b"], []uint32{sb})
		} else if sa != 0 || sb != 0 {
			return errors.New("there are scales")
		}
		want = []uint32{code[f[:3]], code[f[4:]], 0, sa, 0, sb}
	case strings.Contains(i.Name, "mac_"):
		if len(rest) == 0 {
			return errors.New("there is no index")
		}
		r["index"] = append(r["index"], rest[:1])
		if want = rest[:1]; i.Arch != "rdna4" {
			want = append(want, 0, 0)
		}
	case strings.Contains(i.Name, "mfma"):
		want = []uint32{0, 0, 0}
	case i.Arch == "rdna3" && !strings.Contains(i.Name, "wmma_f32"):
		want = []uint32{0}
	}
	if !slices.Equal(rest, want) {
		return fmt.Errorf("%d follow c, want %d", rest, want)
	}
	return nil
}

func (h *host) write(data any) error  { return binary.Write(h.in, binary.LittleEndian, data) }
func (h *host) read(v []uint32) error { return binary.Read(h.out, binary.LittleEndian, v) }
