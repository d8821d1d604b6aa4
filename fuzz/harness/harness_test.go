//go:build !gofuzz

package harness

import "testing"

// FuzzPair compares what MMAFUZZ_PAIR names, or the fast models with the oracle.
func FuzzPair(f *testing.F) {
	h, err := FromEnvironment()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range h.Seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := h.Check(data); err != nil {
			t.Error(err)
		}
	})
}
