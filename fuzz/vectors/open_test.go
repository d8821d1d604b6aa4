package vectors

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/vectors"
)

// TestDecide holds that of a set with an open value of one parameter alone the command is given that
// decides it, and of other sets none.
func TestDecide(t *testing.T) {
	set := func(instruction, path string, values ...string) *vectors.Set {
		return &vectors.Set{Instruction: instruction, Parameters: []vectors.Parameter{{Path: "l"}, {Path: path, Open: values}}}
	}
	const name = "volta/mma.m8n8k4.f32.f16.f16.f32"
	for _, c := range []struct {
		set  *vectors.Set
		want int
	}{
		{set(name, "join.align.f", "30"), 3}, {set(name, "join.align.f"), 0},
		{set(name, "join.align.f+join.cf", "30+2"), 0}, {set("model/mine", "join.align.f", "30"), 0},
	} {
		if got := len(Decide([]*vectors.Set{c.set})); got != c.want {
			t.Errorf("%s, %v: %d blocks, want %d", c.set.Instruction, c.set.Parameters, got, c.want)
		}
	}
}
