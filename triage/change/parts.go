package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// passes multiplies parts of the operands, of the widths of which software composes the
// products of wide operands. For a program that has passes it tries other passes, and parts
// of other widths.
func passes(c *changer) {
	if c.p.Passes == 0 {
		for _, n := range []int{7, 10, 23} { // BF16, TF32 and FP16, FP32
			if n+8 <= int(min(c.read(c.A).FracBits, c.read(c.B).FracBits)) {
				c.next()
				c.passesOf(n, fp.RNE, fp.RNA, fp.RZ)
			}
		}
		return
	}
	for _, list := range mma.PassLists {
		c.to(func(p *mma.Params) { p.Passes = list })
	}
	c.to(func(p *mma.Params) { p.Together = !p.Together })
	c.to(func(p *mma.Params) { p.In.Rest = !p.In.Rest })
	narrows(c)
	c.otherOperand()
}

// operand is a place where operands are narrowed.
type operand struct {
	id fp.ID
	as *fp.Format // that it has when it is narrowed: c is not widened
	at func(p *mma.Params) *mma.Narrow
}

// operands returns those of A, of B and, if there is one, of c.
func (o *original) operands() []operand {
	all := []operand{
		{o.A, o.read(o.A), func(p *mma.Params) *mma.Narrow { return &p.In.A }},
		{o.B, o.read(o.B), func(p *mma.Params) *mma.Narrow { return &p.In.B }},
	}
	if o.C != fp.None {
		all = append(all, operand{o.C, o.C.Get(), func(p *mma.Params) *mma.Narrow { return &p.In.NarrowC }})
	}
	return all
}

// otherOperand splits an operand that is not yet narrowed.
func (c *changer) otherOperand() {
	for _, o := range c.operands()[:2] {
		if o.at(&c.p).Mode != 0 {
			continue
		}
		for n := 1; n < int(o.as.FracBits); n++ {
			c.next()
			for _, m := range []fp.Mode{fp.RZ, fp.RNE} {
				for _, list := range mma.PassLists {
					c.to(func(p *mma.Params) { *o.at(p), p.Passes = c.narrow(o.id, n, m), list })
				}
			}
		}
	}
}

// rarePasses tries parts of every width, of both operands or of one.
func rarePasses(c *changer) {
	if c.p.Passes != 0 {
		return
	}
	for n := 1; n < int(max(c.read(c.A).FracBits, c.read(c.B).FracBits)); n++ {
		c.next()
		c.passesOf(n, fp.RZ, fp.RNE)
		for _, m := range []fp.Mode{fp.RZ, fp.RNE} {
			for _, list := range mma.PassLists {
				c.to(func(p *mma.Params) { p.In.A, p.Passes = c.narrow(c.A, n, m), list })
				c.to(func(p *mma.Params) { p.In.B, p.Passes = c.narrow(c.B, n, m), list })
			}
		}
	}
}

// passesOf tries all passes over parts of a width.
func (c *changer) passesOf(n int, modes ...fp.Mode) {
	for _, m := range modes {
		a, b := c.narrow(c.A, n, m), c.narrow(c.B, n, m)
		for _, list := range mma.PassLists {
			split := func(p *mma.Params) { p.In.A, p.In.B, p.Passes = a, b, list }
			c.to(split)
			c.to(func(p *mma.Params) { split(p); p.Together = true })
		}
	}
}
