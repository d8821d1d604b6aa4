package replay

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestIndex asks a recording before its index can be made: because there is no time, and
// because there are too many dot products.
func TestIndex(t *testing.T) {
	i := &mma.Instruction{Arch: "x", Name: "y", K: 4, Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}}
	shape := mma.Shape{M: 1, N: 1, K: 4, Tiles: 3}
	b := mma.NewBatch(i.Formats, shape)
	data := &corpus.Recorded{Section: &corpus.Section{Formats: i.Formats, Shape: shape}, Batch: b, D: make([]byte, 12)}
	u := &unit{recorded: &recorded{inst: i, length: 4, data: []*corpus.Recorded{data}, starts: []int{0}, dots: 3}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	out := make([]byte, 12)
	if err := u.Run(ended, b, out); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := u.Run(t.Context(), b, out); err != nil {
		t.Error(err)
	}
	many := &unit{recorded: &recorded{inst: i, length: 4, target: "replay:z", dots: maxIndexed + 1}}
	if err := many.Run(t.Context(), b, out); err == nil || !strings.HasPrefix(err.Error(), "replay:z: it holds 16,777,217 dot products of x/y;") {
		t.Error(err)
	}
}
