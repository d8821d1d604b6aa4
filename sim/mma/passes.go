package mma

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Passes are the products of parts of operands that a product is made of, in the order in
// which they are added: BF16x3 adds the product of the second part of a and the first part
// of b, then that of the first of a and the second of b, then that of both first parts.
// Tenstorrent's fidelity phases are passes over the upper and the lower bits of a
// significand. The zero Passes are a product of whole operands.
type Passes uint64

// Pass is the product of two parts, each 0, 1 or 2.
type Pass struct{ A, B int }

// PassLists are the passes that software and units make of two or three parts: with the
// least products first, and with the least products last.
var PassLists = func() []Passes {
	var all []Passes
	for _, text := range strings.Fields("10-01-00 01-10-00 00-10-01 00-01-10 11-10-01-00 11-01-10-00 00-10-01-11 00-01-10-11 " +
		"10-00 00-10 01-00 00-01 20-11-02-10-01-00 02-11-20-01-10-00 00-01-10-02-11-20 22-21-12-20-11-02-10-01-00") {
		var p Passes
		if err := p.UnmarshalText([]byte(text)); err != nil {
			panic(err)
		}
		all = append(all, p)
	}
	return all
}()

// passBits is the width of a pass in Passes. The first pass is in the lowest bits. A pass is
// represented by its place in the list 00 01 02 10 11 and so on, counted from 1.
const passBits = 4

// PassesOf returns the Passes of a list of at most nine.
func PassesOf(list ...Pass) Passes {
	var p Passes
	for i, x := range list {
		p |= Passes(3*x.A+x.B+1) << (passBits * i)
	}
	return p
}

// List returns the passes; nil if operands are whole.
func (p Passes) List() []Pass {
	var list []Pass
	for ; p != 0; p >>= passBits {
		n := int(p&(1<<passBits-1)) - 1
		list = append(list, Pass{n / 3, n % 3})
	}
	return list
}

// check returns an error if a pass is unknown or is there twice.
func (p Passes) check() error {
	list := p.List()
	for i, x := range list {
		if x.A < 0 || x.A > 2 || slices.Contains(list[:i], x) {
			return fmt.Errorf("passes: %s is not a list of different passes", p)
		}
	}
	return nil
}

// checkPasses rejects passes that have no meaning.
func (p *Params) checkPasses() error {
	switch {
	case p.Passes == 0 && (p.Together || p.In.Rest):
		return errors.New("passes: together and in.rest need passes")
	case p.Passes == 0:
		return nil
	case p.In.A.Mode == 0 && p.In.B.Mode == 0:
		return errors.New("passes: in.a or in.b must have a mode, which gives the parts")
	case p.Scale == ScaleGroup:
		return errors.New("passes: group scales need whole operands")
	}
	for _, x := range p.Passes.List() {
		if x.A > 0 && p.In.A.Mode == 0 || x.B > 0 && p.In.B.Mode == 0 {
			return errors.New("passes: an operand that is not narrowed by a mode has part 0 only")
		}
	}
	return p.Passes.check()
}

const wholeOperands = "none"

// String writes none, or the parts of each pass: 10-01-00.
func (p Passes) String() string {
	if p == 0 {
		return wholeOperands
	}
	var s []string
	for _, x := range p.List() {
		s = append(s, fmt.Sprintf("%d%d", x.A, x.B))
	}
	return strings.Join(s, "-")
}

// MarshalText writes what String does, for JSON.
func (p Passes) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what String writes.
func (p *Passes) UnmarshalText(b []byte) error {
	if string(b) == wholeOperands {
		*p = 0
		return nil
	}
	var list []Pass
	for word := range strings.SplitSeq(string(b), "-") {
		if len(word) != 2 || strings.Trim(word, "012") != "" || len(list) == 9 {
			return fmt.Errorf("%q is not %s or a list of passes such as 10-01-00", b, wholeOperands)
		}
		list = append(list, Pass{int(word[0] - '0'), int(word[1] - '0')})
	}
	*p = PassesOf(list...)
	return nil
}
