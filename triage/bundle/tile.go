package bundle

import (
	"bytes"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// tile is the recorded tile of a case that depends on its place.
type tile struct {
	batch  *mma.Batch
	output int
	shows  bool // the two sides differed there when it was recorded
}

// tileOf returns the recorded tile of a bundle's case; nil: it has none, or none in which the case is.
func tileOf(b *corpus.Bundle) *tile {
	m := &b.Mismatch
	if m.Bucket != string(triage.Layout) || m.Before != "" {
		return nil
	}
	var t *tile
	var codes [2]uint64
	for side, name := range []string{"tile-a.rec", "tile-b.rec"} {
		r, err := corpus.ReadRecording(bytes.NewReader(b.Files[name]))
		if err != nil || len(r.Data) != 1 || r.Data[0].Batch.Formats != m.Formats {
			return nil
		}
		x := &r.Data[0]
		output := m.Origin.Index - x.First
		if output >= uint64(x.Batch.Dots()) {
			return nil
		}
		t = &tile{batch: x.Batch, output: int(output)}
		codes[side] = mma.Load(x.D, m.Formats.D.Width(), t.output)
		d := mma.NewDot(m.Formats, x.Batch.K)
		if x.Batch.Get(t.output, d); mma.FormatDot(m.Formats, d) != m.Case {
			return nil
		}
	}
	t.shows = oracle.Compare(m.Formats.D, Policy(m), codes[0], codes[1]) != oracle.Same
	return t
}
