package finding

import "github.com/mmafuzz/mmafuzz/fuzz/gen"

// Recorded is the source of cases that come from a recording.
const Recorded = "recorded"

// Chunk is dot products of one source that are computed at once.
type Chunk struct {
	Pair     int
	Source   gen.Source
	Name     string // of the source
	First    uint64 // of the first dot product
	Dots     int
	Recorded bool // the inputs are those of the pair's recording
}

// Has reports whether a case is one of a chunk.
func (ch *Chunk) Has(ref CaseRef) bool {
	return ref.Source == ch.Name && ref.Index >= ch.First && ref.Index < ch.First+uint64(ch.Dots)
}

// Ref names a dot product of a chunk.
func (ch *Chunk) Ref(i int) CaseRef { return CaseRef{ch.Name, ch.First + uint64(i)} }
