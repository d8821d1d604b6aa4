package minimize

// simplifyScales sets scales to 1.0 - all, those of a and of b, those of each
// block - and swaps blocks.
func simplifyScales(p *proposals) {
	all := make([]int, p.blocks)
	for i := range all {
		all[i] = i
	}
	p.plainScales(all)
	for i := range p.blocks {
		p.plainScales([]int{i})
		for j := range i {
			p.try(func(v vector) bool {
				p.swapBlocks(v, i, j)
				return true
			})
		}
	}
}

func (p *proposals) plainScales(blocks []int) {
	for _, which := range [][]func(i int) int{{p.sa, p.sb}, {p.sa}, {p.sb}} {
		p.try(func(v vector) bool {
			for _, i := range blocks {
				for _, s := range which {
					v[s(i)] = p.plain[s(i)]
				}
			}
			return true
		})
	}
}

// swapBlocks swaps the products and scales of two blocks.
func (l *layout) swapBlocks(v vector, i, j int) {
	n := int(l.Block)
	for d := range n {
		if i*n+d < l.k && j*n+d < l.k {
			l.swapTerms(v, i*n+d, j*n+d)
		}
	}
	l.swapScales(v, i, j)
}
