package prove

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/sat"
)

// abstraction is which nodes a question leaves free.
type abstraction int

const (
	sharedFree   abstraction = iota // those that both programs have
	productsFree                    // products of significands
	nothingFree
)

// Limits of single questions: those about parts are worth less time than the last one.
const (
	partTime     = 4 * time.Second
	abstractTime = 15 * time.Second
	fewTime      = 5 * time.Second // about inputs of few variables
)

// answer is what a solver said of a question.
type answer struct {
	sat.Answer
	model map[*graph.Node]*big.Int // of a satisfiable one
}

// solve decides with the solver.
func (s *session) solve(ctx context.Context) (*Result, error) {
	if res, err := s.few(ctx); res != nil || err != nil {
		return res, err
	}
	m, err := s.simulation()
	if err != nil {
		return nil, err
	}
	if err := s.sweep(ctx, m); err != nil {
		return nil, err
	}
	last := answer{Answer: sat.Unsatisfiable}
	for level := sharedFree; level <= nothingFree && s.a != s.b; level++ {
		within, cancel := ctx, context.CancelFunc(func() {})
		if level != nothingFree {
			within, cancel = context.WithTimeout(ctx, abstractTime)
		}
		last, err = s.ask(within, s.a, s.b, level)
		cancel()
		if err != nil {
			return nil, err
		}
		if last.Answer == sat.Unsatisfiable {
			break
		}
	}
	switch {
	case s.a == s.b || last.Answer == sat.Unsatisfiable:
		return &Result{Verdict: Proved, By: "solver", Assumed: s.assumed(), Asked: s.asked}, nil
	case last.Answer == sat.Unknown:
		return &Result{Verdict: Open, Reason: fmt.Sprintf("too hard: the solver does not answer within the time (%d questions)", s.asked), Asked: s.asked}, nil
	}
	return s.witness(ctx, last.model)
}

// few asks about inputs of few variables: nil if they show no difference.
func (s *session) few(ctx context.Context) (*Result, error) {
	for _, by := range s.in.Few() {
		a, okA := s.Replace(s.a, by)
		b, okB := s.Replace(s.b, by)
		if len(by) == 0 || !okA || !okB || a == b {
			continue
		}
		within, cancel := context.WithTimeout(ctx, fewTime)
		got, err := s.ask(within, a, b, nothingFree)
		cancel()
		if err != nil {
			return nil, err
		}
		if got.Answer != sat.Satisfiable {
			continue
		}
		for v, x := range by {
			if x.Op == graph.Const {
				got.model[v] = x.Lo
			} else {
				got.model[v] = got.model[x]
			}
		}
		return s.witness(ctx, got.model)
	}
	return nil, nil
}

// simulation evaluates inputs of all generators, aimed at both programs.
func (s *session) simulation() (*graph.Simulation, error) {
	const words = 32
	m := graph.NewSimulation(words)
	n := 0
	for round := 0; n < m.Inputs(); round++ {
		dots := gen.Probe(gen.Spec{Formats: s.in.Formats, K: s.in.K}, 2, round, s.p, s.q)
		if len(dots) == 0 {
			return nil, fmt.Errorf("generators make %d inputs that are allowed, %d are needed", n, m.Inputs())
		}
		for _, d := range dots[:min(len(dots), m.Inputs()-n)] {
			if s.set(m, n, d) {
				n++
			}
		}
	}
	return m, nil
}

// set gives the variables the values of a dot product, and of one that is related to it.
func (s *session) set(m *graph.Simulation, i int, d *mma.Dot) bool {
	if s.other != nil {
		others := s.rel.dots(d)
		if len(others) == 0 || !s.other.Set(m, i, others[0]) {
			return false
		}
	}
	return s.in.Set(m, i, d)
}

// sweep merges nodes that agree on all inputs of a simulation if the solver says that they
// cannot differ: those of one program with constants and with nodes of the other, from the
// operands up. Nodes that are made of merged ones then become equal by themselves.
func (s *session) sweep(ctx context.Context, m *graph.Simulation) error {
	tried := map[*graph.Node]bool{}
	for ctx.Err() == nil && s.a != s.b {
		x, y, level := s.candidate(m, tried)
		if x == nil {
			return nil
		}
		tried[x] = true
		within, cancel := context.WithTimeout(ctx, partTime)
		got, err := s.ask(within, x, y, level)
		cancel()
		if err != nil {
			return err
		}
		if got.Answer != sat.Unsatisfiable {
			continue
		}
		by := map[*graph.Node]*graph.Node{x: y}
		a, okA := s.Replace(s.a, by)
		b, okB := s.Replace(s.b, by)
		if okA && okB {
			s.a, s.b = a, b
		}
	}
	return nil
}

// candidate returns the next node, x, and the node or constant y that it may be equal to;
// nil if there is none.
func (s *session) candidate(m *graph.Simulation, tried map[*graph.Node]bool) (x, y *graph.Node, level abstraction) {
	inA, inB := members(s.a), members(s.b)
	first := map[[32]byte]*graph.Node{} // by signature
	deciders := map[*graph.Node]bool{}
	all := graph.Cone(s.a, s.b)
	for _, n := range all {
		shared := inA[n] && inB[n]
		if !shared {
			for _, a := range n.Args {
				if inA[a] && inB[a] {
					deciders[a] = true
				}
			}
		}
	}
	for _, n := range all {
		if n.Op == graph.Const {
			continue
		}
		shared := inA[n] && inB[n]
		text := s.signature(m, n)
		old := first[text]
		if old == nil {
			first[text] = n
		}
		if tried[n] || n.Op == graph.Var {
			continue
		}
		if v := m.Value(n, 0); text == s.signature(m, s.Big(v)) && (!shared || deciders[n]) {
			level := sharedFree
			if shared {
				level = productsFree
			}
			return n, s.Big(v), level
		}
		if !shared && old != nil && !(inA[n] && inA[old] && !inB[old]) && !(inB[n] && inB[old] && !inA[old]) &&
			old.Lo.Cmp(n.Lo) >= 0 && old.Hi.Cmp(n.Hi) <= 0 {
			return n, old, sharedFree
		}
	}
	return nil, nil, 0
}

// signature is a digest of a node's values.
func (s *session) signature(m *graph.Simulation, n *graph.Node) [32]byte {
	if d, ok := s.signatures[n]; ok {
		return d
	}
	d := sha256.Sum256([]byte(m.Signature(n)))
	s.signatures[n] = d
	return d
}

func members(root *graph.Node) map[*graph.Node]bool {
	all := map[*graph.Node]bool{}
	for _, n := range graph.Cone(root) {
		all[n] = true
	}
	return all
}

// free returns the nodes that a question leaves free.
func (s *session) free(level abstraction) map[*graph.Node]bool {
	free := map[*graph.Node]bool{}
	switch level {
	case sharedFree:
		inA := members(s.a)
		for _, n := range graph.Cone(s.b) {
			if inA[n] && wide(n) {
				free[n] = true
			}
		}
	case productsFree:
		for _, n := range graph.Cone(s.a, s.b) {
			if n.Op == graph.Mul {
				free[n] = true
			}
		}
	}
	return free
}

// wide reports whether a node takes many gates, of which the nodes that are made of it
// hardly ever need the details.
func wide(n *graph.Node) bool {
	return n.Op == graph.Mul || (n.Op == graph.Lin || n.Op == graph.Max) && len(n.Args) > 2
}

// ask asks whether two nodes can differ. The assumptions of a question whose answer is
// no are asked about alone: they must be satisfiable.
func (s *session) ask(ctx context.Context, x, y *graph.Node, level abstraction) (answer, error) {
	q := graph.Differ(x, y, s.free(level), append(s.in.Assumed(), s.assume...)...)
	if q.Decided() {
		return answer{Answer: sat.Unsatisfiable}, nil
	}
	h := sha256.New()
	if err := q.WriteDIMACS(h, true); err != nil {
		return answer{}, err
	}
	key := [32]byte(h.Sum(nil))
	if old, ok := s.answers[key]; ok && old.Answer == sat.Unsatisfiable {
		return old, nil
	}
	s.asked++
	a, assignment, err := sat.Solve(ctx, s.o.Solver, q.Variables(), func(w io.Writer) error { return q.WriteDIMACS(w, true) })
	if err != nil {
		return answer{}, err
	}
	got := answer{Answer: a}
	switch a {
	case sat.Satisfiable:
		if got.model, err = q.Model(assignment); err != nil {
			return answer{}, err
		}
	case sat.Unsatisfiable:
		alone, assignment, err := sat.Solve(ctx, s.o.Solver, q.Variables(), func(w io.Writer) error { return q.WriteDIMACS(w, false) })
		switch {
		case err != nil:
			return answer{}, err
		case alone == sat.Unknown:
			return answer{}, nil
		case alone == sat.Unsatisfiable || q.Allows(assignment) != nil:
			return answer{}, fmt.Errorf("the assumptions of a question about nodes %d and %d contradict each other: this is a mistake of package prove", x.ID, y.ID)
		}
	}
	s.answers[key] = got
	return got, nil
}

// witness checks an input that the solver found with both interpreters, and shrinks it.
func (s *session) witness(ctx context.Context, model map[*graph.Node]*big.Int) (*Result, error) {
	d := s.in.Dot(model)
	var res *Result
	var err error
	switch {
	case s.rel == nil:
		res, err = s.different(ctx, d)
	case s.rel.again != nil:
		res, err = s.relatedWitness(ctx, d, s.other.Dot(model))
	default:
		res, err = s.relatedWitness(ctx, d, s.rel.relatedTo(d, d))
	}
	if res != nil {
		res.Asked = s.asked
	}
	return res, err
}

// different is witness for an input on which the two programs differ.
func (s *session) different(ctx context.Context, d *mma.Dot) (*Result, error) {
	f, k := s.in.Formats, s.in.K
	p, err := sim.New(f, k, *s.p)
	if err != nil {
		return nil, err
	}
	q, err := sim.New(f, k, *s.q)
	if err != nil {
		return nil, err
	}
	differ := func(d *mma.Dot) bool { return p.Dot(d, nil) != q.Dot(d, nil) }
	judged := oracle.Eval(s.p, f, k, d) != oracle.Eval(s.q, f, k, d)
	if !differ(d) || !judged {
		return nil, mistaken(f, d, differ(d), judged)
	}
	small, err := evidence.Shrink(context.WithoutCancel(ctx), f, d, evidence.OneByOne(differ), minimize.Options{})
	if err != nil {
		return nil, err
	}
	return &Result{Verdict: Refuted, By: "solver", Witness: &triage.Witness{Dot: small, Before: p.Dot(small, nil), After: q.Dot(small, nil)}}, nil
}

// mistaken is the error of an input that an interpreter does not confirm.
func mistaken(f mma.Formats, d *mma.Dot, sim, oracle bool) error {
	return fmt.Errorf("the solver found %s; that it refutes, sim says %v and oracle %v: this is a mistake of package prove", mma.FormatDot(f, d), sim, oracle)
}
