package fuzz

import "testing"

func TestNamesOf(t *testing.T) {
	for _, c := range []struct{ line, a, b, inst string }{
		{"sim:ampere mma.x | sim:hopper mma.x", "sim:ampere", "sim:hopper", "mma.x"},
		{"sim:hopper mma.x | sim:cdna3 v_mfma", "sim:hopper", "sim:cdna3", "mma.x ~ v_mfma"},
		{"exec:python3 a.py | tee log dot | ref:exact dot", "exec:python3 a.py | tee log", "ref:exact", "dot"},
		{"no pair", "no pair", "", ""},
		{"", "", "", ""},
	} {
		if a, b, inst := namesOf(c.line); a != c.a || b != c.b || inst != c.inst {
			t.Errorf("%q is %q, %q and %q, want %q, %q and %q", c.line, a, b, inst, c.a, c.b, c.inst)
		}
	}
}
