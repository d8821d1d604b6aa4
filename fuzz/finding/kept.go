package finding

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

// A unit may keep an operand or the result of one question for another: a register that is not
// clocked, a buffer that is not filled in time. It is asked sequences of questions, whose right
// answers a model knows, also with what such a unit would have kept.

// History is what was found of a side whose answers depend on what was asked before.
type History struct {
	Side      int    `json:"side"`                // 0: A
	Every     int    `json:"every,omitempty"`     // this many-th answer each is another one; 0: no such number was found
	Calls     bool   `json:"calls,omitempty"`     // Every counts calls
	Kept      string `json:"kept,omitempty"`      // what is that of an earlier question, a sentence; "": it was not found
	Confirmed int    `json:"confirmed,omitempty"` // answers that show what is kept
	Beside    int    `json:"beside,omitempty"`    // answers that would show it if it were kept there too, and do not
	Tested    int    `json:"tested,omitempty"`    // answers in all, none of which contradicts
}

// found reports whether anything was.
func (h *History) found() bool { return h.Every > 0 || h.Kept != "" }

// HistoryText returns what was found of a side, 0 for A, and the same in words; "": nothing.
func (st *PairState) HistoryText(side int) (*History, string) {
	h := st.historyOf(side)
	if h == nil {
		return nil, ""
	}
	return h, h.Text([]string{st.TargetA, st.TargetB}[side])
}

// Text says what was found of a target; "": nothing.
func (h *History) Text(target string) string {
	what := "answer"
	if h.Calls {
		what = "call"
	}
	text := ""
	switch {
	case !h.found():
		return ""
	case h.Every == 0:
		text = fmt.Sprintf("the answers of %s depend on the question before: %s", target, h.Kept)
	default:
		text = fmt.Sprintf("every %s %s of %s is another one", readable.Ordinal(h.Every), what, target)
		if h.Kept != "" {
			text += ": there " + h.Kept
		}
	}
	if h.Kept == "" {
		return fmt.Sprintf("%s (%s in sequences of questions were looked at, and none contradicts)", text, readable.Plural(h.Tested, "answer"))
	}
	return fmt.Sprintf("%s (%s in sequences of questions show it, %d beside do not, none of %d contradicts)", text, readable.Plural(h.Confirmed, "answer"), h.Beside, h.Tested)
}

// historyOf returns what was found of a side; nil: it was not asked.
func (s *Sum) historyOf(side int) *History {
	i := slices.IndexFunc(s.History, func(h History) bool { return h.Side == side })
	if i < 0 {
		return nil
	}
	return &s.History[i]
}

// HasHistory reports whether the answers of a side are known to depend on what was asked before.
func (s *Sum) HasHistory(side int) bool {
	h := s.historyOf(side)
	return h != nil && h.found()
}

// askKept asks each side that changes its answers, once, for what it keeps.
func (x *pairTriage) askKept(ctx context.Context) error {
	if !x.isUnstable() || x.t.Effort < 0 {
		return nil
	}
	for side := range sideNames {
		if x.st.historyOf(side) != nil || x.d.historyOf(side) != nil || !x.mayKeep(side) {
			continue
		}
		h, err := x.keptBy(ctx, side)
		if err != nil {
			if err = harmlessFault(err); err != nil {
				return err
			}
			h = &History{Side: side}
		}
		if h != nil {
			x.d.History = append(x.d.History, *h)
		}
	}
	return nil
}

// mayKeep reports whether a side changes its answers, and not by stochastic rounding.
func (x *pairTriage) mayKeep(side int) bool {
	u := x.p.side(side)
	return u.Model() == nil && !devices.IsRecording(u) && !x.repeatsItself(side) && !x.rounding.RoundsStochastically(side)
}

// keptIn is what a side keeps, as what is said of a case; nil: it was not found, or comes with a number of
// answers, so that no case repeats itself.
func (x *pairTriage) keptIn() *corpus.Defect {
	for side, target := range x.p.targets() {
		for _, s := range []*Sum{&x.st.Sum, &x.d.Sum} {
			if h := s.historyOf(side); h != nil && h.Every == 0 && h.Kept != "" {
				rule := "its result depends on the question before it: " + h.Kept
				return &corpus.Defect{Target: target, Rule: rule, Identity: target + ": " + rule,
					Confirmed: h.Confirmed, Beside: h.Beside, Tested: h.Tested}
			}
		}
	}
	return nil
}

// The numbers of questions.
const (
	periodAsked = 1031 // of a sequence of few inputs: a prime number above 4 times the longest period
	keptAsked   = 1024 // of a sequence of many
	keptMost    = 8192 // if few of its answers show what is kept
	keptShown   = 16   // answers that show what is kept, at least
	keptTold    = 64   // with those that would show it
)

// keptBy asks a side; nil: there is no program that says what is right.
func (x *pairTriage) keptBy(ctx context.Context, side int) (*History, error) {
	a, err := x.newAsker(ctx, side)
	if a == nil || err != nil {
		return nil, err
	}
	h := &History{Side: side}
	if len(a.pool) < 4 {
		return h, nil
	}
	if h.Every, h.Calls, err = a.period(ctx); err != nil {
		return nil, err
	}
	if h.Every > 0 {
		h.Tested = a.asked
	}
	if h.Calls {
		return h, nil
	}
	p, err := a.prediction(ctx, h.Every)
	if p != nil {
		h.shownBy(p, a)
	}
	return h, err
}

// newAsker returns what asks a side sequences of questions; nil: there is no program that says what is right.
func (x *pairTriage) newAsker(ctx context.Context, side int) (*asker, error) {
	program, k, err := x.rightProgram(ctx, side)
	if k == 0 || err != nil {
		return nil, err
	}
	model, err := sim.New(x.p.Spec.Formats, k, program)
	if err != nil {
		return nil, err
	}
	x.say("looking for what " + x.p.targets()[side] + " keeps of a question")
	a := &asker{f: x.p.Spec.Formats, unit: x.p.side(side), model: model, equal: x.p.Equal, seed: x.t.Seed}
	a.separate = func(yes, no []*mma.Dot) (string, func(*mma.Dot) bool, error) {
		return defect.Separate(x.p.Spec.Formats, k, program, yes, no)
	}
	for round := 0; round < 3; round++ {
		a.pool = append(a.pool, gen.Probe(x.p.Spec, x.t.Seed, round, &program)...)
	}
	return a, nil
}

// prediction says which answers are others because of what is kept.
type prediction interface {
	words() string
	shown() (confirmed, beside int)
	// answers returns the answers of a sequence that are others by the prediction, or may be.
	answers(a *asker, s *sequence) iter.Seq2[int, uint64]
}

// prediction looks for one that holds; nil: it has found none. every: the answers that are others have this
// distance.
func (a *asker) prediction(ctx context.Context, every int) (prediction, error) {
	a.asked = 0
	found, err := a.kept(ctx, every)
	switch {
	case err != nil:
		return nil, err
	case found != nil:
		return found, nil
	case every > 0:
		return nil, nil
	}
	a.asked = 0
	products, err := a.held(ctx)
	if products == nil || err != nil {
		return nil, err
	}
	return products, nil
}

// shownBy takes what a prediction says.
func (h *History) shownBy(p prediction, a *asker) {
	h.Kept, h.Tested = p.words(), a.asked
	h.Confirmed, h.Beside = p.shown()
}

// asker asks a unit sequences of questions.
type asker struct {
	f     mma.Formats
	unit  devices.Unit
	model *sim.Model
	equal equality
	seed  uint64
	pool  []*mma.Dot // of questions
	asked int

	separate separator
}

// sequence is what a unit answered to questions one after the other, and what is right.
type sequence struct {
	dots  []*mma.Dot
	codes []uint64
	right []uint64
}

// ask asks the questions in one batch.
func (a *asker) ask(ctx context.Context, dots []*mma.Dot) (s *sequence, err error) {
	s = &sequence{dots: dots}
	a.asked += len(dots)
	if s.codes, err = runDots(ctx, a.unit, a.f, dots); err != nil {
		return nil, err
	}
	known := map[*mma.Dot]uint64{}
	for _, d := range dots {
		if _, has := known[d]; !has {
			known[d] = a.model.Dot(d, nil)
		}
		s.right = append(s.right, known[d])
	}
	return s, nil
}

// wrong returns the numbers of the answers that are not right.
func (a *asker) wrong(s *sequence) (at []int) {
	for i, code := range s.codes {
		if !a.equal(code, s.right[i]) {
			at = append(at, i)
		}
	}
	return at
}

// varied returns n questions in a random order: those of an even number in the pool to learn from, the
// others to test what was learnt.
func (a *asker) varied(n, half int) (dots []*mma.Dot) {
	r := rand.New(rand.NewPCG(a.seed, uint64(half)))
	for range n {
		dots = append(dots, a.pool[2*r.IntN(len(a.pool)/2)+half])
	}
	return dots
}
