package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// aimed makes an input of the kinds on which designs of sums differ: the extremes of the
// formats, cancellation, terms far below others, carries out of the top, few lanes.
func (d *dot) aimed(r *rand.Rand) {
	style := r.IntN(7)
	spread := 1 + r.IntN(40)
	fill := func(to []uint64, f *format) {
		for i := range to {
			to[i] = f.aimed(r, style, spread)
		}
	}
	fill(d.a, d.formats[0])
	fill(d.b, d.formats[1])
	if d.scale != nil {
		fill(d.sa, d.scale)
		fill(d.sb, d.scale)
	}
	if f := d.formats[2]; f != nil {
		d.c = f.aimed(r, style, spread)
	}
	i, j := r.IntN(d.k), r.IntN(d.k)
	if r.IntN(3) == 0 { // few lanes
		for n := range d.a {
			if n != i && n != j {
				d.a[n] = d.formats[0].encode(num{neg: r.IntN(2) == 0})
			}
		}
	}
	if r.IntN(3) == 0 && i != j { // two products that cancel
		d.a[j], d.b[j] = d.formats[0].opposite(d.a[i]), d.b[i]
	}
	if f := d.formats[2]; f != nil && r.IntN(3) == 0 { // c nearly cancels a product
		d.c = f.opposite(to{format: f, by: mode(r.IntN(6))}.code(d.P(i))) ^ uint64(r.IntN(2))<<f.drop
	}
	if d.aim != nil && r.IntN(4) == 0 {
		d.unit.aim(r, d)
	}
}

// aimed returns a code. Exponents differ by at most spread, unless style asks for
// whatever codes there are.
func (f *format) aimed(r *rand.Rand, style, spread int) uint64 {
	width := f.exp + f.man
	if !f.unsigned {
		width++
	}
	raw := r.Uint64() & (1<<width - 1)
	full, fraction := uint64(1)<<f.exp-1, uint64(1)<<f.man-1
	exponent := uint64(min(max(f.bias+r.IntN(spread)-spread/2, 0), int(full)))
	switch style {
	case 0: // raw bits
	case 1: // extremes of the format
		exponent = []uint64{0, 0, 1, full, full - 1, uint64(f.bias)}[r.IntN(6)]
		raw = raw&^fraction | []uint64{0, 1, fraction, fraction >> 1, fraction/2 + 1, raw}[r.IntN(6)]&fraction
	case 2, 3: // significands of zeros or of ones, except for the last bit
		raw = raw&^fraction | []uint64{0, 1, fraction, fraction - 1}[r.IntN(4)]&fraction
	case 4: // the largest significands and one exponent
		raw, exponent = raw|fraction, uint64(f.bias)
	}
	if style != 0 {
		raw = raw&^(full<<f.man) | exponent<<f.man
	}
	if style != 1 && r.IntN(200) == 0 {
		raw = 0
	}
	return raw<<f.drop | r.Uint64()&(1<<f.drop-1)
}

func (f *format) opposite(code uint64) uint64 { return code ^ 1<<(f.exp+f.man)<<f.drop }

// String returns the input as mmafuzz eval reads it.
func (d *dot) String() string {
	codes := func(f *format, codes []uint64) string {
		var s []string
		for _, c := range codes {
			s = append(s, fmt.Sprintf("%0*x", 2*f.bytes, c))
		}
		return strings.Join(s, ",")
	}
	s := codes(d.formats[0], d.a) + " " + codes(d.formats[1], d.b)
	if f := d.formats[2]; f != nil {
		s += " " + codes(f, []uint64{d.c})
	} else {
		s += " -"
	}
	if d.scale != nil {
		s += " sa=" + codes(d.scale, d.sa) + " sb=" + codes(d.scale, d.sb)
	}
	return s
}

// parse reads what String writes. Missing elements are zeros.
func (d *dot) parse(s string) error {
	fields := strings.Fields(s)
	lists := [][]uint64{d.a, d.b, {0}, d.sa, d.sb}
	if len(fields) < 3 || len(fields) > len(lists) {
		return fmt.Errorf("%q is no dot product", s)
	}
	for i, f := range fields {
		clear(lists[i])
		if f == "-" {
			continue
		}
		f = strings.TrimPrefix(strings.TrimPrefix(f, "sa="), "sb=")
		for k, code := range strings.Split(f, ",") {
			if k >= len(lists[i]) {
				return fmt.Errorf("%q has too many elements", s)
			}
			if _, err := fmt.Sscanf(code, "%x", &lists[i][k]); err != nil {
				return fmt.Errorf("%q: %w", s, err)
			}
		}
	}
	d.c = lists[2][0]
	return nil
}

// result returns what the unit gives in digits of D.
func (d *dot) result() string {
	return fmt.Sprintf("%0*x", 2*d.formats[3].bytes, d.unit.dot(d))
}
