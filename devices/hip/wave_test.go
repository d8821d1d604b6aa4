package hip

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// statement describes what the lanes of a wave hold, seen from the lane: the documents'
// figures read the other way round than in layout.go, and written without it.
type statement struct {
	lanes, blocks int
	a, b, c       fragment
	kept          int // elements of A in a lane, if it is sparse
	scaleBlocks   int
}

// fragment is what a lane holds of an operand: n elements, each the given number of bits from
// the one before, and which element is number q of a lane.
type fragment struct {
	n, slot, bits int
	at            func(lane, q int) (block, x, y int)
}

// words returns the registers of a lane.
func (f *fragment) words() int { return (f.n*f.slot + 31) / 32 }

// state writes the figures down for an instruction.
func state(i *mma.Instruction) *statement {
	m, n, k := i.M.Min, i.N.Min, i.K
	switch {
	case i.Arch == "rdna3":
		return stateRDNA3(i)
	case i.Arch == "rdna4":
		return stateRDNA4(i)
	case strings.Contains(i.Name, "smfmac"):
		s := &statement{lanes: 64, blocks: 1, c: result(i, 1)}
		each := k * m / 64
		s.a = fragment{each, size(i.A), size(i.A), func(l, q int) (int, int, int) { return 0, l % m, l/m*each + q }}
		s.b = fragment{2 * each, size(i.B), size(i.B), func(l, q int) (int, int, int) { return 0, l % n, l/n*2*each + q }}
		if 2*each*size(i.B) == 8*32 { // two halves of k
			s.b.at = func(l, q int) (int, int, int) { return 0, l % n, q/each*k + l/n*each + q%each }
		}
		s.kept = each
		return s
	case strings.Contains(i.Name, "f8f6f4"):
		s := &statement{lanes: 64, blocks: 1, c: result(i, 1), scaleBlocks: i.Blocks(k)}
		factor := func(id fp.ID) fragment {
			if size(id) < 8 {
				return fragment{32, size(id), size(id), func(l, q int) (int, int, int) { return 0, l % m, l/m*32 + q }}
			}
			return fragment{32, 8, 8, func(l, q int) (int, int, int) { return 0, l % m, q/16*(k/2) + l/m*16 + q%16 }}
		}
		s.a, s.b = factor(i.A), factor(i.B)
		return s
	}
	blocks := blocksOf(i.Name)
	each := m * k * blocks / 64
	s := &statement{lanes: 64, blocks: blocks, c: result(i, blocks)}
	factor := func(l, q int) (int, int, int) { return l / m % blocks, l % m, l/m/blocks*each + q }
	s.a = fragment{each, size(i.A), size(i.A), factor}
	s.b = fragment{each, size(i.B), size(i.B), factor}
	return s
}

// blocksOf is the number of blocks of each shape that has several.
func blocksOf(name string) int {
	for n, shapes := range map[int][]string{
		2:  {"32x32x1f32", "32x32x4f16", "32x32x4bf16_1k", "32x32x2bf16", "_2b_"},
		4:  {"16x16x1f32", "16x16x4f16", "16x16x4bf16_1k", "16x16x2bf16", "_f64_4x4x4f64", "_4b_"},
		16: {"_4x4x1f32", "_f32_4x4x4f16", "_4x4x4bf16_1k", "_4x4x2bf16", "_16b_"},
	} {
		for _, s := range shapes {
			if strings.Contains(name, s) {
				return n
			}
		}
	}
	return 1
}

// result is C and D of MFMA: x is the row, y the column.
func result(i *mma.Instruction, blocks int) fragment {
	at := map[string]func(l, q int) (int, int, int){
		"fp64 4x4":   func(l, q int) (int, int, int) { return l / 4 % 4, l / 16, l % 4 },
		"fp64 16x16": func(l, q int) (int, int, int) { return 0, 4*q + l/16, l % 16 },
		"fp32 4x4":   func(l, q int) (int, int, int) { return l / 4, q, l % 4 },
		"fp32 16x16": func(l, q int) (int, int, int) { return q / 4, 4*(l/16) + q%4, l % 16 },
		"fp32 32x32": func(l, q int) (int, int, int) { return q / 16, q%16/4*8 + l/32*4 + q%4, l % 32 },
	}[fmt.Sprintf("%s %dx%d", i.D, i.M.Min, i.N.Min)]
	return fragment{i.M.Min * i.N.Min * blocks / 64, size(i.D), size(i.D), at}
}

func stateRDNA3(i *mma.Instruction) *statement {
	factor := fragment{16, 16, 16, func(l, q int) (int, int, int) { return 0, l % 16, q }} // both halves of the wave hold it
	return &statement{lanes: 32, blocks: 1, a: factor, b: factor,
		c: fragment{8, 32, size(i.D), func(l, q int) (int, int, int) { return 0, 2*q + l/16, l % 16 }}}
}

func stateRDNA4(i *mma.Instruction) *statement {
	s := &statement{lanes: 32, blocks: 1}
	s.c = fragment{8, size(i.D), size(i.D), func(l, q int) (int, int, int) { return 0, q + l/16*8, l % 16 }}
	small := func(run int) func(l, q int) (int, int, int) { // runs of so many k, the halves of the wave in turn
		return func(l, q int) (int, int, int) { return 0, l % 16, q/run*2*run + l/16*run + q%run }
	}
	run := map[int]int{16: 4, 8: 8}[size(i.A)]
	s.a = fragment{8, size(i.A), size(i.A), small(run)}
	s.b = fragment{8, size(i.B), size(i.B), small(run)}
	if strings.Contains(i.Name, "swmmac") {
		s.kept = 8
		s.b.n, s.b.at = 16, small(2*run)
	}
	return s
}

// size is the bits of an element in a register.
func size(id fp.ID) int {
	return map[fp.ID]int{fp.FP64: 64, fp.FP32: 32, fp.XF32: 32, fp.FP16: 16, fp.BF16: 16, fp.E5M2: 8, fp.E4M3: 8,
		fp.E5M2FNUZ: 8, fp.E4M3FNUZ: 8, fp.E3M2: 6, fp.E2M3: 6, fp.E2M1: 4}[id]
}

// registers are those of each lane of a wave, by operand: a, b, c, then index or
// scales.
type registers map[string][][]uint32

// bits returns n bits of a lane's registers.
func (r registers) bits(operand string, lane, at, n int) uint64 {
	var v uint64
	for b := range n {
		v |= uint64(r[operand][lane][(at+b)/32]>>((at+b)%32)&1) << b
	}
	return v
}

// execute computes the registers of D that a wave's instruction leaves: it
// collects the operands from the lanes, as many tiles as the instruction has
// blocks. A sparse A meets the elements of B that its index selects.
func (s *statement) execute(i *mma.Instruction, r registers) ([][]uint32, error) {
	b := mma.NewBatch(i.Formats, mma.Shape{M: i.M.Min, N: i.N.Min, K: i.K, Tiles: s.blocks})
	if err := s.collect(i, r, b); err != nil {
		return nil, err
	}
	out := make([]byte, b.Dots()*i.D.Width())
	dot := mma.NewDot(i.Formats, i.K)
	for n := range b.Dots() {
		b.Get(n, dot)
		mma.Store(out, i.D.Width(), n, fingerprint(i, dot))
	}
	d := make([][]uint32, s.lanes)
	for l := range d {
		d[l] = make([]uint32, s.c.words())
		for q := range s.c.n {
			block, row, col := s.c.at(l, q)
			code := mma.Load(out, i.D.Width(), (block*i.M.Min+row)*i.N.Min+col)
			for bit := range s.c.bits {
				at := q*s.c.slot + bit
				d[l][at/32] |= uint32(code>>bit&1) << (at % 32)
			}
		}
	}
	return d, nil
}

// fingerprint stands for the arithmetic: every bit of the operands and every
// position counts.
func fingerprint(i *mma.Instruction, d *mma.Dot) uint64 {
	h := d.C
	for _, codes := range [][]uint64{d.A, d.B, d.SA, d.SB} {
		for _, code := range codes {
			h = (h ^ code) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
	}
	return h & i.D.Get().CodeMask()
}

// collect fills a batch of the wave's tiles.
func (s *statement) collect(i *mma.Instruction, r registers, b *mma.Batch) error {
	m, n, k := i.M.Min, i.N.Min, i.K
	dense := k
	if s.kept > 0 {
		dense *= 2
	}
	all := make([]uint64, s.blocks*n*dense) // of B
	index := make([]int, m*k)               // of A, which of four
	for l := range s.lanes {
		for q := range s.a.n {
			block, row, e := s.a.at(l, q)
			mma.Store(b.A, i.A.Width(), (block*m+row)*k+e, r.bits("a", l, q*s.a.slot, s.a.bits))
			if s.kept > 0 {
				index[row*k+e] = int(r.bits("index", l, 2*q, 2))
			}
		}
		for q := range s.b.n {
			block, col, e := s.b.at(l, q)
			all[(block*n+col)*dense+e] = r.bits("b", l, q*s.b.slot, s.b.bits)
		}
		for q := range s.c.n {
			block, row, col := s.c.at(l, q)
			mma.Store(b.C, i.C.Width(), (block*m+row)*n+col, r.bits("c", l, q*s.c.slot, s.c.bits))
		}
		if s.scaleBlocks > 0 {
			mma.Store(b.SA, 1, l%m*s.scaleBlocks+l/m, r.bits("scale_a", l, 0, 8))
			mma.Store(b.SB, 1, l%n*s.scaleBlocks+l/n, r.bits("scale_b", l, 0, 8))
		}
	}
	for row := range s.blocks * n * k {
		from := row
		if s.kept > 0 {
			e := row % k
			from = row/k*dense + e/2*4 + index[e]
		}
		mma.Store(b.B, i.B.Width(), row, all[from])
	}
	return sameIndex(index, k, s.kept > 0)
}

// sameIndex requires that all rows keep the same elements, in order.
func sameIndex(index []int, k int, sparse bool) error {
	if !sparse {
		return nil
	}
	for n, v := range index {
		if v != index[n%k] {
			return fmt.Errorf("row %d keeps other elements than row 0", n/k)
		}
		if n%2 == 1 && v <= index[n-1] {
			return fmt.Errorf("element %d: the index %d follows %d", n, v, index[n-1])
		}
	}
	return nil
}
