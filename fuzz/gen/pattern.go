package gen

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Patterns enumerate exponents and significands of one product and c as
// TestFloat does, beside a second product that is zero, the same, or the
// negative: index digits, lowest first, choose c's pattern, b's, a's, and the
// company. The lanes of both products are drawn, so that any two of them meet early.

// patternExponents are exponent fields of interest: the three smallest, three
// around the bias, and the two largest, as far as the format has them.
func patternExponents(f *fp.Format) []uint64 {
	top := uint64(1)<<f.ExpBits - 1
	all := []uint64{0, 1, 2, uint64(f.Bias) - 1, uint64(f.Bias), uint64(f.Bias) + 1, top - 1, top}
	var in []uint64
	for _, e := range all {
		if e <= top && (len(in) == 0 || e > in[len(in)-1]) {
			in = append(in, e)
		}
	}
	return in
}

// patternFractions are fractions of interest.
func patternFractions(f *fp.Format) []uint64 {
	n := f.FracBits
	if n == 0 {
		return []uint64{0}
	}
	ones := uint64(1)<<n - 1
	all := []uint64{0, 1, ones, 1 << (n - 1), ones >> 1, ones &^ 1}
	var in []uint64
	seen := map[uint64]bool{}
	for _, x := range all {
		if !seen[x] {
			seen[x] = true
			in = append(in, x)
		}
	}
	return in
}

// patternCodes are all combinations with both signs.
func patternCodes(f *fp.Format) []uint64 {
	var codes []uint64
	for _, e := range patternExponents(f) {
		for _, x := range patternFractions(f) {
			c := (e<<f.FracBits | x) << f.Low
			codes = append(codes, c)
			if f.Signed {
				codes = append(codes, c|f.SignBit())
			}
		}
	}
	return codes
}

// patternCompany is the number of second products.
const patternCompany = 3

func patternSize(sp Spec) uint64 {
	n := uint64(len(patternCodes(sp.A.Get()))) * uint64(len(patternCodes(sp.B.Get()))) * patternCompany
	if sp.C != fp.None {
		n *= uint64(len(patternCodes(sp.C.Get())))
	}
	return n
}

func pattern(d *draw) {
	j := d.intn(d.K)
	k := (j + d.between(1, max(d.K-1, 1))) % d.K // another, where there is one
	d.patternIn(k, j)
}

// patternIn makes the case of the draw's index: a product in lane k, and its company in lane j.
func (d *draw) patternIn(k, j int) {
	a, b, c := d.patterns()
	index := scattered(d.index, uint64(len(a))*uint64(len(b))*uint64(len(c))*patternCompany)
	d.dot.C = c[index.digit(len(c))]
	d.dot.B[k] = b[index.digit(len(b))]
	d.dot.A[k] = a[index.digit(len(a))]
	if j == k {
		return
	}
	switch index.digit(patternCompany) {
	case 1:
		d.dot.A[j], d.dot.B[j] = d.dot.A[k], d.dot.B[k]
	case 2:
		d.dot.A[j], d.dot.B[j] = d.dot.A[k]^d.fa.SignBit(), d.dot.B[k]
	}
}

// patterns are the codes of a, b and c that are combined.
func (d *draw) patterns() (a, b, c []uint64) {
	if d.fc == nil {
		return d.fa.Patterns(), d.fb.Patterns(), []uint64{0}
	}
	return d.fa.Patterns(), d.fb.Patterns(), d.fc.Patterns()
}
