package graph

import (
	"bufio"
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
// ranges, and the booleans of assume are 1. A "no" is one for what free nodes really
// are, too.
func Differ(x, y *Node, free map[*Node]bool, assume ...*Node) *Question {
	b := newBuilder(free)
	q := &Question{b: b, goal: b.differ(b.word(x), b.word(y))}
	for _, a := range assume {
		q.assumed = append(q.assumed, b.bit(a))
	}
	for _, n := range b.given {
		q.assumed = append(q.assumed, b.inRange(n))
	}
	q.number()
	return q
}

// Decided reports whether the gates alone decide that the nodes cannot differ.
func (q *Question) Decided() bool { return q.goal == off }

// number gives the gates that play a part variables, in an order that does not depend on
// others.
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

// Model returns the values of the free nodes and variables by an assignment that a
// solver gives, true by variable from 1. It is an error if the assignment does not
// answer the question.
func (q *Question) Model(assignment []bool) (map[*Node]*big.Int, error) {
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
	for _, l := range append([]lit{q.goal}, q.assumed...) {
		if !value(l) {
			return nil, fmt.Errorf("the solver's assignment does not satisfy the clauses")
		}
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
