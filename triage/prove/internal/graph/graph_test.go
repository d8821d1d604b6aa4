package graph

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// value computes a node from the values of variables, by its definition.
func value(n *Node, vars map[*Node]*big.Int, known map[*Node]*big.Int) *big.Int {
	if v := known[n]; v != nil {
		return v
	}
	x := make([]*big.Int, len(n.Args))
	for i, a := range n.Args {
		x[i] = value(a, vars, known)
	}
	truth := func(b bool) *big.Int {
		if b {
			return big.NewInt(1)
		}
		return new(big.Int)
	}
	v := new(big.Int)
	switch n.Op {
	case Const:
		v.Set(n.C)
	case Var:
		v.Set(vars[n])
	case Lin:
		v.Set(n.C)
		for i := range x {
			v.Add(v, new(big.Int).Mul(n.K[i], x[i]))
		}
	case Mul:
		v.Mul(x[0], x[1])
	case Shr:
		v.Rsh(x[0], uint(x[1].Uint64()))
	case Low:
		v.Mod(x[0], pow2(int(x[1].Uint64())))
	case Norm:
		if x[0].Sign() != 0 {
			v.Lsh(x[0], uint(n.Args[0].Bits()-x[0].BitLen()))
		}
	case Log2:
		v.SetInt64(int64(max(x[0].BitLen()-1, 0)))
	case Shl:
		v.Lsh(x[0], uint(x[1].Uint64()))
	case Negative:
		v = truth(x[0].Sign() < 0)
	case Eq:
		v = truth(x[0].Cmp(x[1]) == 0)
	case And:
		v.SetInt64(1)
		for _, a := range x {
			v.Mul(v, a)
		}
	case Not:
		v.Sub(one, x[0])
	case Ite:
		v = x[1]
		if x[0].Sign() == 0 {
			v = x[2]
		}
	case Max:
		v = x[0]
		for _, a := range x {
			if a.Cmp(v) > 0 {
				v = a
			}
		}
	case Abs:
		v.Abs(x[0])
	}
	known[n] = v
	return v
}

// random makes a graph of random nodes. Their values are small, so that special cases of
// several nodes coincide.
func random(r *rand.Rand) (g *Graph, vars, all []*Node) {
	g = New()
	for i := range 4 {
		v := g.Var(string(rune('a'+i)), big.NewInt(int64(1+r.IntN(40))))
		vars, all = append(vars, v), append(all, v)
	}
	all = append(all, g.Int(r.IntN(9)-4), g.Int(r.IntN(60)), g.Int(r.IntN(2)), g.Var("e", one))
	vars = append(vars, all[len(all)-1])
	for range 40 {
		pick := func() *Node { return all[r.IntN(len(all))] }
		natural := func(bits int) *Node {
			for {
				if n := pick(); n.Lo.Sign() >= 0 && n.Bits() <= bits {
					return n
				}
			}
		}
		truth := func() *Node { return natural(1) }
		var n *Node
		switch r.IntN(17) {
		case 0:
			n = g.Add(pick(), pick(), g.Int(r.IntN(20)-10))
		case 1:
			n = g.Sub(pick(), pick())
		case 2:
			n = g.Left(pick(), r.IntN(5))
		case 3:
			n = g.Mul(natural(12), natural(12))
		case 4:
			n = g.Shr(natural(60), natural(6))
		case 5:
			n = g.Low(natural(60), natural(6))
		case 6:
			n = g.Norm(natural(40))
		case 7:
			n = g.Log2(natural(60))
		case 8:
			n = g.Shl(natural(10), natural(4))
		case 9:
			n = g.Less(pick(), pick())
		case 10:
			n = g.Eq(pick(), pick())
		case 11:
			n = g.And(truth(), truth(), truth())
		case 12:
			n = g.Or(truth(), g.Not(truth()))
		case 13:
			n = g.Xor(truth(), truth())
		case 14:
			n = g.Ite(truth(), pick(), pick())
		case 15:
			x := pick()
			n = g.Sub(g.Max(x, pick(), pick()), x)
		case 16:
			n = g.Min(g.Abs(pick()), pick())
		}
		if n.Hi.BitLen() < 70 && n.Lo.BitLen() < 70 {
			all = append(all, n)
		}
	}
	return g, vars, all
}

// TestMaxOfSigns compares numbers of which only one may be negative, at the ends of ranges
// of as many bits: their difference takes two bits more.
func TestMaxOfSigns(t *testing.T) {
	g := New()
	x, y := g.Var("x", big.NewInt(31)), g.Var("y", big.NewInt(31))
	n := g.Max(x, g.AddInt(y, -16))
	s := NewSimulation(16)
	for i := range s.Inputs() {
		s.Set(x, i, uint64(i%32))
		s.Set(y, i, uint64(i/32))
	}
	for i := range s.Inputs() {
		if got, want := s.Value(n, i).Int64(), int64(max(i%32, i/32-16)); got != want {
			t.Fatalf("the larger of %d and %d: %d", i%32, i/32-16, got)
		}
	}
}

// TestOperations compares what the gates of random graphs compute with the definitions
// of the operations, and checks the ranges.
func TestOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range tier.Of(50, 300, 3_000, 20_000) {
		_, vars, all := random(r)
		s := NewSimulation(1)
		inputs := make([]map[*Node]*big.Int, s.Inputs())
		for i := range inputs {
			inputs[i] = map[*Node]*big.Int{}
			for _, v := range vars {
				u := r.Uint64N(v.Hi.Uint64() + 1)
				inputs[i][v] = new(big.Int).SetUint64(u)
				s.Set(v, i, u)
			}
		}
		for i := range inputs {
			known := map[*Node]*big.Int{}
			for _, n := range all {
				want := value(n, inputs[i], known)
				if got := s.Value(n, i); got.Cmp(want) != 0 {
					t.Fatalf("operation %d: got %v, want %v", n.Op, got, want)
				}
				if want.Cmp(n.Lo) < 0 || want.Cmp(n.Hi) > 0 {
					t.Fatalf("operation %d: %v is not in %v..%v", n.Op, want, n.Lo, n.Hi)
				}
			}
		}
	}
}

// TestReplace checks that what is made anew of the same arguments is the same node, and
// that a node in which another takes a variable's place computes what that makes.
func TestReplace(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range tier.Of(50, 300, 2_000, 5_000) {
		g, vars, all := random(r)
		root := all[len(all)-1]
		zero := g.Int(0)
		got, ok := g.Replace(root, map[*Node]*Node{vars[0]: zero})
		if !ok {
			t.Fatal("not replaced")
		}
		s := NewSimulation(1)
		for i := range s.Inputs() {
			for _, v := range vars[1:] {
				s.Set(v, i, r.Uint64N(v.Hi.Uint64()+1))
			}
			if s.Value(got, i).Cmp(s.Value(root, i)) != 0 {
				t.Fatalf("got %v, want %v", s.Value(got, i), s.Value(root, i))
			}
		}
	}
}

// TestCanonical checks that equal expressions are one node, and that ranges decide.
func TestCanonical(t *testing.T) {
	g := New()
	x, y, z := g.Var("x", big.NewInt(100)), g.Var("y", big.NewInt(100)), g.Var("z", big.NewInt(7))
	b, c := g.Var("b", one), g.Var("c", one)
	for _, p := range []struct {
		name      string
		got, want *Node
	}{
		{"a sum has no order", g.Add(x, g.Add(y, z)), g.Add(z, g.Add(x, y))},
		{"a difference cancels", g.Sub(g.Add(x, y), x), y},
		{"a maximum has no order", g.Max(x, g.Max(y, z)), g.Max(g.Max(z, y), x)},
		{"a low floor is no part of a maximum", g.Max(g.AddInt(x, 5), g.Int(3)), g.AddInt(x, 5)},
		{"a low term is no part of a maximum", g.Max(g.AddInt(x, 7), z), g.AddInt(x, 7)},
		{"a maximum is not below its terms", g.Less(g.Sub(g.Max(x, y), x), g.Int(0)), g.Int(0)},
		{"a product has no order", g.Mul(x, y), g.Mul(y, x)},
		{"shifted out", g.Shr(z, g.AddInt(x, 3)), g.Int(0)},
		{"shifts add up", g.Shr(g.Shr(x, z), y), g.Shr(x, g.Add(y, z))},
		{"left and right", g.Shr(g.Left(x, 4), g.AddInt(z, 4)), g.Shr(x, z)},
		{"bits of a multiple", g.Low(g.Left(x, 4), g.Int(3)), g.Int(0)},
		{"all bits", g.Low(x, g.Int(7)), x},
		{"not equal", g.Eq(x, g.AddInt(y, 101)), g.Int(0)},
		{"never and not", g.And(b, g.Not(b)), g.Int(0)},
		{"or by and", g.Or(b, c), g.Not(g.And(g.Not(c), g.Not(b)))},
		{"if one then one", g.Ite(b, g.Int(1), g.Int(0)), b},
		{"the other way round", g.Ite(g.Not(b), x, y), g.Ite(b, y, x)},
		{"magnitude", g.Abs(g.Sub(x, y)), g.Abs(g.Sub(y, x))},
	} {
		if p.got != p.want {
			t.Errorf("%s: node %d, want %d", p.name, p.got.ID, p.want.ID)
		}
	}
}

// TestQuestions checks clauses by all assignments: small questions whose answers are known.
func TestQuestions(t *testing.T) {
	g := New()
	x, y := g.Var("x", big.NewInt(5)), g.Var("y", big.NewInt(3))
	free := map[*Node]bool{}
	for _, tc := range []struct {
		name   string
		a, b   *Node
		assume []*Node
		free   map[*Node]bool
		want   bool
	}{
		{"x*y and itself by additions", g.Mul(x, y), g.Ite(g.Eq(y, g.Int(0)), g.Int(0), g.Ite(g.Eq(y, g.Int(1)), x, g.Ite(g.Eq(y, g.Int(2)), g.Add(x, x), g.Add(x, x, x)))), nil, free, false},
		{"x and y", x, y, nil, free, true},
		{"x and y where they are equal", x, y, []*Node{g.Eq(x, y)}, free, false},
		{"in the range only", g.Shr(g.AddInt(x, 2), g.Int(3)), g.Int(0), nil, free, false},
		{"a free node", g.Mul(x, x), g.Mul(x, y), []*Node{g.Eq(x, y)}, map[*Node]bool{g.Mul(x, y): true}, true},
	} {
		q := Differ(tc.a, tc.b, tc.free, tc.assume...)
		var text bytes.Buffer
		if err := q.WriteDIMACS(&text, true); err != nil {
			t.Fatal(err)
		}
		found := false
		for bits := uint64(0); bits < 1<<q.inputs() && !found; bits++ {
			a := q.assign(bits)
			if _, err := q.Model(a); err == nil {
				found = true
				if !satisfies(t, text.String(), a, q) {
					t.Errorf("%s: a model does not satisfy the clauses", tc.name)
				}
			} else if satisfies(t, text.String(), a, q) {
				t.Errorf("%s: what satisfies the clauses is no model", tc.name)
			}
		}
		if found != tc.want {
			t.Errorf("%s: they can differ: %v, want %v", tc.name, found, tc.want)
		}
	}
}

// inputs is the number of gates that are inputs.
func (q *Question) inputs() (n int) {
	for _, g := range q.gates {
		if q.b.isInput(g) {
			n++
		}
	}
	return n
}

// assign gives the inputs bits.
func (q *Question) assign(bits uint64) []bool {
	a := make([]bool, q.count+1)
	for _, g := range q.gates {
		if q.b.isInput(g) {
			a[q.vars[g]] = bits&1 != 0
			bits >>= 1
		}
	}
	return a
}

// satisfies reports whether the inputs of an assignment, with the gates that they give,
// satisfy the clauses of a DIMACS text.
func satisfies(t *testing.T, text string, a []bool, q *Question) bool {
	t.Helper()
	value := q.evaluate(a)
	whole := make([]bool, len(a))
	for _, g := range q.gates {
		whole[q.vars[g]] = value(lit(g << 1))
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "p") {
			continue
		}
		ok := false
		for word := range strings.FieldsSeq(line) {
			n := 0
			for _, r := range strings.TrimPrefix(word, "-") {
				n = 10*n + int(r-'0')
			}
			ok = ok || n != 0 && whole[n] != strings.HasPrefix(word, "-")
		}
		if !ok {
			return false
		}
	}
	return true
}
