// Package probe asks a unit the questions that the literature has asked of matrix
// units, and answers them in the papers' words:
//
//   - Fasi, Higham, Mikaitis, Pranesh (PeerJ CS 2021), section 3;
//   - Li et al., FTTN (CCGrid 2024), section III and Table IV;
//   - Valpey et al. (2025), Algorithm 1 and section 4;
//   - Xie et al. (arXiv:2511.10909), steps 1 to 3 of closed-loop feature probing,
//     and the details that their models distinguish (Tables 4 to 7).
//
// Every input is made from the formats and from what earlier answers said, not
// copied: a new unit needs no new code. Every answer carries the inputs and
// results that prove it. Where a format has no input that could decide a question
// the answer says so, with the reason: Value is then "-".
//
// The summation tree is found by FPRev with the extension to fused sums that do
// and do not swamp (arXiv:2511.10909, section 3.1.2): see Tree.
//
// PAPERS.md has the papers' tables as they come out of the simulators, with a
// reason for every entry that differs.
//
// # Adding a question
//
// A question is one entry of a table in one of the files named after the papers:
// a name, the question, and a function of the Prober. Facts that several
// questions need (subnormals, the tree, the bits of an alignment) are methods
// that remember their answer.
package probe

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Unit is what is asked: a devices.Unit, say. Only Instruction's formats, K, M
// and N are used; how it computes is not looked at.
type Unit interface {
	Instruction() *mma.Instruction
	Run(ctx context.Context, in *mma.Batch, out []byte) error
}

// Seen is a dot product and the code that the unit gave for it.
type Seen struct {
	Dot *mma.Dot
	Got uint64
}

// Answer is the answer to a question.
type Answer struct {
	Paper    string // key of the paper: fasi, fttn, smt, clfp
	ID       string // the paper's name of the test, or ours
	Question string
	Value    string // "-": no input of these formats decides it
	Why      string // for "-": the reason; else a remark, or ""
	Evidence []Seen // what the answer rests on, the deciding input first
}

// question is a row of a table of questions.
type question struct {
	id, text string
	ask      func(*Prober) finding
}

// finding is an answer under way.
type finding struct {
	value, why string
	seen       []Seen
}

// undecided is the answer of a question that these formats cannot decide.
func undecided(format string, args ...any) finding {
	return finding{value: "-", why: fmt.Sprintf(format, args...)}
}

// Prober asks one unit. It is not safe for concurrent use.
type Prober struct {
	unit       Unit
	ctx        context.Context
	f          mma.Formats
	k          int
	a, b, c, d *fp.Format // c is nil if the instruction has none
	err        error      // the first failure of the unit
	shift      int        // exponent of what tests call 1: see anchored
	known      map[string]any
	pairs      map[number]pair // see factors
	// Queries counts the dot products asked, Batches the calls of the unit.
	Queries, Batches int
}

// New returns a Prober of a unit.
func New(ctx context.Context, u Unit) *Prober {
	i := u.Instruction()
	p := &Prober{unit: u, ctx: ctx, f: i.Formats, k: i.K, known: map[string]any{}, pairs: map[number]pair{},
		a: i.A.Get(), b: i.B.Get(), d: i.D.Get()}
	if i.C != fp.None {
		p.c = i.C.Get()
	}
	return p
}

// Papers lists the tables of questions in order, with their titles.
var Papers = []struct{ Key, Title string }{
	{"fasi", "Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores (2021), section 3"},
	{"fttn", "Li et al.: FTTN (2024), section III"},
	{"smt", "Valpey et al.: An SMT formalization of mixed-precision matrix multiplication (2025), section 4"},
	{"clfp", "Xie et al.: Bit-accurate modeling of GPU matrix multiply-accumulate units (arXiv:2511.10909), section 3"},
}

var questions = map[string][]question{"fasi": fasi, "fttn": fttn, "smt": smt, "clfp": clfp}

// Ask answers the questions of a paper. The error is the unit's.
func (p *Prober) Ask(paper string) ([]Answer, error) {
	var all []Answer
	for _, q := range questions[paper] {
		f := q.ask(p)
		if p.err != nil {
			return nil, fmt.Errorf("%s %s: %w", paper, q.id, p.err)
		}
		all = append(all, Answer{paper, q.id, q.text, f.value, f.why, f.seen})
	}
	return all, nil
}

// ask runs the unit on dot products. After an error it returns zeros, and so does
// all that follows: Ask reports it.
func (p *Prober) ask(dots ...*mma.Dot) []Seen {
	seen := make([]Seen, len(dots))
	codes := p.run(mma.Shape{M: 1, N: 1, K: p.k, Tiles: len(dots)}, func(b *mma.Batch) {
		for i, d := range dots {
			b.Set(i, d)
		}
	})
	for i, d := range dots {
		seen[i] = Seen{d, codes[i]}
	}
	return seen
}

// run runs the unit on a batch that fill fills, and returns the results.
func (p *Prober) run(s mma.Shape, fill func(*mma.Batch)) []uint64 {
	codes := make([]uint64, s.Dots())
	if p.err != nil || s.Tiles == 0 {
		return codes
	}
	b := mma.NewBatch(p.f, s)
	fill(b)
	w := p.f.D.Width()
	out := make([]byte, s.Dots()*w)
	if err := p.unit.Run(p.ctx, b, out); err != nil {
		p.err = err
		return codes
	}
	p.Queries += s.Dots()
	p.Batches++
	for i := range codes {
		codes[i] = mma.Load(out, w, i)
	}
	return codes
}

// once returns what f returns, which is found out at most once.
func once[T any](p *Prober, key string, f func() T) T {
	if v, ok := p.known[key]; ok {
		return v.(T)
	}
	shift := p.shift
	p.shift = 0
	v := f()
	p.shift = shift
	p.known[key] = v
	return v
}
