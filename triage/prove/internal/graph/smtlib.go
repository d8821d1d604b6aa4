package graph

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"strings"
)

// WriteSMTLIB writes the question whether two nodes can differ, for solvers of fixed-size
// bit vectors (QF_BV): sat if they can. It is made from the nodes, not from the gates.
func WriteSMTLIB(w io.Writer, x, y *Node, assume ...*Node) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "(set-logic QF_BV)")
	cone := Cone(append([]*Node{x, y}, assume...)...)
	for _, n := range cone {
		bits, _ := vector(n)
		switch n.Op {
		case Const:
		case Var:
			fmt.Fprintf(out, "(declare-const n%d (_ BitVec %d)) ; %s\n", n.ID, bits, n.Name)
			if n.Hi.Cmp(new(big.Int).Sub(pow2(bits), one)) < 0 {
				fmt.Fprintf(out, "(assert (bvule n%d %s))\n", n.ID, literal(n.Hi, bits))
			}
		default:
			fmt.Fprintf(out, "(define-fun n%d () (_ BitVec %d) %s)\n", n.ID, bits, formula(n, bits))
		}
	}
	for _, a := range assume {
		fmt.Fprintf(out, "(assert (= %s #b1))\n", operand(a, 1))
	}
	wide := 1
	for _, n := range []*Node{x, y} {
		bits, _ := vector(n)
		wide = max(wide, bits+1)
	}
	fmt.Fprintf(out, "(assert (distinct %s %s))\n(check-sat)\n", operand(x, wide), operand(y, wide))
	return out.Flush()
}

// vector is the width of a node's bit vector, of one bit at least.
func vector(n *Node) (bits int, signed bool) {
	bits, signed = size(n.Lo, n.Hi)
	return max(bits, 1), signed
}

func literal(v *big.Int, bits int) string {
	if v.Sign() < 0 {
		v = new(big.Int).Add(v, pow2(bits))
	}
	return fmt.Sprintf("(_ bv%d %d)", new(big.Int).Mod(v, pow2(bits)), bits)
}

// operand is a node modulo 2^bits.
func operand(n *Node, bits int) string {
	if n.Op == Const {
		return literal(n.C, bits)
	}
	own, signed := vector(n)
	name := fmt.Sprintf("n%d", n.ID)
	switch {
	case own > bits:
		return fmt.Sprintf("((_ extract %d 0) %s)", bits-1, name)
	case own == bits:
		return name
	case signed:
		return fmt.Sprintf("((_ sign_extend %d) %s)", bits-own, name)
	}
	return fmt.Sprintf("((_ zero_extend %d) %s)", bits-own, name)
}

// truth makes a bit of a condition.
func truth(condition string) string { return "(ite " + condition + " #b1 #b0)" }

// formula is what a node computes.
func formula(n *Node, bits int) string {
	width := bits // in which it is computed
	for _, a := range n.Args {
		own, _ := vector(a)
		width = max(width, own+1)
	}
	at := func(i int) string { return operand(n.Args[i], width) }
	narrowed := func(f string) string {
		if width == bits {
			return f
		}
		return fmt.Sprintf("((_ extract %d 0) %s)", bits-1, f)
	}
	zero := literal(new(big.Int), width)
	switch n.Op {
	case Lin:
		f := literal(n.C, width)
		for i := range n.Args {
			f = fmt.Sprintf("(bvadd %s (bvmul %s %s))", f, literal(n.K[i], width), at(i))
		}
		return narrowed(f)
	case Mul:
		return narrowed(fmt.Sprintf("(bvmul %s %s)", at(0), at(1)))
	case Shr:
		return narrowed(fmt.Sprintf("(bvlshr %s %s)", at(0), at(1)))
	case Low:
		return narrowed(fmt.Sprintf("(bvand %s (bvsub (bvshl %s %s) %s))", at(0), literal(one, width), at(1), literal(one, width)))
	case Shl:
		return narrowed(fmt.Sprintf("(bvshl %s %s)", at(0), at(1)))
	case Norm, Log2:
		return narrowed(byFirstBit(n, at(0), width))
	case Negative:
		return truth(fmt.Sprintf("(bvslt %s %s)", at(0), zero))
	case Eq:
		return truth(fmt.Sprintf("(= %s %s)", at(0), at(1)))
	case And:
		f := make([]string, len(n.Args))
		for i, a := range n.Args {
			f[i] = operand(a, 1)
		}
		return "(bvand " + strings.Join(f, " ") + ")"
	case Not:
		return "(bvnot " + operand(n.Args[0], 1) + ")"
	case Ite:
		return narrowed(fmt.Sprintf("(ite (= %s #b1) %s %s)", operand(n.Args[0], 1), at(1), at(2)))
	case Max:
		f := at(0)
		for i := range n.Args[1:] {
			f = fmt.Sprintf("(let ((m %s)) (ite (bvslt m %s) %s m))", f, at(i+1), at(i+1))
		}
		return narrowed(f)
	case Abs:
		return narrowed(fmt.Sprintf("(ite (bvslt %s %s) (bvneg %s) %s)", at(0), zero, at(0), at(0)))
	}
	panic(fmt.Sprintf("graph: operation %d has no formula", n.Op))
}

// byFirstBit is Norm or Log2: a case for each place of the first bit.
func byFirstBit(n *Node, x string, width int) string {
	top := n.Args[0].Bits() - 1
	f := literal(new(big.Int), width)
	for i := range top + 1 {
		value := literal(big.NewInt(int64(i)), width)
		if n.Op == Norm {
			value = fmt.Sprintf("(bvshl %s %s)", x, literal(big.NewInt(int64(top-i)), width))
		}
		f = fmt.Sprintf("(ite (= ((_ extract %d %d) %s) #b1) %s %s)", i, i, x, value, f)
	}
	return f
}
