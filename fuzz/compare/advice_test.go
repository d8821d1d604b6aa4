package compare

import "testing"

// TestAdvice holds that of a difference that nothing explains the command is given that asks the unit
// that no model explains, where it was recorded, and that a recording's own command is not in it.
func TestAdvice(t *testing.T) {
	machine := func(name, target string) Machine { return Machine{Name: name, Target: target, Recorded: true} }
	model := func(name string, a Arithmetic) Model { return Model{Machine: name, Instruction: "dot4", Arithmetic: a} }
	for _, c := range []struct {
		bucket string
		a, b   Machine
		models []Model
		want   string
	}{
		{"unexplained", machine("odd", "cuda:0"), machine("good", "exec:./good"), []Model{model("good", Arithmetic{Explained: true, Base: "hopper/x", Changes: nil})}, "run --a cuda:0 --inst dot4 --b sim:hopper/x"},
		{"unexplained", machine("good", "hip:0"), machine("odd", "exec:rm -rf x"), []Model{model("good", Arithmetic{Explained: true, Base: "cdna3/x"})}, "run --a exec:COMMAND --inst dot4 --b sim:cdna3/x"},
		{"unexplained", machine("odd", "cuda:0"), Machine{Name: "ref:exact", Target: "ref:exact"}, nil, "run --a cuda:0 --inst dot4 --b ref:exact"},
		{"unexplained", machine("odd", "cuda:0"), machine("other", "cuda:1"), nil, "infer --target cuda:0 --inst dot4"},
		{"unexplained", machine("odd", "vendor's tool:1"), machine("other", "replay:x"), nil, ""},
		{"overflow", machine("odd", "cuda:0"), machine("other", "cuda:1"), nil, ""},
	} {
		r := &Result{Machines: []Machine{c.a, c.b}, Models: c.models}
		d := &Difference{A: c.a.Name, B: c.b.Name, Instruction: "dot4", InstructionA: "dot4", InstructionB: "dot4", Bucket: c.bucket}
		if _, got := r.advice(d); got != c.want {
			t.Errorf("%s of %s and %s: %q, want %q", c.bucket, c.a.Target, c.b.Target, got, c.want)
		}
	}
}
