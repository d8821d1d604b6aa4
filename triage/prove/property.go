package prove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/encode"
)

// Property is a statement about the results of one program: it holds for all inputs, or fails on
// one. Either it compares the program with another one, or every result with that of a related
// input (relations.go).
type Property struct {
	Name      string // of the command line
	Statement string
	// unasked is why there is no question if there is none.
	unasked string
	// other changes the second of two copies of the program to the one that the unit has if the
	// statement is false: it holds if the two differ on an input. Of a program that is false to the
	// statement it makes the one that the unit has if it is true; and where the two differ in
	// more than what the statement is about, it changes the first one, which shows less, too.
	other func(q *asked, p, other *mma.Params) written
	// relations are what the statement says of each input.
	relations func(q *asked) []relation
	// sizes: it is about the size of the adder; modes: about the mode of the last rounding;
	// errors: about the size of errors.
	sizes, modes, errors bool
}

// Properties returns all properties, in the order in which they are printed. Most of them were
// asked of SMT solvers by Valpey et al. (arXiv:2502.15999, Table 4).
func Properties() []Property { return slices.Clone(properties) }

var properties = []Property{
	{Name: "exact-products", Statement: "products are not rounded to the format of a", unasked: "products of integers are exact", other: func(q *asked, _, other *mma.Params) written {
		a := q.f.A.Get()
		if q.f.D.Integer() || a.ExpBits == 0 {
			return unwritten
		}
		if other.Prod.Round.Frac == mma.Frac(a.FracBits) {
			other.Prod.Round = mma.Round{}
			return otherwise
		}
		other.Prod.Round = mma.Round{Frac: mma.Frac(a.FracBits), Mode: fp.RNE, Emin: mma.Exp(a.Emin())}
		return asStated
	}},
	{Name: "order", Statement: "the order of the products does not matter", unasked: "there is a single product, or one with each scale", relations: swaps},
	{Name: "exchange", Statement: "a and b may be exchanged", unasked: "a and b have two formats", relations: exchange},
	{Name: "negation", Statement: "with all a and c negated the result is negated, but for signs of zeros and NaNs", unasked: "a has no sign", relations: negation},
	{Name: "no-normalization", Statement: "partial sums are not normalized: adding one product after the other is another function", unasked: "there is a single product", other: func(q *asked, _, other *mma.Params) written {
		if q.k == 1 {
			return unwritten
		}
		if other.L == 1 {
			other.L = 0
			return otherwise
		}
		other.L, other.Stage0, other.Stage1 = 1, mma.Stage{}, mma.Stage{}
		return asStated
	}},
	{Name: "adder", Statement: "a sum of so many bits suffices, and one bit less does not", sizes: true},
	{Name: "rounding", Statement: "the last rounding has one mode, and no other gives the same results", modes: true},
	{Name: "error", Statement: "the error is at most so much of the sum of all magnitudes, and at least so much on an input", errors: true},
	{Name: "subnormal-operands", Statement: "subnormal operands a and b are not read as zero", unasked: "the formats of a and b have no subnormals", other: func(q *asked, p, other *mma.Params) written {
		if !hasSubnormals(q.f.A) && !hasSubnormals(q.f.B) {
			return unwritten
		}
		return flush(&p.In.Sub, &other.In.Sub)
	}},
	{Name: "subnormal-c", Statement: "a subnormal c is not read as zero", unasked: "there is no c, or its format has no subnormals", other: func(q *asked, p, other *mma.Params) written {
		if !hasSubnormals(q.f.C) {
			return unwritten
		}
		return flush(&p.In.C, &other.In.C)
	}},
	{Name: "subnormal-results", Statement: "a subnormal result is not zero", unasked: "results have no subnormals, or are not rounded to them", other: func(q *asked, p, other *mma.Params) written {
		last, to := lastRounding(q.f, p), lastRounding(q.f, other)
		if last == nil || !last.HasEmin() || !hasSubnormals(q.f.D) {
			return unwritten
		}
		if last.Flush == mma.NoFlush {
			to.Flush = mma.FlushResult
			return asStated
		}
		last.Flush = mma.FlushResult
		for _, r := range roundings(other) {
			r.Flush = mma.NoFlush
		}
		return otherwise
	}},
	{Name: "no-nan", Statement: "no result of finite operands is a NaN", unasked: "results have no code of a NaN", relations: noNaN},
	{Name: "nan-code", Statement: "all NaN results have the same code", unasked: "no result of the inputs that were tried is a NaN", relations: oneNaN},
	{Name: "plus-zero", Statement: "no result is -0", unasked: "results have no code of -0", relations: plusZero},
	// The slowest comes last.
	{Name: "monotonic", Statement: "a larger c never gives a smaller result", unasked: "there is no c", relations: monotonic},
}

// written is what a program says about a statement as it is written. What it computes may be another thing.
type written int

const (
	unwritten written = iota // nothing: there is no question
	asStated
	otherwise
)

// flush makes subnormals zeros in another program if they are numbers, and numbers if they are zeros.
func flush(in, other *mma.InFlush) written {
	if *in == mma.KeepSub {
		*other = mma.FlushSign
		return asStated
	}
	*in, *other = mma.FlushSign, mma.KeepSub // of -0 the statement says nothing
	return otherwise
}

// hasSubnormals reports whether a format, if it is one, has subnormal numbers.
func hasSubnormals(id fp.ID) bool {
	return id != fp.None && id.Get().ExpBits > 0 && id.Get().FracBits > 0 && !id.Get().NoZero
}

// PropertiesNamed returns the properties of a list such as "order,monotonic"; "all" are all.
func PropertiesNamed(list string) ([]Property, error) {
	if list == "all" {
		return Properties(), nil
	}
	var some []Property
	for _, name := range strings.Split(list, ",") {
		i := slices.IndexFunc(properties, func(p Property) bool { return p.Name == name })
		if i < 0 {
			var names []string
			for _, p := range properties {
				names = append(names, p.Name)
			}
			return nil, hint.New("one or several of all, "+strings.Join(names, ", "), "there is no property %q", name)
		}
		some = append(some, properties[i])
	}
	return some, nil
}

// Held is whether a property holds.
type Held string

// Whether a property holds.
const (
	Holds     Held = "holds"
	Fails     Held = "fails"
	Undecided Held = "not decided"
	NotAsked  Held = "no question" // the program has nothing that the statement is about
)

// Answer is what came out about a property of an instruction.
type Answer struct {
	Unit      string   `json:"unit"`
	Property  string   `json:"property"`
	Statement string   `json:"statement"`
	Verdict   Held     `json:"verdict"`
	By        string   `json:"by,omitempty"`
	Assumed   []string `json:"assumed"`
	Reason    string   `json:"reason,omitempty"`
	Bits      int      `json:"bits,omitempty"` // of the adder
	Proved    float64  `json:"proved,omitempty"`
	Refuted   float64  `json:"refuted,omitempty"`
	// Witness is the input that decides, in the text form of eval, and Related the one that it
	// is compared with, if that is another one. Expected is what a program gives for which the
	// statement is the other way round.
	Witness  string `json:"witness,omitempty"`
	Related  string `json:"related,omitempty"`
	Result   string `json:"result,omitempty"`
	Expected string `json:"expected,omitempty"`

	values struct{ witness, related, result, expected string } // the same in decimals
}

// NotKnown is the error for a target whose arithmetic is not known.
func NotKnown(target string) error {
	return hint.New("mmafuzz infer finds the arithmetic of a black box", "properties are of known arithmetics, those of simulators and model files: not of %s", target)
}

// Ask decides whether a property holds for the arithmetic of a unit, which has to be known.
func Ask(ctx context.Context, target string, u devices.Unit, prop Property, o Options) (*Answer, error) {
	p, i := u.Model(), u.Instruction()
	if p == nil {
		return nil, NotKnown(target)
	}
	answer := &Answer{Unit: target + "/" + i.Name, Property: prop.Name, Statement: prop.Statement, Assumed: []string{}}
	if o.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Time)
		defer cancel()
	}
	err := prop.ask(ctx, &asked{f: i.Formats, k: i.K, p: *p, o: o}, answer)
	if errors.As(err, new(*encode.TooHard)) {
		answer.Verdict, answer.Reason, err = Undecided, err.Error(), nil
	}
	answer.Statement = readable.Converted(i.Formats, answer.Statement)
	for n, text := range answer.Assumed {
		answer.Assumed[n] = readable.Converted(i.Formats, text)
	}
	return answer, err
}

// asked is the program of which a property is asked.
type asked struct {
	f mma.Formats
	k int
	p mma.Params
	o Options
}

// PropertySMTLIB is the question of a property for SMT solvers of bit vectors (QF_BV): sat if it
// fails. That of a property that compares the program with one of which the opposite is true is
// whether the two can differ: sat if what the program says is what it does.
func PropertySMTLIB(target string, u devices.Unit, prop Property) ([]byte, error) {
	p, i := u.Model(), u.Instruction()
	if p == nil {
		return nil, NotKnown(target)
	}
	q := &asked{f: i.Formats, k: i.K, p: *p}
	var text bytes.Buffer
	switch {
	case prop.other != nil:
		base, other := q.p, q.p
		if prop.other(q, &base, &other) == unwritten {
			return nil, fmt.Errorf("%s: there is no question about %s: %s", prop.Name, i.FullName(), prop.unasked)
		}
		err := writeSMTLIB(&text, q.f, q.k, base, other)
		return text.Bytes(), err
	case prop.sizes:
		return nil, hint.New("mmafuzz prove A model:NARROWER.json --smtlib asks about one size", "%s is a question for each size", prop.Name)
	case prop.modes:
		return nil, hint.New("mmafuzz prove A model:OTHER.json --smtlib asks about one mode", "%s is a question for each mode", prop.Name)
	case prop.errors:
		e, err := proveError(q)
		if err == nil {
			err = relationsSMTLIB(&text, q, []relation{e.relation(q)})
		}
		return text.Bytes(), err
	}
	err := relationsSMTLIB(&text, q, prop.relations(q))
	return text.Bytes(), err
}

func (p *Property) ask(ctx context.Context, q *asked, answer *Answer) error {
	switch {
	case p.other != nil:
		return p.apart(ctx, q, answer)
	case p.sizes:
		return adder(ctx, q, answer)
	case p.modes:
		return rounding(ctx, q, answer)
	case p.errors:
		return errorsOf(ctx, q, answer)
	}
	rs := p.relations(q)
	if len(rs) == 0 {
		answer.Verdict, answer.Reason = NotAsked, p.unasked
		return nil
	}
	return related(ctx, q, rs, answer)
}

// apart asks whether the program differs from the one that it would be if the statement were
// false, or true of a program that is false to it. If they are the same function, it fails of both.
func (p *Property) apart(ctx context.Context, q *asked, answer *Answer) error {
	base, other := q.p, q.p
	says := p.other(q, &base, &other)
	if says == unwritten {
		answer.Verdict, answer.Reason = NotAsked, p.unasked
		return nil
	}
	if err := other.Validate(q.f, q.k); err != nil {
		answer.Verdict, answer.Reason = NotAsked, "the opposite is no program: "+err.Error()
		if says == otherwise {
			answer.Verdict, answer.Reason = Fails, "so the program is written, and what it would be otherwise is no program: "+err.Error()
		}
		return nil
	}
	res, err := Programs(ctx, q.f, q.k, base, other, Options{Solver: q.o.Solver})
	if err != nil {
		return err
	}
	answer.By, answer.Reason = res.By, res.Reason
	switch {
	case res.Verdict == Refuted && says == otherwise:
		answer.Verdict = Fails
		m, err := sim.New(q.f, q.k, q.p)
		if err != nil {
			return err
		}
		res.Witness.Before = m.Dot(res.Witness.Dot, nil)
		answer.show(q.f, res.Witness)
	case res.Verdict == Refuted:
		answer.Verdict = Holds
		answer.show(q.f, res.Witness)
	case res.Verdict == Proved:
		answer.Verdict, answer.Assumed = Fails, res.Assumed
	default:
		answer.Verdict = Undecided
	}
	return nil
}

// lastCut is the last sum of a program whose terms are cut, and how its size is named; nil: none is.
func lastCut(p *mma.Params) (sum *mma.Align, name string) {
	switch {
	case p.Join.Align.F != 0:
		return &p.Join.Align, "a sum"
	case p.Stage1.Align.F != 0:
		return &p.Stage1.Align, "a second partial sum"
	case p.Stage0.Align.F != 0:
		return &p.Stage0.Align, "a first partial sum"
	}
	return nil, ""
}

// adder looks for the smallest adder of the last sum that is cut which does not change the function.
func adder(ctx context.Context, q *asked, answer *Answer) error {
	base := q.p
	sum, name := lastCut(&base)
	if sum == nil {
		answer.Verdict, answer.Reason = NotAsked, "no sum is cut to a width"
		return nil
	}
	sum.Bits, sum.Saturate = 0, false
	f := int(sum.F)
	var short *Result // with one bit less
	for bits := f; bits <= f+mma.MaxBits/8; bits++ {
		narrow := base
		sum, _ := lastCut(&narrow)
		sum.Bits = uint8(bits)
		if err := narrow.Validate(q.f, q.k); err != nil {
			answer.Verdict, answer.Reason = NotAsked, err.Error()
			return nil
		}
		res, err := Programs(ctx, q.f, q.k, base, narrow, Options{Solver: q.o.Solver})
		switch {
		case err != nil:
			return err
		case res.Verdict == Refuted:
			short = res
			continue
		case res.Verdict == Open || short == nil:
			answer.Verdict, answer.Reason = Undecided, fmt.Sprintf("of %d bits: %s", bits, res.Reason)
			return nil
		}
		answer.Verdict, answer.Bits, answer.By, answer.Assumed = Holds, bits, res.By, res.Assumed
		answer.Statement = fmt.Sprintf("%s of %d bits and a sign suffices, and one of %d does not", name, bits, bits-1)
		answer.show(q.f, short.Witness)
		return nil
	}
	answer.Verdict, answer.Reason = Undecided, "no size was found"
	return nil
}

// lastRounding is the last rounding of a program, nil if it rounds nothing.
func lastRounding(f mma.Formats, p *mma.Params) *mma.Round {
	for _, r := range roundings(p) {
		if r.Frac != 0 && (r != &p.Late || p.LateAdds(f)) {
			return r
		}
	}
	return nil
}

// roundings are those of sums with c, the last one first.
func roundings(p *mma.Params) []*mma.Round {
	return []*mma.Round{&p.Out, &p.Late, &p.Acc, &p.Join.Post}
}

// rounding asks whether the last rounding in another mode is another function.
func rounding(ctx context.Context, q *asked, answer *Answer) error {
	last := lastRounding(q.f, &q.p)
	if last == nil {
		answer.Verdict, answer.Reason = NotAsked, "nothing is rounded"
		return nil
	}
	var apart, same []string
	for _, mode := range []fp.Mode{fp.RNE, fp.RNA, fp.RZ, fp.RD, fp.RU} {
		if mode == last.Mode {
			continue
		}
		other := q.p
		lastRounding(q.f, &other).Mode = mode
		if other.Validate(q.f, q.k) != nil {
			continue
		}
		res, err := Programs(ctx, q.f, q.k, q.p, other, Options{Solver: q.o.Solver})
		switch {
		case err != nil:
			return err
		case res.Verdict == Open:
			answer.Verdict, answer.Reason = Undecided, fmt.Sprintf("of %s: %s", mode, res.Reason)
			return nil
		case res.Verdict == Proved:
			same, answer.Assumed = append(same, mode.String()), res.Assumed
			continue
		}
		apart, answer.By = append(apart, mode.String()), res.By
		answer.show(q.f, res.Witness)
	}
	answer.Verdict = Holds
	switch {
	case len(same)+len(apart) == 0:
		answer.Verdict, answer.Reason = NotAsked, "the last rounding has no other mode"
		return nil
	case len(same) > 0:
		answer.Verdict = Fails
		answer.Reason = "the same function: " + strings.Join(same, ", ")
	}
	answer.Statement = fmt.Sprintf("the last rounding is %s, and no other mode gives the same results", last.Mode)
	if len(apart) > 0 {
		answer.Statement += ": not " + strings.Join(apart, ", ")
	}
	return nil
}

// related asks about relations until one fails.
func related(ctx context.Context, q *asked, rs []relation, answer *Answer) error {
	w, err := search(ctx, q, rs)
	if err != nil && ctx.Err() == nil {
		return err
	}
	if w != nil {
		answer.Verdict, answer.By = Fails, "generators"
		answer.showRelated(q.f, w)
		return nil
	}
	answer.Verdict, answer.By = Holds, "ranges"
	for i := range rs {
		s, err := rs[i].session(q)
		if err != nil {
			return err
		}
		answer.Assumed = s.assumed()
		if s.a == s.b {
			continue
		}
		if len(q.o.Solver) == 0 {
			answer.Verdict, answer.By, answer.Reason = Undecided, "", "range analysis does not decide it, and there is no solver"
			return nil
		}
		answer.By = "solver"
		res, err := s.solve(ctx)
		switch {
		case err != nil:
			return err
		case res.Verdict == Refuted:
			answer.Verdict, answer.Assumed = Fails, []string{}
			answer.showRelated(q.f, res)
			return nil
		case res.Verdict == Open:
			answer.Verdict, answer.By, answer.Reason = Undecided, "", res.Reason
			return nil
		}
	}
	return nil
}

// show puts a witness into an answer.
func (a *Answer) show(f mma.Formats, w *triage.Witness) {
	a.Witness, a.Result = mma.FormatDot(f, w.Dot), mma.FormatCode(f.D, w.Before)
	a.Expected = mma.FormatCode(f.D, w.After)
	a.values.witness, a.values.result, a.values.expected = dotValue(f, w.Dot), value(f.D, w.Before), value(f.D, w.After)
}

// showRelated puts the witness of a relation into an answer: the results of both inputs.
func (a *Answer) showRelated(f mma.Formats, res *Result) {
	a.show(f, res.Witness)
	if res.related != nil {
		a.Related, a.values.related = mma.FormatDot(f, res.related), dotValue(f, res.related)
	} else {
		a.Expected = ""
	}
}

// Write writes the answer for people.
func (a *Answer) Write(w io.Writer, width int) {
	line := func(indent int, format string, args ...any) {
		fmt.Fprint(w, readable.Indented(indent, fmt.Sprintf(format, args...), width))
	}
	line(2, "%s: %s (%s)", a.Verdict, a.Statement, a.Property)
	if a.Reason != "" {
		line(4, "%s", a.Reason)
	}
	for _, text := range a.Assumed[min(1, len(a.Assumed)):] { // the first is that of all
		line(4, "if %s", text)
	}
	gives := a.Witness + a.values.witness + " gives " + a.Result + a.values.result
	expected := a.Expected + a.values.expected
	switch {
	case a.Witness == "":
	case a.Related != "":
		line(4, "%s", gives)
		line(4, "%s gives %s", a.Related+a.values.related, expected)
	case a.Proved != 0:
		line(4, "%s; the exact value rounds to %s", gives, expected)
	case a.Expected != "":
		line(4, "%s; otherwise it would be %s", gives, expected)
	default:
		line(4, "%s", gives)
	}
}
