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
