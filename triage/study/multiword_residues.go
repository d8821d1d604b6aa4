package study

import (
	"context"
	"math"
	"math/big"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// residues computes dot products of FP32 or FP64 operands from their residues (Ozaki, Uchino
// and Imamura, arXiv:2504.08009): operands become integers of so many bits that twice the sum of
// their products is below the product of the moduli; the unit multiplies their residues of eight
// bits, once for each modulus; and the Chinese remainder theorem gives the sum, exactly.
type residues struct {
	moduli  []int64
	product *big.Int
	weights []*big.Int // of the residues in the sum
	bits    int        // of an operand
}

// newResidues takes the largest n moduli for dot products of k products.
func newResidues(n, k int) *residues {
	r := &residues{product: big.NewInt(1)}
	for p := int64(256); len(r.moduli) < n; p-- {
		modulus := big.NewInt(p)
		if new(big.Int).GCD(nil, nil, r.product, modulus).Int64() == 1 {
			r.moduli = append(r.moduli, p)
			r.product.Mul(r.product, modulus)
		}
	}
	for _, p := range r.moduli {
		modulus := big.NewInt(p)
		w := new(big.Int).Quo(r.product, modulus)
		r.weights = append(r.weights, w.Mul(w, new(big.Int).ModInverse(w, modulus)))
	}
	r.bits = max(0, (r.product.BitLen()-2-bits.Len(uint(k-1)))/2)
	return r
}

// residue returns that of v*2^shift, cut to an integer: the one of the least magnitude.
func residue(v float64, shift int, p int64) int64 {
	fraction, exponent := math.Frexp(v)
	integer := int64(math.Ldexp(fraction, 53))
	shift += exponent - 53
	r := int64(0)
	if shift < 0 {
		r = integer / (1 << min(-shift, 62)) % p
	} else {
		r = integer % p
		for range shift {
			r = 2 * r % p
		}
	}
	switch {
	case 2*r >= p:
		r -= p
	case 2*r < -p:
		r += p
	}
	return r
}

// dots returns the dot products of operands.
func (r *residues) dots(ctx context.Context, u *unit, operands [][2][]float64) ([]float64, error) {
	i := u.inst()
	sums, exponents := make([]big.Int, len(operands)), make([]int, len(operands))
	in := make([]*mma.Dot, len(operands))
	for n := range in {
		in[n] = mma.NewDot(i.Formats, i.K)
	}
	for m, p := range r.moduli {
		for n, o := range operands {
			exponents[n] = 0
			for side, codes := range [][]uint64{in[n].A, in[n].B} {
				e := exponentOf(o[side])
				exponents[n] += e
				for k, v := range o[side] {
					codes[k] = uint64(residue(v, r.bits-e, p)) & i.A.Get().CodeMask()
				}
			}
		}
		results, err := u.run(ctx, mma.BatchOf(i.Formats, i.K, in))
		if err != nil {
			return nil, err
		}
		for n, code := range results {
			c := big.NewInt(int64(i.D.Get().Float64(code)) % p)
			sums[n].Add(&sums[n], c.Mul(c, r.weights[m]))
		}
	}
	all := make([]float64, len(operands))
	half := new(big.Int).Rsh(r.product, 1)
	for n := range all {
		if s := sums[n].Mod(&sums[n], r.product); s.Cmp(half) > 0 {
			s.Sub(s, r.product)
		}
		v, _ := new(big.Float).SetInt(&sums[n]).Float64()
		all[n] = math.Ldexp(v, exponents[n]-2*r.bits)
	}
	return all, nil
}

// exponentOf returns the least e for which all magnitudes are below 2^e.
func exponentOf(operands []float64) int {
	largest := 0.0
	for _, v := range operands {
		largest = max(largest, math.Abs(v))
	}
	_, e := math.Frexp(largest)
	return e
}
