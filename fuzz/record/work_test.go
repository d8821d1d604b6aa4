package record

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestFrames cuts work into frames: they cover it without a gap, and none is large, however
// long the dot products are.
func TestFrames(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{8, 65024} {
		j := &job{inst: i, k: k}
		var size int64
		for _, name := range []string{"raw@1", "cut@1", "pattern@1"} {
			src, err := gen.ParseSource(name)
			if err != nil {
				t.Fatal(err)
			}
			size += j.add(src, i.Formats, 3000)
		}
		next, covered := map[string]uint64{}, int64(0)
		for n := range j.frames {
			f := j.frame(n)
			s := corpus.Section{Formats: i.Formats, Shape: f.shape(j)}
			covered += s.Bytes()
			if name := f.source.String(); f.first != next[name] || f.dots() > frameDots || s.Bytes() > frameBytes {
				t.Errorf("K %d, frame %d: %d dot products of %s from %d on, of %d bytes", k, n, f.dots(), name, f.first, s.Bytes())
			}
			next[f.source.String()] += uint64(f.dots())
		}
		if covered != size {
			t.Errorf("K %d: %d bytes of %d", k, covered, size)
		}
	}
}
