package graph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
)

// Question asks whether two nodes can differ.
type Question struct {
	b       *builder
	goal    lit
	assumed []lit
	vars    []int // of the gates, from 1; 0: plays no part
	count   int
	gates   []int // those that play a part, by variable
}

// Differ asks whether x and y can differ if all nodes of free can be anything in their
// ranges, and the booleans of assume are 1. If they cannot, then neither can they with the
// values that the free nodes really have.
func Differ(x, y *Node, free map[*Node]bool, assume ...*Node) *Question {
	b := newBuilder(free)
	q := &Question{b: b, goal: b.differ(b.word(x), b.word(y))}
	for _, a := range assume {
		q.assumed = append(q.assumed, b.bit(a))
	}
	for _, n := range Cone(x, y) {
		if _, made := b.words[n]; made && n.differs() && !free[n] {
			q.assumed = append(q.assumed, b.inRange(n))
		}
	}
	for _, n := range b.given {
		q.assumed = append(q.assumed, b.inRange(n))
	}
	q.number()
	return q
}

// differs reports whether a node is a difference whose lower bound is above that of adding
// up its terms' ranges: of a maximum and one of its arguments (see linearRange).
func (n *Node) differs() bool {
	if n.Op != Lin {
		return false
	}
	lo, hi := new(big.Int).Set(n.C), new(big.Int).Set(n.C)
	for i, x := range n.Args {
		widen(lo, hi, n.K[i], x.Lo, x.Hi)
	}
	return lo.Cmp(n.Lo) < 0
}

// Decided reports whether the gates alone decide that the nodes cannot differ.
func (q *Question) Decided() bool { return q.goal == off }

// Variables is the number of variables of the clauses.
func (q *Question) Variables() int { return q.count }

// number gives variables to the gates that play a part, in an order that does not depend on
// the other gates.
func (q *Question) number() {
	q.vars = make([]int, len(q.b.gates))
	var stack []int
	visit := func(root lit) {
		stack = append(stack, root.gate())
		for len(stack) > 0 {
			g := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if g == 0 || q.vars[g] != 0 {
				continue
			}
			q.count++
			q.vars[g] = q.count
			q.gates = append(q.gates, g)
			if !q.b.isInput(g) {
				stack = append(stack, q.b.gates[g][0].gate(), q.b.gates[g][1].gate())
			}
		}
	}
	visit(q.goal)
	for _, l := range q.assumed {
		visit(l)
	}
}

// literal is a literal of DIMACS.
func (q *Question) literal(l lit) int {
	if l.inverted() {
		return -q.vars[l.gate()]
	}
	return q.vars[l.gate()]
}

// WriteDIMACS writes the question for a SAT solver: satisfiable if the nodes can differ.
// Without the goal it is the assumptions alone.
func (q *Question) WriteDIMACS(w io.Writer, goal bool) error {
	var clauses [][]int
	unit := func(l lit) {
		switch l {
		case on:
		case off:
			clauses = append(clauses, nil)
		default:
			clauses = append(clauses, []int{q.literal(l)})
		}
	}
	for _, l := range q.assumed {
		unit(l)
	}
	if goal {
		unit(q.goal)
	}
	for _, g := range q.gates {
		if q.b.isInput(g) {
			continue
		}
		z, x, y := q.vars[g], q.literal(q.b.gates[g][0]), q.literal(q.b.gates[g][1])
		clauses = append(clauses, []int{-z, x}, []int{-z, y}, []int{z, -x, -y})
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "p cnf %d %d\n", q.count, len(clauses))
	for _, c := range clauses {
		for _, l := range c {
			fmt.Fprintf(out, "%d ", l)
		}
		fmt.Fprintln(out, "0")
	}
	return out.Flush()
}

// evaluate returns the value of every literal by an assignment that a solver gives, true by
// variable from 1.
func (q *Question) evaluate(assignment []bool) func(lit) bool {
	values := make([]bool, len(q.b.gates))
	value := func(l lit) bool { return values[l.gate()] != l.inverted() }
	for g := 1; g < len(values); g++ {
		switch {
		case !q.b.isInput(g):
			values[g] = value(q.b.gates[g][0]) && value(q.b.gates[g][1])
		case q.vars[g] != 0 && q.vars[g] < len(assignment):
			values[g] = assignment[q.vars[g]]
		}
	}
	return value
}

// Allows returns an error if an assignment does not satisfy the assumptions.
func (q *Question) Allows(assignment []bool) error {
	value := q.evaluate(assignment)
	for _, l := range q.assumed {
		if !value(l) {
			return errors.New("the solver's assignment does not satisfy the assumptions")
		}
	}
	return nil
}

// Model returns the values of the free nodes and variables by an assignment. It is an
// error if it does not answer the question.
func (q *Question) Model(assignment []bool) (map[*Node]*big.Int, error) {
	if err := q.Allows(assignment); err != nil {
		return nil, err
	}
	value := q.evaluate(assignment)
	if !value(q.goal) {
		return nil, errors.New("the nodes do not differ by the solver's assignment")
	}
	model := map[*Node]*big.Int{}
	for _, n := range q.b.given {
		v := new(big.Int)
		w := q.b.words[n]
		for j, l := range w.bits {
			if value(l) {
				v.SetBit(v, j, 1)
			}
		}
		if k := len(w.bits); w.signed && v.Bit(k-1) != 0 {
			v.Sub(v, pow2(k))
		}
		model[n] = v
	}
	return model, nil
}
