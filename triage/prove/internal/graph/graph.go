// Package graph holds questions about integers as a graph: every node is an exact
// integer that depends on variables, equal nodes are one node, and what follows from
// the ranges of nodes is decided when a node is made. A graph can be evaluated on many
// inputs at once (Simulation), and whether two nodes can differ be asked of a SAT solver
// (Differ) and of an SMT solver (WriteSMTLIB).
package graph

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
)

// Op is what a node computes of its arguments.
type Op uint8

// The operations. Booleans are the integers 0 and 1. x of Mul, Shr, Low, Norm and Log2,
// and n, are not negative.
const (
	Const    Op = iota
	Var         // a free variable within Lo..Hi
	Lin         // C + K[0]*Args[0] + K[1]*Args[1] + ...
	Mul         // x * y
	Shr         // floor(x / 2^n)
	Low         // x mod 2^n
	Norm        // x * 2^(w-1-Log2(x)), w the bits of x.Hi; 0 for 0
	Log2        // floor(log2 x); 0 for 0
	Shl         // x * 2^n
	Negative    // x < 0
	Eq          // x = y
	And         // all of them
	Not
	Ite // if c then x else y
	Max
	Abs
)

// Node is one integer. It is never changed; within a graph, equal nodes are one *Node.
type Node struct {
	ID     int // larger than those of the arguments
	Op     Op
	Args   []*Node
	K      []*big.Int // Lin: the factors, none of which is 0
	C      *big.Int   // Const: the value; Lin: the constant
	Name   string     // Var
	Lo, Hi *big.Int   // the value lies between these
}

// Graph makes nodes.
type Graph struct {
	nodes map[string]*Node
	count int
}

// New returns an empty graph.
func New() *Graph { return &Graph{nodes: map[string]*Node{}} }

var one = big.NewInt(1)

// pow2 returns 2^n.
func pow2(n int) *big.Int { return new(big.Int).Lsh(one, uint(n)) }

// intern returns the node that is equal to n. A node of one value is a constant.
func (g *Graph) intern(n Node) *Node {
	if n.Op != Const && n.Op != Var && n.Lo.Cmp(n.Hi) == 0 {
		return g.Big(n.Lo)
	}
	key := binary.AppendUvarint([]byte{byte(n.Op)}, uint64(len(n.Args)))
	for _, a := range n.Args {
		key = binary.AppendUvarint(key, uint64(a.ID))
	}
	for _, k := range n.K {
		key = append(append(key, ','), k.Text(36)...)
	}
	if n.C != nil {
		key = append(append(key, '+'), n.C.Text(36)...)
	}
	key = append(key, n.Name...)
	if old := g.nodes[string(key)]; old != nil {
		return old
	}
	n.ID = g.count
	g.count++
	g.nodes[string(key)] = &n
	return &n
}

// Big returns a constant.
func (g *Graph) Big(v *big.Int) *Node { return g.intern(Node{Op: Const, C: v, Lo: v, Hi: v}) }

// Int returns a constant.
func (g *Graph) Int(v int) *Node { return g.Big(big.NewInt(int64(v))) }

// Bool returns a constant.
func (g *Graph) Bool(b bool) *Node {
	if b {
		return g.Int(1)
	}
	return g.Int(0)
}

// Var returns the variable of a name, between 0 and hi.
func (g *Graph) Var(name string, hi *big.Int) *Node {
	return g.intern(Node{Op: Var, Name: name, Lo: new(big.Int), Hi: hi})
}

// Value returns the value of a constant; ok is false for other nodes.
func (n *Node) Value() (v *big.Int, ok bool) { return n.Lo, n.Op == Const }

// Is reports whether a node is the constant v.
func (n *Node) Is(v int64) bool { return n.Op == Const && n.C.IsInt64() && n.C.Int64() == v }

// boolean reports whether a node is 0 or 1.
func (n *Node) boolean() bool { return n.Lo.Sign() >= 0 && n.Hi.Cmp(one) <= 0 }

// Bits is the number of bits of the largest value of a node that is not negative.
func (n *Node) Bits() int { return n.Hi.BitLen() }

func byID(a, b *Node) int { return cmp.Compare(a.ID, b.ID) }

// linear is a sum that is being made.
type linear struct {
	g    *Graph
	c    *big.Int
	k    map[*Node]*big.Int
	args []*Node
}

func (s *linear) add(k *big.Int, x *Node) {
	switch {
	case x.Op == Const:
		s.c.Add(s.c, new(big.Int).Mul(k, x.C))
	case x.Op == Lin:
		s.c.Add(s.c, new(big.Int).Mul(k, x.C))
		for i, a := range x.Args {
			s.add(new(big.Int).Mul(k, x.K[i]), a)
		}
	case s.k[x] == nil:
		s.k[x] = new(big.Int).Set(k)
		s.args = append(s.args, x)
	default:
		s.k[x].Add(s.k[x], k)
	}
}

func (g *Graph) linear() *linear { return &linear{g: g, c: new(big.Int), k: map[*Node]*big.Int{}} }

// node returns the sum: terms in the order of their numbers, so that the order in which
// they were added is no part of it.
func (s *linear) node() *Node {
	args := slices.DeleteFunc(s.args, func(x *Node) bool { return s.k[x].Sign() == 0 })
	slices.SortFunc(args, byID)
	if len(args) == 0 {
		return s.g.Big(s.c)
	}
	if len(args) == 1 && s.c.Sign() == 0 && s.k[args[0]].Cmp(one) == 0 {
		return args[0]
	}
	n := Node{Op: Lin, Args: args, C: s.c}
	for _, x := range args {
		n.K = append(n.K, s.k[x])
	}
	n.Lo, n.Hi = linearRange(&n)
	return s.g.intern(n)
}

// linearRange adds up the ranges of terms. A maximum less one of what it is the
// maximum of is not negative.
func linearRange(n *Node) (lo, hi *big.Int) {
	lo, hi = new(big.Int).Set(n.C), new(big.Int).Set(n.C)
	paired := make([]bool, len(n.Args))
	for i, m := range n.Args {
		if m.Op != Max || paired[i] {
			continue
		}
		for j, x := range n.Args {
			if !paired[j] && slices.Contains(m.Args, x) && new(big.Int).Neg(n.K[i]).Cmp(n.K[j]) == 0 {
				paired[i], paired[j] = true, true
				spread := new(big.Int).Sub(m.Hi, x.Lo)
				widen(lo, hi, n.K[i], new(big.Int), spread)
				break
			}
		}
	}
	for i, x := range n.Args {
		if !paired[i] {
			widen(lo, hi, n.K[i], x.Lo, x.Hi)
		}
	}
	return lo, hi
}

// widen adds k times a range to a range.
func widen(lo, hi, k, from, to *big.Int) {
	if k.Sign() < 0 {
		from, to = to, from
	}
	lo.Add(lo, new(big.Int).Mul(k, from))
	hi.Add(hi, new(big.Int).Mul(k, to))
}

// Add returns the sum.
func (g *Graph) Add(xs ...*Node) *Node {
	s := g.linear()
	for _, x := range xs {
		s.add(one, x)
	}
	return s.node()
}

// AddInt returns x + n.
func (g *Graph) AddInt(x *Node, n int) *Node { return g.Add(x, g.Int(n)) }

// Times returns k * x.
func (g *Graph) Times(k *big.Int, x *Node) *Node {
	s := g.linear()
	s.add(k, x)
	return s.node()
}

// Neg returns -x.
func (g *Graph) Neg(x *Node) *Node { return g.Times(big.NewInt(-1), x) }

// Sub returns x - y.
func (g *Graph) Sub(x, y *Node) *Node { return g.Add(x, g.Neg(y)) }

// Left returns x * 2^n.
func (g *Graph) Left(x *Node, n int) *Node { return g.Times(pow2(n), x) }

// Mul returns x * y.
func (g *Graph) Mul(x, y *Node) *Node {
	mustNotBeNegative(x, y)
	for range 2 {
		if v, ok := x.Value(); ok {
			return g.Times(v, y)
		}
		x, y = y, x
	}
	if byID(x, y) > 0 {
		x, y = y, x
	}
	return g.intern(Node{Op: Mul, Args: []*Node{x, y}, Lo: new(big.Int).Mul(x.Lo, y.Lo), Hi: new(big.Int).Mul(x.Hi, y.Hi)})
}

// negative is the panic of an operation whose argument may be negative and must not be.
type negative string

func mustNotBeNegative(xs ...*Node) {
	for _, x := range xs {
		if x.Lo.Sign() < 0 {
			panic(negative(fmt.Sprintf("graph: node %d of %v..%v may be negative", x.ID, x.Lo, x.Hi)))
		}
	}
}

// amount returns a shift amount as an int, at most 2^20: larger ones have the same effect.
func amount(n *big.Int) int {
	if !n.IsInt64() || n.Int64() > 1<<20 {
		return 1 << 20
	}
	return int(n.Int64())
}

// even returns the largest n up to limit such that 2^n divides x, whatever the values of its
// variables.
func even(x *Node, limit int) int {
	if x.Op != Lin {
		return 0
	}
	if x.C.Sign() != 0 {
		limit = min(limit, int(x.C.TrailingZeroBits()))
	}
	for _, k := range x.K {
		limit = min(limit, int(k.TrailingZeroBits()))
	}
	return limit
}

// half returns x / 2^n, which is an integer.
func (g *Graph) half(x *Node, n int) *Node {
	s := g.linear()
	s.c.Rsh(x.C, uint(n))
	for i, a := range x.Args {
		s.add(new(big.Int).Rsh(x.K[i], uint(n)), a)
	}
	return s.node()
}

// Shr returns floor(x / 2^n).
func (g *Graph) Shr(x, n *Node) *Node {
	mustNotBeNegative(x, n)
	if v, ok := x.Value(); ok && v.Sign() == 0 {
		return x
	}
	if e := even(x, amount(n.Lo)); e > 0 {
		return g.Shr(g.half(x, e), g.AddInt(n, -e))
	}
	if n.Is(0) {
		return x
	}
	if x.Op == Shr {
		return g.Shr(x.Args[0], g.Add(x.Args[1], n))
	}
	lo, hi := new(big.Int), new(big.Int)
	if a := amount(n.Hi); a < 1<<20 {
		lo.Rsh(x.Lo, uint(a))
	}
	hi.Rsh(x.Hi, uint(amount(n.Lo)))
	return g.intern(Node{Op: Shr, Args: []*Node{x, n}, Lo: lo, Hi: hi})
}

// Low returns x mod 2^n.
func (g *Graph) Low(x, n *Node) *Node {
	mustNotBeNegative(x, n)
	if amount(n.Lo) >= x.Bits() {
		return x
	}
	most := amount(n.Hi)
	if even(x, most) == most {
		return g.Int(0)
	}
	hi := new(big.Int).Sub(pow2(most), one)
	if x.Hi.Cmp(hi) < 0 {
		hi = x.Hi
	}
	return g.intern(Node{Op: Low, Args: []*Node{x, n}, Lo: new(big.Int), Hi: hi})
}

// Shl returns x * 2^n.
func (g *Graph) Shl(x, n *Node) *Node {
	mustNotBeNegative(x, n)
	if v, ok := n.Value(); ok {
		return g.Left(x, int(v.Int64()))
	}
	if x.Is(0) {
		return x
	}
	return g.intern(Node{Op: Shl, Args: []*Node{x, n}, Lo: new(big.Int).Lsh(x.Lo, uint(amount(n.Lo))), Hi: new(big.Int).Lsh(x.Hi, uint(amount(n.Hi)))})
}

// Norm returns x shifted left so that its first bit is the highest that it can have; 0
// for 0.
func (g *Graph) Norm(x *Node) *Node {
	mustNotBeNegative(x)
	if x.Op == Const || x.boolean() {
		return x // its highest bit is its first
	}
	lo := new(big.Int)
	if x.Lo.Sign() > 0 {
		lo = pow2(x.Bits() - 1)
	}
	return g.intern(Node{Op: Norm, Args: []*Node{x}, Lo: lo, Hi: new(big.Int).Sub(pow2(x.Bits()), one)})
}

// Log2 returns floor(log2 x); 0 for 0.
func (g *Graph) Log2(x *Node) *Node {
	mustNotBeNegative(x)
	lo, hi := max(x.Lo.BitLen()-1, 0), max(x.Bits()-1, 0)
	return g.intern(Node{Op: Log2, Args: []*Node{x}, Lo: big.NewInt(int64(lo)), Hi: big.NewInt(int64(hi))})
}

// truth makes a node of an operation that gives 0 or 1.
func (g *Graph) truth(op Op, args ...*Node) *Node {
	return g.intern(Node{Op: op, Args: args, Lo: new(big.Int), Hi: one})
}

// Less returns x < y.
func (g *Graph) Less(x, y *Node) *Node {
	d := g.Sub(x, y)
	switch {
	case d.Hi.Sign() < 0:
		return g.Int(1)
	case d.Lo.Sign() >= 0:
		return g.Int(0)
	}
	return g.truth(Negative, d)
}

// Eq returns x = y.
func (g *Graph) Eq(x, y *Node) *Node {
	switch {
	case x == y:
		return g.Int(1)
	case x.Hi.Cmp(y.Lo) < 0 || y.Hi.Cmp(x.Lo) < 0:
		return g.Int(0)
	case x.Op == Const:
		x, y = y, x
	case y.Op != Const && byID(x, y) > 0:
		x, y = y, x
	}
	if x.boolean() && y.Op == Const {
		if y.Is(1) {
			return x
		}
		return g.Not(x)
	}
	return g.truth(Eq, x, y)
}

// Not returns 1 - x of a boolean.
func (g *Graph) Not(x *Node) *Node {
	switch {
	case x.Op == Const:
		return g.Bool(x.Is(0))
	case x.Op == Not:
		return x.Args[0]
	}
	return g.truth(Not, x)
}

// And returns whether all booleans are 1.
func (g *Graph) And(xs ...*Node) *Node {
	var args []*Node
	for _, x := range xs {
		switch {
		case x.Is(0):
			return x
		case x.Is(1):
		case x.Op == And:
			args = append(args, x.Args...)
		default:
			args = append(args, x)
		}
	}
	slices.SortFunc(args, byID)
	args = slices.Compact(args)
	for _, x := range args {
		if x.Op == Not && slices.Contains(args, x.Args[0]) {
			return g.Int(0)
		}
	}
	switch len(args) {
	case 0:
		return g.Int(1)
	case 1:
		return args[0]
	}
	return g.truth(And, args...)
}

// Or returns whether any boolean is 1.
func (g *Graph) Or(xs ...*Node) *Node {
	args := make([]*Node, len(xs))
	for i, x := range xs {
		args[i] = g.Not(x)
	}
	return g.Not(g.And(args...))
}

// Xor returns whether two booleans differ.
func (g *Graph) Xor(x, y *Node) *Node {
	switch {
	case x.Op == Const:
		x, y = y, x
		fallthrough
	case y.Op == Const:
		if y.Is(1) {
			return g.Not(x)
		}
		return x
	}
	inverted := (x.Op == Not) != (y.Op == Not)
	if x.Op == Not {
		x = x.Args[0]
	}
	if y.Op == Not {
		y = y.Args[0]
	}
	if inverted {
		return g.Eq(x, y)
	}
	return g.Not(g.Eq(x, y))
}

// Ite returns x if c, else y.
func (g *Graph) Ite(c, x, y *Node) *Node {
	switch {
	case c.Is(1) || x == y:
		return x
	case c.Is(0):
		return y
	case c.Op == Not:
		return g.Ite(c.Args[0], y, x)
	case y.Op == Lin && y.K[0].Sign() < 0 && g.Neg(y) == x:
		return g.Neg(g.Ite(c, y, x)) // so that a term and the same of the other sign share a node
	}
	if x.boolean() && y.boolean() {
		switch {
		case x.Op == Const && x.Is(1) || x == c:
			return g.Or(c, y)
		case x.Op == Const:
			return g.And(g.Not(c), y)
		case y.Op == Const && y.Is(0) || y == c:
			return g.And(c, x)
		case y.Op == Const:
			return g.Or(g.Not(c), x)
		}
	}
	lo, hi := x.Lo, x.Hi
	if y.Lo.Cmp(lo) < 0 {
		lo = y.Lo
	}
	if y.Hi.Cmp(hi) > 0 {
		hi = y.Hi
	}
	return g.intern(Node{Op: Ite, Args: []*Node{c, x, y}, Lo: lo, Hi: hi})
}

// Max returns the largest of the nodes. Those that can never be the only largest are left
// out.
func (g *Graph) Max(xs ...*Node) *Node {
	var args []*Node
	for _, x := range xs {
		if x.Op == Max {
			args = append(args, x.Args...)
		} else {
			args = append(args, x)
		}
	}
	lo, hi := args[0].Lo, args[0].Hi
	for _, x := range args {
		if x.Lo.Cmp(lo) > 0 {
			lo = x.Lo
		}
		if x.Hi.Cmp(hi) > 0 {
			hi = x.Hi
		}
	}
	slices.SortFunc(args, byID)
	args = slices.Compact(args)
	kept := slices.DeleteFunc(slices.Clone(args), func(x *Node) bool {
		return x.Hi.Cmp(lo) <= 0 && slices.ContainsFunc(args, func(y *Node) bool { return y != x && y.Lo.Cmp(x.Hi) >= 0 && (y.Lo.Cmp(x.Lo) > 0 || y.Hi.Cmp(x.Hi) > 0) })
	})
	if len(kept) == 1 {
		return kept[0]
	}
	return g.intern(Node{Op: Max, Args: kept, Lo: lo, Hi: hi})
}

// Min returns the smaller of two nodes.
func (g *Graph) Min(x, y *Node) *Node { return g.Neg(g.Max(g.Neg(x), g.Neg(y))) }

// Abs returns the magnitude.
func (g *Graph) Abs(x *Node) *Node {
	switch {
	case x.Lo.Sign() >= 0:
		return x
	case x.Hi.Sign() <= 0:
		return g.Neg(x)
	}
	if x.Op == Lin && x.K[0].Sign() < 0 {
		x = g.Neg(x)
	}
	hi := new(big.Int).Neg(x.Lo)
	if x.Hi.Cmp(hi) > 0 {
		hi = x.Hi
	}
	return g.intern(Node{Op: Abs, Args: []*Node{x}, Lo: new(big.Int), Hi: hi})
}

// Cone returns the roots and all nodes that they depend on, by ID.
func Cone(roots ...*Node) []*Node {
	seen := map[*Node]bool{}
	var all []*Node
	stack := slices.Clone(roots)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		all = append(all, n)
		stack = append(stack, n.Args...)
	}
	slices.SortFunc(all, byID)
	return all
}

// Replace returns root with nodes replaced by others, which are equal to them and have
// smaller IDs. ok is false if the ranges of the others are too wide for that.
func (g *Graph) Replace(root *Node, by map[*Node]*Node) (replaced *Node, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, wide := r.(negative); !wide {
				panic(r)
			}
		}
	}()
	made := map[*Node]*Node{}
	for _, n := range Cone(root) {
		r := by[n]
		if r != nil {
			for by[r] != nil {
				r = by[r]
			}
			if m := made[r]; m != nil {
				r = m
			}
			made[n] = r
			continue
		}
		made[n] = g.rebuild(n, made)
	}
	return made[root], true
}

// rebuild makes a node with the present nodes of its arguments; it returns n if these are the same.
func (g *Graph) rebuild(n *Node, made map[*Node]*Node) *Node {
	same := true
	x := make([]*Node, len(n.Args))
	for i, a := range n.Args {
		x[i] = made[a]
		same = same && x[i] == a
	}
	if same {
		return n
	}
	switch n.Op {
	case Lin:
		s := g.linear()
		s.c.Set(n.C)
		for i := range x {
			s.add(n.K[i], x[i])
		}
		return s.node()
	case Mul:
		return g.Mul(x[0], x[1])
	case Shr:
		return g.Shr(x[0], x[1])
	case Low:
		return g.Low(x[0], x[1])
	case Norm:
		return g.norm(x[0], n.Bits())
	case Log2:
		return g.Log2(x[0])
	case Shl:
		return g.Shl(x[0], x[1])
	case Negative:
		return g.Less(x[0], g.Int(0))
	case Eq:
		return g.Eq(x[0], x[1])
	case And:
		return g.And(x...)
	case Not:
		return g.Not(x[0])
	case Ite:
		return g.Ite(x[0], x[1], x[2])
	case Max:
		return g.Max(x...)
	case Abs:
		return g.Abs(x[0])
	}
	return n
}

// norm is Norm of a node that has taken the place of one with width bits.
func (g *Graph) norm(x *Node, width int) *Node {
	if more := width - x.Bits(); more >= 0 {
		return g.Left(g.Norm(x), more)
	}
	return g.Shr(g.Norm(x), g.Int(x.Bits()-width))
}
