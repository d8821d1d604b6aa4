package minimize

// simplifyScales sets scales to 1 (all of them, those of a or b, those of each block),
// and swaps blocks.
func simplifyScales(p *proposals) {
	p.plainScales(0, p.blocks)
	for i := range p.blocks {
		p.plainScales(i, i+1)
		for j := range i {
			p.try(func(v vector) bool { p.swapBlocks(v, i, j); return true })
		}
	}
}

// plainScales sets the scales of the blocks from..to-1 to 1: of a, of b, of both.
func (p *proposals) plainScales(from, to int) {
	for _, which := range [][]func(i int) int{{p.sa}, {p.sb}, {p.sa, p.sb}} {
		p.try(func(v vector) bool {
			for i := from; i < to; i++ {
				for _, s := range which {
					v[s(i)] = p.plain[s(i)]
				}
			}
			return true
		})
	}
}

// swapBlocks swaps the products and scales of two blocks. The last block may be
// shorter: what has no counterpart stays.
func (l *layout) swapBlocks(v vector, i, j int) {
	n := int(l.Block)
	for d := range n {
		if max(i, j)*n+d < l.k {
			l.swapTerms(v, i*n+d, j*n+d)
		}
	}
	l.swapScales(v, i, j)
}
