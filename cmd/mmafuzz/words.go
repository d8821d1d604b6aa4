package main

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// inWords writes a bucket's name with what its labels mean.
func inWords(bucket string) string {
	var docs []string
	seen := map[string]bool{}
	for _, name := range bucketLabels(bucket) {
		for _, l := range triage.Labels() {
			if string(l.Label) == name && !seen[name] {
				seen[name] = true
				docs = append(docs, l.Doc)
			}
		}
	}
	if docs == nil {
		return bucket
	}
	return bucket + ": " + strings.Join(docs, "; ")
}

// freeText says what about a minimized case does not matter, a line each.
func freeText(f mma.Formats, m *minimize.Mask) []string {
	if m == nil {
		return nil
	}
	var lines []string
	add := func(what string, id fp.ID, free minimize.Free) {
		switch {
		case id == fp.None || free.Bits == 0:
		case free.Any:
			lines = append(lines, what+": any other value works here, all else equal")
		case free.Together:
			lines = append(lines, fmt.Sprintf("%s: the bits %s do not matter, all else equal", what, mma.FormatCode(id, free.Bits)))
		default:
			lines = append(lines, fmt.Sprintf("%s: single bits of %s do not matter, all else equal", what, mma.FormatCode(id, free.Bits)))
		}
	}
	for k := range m.A {
		add(fmt.Sprintf("a of p%d", k), f.A, m.A[k])
		add(fmt.Sprintf("b of p%d", k), f.B, m.B[k])
	}
	add("c", f.C, m.C)
	for k := range m.SA {
		add(fmt.Sprintf("scale of a, block %d", k), f.Scale, m.SA[k])
		add(fmt.Sprintf("scale of b, block %d", k), f.Scale, m.SB[k])
	}
	return lines
}
