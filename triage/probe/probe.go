// Package probe asks a unit the questions that the literature has asked of matrix
// units, and answers them in the papers' words:
//
//   - Fasi, Higham, Mikaitis, Pranesh (PeerJ CS 2021), section 3;
//   - Li et al., FTTN (CCGrid 2024), section III and Table IV;
//   - Valpey et al. (2025), Algorithm 1 and section 4;
//   - Xie et al. (arXiv:2511.10909), steps 1 to 3 of closed-loop feature probing,
//     and the details that their models distinguish (Tables 4 to 7).
//
// Every input is made from the formats and from earlier answers, not copied from a
// paper: a new unit needs no new code. Every answer carries the inputs and results
// that prove it. Where no input of the formats can decide a question, the answer is
// "-" and gives the reason.
//
// The summation tree is found by FPRev, extended to fused sums (arXiv:2511.10909,
// section 3.1.2): see Prober.Tree.
//
// The papers' tables as they come out of the simulators, with a reason for every entry
// that differs, are in package study: PAPERS.md there.
//
// # Adding a question
//
// A question is a row of the table in questions.go: the paper and its name for the
// test, the question in words, the scale (the power of two used in place of 1), and
// the function that finds the answer. Papers often ask the same thing under different
// names: such rows share a function. The functions are in one file for each subject:
// subnormals.go, width.go, direction.go and so on. A fact that several functions need is
// found once and remembered: see once.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// probe, an object for each answer:
//
//	paper       string   key of the paper
//	id          string   the paper's name of the test, or our own if it has none
//	question    string
//	value       string   - if no input of these formats decides
//	remark      string?  the reason, or what else was seen
//	evidence[]  string?  inputs and results that prove it, as eval reads and writes them
//	unstable    string?  the unit changes its answers, and how often: then no answer is proved
//
// probe, an object for each summation tree that it found, or did not find:
//
//	tree      string   p0.. and c; [ ] fused, { } fused and exact, ( ) a sum of two; empty if there is none
//	problem   string?  why there is none
//	unstable  string?  as above
//
// The API of this package is not promised: it may change in any version.
package probe

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Unit is what is asked, for example a devices.Unit. Of the instruction only the
// formats, K, M and N are used: how it computes is what the questions find out.
type Unit interface {
	Instruction() *mma.Instruction
	Run(ctx context.Context, in *mma.Batch, out []byte) error
}

// Seen is a dot product and the code that the unit returned for it.
type Seen struct {
	Dot *mma.Dot
	Got uint64
}

// Answer is the answer to a question.
type Answer struct {
	Paper    string `json:"paper"` // key of the paper: see Papers
	ID       string `json:"id"`    // the paper's name for the test, or ours
	Question string `json:"question"`
	Value    string `json:"value"`            // "-": no input of these formats decides the question
	Why      string `json:"remark,omitempty"` // the reason for "-"; otherwise a remark, or ""
	Evidence []Seen `json:"-"`                // inputs and results that give the answer, the deciding one first
}

// Prober asks one unit. It is not safe for concurrent use.
type Prober struct {
	unit       Unit
	ctx        context.Context
	f          mma.Formats
	k          int
	a, b, c, d *fp.Format // c is nil if the instruction has none
	err        error      // the first error of the unit
	shift      int        // 2^shift stands for 1 in terms and expected results: see scale
	known      map[string]any
	pairs      map[number]pair // see factors
	// Unstable says that the unit changes its answers, and how often; "": it is not known to.
	// It is repeated in the JSON of each answer, because the answers of such a unit prove nothing.
	Unstable string
	// Queries counts the dot products asked for, Batches the calls to the unit.
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

// Ask answers the questions of one paper, given by its key: see Papers; of a conversion those alone
// that it has an answer to. The error is the unit's.
func (p *Prober) Ask(paper string) ([]Answer, error) {
	if p.d.Integer() || p.f.D.Flags() != 0 {
		return nil, fmt.Errorf("the questions of %s are about floating-point sums, not about those in %s", paper, p.f.D)
	}
	var all []Answer
	for _, q := range questions {
		if q.paper != paper {
			continue
		}
		f := p.at(q.scale, q.find)
		if p.err != nil {
			return nil, fmt.Errorf("%s %s: %w", paper, q.id, p.err)
		}
		if p.f.Conversion() && p.k == 1 && (f.value == "-" || ofSums[q.id]) {
			continue
		}
		all = append(all, Answer{paper, q.id, readable.Converted(p.f, q.text), f.value, f.why, f.seen})
	}
	if a, ok := p.weightAnswer(paper); ok && paper == "clfp" {
		all = append(all, a)
	}
	return all, nil
}

// ask runs the unit on dot products. After an error of the unit all results are
// zeros; Ask reports the error.
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

// sum asks for one dot product. ok is false if the formats lack the terms.
func (p *Prober) sum(t terms) (s Seen, ok bool) {
	d, ok := p.dot(t)
	if !ok {
		return Seen{}, false
	}
	return p.ask(d)[0], true
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

// once memoizes find under name. While find runs, p.shift is 0 unless find changes it;
// afterwards it is restored.
func once[T any](p *Prober, name string, find func() T) T {
	if v, ok := p.known[name]; ok {
		return v.(T)
	}
	defer func(old int) { p.shift = old }(p.shift)
	p.shift = 0
	v := find()
	p.known[name] = v
	return v
}
