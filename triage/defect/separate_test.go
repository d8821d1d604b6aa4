package defect

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestSeparate has questions that differ in one of their products: the condition names it as rules do.
func TestSeparate(t *testing.T) {
	i, err := mma.Lookup("ampere", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var yes, no []*mma.Dot
	for len(yes) < 64 || len(no) < 64 {
		d := mma.NewDot(i.Formats, i.K)
		for k := range d.A {
			d.A[k], d.B[k] = 0x3000+r.Uint64N(0x1000)|r.Uint64N(2)<<15, 0x3000+r.Uint64N(0x1000)|r.Uint64N(2)<<15
		}
		if d.A[2]>>15 == 1 {
			yes = append(yes, d)
		} else {
			no = append(no, d)
		}
	}
	words, meets, err := Separate(i.Formats, i.K, i.Params, yes, no)
	if want := "in product 2 a is negative"; err != nil || words != want {
		t.Fatalf("%q, want %q: %v", words, want, err)
	}
	if !meets(yes[0]) || meets(no[0]) {
		t.Error("the condition holds of the wrong questions")
	}
}
