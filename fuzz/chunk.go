package fuzz

import "github.com/mmafuzz/mmafuzz/fuzz/gen"

// recordedSource is the source of cases that come from a recording.
const recordedSource = "recorded"

// chunk is dot products of one source that are computed at once.
type chunk struct {
	pair   int
	source gen.Source
	name   string // of the source
	index  uint64 // of the first dot product
	n      int
	play   bool // the inputs are those of the pair's recording
}

// has reports whether a case is one of a chunk.
func (ch *chunk) has(ref CaseRef) bool {
	return ref.Source == ch.name && ref.Index >= ch.index && ref.Index < ch.index+uint64(ch.n)
}

// ref names a dot product of a chunk.
func (ch *chunk) ref(i int) CaseRef { return CaseRef{ch.name, ch.index + uint64(i)} }
