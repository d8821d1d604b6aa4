package ptx_test

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// matrixUnit executes the matrix instructions of the emulator.
type matrixUnit interface {
	// execute does what a group of threads does together.
	execute(b *block, g []*thread, s *statement) error
	// single does what one thread does; false: it has to wait.
	single(b *block, t *thread, s *statement) (bool, error)
	// arrived reports whether something has happened that threads may wait for.
	arrived() bool
	// finish describes what is wrong at the end of a block.
	finish(b *block) error
}

// unit takes operands from where the PTX ISA says that they are, by the layouts of
// cute_test.go and by the text of the instruction alone.
type unit struct {
	inst *mma.Instruction
	run  func(in *mma.Batch, out []byte)

	fenced, committed bool   // wgmma
	results           func() // of wgmma or tcgen05.mma, not yet written

	tensor    tensorMemory
	completed uint64 // phases of the barrier
	news      bool
}

func (u *unit) arrived() bool { defer func() { u.news = false }(); return u.news }

func (u *unit) execute(b *block, g []*thread, s *statement) error {
	switch family, _, _ := strings.Cut(s.op, "."); family {
	case "mma":
		if got := nameOf(s.op); got != u.inst.Name {
			return fmt.Errorf("it is %s, not %s", got, u.inst.Name)
		}
		if strings.Contains(s.op, ".m8n8k4.") && u.inst.A == fp.FP16 {
			return u.quadPairs(g, s)
		}
		return u.warp(g, s)
	case "wmma":
		return u.wmma(b, g, s)
	case "wgmma":
		return u.wgmma(b, g, s)
	}
	return u.tensorGroup(b, g, s)
}

// nameOf writes an instruction as the catalogue names it.
func nameOf(op string) string {
	var name []string
	var scales, ending string
	for field := range strings.SplitSeq(op, ".") {
		switch {
		case field == "sync" || field == "aligned" || field == "row" || field == "col" || field == "block_scale" || field == "mma_async":
		case field == "satfinite":
			ending = ".satfinite"
		case field == "sp::ordered_metadata":
			name = append(name, "sp")
		case strings.HasPrefix(field, "scale_vec::"):
			scales = map[string]string{"1X": "block32", "2X": "block32", "4X": "block16"}[field[len("scale_vec::"):]]
			name = append(name, scales)
		default:
			name = append(name, field)
		}
	}
	return strings.Join(name, ".") + ending
}

// codes collects the elements of an operand from the registers of threads.
func codes(g []*thread, regs []string, c cute, bits, n int) []uint64 {
	all := make([]uint64, n)
	for t, thread := range g {
		for v := range elements(regs, bits) {
			all[c.at(t, v)] = thread.regs[regs[v*bits/max(bits, 32)]] >> (v * bits % max(bits, 32)) & (1<<bits - 1)
		}
	}
	return all
}

// elements is how many elements registers hold.
func elements(regs []string, bits int) int { return len(regs) * max(bits, 32) / bits }

// spread writes elements into the registers of threads.
func spread(g []*thread, regs []string, c cute, bits int, d []uint64) {
	for t, thread := range g {
		for _, r := range regs {
			thread.regs[r] = 0
		}
		for v := range elements(regs, bits) {
			thread.regs[regs[v*bits/max(bits, 32)]] |= d[c.at(t, v)] << (v * bits % max(bits, 32))
		}
	}
}

// operands are those of one tile, A [row][k] and so on.
type operands struct {
	m, n            int
	a, b, c, sa, sb []uint64
}

// multiply returns D [row][column].
func (u *unit) multiply(o *operands) []uint64 {
	in := mma.NewBatch(u.inst.Formats, mma.Shape{M: o.m, N: o.n, K: u.inst.K, Tiles: 1})
	for _, x := range []struct {
		buf   []byte
		id    fp.ID
		codes []uint64
	}{{in.A, in.Formats.A, o.a}, {in.B, in.Formats.B, o.b}, {in.C, in.Formats.C, o.c}, {in.SA, in.Scale, o.sa}, {in.SB, in.Scale, o.sb}} {
		for i := range len(x.buf) / max(x.id.Width(), 1) {
			mma.Store(x.buf, x.id.Width(), i, x.codes[i])
		}
	}
	w := in.Formats.D.Width()
	out := make([]byte, o.m*o.n*w)
	u.run(in, out)
	d := make([]uint64, o.m*o.n)
	for i := range d {
		d[i] = mma.Load(out, w, i)
	}
	return d
}

// transposed turns elements numbered i + rows*k into [i][k], and takes codes out of
// their containers.
func transposed(all []uint64, rows, columns int, id fp.ID, bits int) ([]uint64, error) {
	shift := 0
	if id == fp.E2M1 && bits == 8 {
		shift = 2
	}
	out := make([]uint64, 0, rows*columns)
	for i := range rows {
		for k := range columns {
			code := all[i+rows*k] >> shift
			if code&^id.Get().CodeMask() != 0 || code<<shift != all[i+rows*k] {
				return nil, fmt.Errorf("element %d, %d is %#x, no %s code", i, k, all[i+rows*k], id)
			}
			out = append(out, code)
		}
	}
	return out, nil
}

// bitsOf is the container of an operand in registers.
func bitsOf(op string, id fp.ID) int {
	switch {
	case strings.Contains(op, "::mxf4") || id == fp.S4 || id == fp.U4:
		return 4
	case id == fp.B1:
		return 1
	}
	return 8 * id.Width()
}

// warp executes mma.sync or mma.sp.
func (u *unit) warp(g []*thread, s *statement) error {
	i := u.inst
	var m, n, k int
	shape := s.op[strings.Index(s.op, ".m")+1:]
	if _, err := fmt.Sscanf(shape, "m%dn%dk%d", &m, &n, &k); err != nil {
		return err
	}
	bitsA, bitsB, bitsD := bitsOf(s.op, i.A), bitsOf(s.op, i.B), 8*i.D.Width()
	a := codes(g, list(s.args[1]), layoutsA[fmt.Sprintf("m%dn%dk%d %d", m, n, i.K, bitsA)], bitsA, m*i.K)
	b := codes(g, list(s.args[2]), layoutsB[fmt.Sprintf("m%dn%dk%d %d", m, n, k, bitsB)], bitsB, n*k)
	lc := layoutC(m, n, 8*i.C.Width(), false)
	c := codes(g, list(s.args[3]), lc, 8*i.C.Width(), m*n)
	if strings.Contains(s.op, ".sp") {
		var err error
		if b, err = u.selected(g, s, b, n, k); err != nil {
			return err
		}
	}
	o := &operands{m: m, n: n}
	var err error
	if o.a, err = transposed(a, m, i.K, i.A, bitsA); err != nil {
		return fmt.Errorf("a: %w", err)
	}
	if o.b, err = transposed(b, n, i.K, i.B, bitsB); err != nil {
		return fmt.Errorf("b: %w", err)
	}
	if o.c, err = transposed(c, m, n, i.C, 8*i.C.Width()); err != nil {
		return fmt.Errorf("c: %w", err)
	}
	if i.Scale != fp.None {
		args := s.args[len(s.args)-4:]
		byteA, threadA := selector(args[1], 2)
		byteB, threadB := selector(args[3], 4)
		o.sa = u.scales(g, args[0], byteA, m, func(row int) int { return row%8*4 + row/8 + 2*threadA })
		o.sb = u.scales(g, args[2], byteB, n, func(col int) int { return col*4 + threadB })
	}
	d := u.multiply(o)
	columnMajor := make([]uint64, m*n)
	for x := range m * n {
		columnMajor[x/n+m*(x%n)] = d[x]
	}
	spread(g, list(s.args[0]), layoutC(m, n, bitsD, false), bitsD, columnMajor)
	return nil
}

// selector reads {byte, thread}.
func selector(arg string, threads int) (first, thread int) {
	if _, err := fmt.Sscanf(arg, "{%d, %d}", &first, &thread); err != nil || first > 3 || thread >= threads {
		panic("selector " + arg)
	}
	return first, thread
}

// scales collects the scales of rows (columns of B), byte by byte, from the lanes
// that hold them.
func (u *unit) scales(g []*thread, reg string, first, rows int, lane func(int) int) []uint64 {
	var all []uint64
	for r := range rows {
		for n := range u.inst.Blocks(u.inst.K) {
			all = append(all, g[lane(r)].regs[reg]>>(8*(first+n))&0xff)
		}
	}
	return all
}

// selected returns what a sparse A selects of B, as the metadata of its rows say,
// which must be the same for all of them.
func (u *unit) selected(g []*thread, s *statement, b []uint64, n, k int) ([]uint64, error) {
	group, unit := 4, 1 // a nibble of metadata says which 2 of 4 units of the given number of elements
	switch {
	case u.inst.A == fp.TF32:
		group = 2
	case bitsOf(s.op, u.inst.A) == 4:
		group, unit = 8, 2
	}
	var first []int
	for row := range 16 {
		var kept []int
		for c := range k / group {
			nibble := u.metadata(g, s.args[4], row, c, k/group)
			x, y := int(nibble&3), int(nibble>>2&3)
			if x >= y {
				return nil, fmt.Errorf("metadata %#x of row %d", nibble, row)
			}
			if group == 2 {
				if x%2 != 0 || y != x+1 {
					return nil, fmt.Errorf("metadata %#x of row %d", nibble, row)
				}
				kept = append(kept, c*group+x/2)
				continue
			}
			for _, index := range []int{x, y} {
				for e := range unit {
					kept = append(kept, c*group+index*unit+e)
				}
			}
		}
		if first == nil {
			first = kept
		}
		if fmt.Sprint(first) != fmt.Sprint(kept) {
			return nil, fmt.Errorf("rows 0 and %d keep %v and %v", row, first, kept)
		}
	}
	out := make([]uint64, 0, len(first)*n)
	for _, column := range first {
		out = append(out, b[column*n:][:n]...)
	}
	return out, nil
}

// metadata returns the four bits of chunk c of a row. With 4 chunks a row the first
// lane of each four has those of rows g and g+8 in its halves; with 8 the first two
// lanes have 4 chunks each; with 16 all four have 8 chunks of one row.
func (u *unit) metadata(g []*thread, reg string, row, c, chunks int) uint64 {
	lane, bit := row%8*4, row/8*16+c%4*4
	switch chunks {
	case 8:
		lane += c / 4
	case 16:
		lane, bit = row%8*4+row/8+c/8*2, c%8*4
	}
	return g[lane].regs[reg] >> bit & 0xf
}

// quadPairs executes Volta's four independent instructions.
func (u *unit) quadPairs(g []*thread, s *statement) error {
	fields := strings.Split(s.op, ".") // mma sync aligned m8n8k4 row col ...
	la, lb := layoutsA["m8n8k4 16"+fields[4]], layoutsB["m8n8k4 16"+fields[5]]
	bitsC, bitsD := 8*u.inst.C.Width(), 8*u.inst.D.Width()
	for p := range 4 {
		quad := append(append([]*thread{}, g[4*p:4*p+4]...), g[4*p+16:4*p+20]...)
		o := &operands{m: 8, n: 8}
		var err error
		for _, x := range []struct {
			dst     *[]uint64
			columns int
			codes   []uint64
			id      fp.ID
		}{
			{&o.a, 4, codes(quad, list(s.args[1]), la, 16, 32), fp.FP16},
			{&o.b, 4, codes(quad, list(s.args[2]), lb, 16, 32), fp.FP16},
			{&o.c, 8, codes(quad, list(s.args[3]), layoutC(8, 8, bitsC, true), bitsC, 64), u.inst.C},
		} {
			if *x.dst, err = transposed(x.codes, 8, x.columns, x.id, 8*x.id.Width()); err != nil {
				return err
			}
		}
		d := u.multiply(o)
		columnMajor := make([]uint64, 64)
		for x := range 64 {
			columnMajor[x/8+8*(x%8)] = d[x]
		}
		spread(quad, list(s.args[0]), layoutC(8, 8, bitsD, true), bitsD, columnMajor)
	}
	return nil
}

// fromShared returns the elements of a matrix in shared memory, [row][k], as its
// descriptor says: K-major, without swizzling.
func (u *unit) fromShared(b *block, descriptor, version uint64, rows int, id fp.ID, bits int) ([]uint64, error) {
	start, leading, stride := int(descriptor&0x3fff)<<4, int(descriptor>>16&0x3fff)<<4, int(descriptor>>32&0x3fff)<<4
	if rest := descriptor &^ (0x3fff | 0x3fff<<16 | 0x3fff<<32); rest != version {
		return nil, fmt.Errorf("descriptor %#x", descriptor)
	}
	atom := 2 * 8 * 16 / (2 * bits) // elements in 16 bytes
	if bits < 8 && u.inst.K == 32 {
		atom = 16 // the rest is padding
	}
	all := make([]uint64, 0, rows*u.inst.K)
	for r := range rows {
		for k := range u.inst.K {
			bit := 8*(start+r/8*stride+k/atom*leading+r%8*16) + k%atom*bits
			if bit/8+8 > len(b.memory)+8 {
				return nil, fmt.Errorf("element %d, %d is outside of shared memory", r, k)
			}
			var word [16]byte
			copy(word[:], b.memory[bit/8:])
			all = append(all, binary.LittleEndian.Uint64(word[:])>>(bit%8)&(1<<bits-1))
		}
	}
	for _, code := range all {
		if code&^id.Get().CodeMask() != 0 {
			return nil, fmt.Errorf("%#x is no %s code", code, id)
		}
	}
	return all, nil
}

// wgmma executes the instructions of a warpgroup. Results appear when they have
// been waited for.
func (u *unit) wgmma(b *block, g []*thread, s *statement) error {
	switch op := strings.TrimPrefix(s.op, "wgmma."); {
	case strings.HasPrefix(op, "fence."):
		u.fenced = true
	case strings.HasPrefix(op, "commit_group."):
		u.committed = u.results != nil
	case strings.HasPrefix(op, "wait_group."):
		if !u.committed || s.args[0] != "0" {
			return fmt.Errorf("waits for nothing")
		}
		u.results()
		u.results = nil
	default:
		return u.warpgroup(b, g, s)
	}
	return nil
}

func (u *unit) warpgroup(b *block, g []*thread, s *statement) error {
	i := u.inst
	fields := strings.Split(s.op, ".") // wgmma mma_async sync aligned m64n8k16 ...
	var m, n, k int
	if _, err := fmt.Sscanf(fields[4], "m%dn%dk%d", &m, &n, &k); err != nil {
		return err
	}
	add := g[0].regs[s.args[3]] == 1
	name := strings.Replace(nameOf(s.op), fmt.Sprintf("n%dk", n), "n8k", 1)
	if !add {
		name += ".c0"
	}
	wantTail := map[fp.ID]string{fp.FP16: "1 1 0 0", fp.BF16: "1 1 0 0", fp.TF32: "1 1", fp.E4M3: "1 1", fp.E5M2: "1 1"}[i.A]
	o := &operands{m: m, n: n}
	bits := 8 * i.A.Width()
	if strings.HasPrefix(s.args[1], "{") {
		wantTail = strings.TrimSuffix(wantTail, " 0")
		a := codes(g, list(s.args[1]), layoutsA[fmt.Sprintf("m64k%d %d", k, bits)], bits, m*k)
		o.a, _ = transposed(a, m, k, i.A, bits)
	} else {
		var err error
		if o.a, err = u.fromShared(b, g[0].regs[s.args[1]], 0, m, i.A, bits); err != nil {
			return fmt.Errorf("a: %w", err)
		}
	}
	if tail := strings.Join(s.args[4:], " "); name != i.Name || !u.fenced || tail != wantTail {
		return fmt.Errorf("it is %s with %s, fenced %v, want %s with %s", name, tail, u.fenced, i.Name, wantTail)
	}
	if err := b.visible(); err != nil {
		return err
	}
	var err error
	if o.b, err = u.fromShared(b, g[0].regs[s.args[2]], 0, n, i.B, bits); err != nil {
		return fmt.Errorf("b: %w", err)
	}
	bitsD := 8 * i.D.Width()
	regs, layout := list(s.args[0]), layoutC(m, n, bitsD, false)
	if add {
		if o.c, err = transposed(codes(g, regs, layout, bitsD, m*n), m, n, i.C, bitsD); err != nil {
			return fmt.Errorf("c: %w", err)
		}
	}
	d := u.multiply(o)
	columnMajor := make([]uint64, m*n)
	for x := range m * n {
		columnMajor[x/n+m*(x%n)] = d[x]
	}
	u.results = func() { spread(g, regs, layout, bitsD, columnMajor) }
	return nil
}

func (u *unit) finish(b *block) error {
	if u.results != nil || u.tensor.columns != 0 {
		return fmt.Errorf("results that nobody waited for, or tensor memory that is not given back")
	}
	return nil
}
