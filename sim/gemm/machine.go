package gemm

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// prepared is a plan with what its operations need.
type prepared struct {
	*schedule.Plan
	units []Unit   // by operation
	runs  [][]span // by operation: the products of a run
	last  []int    // by operation: the last one that reads its value
}

// span is n products from k on; k < 0: zeros.
type span struct{ k, n int }

func prepare(p *schedule.Plan, u *units) (*prepared, error) {
	n := len(p.Ops)
	out := &prepared{p, make([]Unit, 0, n), make([][]span, 0, n), make([]int, n)}
	for n, op := range p.Ops {
		unit, err := u.of(op.Unit)
		if err != nil {
			return nil, err
		}
		out.units = append(out.units, unit)
		out.runs = append(out.runs, spans(op.K))
		for _, r := range []schedule.Ref{op.X, op.Y, op.Z} {
			if r.Kind == schedule.Value {
				out.last[r.N] = n
			}
		}
	}
	return out, nil
}

func spans(k []int32) (all []span) {
	for _, i := range k {
		last := len(all) - 1
		switch {
		case last >= 0 && i < 0 && all[last].k < 0, last >= 0 && i >= 0 && all[last].k >= 0 && int(i) == all[last].k+all[last].n:
			all[last].n++
		default:
			all = append(all, span{int(i), 1})
		}
	}
	return all
}

// machine does the operations of plans for blocks, one after the other.
type machine struct {
	k     *schedule.Kernel
	o     *Operands
	d     []byte
	width int
	*block
	values  [][]byte // of the plan's operations
	free    [][]byte
	batch   mma.Batch
	x, y, z []byte // operands of operations
}

// compute computes a block of D.
func (m *machine) compute(ctx context.Context, b *block) error {
	result, err := m.evaluate(ctx, b)
	if err != nil {
		return err
	}
	w := m.width
	for r, row := range b.rows {
		for c, column := range b.columns {
			copy(m.d[(row*m.o.N+column)*w:][:w], result[(r*len(b.columns)+c)*w:])
		}
	}
	m.free = append(m.free, result)
	return nil
}

// evaluate returns the last value of a plan for the elements of a block.
func (m *machine) evaluate(ctx context.Context, b *block) ([]byte, error) {
	m.block = b
	p := b.plan
	m.values = make([][]byte, len(p.Ops))
	n := len(b.rows) * len(b.columns)
	for i := range p.Ops {
		op := &p.Ops[i]
		out := m.buffer(n * op.Unit.D.Width())
		var err error
		switch {
		case op.K != nil:
			err = m.run(ctx, p.units[i], op.Unit, op.K, p.runs[i], m.operand(nil, op.Z, op.Unit.D), out)
		case m.native(op, out):
		default:
			err = m.arithmetic(ctx, i, out)
		}
		if err != nil {
			return nil, err
		}
		if op.Relu != 0 {
			relu(op, out)
		}
		m.values[i] = out
		for _, r := range []schedule.Ref{op.X, op.Y, op.Z} {
			if r.Kind == schedule.Value && p.last[r.N] == i && m.values[r.N] != nil {
				m.free = append(m.free, m.values[r.N])
				m.values[r.N] = nil
			}
		}
	}
	return m.values[len(p.Ops)-1], nil
}

// relu makes those results of an operation +0 that its Relu has.
func relu(op *schedule.Op, out []byte) {
	id, w := op.Unit.D, op.Unit.D.Width()
	for n := range len(out) / w {
		mma.Store(out, w, n, op.Relu.Of(id, mma.Load(out, w, n)))
	}
}

// buffer returns memory of n bytes, that of a value which is not needed any more if there
// is some.
func (m *machine) buffer(n int) []byte {
	for i, b := range m.free {
		if cap(b) >= n {
			m.free[i] = m.free[len(m.free)-1]
			m.free = m.free[:len(m.free)-1]
			return b[:n]
		}
	}
	return make([]byte, n)
}

// run runs a unit on products, which are also given as spans, from an accumulator.
func (m *machine) run(ctx context.Context, unit Unit, u *mma.Instruction, k []int32, runs []span, acc, out []byte) error {
	in := &m.batch
	*in = mma.Batch{Formats: u.Formats, Shape: mma.Shape{M: len(m.rows), N: len(m.columns), K: len(k), Tiles: 1}}
	in.A = m.gather(&m.x, m.o.A, m.rows, u.A.Width(), runs)
	in.B = m.gather(&m.y, m.o.B, m.columns, u.B.Width(), runs)
	if u.Scale != fp.None {
		in.SA = m.scales(m.o.SA, m.rows, u, k)
		in.SB = m.scales(m.o.SB, m.columns, u, k)
	}
	in.C = acc
	return unit.Run(ctx, in, out)
}

// gather returns the products of a run in some lines of a matrix.
func (m *machine) gather(buf *[]byte, matrix []byte, lines []int, w int, runs []span) []byte {
	depth := m.o.K * w
	size := 0
	for _, s := range runs {
		size += s.n * w
	}
	if len(runs) == 1 && size == depth && lines[len(lines)-1]-lines[0] == len(lines)-1 {
		return matrix[lines[0]*depth:][:len(lines)*depth] // as it lies there
	}
	if cap(*buf) < size*len(lines) {
		*buf = make([]byte, size*len(lines))
	}
	out := (*buf)[:size*len(lines)]
	for n, line := range lines {
		collect(out[n*size:][:size], matrix[line*depth:][:depth], w, runs)
	}
	return out
}

// collect copies the products of a run.
func collect(to, from []byte, w int, runs []span) {
	at := 0
	for _, s := range runs {
		n := s.n * w
		switch {
		case s.k < 0:
			clear(to[at:][:n])
		case n == 4:
			binary.LittleEndian.PutUint32(to[at:], binary.LittleEndian.Uint32(from[s.k*w:]))
		case n == 2:
			binary.LittleEndian.PutUint16(to[at:], binary.LittleEndian.Uint16(from[s.k*w:]))
		default:
			copy(to[at:][:n], from[s.k*w:])
		}
		at += n
	}
}

// scales returns the instruction's scales of a run. A block of zeros has the scale 1.
func (m *machine) scales(matrix []byte, lines []int, u *mma.Instruction, k []int32) []byte {
	w, block := u.Scale.Width(), int(u.Block)
	one := u.Scale.Get().FromFloat64(1)
	each := (m.o.K + block - 1) / block
	var out []byte
	for _, line := range lines {
		for i := 0; i < len(k); i += block {
			of := k[i:min(i+block, len(k))]
			first := slices.IndexFunc(of, func(k int32) bool { return k >= 0 })
			if first < 0 {
				out = append(out, make([]byte, w)...)
				mma.Store(out[len(out)-w:], w, 0, one)
				continue
			}
			out = append(out, matrix[(line*each+int(of[first])/block)*w:][:w]...)
		}
	}
	return out
}

// operand returns the codes of an operand for each element of the block, in a format. A
// value is returned as it is.
func (m *machine) operand(buf *[]byte, r schedule.Ref, id fp.ID) []byte {
	if r.Kind == schedule.Value {
		return m.values[r.N]
	}
	w := id.Width()
	n := len(m.rows) * len(m.columns)
	if buf == nil {
		buf = new([]byte)
	}
	if cap(*buf) < n*w {
		*buf = make([]byte, n*w)
	}
	out := (*buf)[:n*w]
	code := m.constant(r.Kind, id)
	for i, row := range m.rows {
		for j, column := range m.columns {
			switch r.Kind {
			case schedule.C:
				code = mma.Load(m.o.C, w, row*m.o.N+column)
			case schedule.Bias:
				code = m.o.Bias[column]
			case schedule.Factor:
				code = r.Code
			case schedule.ScaleA:
				code = m.o.ScaleA[m.k.ScaleA.Index(row, r.N*m.k.ScaleA.K, m.o.K)]
			case schedule.ScaleB:
				code = m.o.ScaleB[m.k.ScaleB.Index(column, r.N*m.k.ScaleB.K, m.o.K)]
			}
			mma.Store(out, w, i*len(m.columns)+j, code)
		}
	}
	return out
}

// constant returns the code of an operand that is the same for all elements.
func (m *machine) constant(kind schedule.RefKind, id fp.ID) uint64 {
	switch kind {
	case schedule.NegZero:
		return id.Get().SignBit()
	case schedule.One:
		return id.Get().FromFloat64(1)
	case schedule.Alpha:
		return m.o.Alpha
	case schedule.Beta:
		return m.o.Beta
	}
	return 0
}

// arithmetic does x*y + z for each element.
func (m *machine) arithmetic(ctx context.Context, i int, out []byte) error {
	op := &m.plan.Ops[i]
	f := op.Unit.Formats
	in := &mma.Batch{Formats: f, Shape: mma.Shape{M: 1, N: 1, K: 1, Tiles: len(m.rows) * len(m.columns)}}
	in.A, in.B, in.C = m.operand(&m.x, op.X, f.A), m.operand(&m.y, op.Y, f.B), m.operand(nil, op.Z, f.C)
	return m.plan.units[i].Run(ctx, in, out)
}

// native does x*y + z of FP32, and sums of FP64, with the processor's own arithmetic, and
// returns false for another operation.
func (m *machine) native(op *schedule.Op, out []byte) bool {
	f := op.Unit.Formats
	if a := op.Unit.Params.Acc; a.Mode != fp.RNE || a.Over != mma.OverInf || a.Flush != mma.NoFlush {
		return false
	}
	nan := nanCode(op.Unit)
	switch {
	case f.A == fp.FP32 && f.B == fp.FP32 && f.D == fp.FP32:
		x, y, z := m.operand(&m.x, op.X, f.A), m.operand(&m.y, op.Y, f.B), m.operand(&m.z, op.Z, f.C)
		load := func(b []byte, i int) float64 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
		}
		for i := 0; i < len(out); i += 4 {
			d := math.Float32bits(fma32(load(x, i)*load(y, i), load(z, i)))
			if d&0x7fffffff > 0x7f800000 {
				d = uint32(nan)
			}
			binary.LittleEndian.PutUint32(out[i:], d)
		}
	case f.A == fp.FP64 && op.Y.Kind == schedule.One && f.D == fp.FP64:
		x, z := m.operand(&m.x, op.X, f.A), m.operand(&m.z, op.Z, f.C)
		for i := 0; i < len(out); i += 8 {
			sum := math.Float64frombits(binary.LittleEndian.Uint64(x[i:])) + math.Float64frombits(binary.LittleEndian.Uint64(z[i:]))
			d := math.Float64bits(sum)
			if sum != sum {
				d = nan
			}
			binary.LittleEndian.PutUint64(out[i:], d)
		}
	default:
		return false
	}
	return true
}

// fma32 returns p + z rounded once to FP32; p is a product of FP32 numbers, which FP64 holds
// exactly. The sum is rounded to odd before (Boldo and Melquiond 2008).
func fma32(p, z float64) float32 {
	s := p + z
	t := s - p
	if e := (p - (s - t)) + (z - t); (e < 0 || e > 0) && math.Float64bits(s)&1 == 0 { // the error of s (Knuth's TwoSum); NaN for infinities
		s = math.Float64frombits(math.Float64bits(s) + uint64(1-2*int64(math.Float64bits(e)>>63^math.Float64bits(s)>>63)))
	}
	return float32(s)
}

// nanCode returns the NaN that schedule.Arithmetic gives.
func nanCode(i *mma.Instruction) uint64 {
	f := i.D.Get()
	if i.Params.Special.NaN == mma.NaNOnes {
		return f.OnesNaNCode()
	}
	return f.QuietNaN(i.Params.Special.NaN == mma.NaNQuietNeg)
}
