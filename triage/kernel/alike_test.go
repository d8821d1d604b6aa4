package kernel

import "testing"

// TestChange holds that changes which give the same bits are told beside the first: values of one word as one
// change, and no number of products where it is not the same for all of them.
func TestChange(t *testing.T) {
	for _, c := range []struct {
		want string
		all  []string
	}{
		{"partial sums are added in fp64", []string{"partial sums are added in fp64"}},
		{"the last 16 products (K mod 32, 64 or 128) are dropped", []string{ofK + "32) are dropped", ofK + "64) are dropped", ofK + "128) are dropped"}},
		{"the last products (K mod 32 or 48) are dropped", []string{ofK + "32) are dropped", ofK + "48) are dropped"}},
		{"runs of 4 or 8 products; or 2 or 3 lanes; or order", []string{"runs of 4 products", "runs of 8 products", "2 lanes", "order", "3 lanes"}},
		{"runs of 4, from the left or right; or runs of 8, from the left", []string{"runs of 4, from the left", "runs of 4, from the right", "runs of 8, from the left"}},
	} {
		a := Answer{Words: c.all[0], Alike: c.all[1:]}
		if got := a.Change(1040); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
