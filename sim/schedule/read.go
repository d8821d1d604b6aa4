package schedule

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// file is a Kernel as it is in a file.
type file struct {
	V int `json:"v"`
	Kernel
}

// Read reads a kernel and validates it. Errors name what is wrong.
func Read(text []byte) (*Kernel, error) {
	var f file
	if err := strictjson.UnmarshalKnown(text, &f, "object"); err != nil {
		return nil, err
	}
	if f.V != 1 {
		return nil, fmt.Errorf(`"v" is %d, this version reads 1`, f.V)
	}
	return &f.Kernel, f.Validate()
}

// Write writes a kernel as a file.
func (k *Kernel) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(file{1, *k})
}

// WithUnit returns the kernel with the unit of the schedules that have none.
func (k *Kernel) WithUnit(u Unit) *Kernel {
	c := *k
	if c.Unit == nil {
		c.Unit = &u
	}
	return &c
}

// FirstUnit returns the unit of the first schedule: its own, or else that of the kernel; nil if it
// has none.
func (k *Kernel) FirstUnit() *Unit { return cmp.Or(k.Schedules[0].Unit, k.Unit) }

// NeedsUnit reports whether some schedule has no unit: WithUnit gives it one.
func (k *Kernel) NeedsUnit() bool {
	return k.Unit == nil && slices.ContainsFunc(k.Schedules, func(s Schedule) bool { return s.Unit == nil })
}

// AddsC reports whether C has a place in the kernel.
func (k *Kernel) AddsC() bool {
	return k.CFirst || slices.ContainsFunc(k.Epilogue, func(s Step) bool {
		return s.Op == "c" || s.Op == "beta-c" || s.Op == "beta-c-mul" || s.Op == "alpha-beta"
	})
}

// The words of a kernel.
var (
	cuts   = []string{"size", "count", "spread", "pairwise", "lanes", "stream"}
	rests  = []string{"", "last", "first", "halve", "halve-down"}
	tails  = []string{"lane", "deal", "after", "apart", "drop"}
	orders = []string{"forward", "reverse", "neighbours", "halves", "pairwise", "chain", "chain-reverse"}
	scales = []string{"", "(sa*sb)*p", "sa*(sb*p)", "sb*(sa*p)"}
	steps  = []string{"cast", "alpha", "scale-a", "scale-b", "scale-ab", "c", "beta-c", "beta-c-mul", "alpha-beta", "bias", "relu"}
)

const (
	maxLevels = 8
	maxParts  = 1 << 16 // of a cut
)

// Validate returns nil if a kernel can be computed, apart from a missing unit, else an error
// with the first thing that is wrong and where.
func (k *Kernel) Validate() error {
	if err := mma.CheckName(k.Name); err != nil {
		return fmt.Errorf(`"name" is %w`, err)
	}
	if len(k.Schedules) == 0 {
		return errors.New(`"schedules" is empty: there is none for any element`)
	}
	if k.Unit != nil {
		if _, err := k.Unit.Resolve(); err != nil {
			return err
		}
	}
	for _, b := range []*Blocks{k.ScaleA, k.ScaleB} {
		if b != nil && (b.Lines < 0 || b.K < 0) {
			return errors.New("a block of scales has a negative number of elements")
		}
	}
	if err := k.Dequantize.validate(k); err != nil {
		return fmt.Errorf("dequantize: %w", err)
	}
	for n := range k.Schedules {
		if err := k.Schedules[n].validate(k); err != nil {
			return fmt.Errorf("schedules[%d]%s: %w", n, named(k.Schedules[n].Name), err)
		}
	}
	for n, s := range k.Epilogue {
		if err := s.validate(k); err != nil {
			return fmt.Errorf("epilogue[%d]: %w", n, err)
		}
	}
	return nil
}

func (q *Quantized) validate(k *Kernel) error {
	switch {
	case q == nil:
		return nil
	case k.ScaleA == nil || k.ScaleB == nil:
		return errors.New(`it needs "scale_a" and "scale_b" of the kernel`)
	}
	for _, id := range []fp.ID{q.A, q.B} {
		if id == fp.None || id.Get().Integer() || !id.Get().Signed {
			return fmt.Errorf("%s is no format of floating-point operands", id)
		}
	}
	return nil
}

func named(name string) string {
	if name == "" {
		return ""
	}
	return " (" + strconv.Quote(name) + ")"
}

// oneOf returns an error if a field does not have one of its words.
func oneOf(field, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("%q is %q, not %s", field, value, strings.Join(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" }), ", "))
}

func (s *Schedule) validate(k *Kernel) error {
	if s.Unit != nil {
		if _, err := s.Unit.Resolve(); err != nil {
			return err
		}
	}
	if len(s.Levels) > maxLevels {
		return fmt.Errorf("there are %d levels, more than %d", len(s.Levels), maxLevels)
	}
	for n := range s.Levels {
		if err := s.Levels[n].validate(k); err != nil {
			return fmt.Errorf("levels[%d]: %w", n, err)
		}
		if s.Levels[n].Cut.By == "stream" && n > 0 {
			return fmt.Errorf(`levels[%d]: "stream" cuts whole tiles: it is the outermost level`, n)
		}
	}
	return nil
}

func (l *Level) validate(k *Kernel) error {
	c := &l.Cut
	switch err := oneOf("by", c.By, cuts); {
	case err != nil:
		return err
	case c.N < 1 || c.N > maxParts:
		return fmt.Errorf(`"n" is %d, not in 1..%d`, c.N, maxParts)
	case c.Grain < 0 || c.Vector < 0 || c.Tile[0] < 0 || c.Tile[1] < 0:
		return errors.New(`"grain", "vector" and "tile" are positive`)
	case l.Head < 0 || l.Head > maxParts || l.Head > 0 && c.By == "stream":
		return fmt.Errorf(`"head" is %d, not in 0..%d, or "by" is "stream", which has none`, l.Head, maxParts)
	case c.Vector > 0 && c.By != "lanes":
		return errors.New(`"vector" belongs to "by": "lanes"`)
	case c.Grain > 0 && (c.By == "lanes" || c.By == "size" && !strings.HasPrefix(c.Rest, "halve")):
		return errors.New(`"grain" belongs to count, spread, pairwise and stream, and to halved rests`)
	case (c.Tile[0] > 0 && c.Tile[1] > 0) != (c.By == "stream"):
		return errors.New(`"tile", rows and columns, belongs to "by": "stream", which needs it`)
	case l.Head > 0 && l.Tail != nil && l.Tail.Front:
		return errors.New(`a level with "head" has no "tail" in "front"`)
	case l.Tail != nil && c.By == "stream":
		return errors.New(`"stream" cuts all of K: it has no "tail"`)
	case l.Merge.Order == "pairwise" && c.By != "pairwise":
		return errors.New(`the order pairwise belongs to "by": "pairwise"`)
	case c.By == "pairwise" && (l.Head > 0 || l.Tail != nil):
		return errors.New(`"pairwise" cuts all of a sequence: it has no "head" and no "tail"`)
	case c.By == "pairwise" && c.Rest != "" && c.Rest != "halve":
		return fmt.Errorf(`the "rest" of pairwise is %q, not halve`, c.Rest)
	case c.Rest != "" && c.By != "size" && c.By != "pairwise":
		return errors.New(`"rest" belongs to "by": "size" and "pairwise"`)
	}
	if err := oneOf("rest", c.Rest, rests); err != nil {
		return err
	}
	if err := l.Tail.validate(); err != nil {
		return fmt.Errorf("tail: %w", err)
	}
	if err := l.Merge.validate(k); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	return nil
}

func (t *Tail) validate() error {
	if t == nil {
		return nil
	}
	switch err := oneOf("into", t.Into, tails); {
	case err != nil:
		return err
	case t.Last && t.Into != "lane" && t.Into != "deal":
		return errors.New(`"last" belongs to lane and deal`)
	case t.Reverse && (t.Into == "deal" || t.Into == "drop"):
		return fmt.Errorf(`"reverse" does not belong to %s`, t.Into)
	case t.Of < 2:
		return fmt.Errorf(`"of" is %d, at least 2 is needed`, t.Of)
	case t.Unit != nil && t.Into == "drop":
		return errors.New(`"unit" adds products: those of "into": "drop" are not added`)
	case t.Format != fp.None && t.Into != "apart":
		return errors.New(`"format" belongs to apart`)
	}
	if t.Unit == nil {
		return nil
	}
	_, err := t.Unit.Resolve()
	return err
}

func (m *Merge) validate(k *Kernel) error {
	if _, ok := m.Distances(2); !ok {
		return fmt.Errorf(`"order" is %q, not %s, or distances such as 4-2-1`, m.Order, strings.Join(orders, ", "))
	}
	chain := m.Chain()
	switch {
	case chain && (m.Format != fp.None || m.Parts != fp.None || m.Scale != ""):
		return errors.New(`a chain adds no partial sums: it has no "format", "parts" and "scale"`)
	case m.Start != "" && m.Start != "zero":
		return fmt.Errorf(`"start" is %q, not zero`, m.Start)
	case m.Start != "" && m.Order != "forward" && m.Order != "reverse":
		return errors.New(`"start" belongs to the orders forward and reverse`)
	case m.Fused && (m.Scale == "" || m.Start != "zero"):
		return errors.New(`"fused" needs "scale" and "start": "zero"`)
	case m.Only != "" && (m.Parts == fp.None && m.Store == fp.None || m.Order == "pairwise"):
		return errors.New(`"only" says which parts "parts" and "store" are of; pairwise sums have none`)
	case m.Only != "" && m.Store != fp.None && !chain && m.Order != "forward" && m.Order != "reverse":
		return errors.New(`"only" with "store" belongs to the orders forward and reverse and to chains`)
	case m.Only != "" && !onlyParts.MatchString(m.Only):
		return fmt.Errorf(`"only" is %q, not the number of a part from 1 on or last, perhaps after not-`, m.Only)
	case m.Scale != "" && (k.ScaleA == nil || k.ScaleB == nil):
		return errors.New(`"scale" needs "scale_a" and "scale_b" of the kernel`)
	}
	for _, id := range []fp.ID{m.Format, m.Parts, m.Store} {
		if err := checkSum(id); err != nil {
			return err
		}
	}
	return oneOf("scale", m.Scale, scales)
}

// checkSum returns an error if sums cannot have a format.
func checkSum(id fp.ID) error {
	if id == fp.None {
		return nil
	}
	f := mma.Formats{A: id, B: id, C: id, D: id}
	return f.Validate()
}

func (s *Step) validate(k *Kernel) error {
	if err := oneOf("op", s.Op, steps); err != nil {
		return err
	}
	switch {
	case (s.Op == "scale-a" || s.Op == "scale-ab") && k.ScaleA == nil:
		return fmt.Errorf(`%s needs "scale_a" of the kernel`, s.Op)
	case (s.Op == "scale-b" || s.Op == "scale-ab") && k.ScaleB == nil:
		return fmt.Errorf(`%s needs "scale_b" of the kernel`, s.Op)
	case s.Factor != 0 && !slices.Contains([]string{"alpha", "beta-c", "beta-c-mul"}, s.Op):
		return errors.New(`"factor" belongs to "op": "alpha", "beta-c" or "beta-c-mul"`)
	case s.Zeroes != "" && s.Op != "relu":
		return errors.New(`"zeroes" belongs to "op": "relu"`)
	case (s.Round != "" || s.Subnormals != "") && s.Op != "cast":
		return errors.New(`"round" and "subnormals" belong to "op": "cast"`)
	}
	if err := cmp.Or(oneOf("round", s.Round, []string{"", "away", "zero"}), oneOf("subnormals", s.Subnormals, []string{"", "zero"}), oneOf("zeroes", s.Zeroes, relus)); err != nil {
		return err
	}
	return checkSum(s.Format)
}

// onlyParts are the texts of Only.
var onlyParts = regexp.MustCompile(`^(not-)?([1-9][0-9]{0,4}|last)$`)

// Rounds reports whether Parts and Store are true of part i, from 0 on, of n.
func (m *Merge) Rounds(i, n int) bool {
	part, others := strings.CutPrefix(m.Only, "not-")
	is := part == strconv.Itoa(i+1) || part == "last" && i == n-1
	return m.Only == "" || is != others
}

// Chain reports whether accumulators go on from one another.
func (m *Merge) Chain() bool { return m.Order == "chain" || m.Order == "chain-reverse" }

// Distances returns the order of a tree over n parts as distances: for each d in turn, part
// i becomes the sum of i and i+d, if both are left. ok is false if the order is none of
// those that there are, and the distances are nil if it is no tree.
func (m *Merge) Distances(n int) (distances []int, ok bool) {
	switch m.Order {
	case "neighbours":
		for d := 1; d < n; d *= 2 {
			distances = append(distances, d)
		}
		return distances, true
	case "halves":
		for d := 1; d < n; d *= 2 {
			distances = slices.Insert(distances, 0, d)
		}
		return distances, true
	}
	if slices.Contains(orders, m.Order) {
		return nil, true
	}
	for _, text := range strings.Split(m.Order, "-") {
		d, err := strconv.Atoi(text)
		if err != nil || d < 1 || d > maxParts || d&(d-1) != 0 || slices.Contains(distances, d) {
			return nil, false
		}
		distances = append(distances, d)
	}
	return distances, true
}
