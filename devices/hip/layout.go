package hip

// spread describes where the elements of an operand stand in the registers of the
// lanes that hold a tile. All of AMD's layouts follow one formula. An operand has
// elements (x, y): x is the row of A or the column of B, C and D; y is the k of A and B
// or the row of C and D. The first chunk of consecutive y goes to a lane of the first
// group of lanes, the next chunk to the next group, and after the last group the next
// chunk goes to the next places of the first:
//
//	lane = x + side * ((y / chunk) mod groups)
//	place = y mod chunk + chunk * (y / (chunk * groups))
//
// The numbers are from the figures of the ISA documents, as ROCm's
// amd_matrix_instruction_calculator computes them, for CDNA1 to 3, RDNA3 and
// RDNA4, and for CDNA4 from ROCm's composable_kernel
// (include/ck_tile/core/arch/mma and test/mx_mfma_op). They have not been checked on a
// GPU.
type spread struct {
	side   int // number of x
	count  int // number of y
	chunk  int // number of consecutive y in a lane
	groups int // of lanes
	slot   int // bits from one place to the next
	unit   int // words of a lane that follow each other in the packed buffer
	copies int // how often the lanes hold the operand
}

// place returns the lane of an element, and its first bit in the lane's registers.
func (s *spread) place(x, y int) (lane, bit int) {
	place := y%s.chunk + s.chunk*(y/(s.chunk*s.groups))
	return x + s.side*(y/s.chunk%s.groups), place * s.slot
}

// words returns how many registers of a lane the operand takes.
func (s *spread) words() int { return (s.count/s.groups*s.slot + 31) / 32 }

// lanes returns how many lanes hold a tile.
func (s *spread) lanes() int { return s.side * s.groups * s.copies }

// size returns how many words the operand of a tile takes in the packed buffer.
func (s *spread) size() int { return s.words() * s.lanes() }

// bit returns where a bit of a lane's registers is in the packed buffer.
func (s *spread) bit(lane, bit int) int {
	w := bit / 32
	return 32*((w/s.unit*s.lanes()+lane)*s.unit+w%s.unit) + bit%32
}

// at returns the places of all elements in the packed buffer, which begins at
// word from: in the order of x, then y, or the other way round.
func (s *spread) at(from int, byRow bool) []int {
	at := make([]int, 0, s.copies*s.side*s.count)
	for c := range s.copies {
		for n := range s.side * s.count {
			x, y := n/s.count, n%s.count
			if byRow {
				x, y = n%s.side, n/s.side
			}
			lane, bit := s.place(x, y)
			at = append(at, 32*from+s.bit(lane+c*s.side*s.groups, bit))
		}
	}
	return at
}

// factor returns the spread of A or B: side rows or columns of k elements each. sparse
// says that it is an A which keeps half of its elements.
func (f *form) factor(side, k, bits int, sparse bool) *spread {
	s := &spread{side: side, count: k, slot: bits, unit: 1, copies: 1}
	switch {
	case f.lanes == 64:
		s.groups = 64 / (side * f.blocks)
		s.chunk = k / s.groups
		if s.words() == 8 { // CDNA4 reads them as two times four, with one half of k each
			s.chunk /= 2
		}
	case !f.gfx12:
		s.groups, s.chunk, s.copies = 1, k, 2
	default:
		s.groups, s.chunk = 2, 64/bits
		if f.sparse() && !sparse { // B, which has twice the elements of A
			s.chunk *= 2
		}
	}
	if s.unit = max(1, bits/32); bits == 6 { // an element may begin in one register and end in the next
		s.unit = s.words()
	}
	return s
}

func (f *form) a() *spread {
	k := f.k
	if f.sparse() {
		k /= 2
	}
	return f.factor(f.m, k, bits(f.inst.A), true)
}

func (f *form) b() *spread { return f.factor(f.n, f.k, bits(f.inst.B), false) }

// c returns the spread of C and D.
func (f *form) c() *spread {
	s := &spread{side: f.n, count: f.m, slot: bits(f.inst.D), copies: 1}
	s.unit = max(1, s.slot/32)
	switch {
	case f.lanes == 64:
		s.groups = 64 / f.n
		if f.inLanes() {
			s.groups /= f.blocks
		}
		if s.chunk = 4; s.slot == 64 {
			s.chunk = 1
		}
	case f.gfx12:
		s.groups, s.chunk = 2, 8
	default:
		s.groups, s.chunk, s.slot = 2, 1, 32 // 16 bits are the low half of a register
	}
	return s
}

// inLanes reports whether the blocks of C and D share registers, each in lanes of its own,
// as those of A and B always do. Otherwise each block has registers of its own.
func (f *form) inLanes() bool { return f.m == 4 }

// scale returns the spread of the block scales of A or B: the low byte of a register.
func (f *form) scale(side int) *spread {
	return &spread{side: side, count: f.inst.Blocks(f.k), chunk: 1, groups: 64 / side, slot: 32, unit: 1, copies: 1}
}

// kept lists which two of four elements a sparse A keeps: the legal pairs, used in turn.
var kept = [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}

// dense returns the number, among all elements, of the k-th element that A keeps.
func dense(k int) int { return k/2*4 + kept[k/2%len(kept)][k%2] }

// index returns the register that tells a sparse instruction which elements A
// keeps, and its words: two bits for each element, at the element's place in A. All rows
// are alike, because they share B.
func (f *form) index() (*spread, []uint64) {
	a := f.a()
	words := make([]uint64, a.lanes())
	for x := range a.side {
		for k := range a.count {
			lane, bit := a.place(x, k)
			words[lane] |= uint64(dense(k)%4) << (2 * bit / a.slot)
		}
	}
	return &spread{side: a.lanes(), count: 1, chunk: 1, groups: 1, slot: 32, unit: 1, copies: 1}, words
}
