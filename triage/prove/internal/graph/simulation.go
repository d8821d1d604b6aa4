package graph

import (
	"encoding/binary"
	"math/big"
)

// Simulation evaluates nodes on many inputs at once. It evaluates the gates from which
// Question makes clauses, so comparing its values with values computed otherwise checks
// those gates too.
type Simulation struct {
	b      *builder
	words  int // of 64 inputs each
	inputs map[*Node][][]uint64
	values [][]uint64 // by gate
}

// NewSimulation returns a simulation of 64*words inputs, on which all variables are 0.
func NewSimulation(words int) *Simulation {
	return &Simulation{b: newBuilder(nil), words: words, inputs: map[*Node][][]uint64{}}
}

// Inputs is the number of inputs.
func (s *Simulation) Inputs() int { return 64 * s.words }

// Set gives variable v a value on input i. Once a node that depends on v was evaluated, a
// new value has no effect until Reset.
func (s *Simulation) Set(v *Node, i int, value uint64) {
	rows := s.inputs[v]
	if rows == nil {
		rows = make([][]uint64, v.Bits())
		for j := range rows {
			rows[j] = make([]uint64, s.words)
		}
		s.inputs[v] = rows
	}
	for j := range rows {
		bit := uint64(1) << (i % 64)
		if value>>j&1 != 0 {
			rows[j][i/64] |= bit
		} else {
			rows[j][i/64] &^= bit
		}
	}
}

// Reset forgets what was evaluated, not the gates.
func (s *Simulation) Reset() { s.values = s.values[:0] }

// run evaluates all gates that there are.
func (s *Simulation) run() {
	from := len(s.values)
	if from == len(s.b.gates) {
		return
	}
	known := map[int][]uint64{}
	for _, v := range s.b.given {
		for j, l := range s.b.words[v].bits {
			if rows := s.inputs[v]; rows != nil {
				known[l.gate()] = rows[j]
			}
		}
	}
	for g := from; g < len(s.b.gates); g++ {
		var row []uint64
		if cap(s.values) > g {
			row = s.values[:g+1][g]
		}
		if row == nil {
			row = make([]uint64, s.words)
		}
		s.values = append(s.values[:g], row)
		if g == 0 || s.b.isInput(g) {
			clear(row)
			copy(row, known[g])
			continue
		}
		x, y := s.b.gates[g][0], s.b.gates[g][1]
		p, q := s.values[x.gate()], s.values[y.gate()]
		px, py := mask(x), mask(y)
		for i := range row {
			row[i] = (p[i] ^ px) & (q[i] ^ py)
		}
	}
}

func mask(l lit) uint64 {
	if l.inverted() {
		return ^uint64(0)
	}
	return 0
}

// Value returns the value of a node on input i.
func (s *Simulation) Value(n *Node, i int) *big.Int {
	w := s.b.word(n)
	s.run()
	v := new(big.Int)
	for j, l := range w.bits {
		if (s.values[l.gate()][i/64]^mask(l))>>(i%64)&1 != 0 {
			v.SetBit(v, j, 1)
		}
	}
	if k := len(w.bits); w.signed && v.Bit(k-1) != 0 {
		v.Sub(v, pow2(k))
	}
	return v
}

// Signature returns the values of a node on all inputs in a form that equal numbers
// share, whatever the ranges of their nodes.
func (s *Simulation) Signature(n *Node) string {
	w := s.b.word(n)
	s.run()
	var rows [][]uint64
	for _, l := range append(w.bits, w.at(len(w.bits))) {
		row := make([]uint64, s.words)
		for i, v := range s.values[l.gate()] {
			row[i] = v ^ mask(l)
		}
		rows = append(rows, row)
	}
	for len(rows) > 1 && equal(rows[len(rows)-1], rows[len(rows)-2]) {
		rows = rows[:len(rows)-1] // a sign twice
	}
	var text []byte
	for _, row := range rows {
		for _, v := range row {
			text = binary.LittleEndian.AppendUint64(text, v)
		}
	}
	return string(text)
}

func equal(x, y []uint64) bool {
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// InRange reports whether a node lies in its range on all inputs.
func (s *Simulation) InRange(n *Node) bool {
	l := s.b.inRange(n)
	s.run()
	for _, v := range s.values[l.gate()] {
		if v^mask(l) != ^uint64(0) {
			return false
		}
	}
	return true
}
