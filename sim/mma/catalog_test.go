package mma

import (
	"testing"
)

func TestCatalog(t *testing.T) {
	seen := map[string]bool{}
	n := map[string]int{}
	for _, i := range Catalog() {
		if seen[i.FullName()] {
			t.Errorf("%s: listed twice", i.FullName())
		}
		seen[i.FullName()] = true
		if _, ok := FindArch(i.Arch); !ok {
			t.Errorf("%s: unknown architecture", i.FullName())
		}
		if i.Refuse != "" {
			if i.Params != (Params{}) {
				t.Errorf("%s: refused, but has parameters", i.FullName())
			}
			continue
		}
		n[i.Arch]++
		if i.Source == "" || i.Evidence == "" {
			t.Errorf("%s: no source or evidence", i.FullName())
		}
		if err := i.Params.Validate(i.Formats, i.K); err != nil {
			t.Errorf("%s: %v", i.FullName(), err)
		}
	}
	t.Log(n, len(Catalog()))
}
