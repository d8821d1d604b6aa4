package summary

import (
	"cmp"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// formatsOf returns the formats of a pair with a finding.
func formatsOf(p *fuzz.PairState) (f mma.Formats) {
	if i := slices.IndexFunc(p.Findings, func(x *fuzz.Case) bool { return x.Mismatch != nil }); i >= 0 {
		f = p.Findings[i].Mismatch.Formats
	}
	return f
}

// labelDoc says what a label means, in words for conversions if all findings are some.
func labelDoc(s *fuzz.State, label string) string {
	doc, all := "", mma.Formats{}
	for _, p := range s.Pairs {
		if f := formatsOf(p); len(p.Findings) > 0 {
			if doc == "" || f.Validate() == nil {
				doc = bundle.LabelDocOf(label, f)
			}
			if all.B == fp.None || !f.Conversion() {
				all = f
			}
		}
	}
	return readable.Converted(all, cmp.Or(doc, bundle.LabelDoc(label)))
}
