package vectors

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/decided"
)

// This file has the instructions that get test vectors, and the digests of their sets.

// rule is all that the tests of an instruction depend on.
type rule struct {
	f       mma.Formats
	p       mma.Params
	k       int
	unknown mma.Facets
}

func ruleOf(i *mma.Instruction) rule { return rule{i.Formats, i.Params, i.K, i.Unknown} }

// Instructions returns the instructions of the catalogue that have been checked against
// results, the first one of each rule.
func Instructions() []mma.Instruction {
	var all []mma.Instruction
	seen := map[rule]bool{}
	for _, i := range mma.Catalog() {
		if i.Refuse == "" && i.Checked() && !seen[ruleOf(&i)] {
			seen[ruleOf(&i)] = true
			all = append(all, i)
		}
	}
	return all
}

// alike lists the other checked instructions of a catalogue with the same rule.
func alike(i *mma.Instruction, catalog []mma.Instruction) []string {
	var names []string
	for _, o := range catalog {
		if o.Refuse == "" && o.Checked() && ruleOf(&o) == ruleOf(i) && o.FullName() != i.FullName() {
			names = append(names, o.FullName())
		}
	}
	return names
}

// digest identifies all that the set depends on, its header included, by 48 bits of a SHA-256.
func (c *chooser) digest() string {
	i := c.inst
	parts := []any{sources, tail, searchFirst, searchOther, searchFor(i), batchDots,
		i.FullName(), i.Formats, i.K, mma.Diff(&mma.Params{}, &i.Params), i.Unknown, i.Source, i.Evidence, c.also}
	parts = append(parts, method, searchValues, searchPairs, pairSources)
	for _, r := range decided.Rows() {
		if r.Instruction == i.FullName() {
			parts = append(parts, r)
		}
	}
	for _, g := range c.goals {
		if g.other == nil || g.other.Kind != vectors.KindValue { // these come of the search
			parts = append(parts, g.group, g.text, g.most, g.same, g.other)
		}
	}
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(parts); err != nil {
		panic("vectors: " + err.Error()) // plain data always encodes
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// digestOf returns the digest of the set that Choose would return.
func digestOf(i *mma.Instruction) (string, error) {
	c, err := newChooser(i, mma.Catalog())
	if err != nil {
		return "", err
	}
	return c.digest(), nil
}
