package change

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestEdits checks what each kind of word makes.
func TestEdits(t *testing.T) {
	s := Space{mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, 4}
	p := mma.TFDPA(4, 24, mma.To(fp.FP32, fp.RZ), -132)
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"in.sub=zero|plus-zero", []string{"in.sub keep→zero", "in.sub keep→plus-zero"}},
		{"in.c=* in.acc=zero", []string{"in.acc keep→zero", "in.c keep→zero, in.acc keep→zero", "in.c keep→plus-zero, in.acc keep→zero"}},
		{"acc.mode=?", []string{"acc.mode rz→rne"}},
		{"acc.mode=@", []string{"acc.mode rz→rne", "acc.mode rz→rd", "acc.mode rz→ru", "acc.mode rz→rna", "acc.mode rz→rto"}},
		{"l=#", []string{"l 4→1", "l 4→2", "l 4→3"}},
		{"acc.emin=fp16 acc.emax=fp16 acc.frac=fp16", []string{"acc.frac 23→10, acc.emin -126→-14, acc.emax 127→15"}},
		{"acc.frac+1..-2", []string{"acc.frac 23→22", "acc.frac 23→21"}},
		{"join.align=", []string{"join.align.f 24→exact, join.align.mode rz→, join.align.floor -132→none"}},
		{"prod.round<acc", []string{"prod.round.frac exact→23, prod.round.mode →rz, prod.round.emin none→-126, prod.round.emax none→127"}},
		{"{in.a in.b} $.frac=5 ; $.frac=6", []string{"in.a.frac exact→5", "in.a.frac exact→6", "in.b.frac exact→5", "in.b.frac exact→6"}},
	} {
		c := &changer{original: original{s, p}, seen: map[mma.Params]bool{p: true}}
		edits(tc.text)(c)
		var got []string
		for _, m := range c.all {
			text := ""
			for _, d := range mma.Diff(&p, &m.Params) {
				if text != "" {
					text += ", "
				}
				text += d.String()
			}
			got = append(got, text)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n got %q\nwant %q", tc.text, got, tc.want)
		}
	}
	for _, wrong := range []string{"acc.fraction=", "acc<join", "acc.mode=up"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", wrong)
				}
			}()
			edits(wrong)(&changer{original: original{s, p}, seen: map[mma.Params]bool{}})
		}()
	}
}

// TestAfterRounded checks that sums which are rounded before the accumulator are taken away with
// their rounding in the place of its own.
func TestAfterRounded(t *testing.T) {
	s := Space{mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32}, 16}
	towardZero, short := mma.To(fp.FP32, fp.RZ), mma.Round{Frac: 13, Mode: fp.RZ}
	narrow := mma.To(fp.FP32, fp.RZ)
	narrow.Frac = 13
	for _, tc := range []struct {
		name string
		from func(p *mma.Params)
		want mma.Round // of the accumulator, in a program without anything else
	}{
		{"c and the products in a stage", func(p *mma.Params) {
			p.Leaf, p.Stage0 = mma.LeafFirst, mma.Stage{Sum: mma.Fused, Round: towardZero}
		}, towardZero},
		{"in a stage that rounds to fewer bits", func(p *mma.Params) {
			p.Leaf, p.Stage0 = mma.LeafLast, mma.Stage{Sum: mma.Fused, Round: narrow}
		}, narrow},
		{"in a stage without a range", func(p *mma.Params) {
			p.Leaf, p.Stage0 = mma.LeafLast, mma.Stage{Sum: mma.Fused, Round: short}
		}, mma.Round{Frac: 13, Mode: fp.RZ, Emin: -126, Emax: 127}},
		{"the products in a stage", func(p *mma.Params) { p.Stage0 = mma.Stage{Sum: mma.Fused, Round: towardZero} }, towardZero},
		{"the sum with c", func(p *mma.Params) { p.Join.Post = narrow }, narrow},
		{"the sum with c, to another range", func(p *mma.Params) { p.Join.Post = mma.To(fp.FP16, fp.RD) }, mma.To(fp.FP16, fp.RD)},
	} {
		p := mma.Params{Acc: mma.To(fp.FP32, fp.RNE)}
		tc.from(&p)
		if !s.Valid(&p) {
			t.Fatalf("%s: %v", tc.name, p.Validate(s.Formats, s.K))
		}
		if !slices.ContainsFunc(s.Mutants(&p, Removals), func(m Mutant) bool { return m.Params == mma.Params{Acc: tc.want} }) {
			t.Errorf("%s: not taken away", tc.name)
		}
	}
}
