package gen

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// aroundTile2 is the second version of aroundTile. Its changes take turns instead of being
// drawn, and c comes a row at a time, so that a tile of twice as many outputs takes less time.
func aroundTile2(d *draw, b *mma.Batch, tile int) {
	d.reset()
	d.around.dot(d)
	d.changeRows(part(b.A, tile, b.Tiles), b.M, d.fa, d.dot.A)
	d.changeRows(part(b.B, tile, b.Tiles), b.N, d.fb, d.dot.B)
	if d.fs != nil {
		varyScales(d, part(b.SA, tile, b.Tiles), b.M, d.dot.SA)
		varyScales(d, part(b.SB, tile, b.Tiles), b.N, d.dot.SB)
	}
	if d.fc != nil {
		d.changeC(part(b.C, tile, b.Tiles), b.N)
	}
}

// rowChange is what is changed in a row of codes.
type rowChange uint8

const (
	allSigns     rowChange = iota
	allExponents           // by one
	exchange               // of two codes
	toZero                 // of a code
	// The others change a code that is not zero.
	oneSign
	oneExponent // by one
	lastPlace
	anyBit // of the fraction
	lowHalf
	wholeFraction
)

// rowChanges are the changes of rows in turn. The first row of a tile is as designed, the
// others have the changes that follow a random one.
var rowChanges = [16]rowChange{
	allSigns, lastPlace, oneExponent, anyBit, toZero, lowHalf, lastPlace, oneSign,
	allExponents, anyBit, wholeFraction, lastPlace, exchange, oneExponent, anyBit, lowHalf,
}

// changeRows stores the codes of a row, or of a column, as the first of some, and in the others
// with one change each.
func (d *draw) changeRows(buf []byte, rows int, f *format, codes []uint64) {
	w := int(f.Width)
	n := len(codes) * w
	for k, c := range codes {
		mma.Store(buf, w, k, c)
	}
	terms := d.nonzero(codes)
	first := d.intn(len(rowChanges))
	for r := 1; r < rows; r++ {
		row := buf[r*n:][:n]
		copy(row, buf[:n])
		x := d.next()
		at, _ := bits.Mul64(x, uint64(len(terms)))
		k := terms[at]
		switch change := rowChanges[(first+r)%len(rowChanges)]; change {
		case allSigns:
			f.negate(row, codes)
		case allExponents:
			for _, j := range terms { // zeros have no other exponent
				mma.Store(row, w, j, nextExponent(f, codes[j], x&1 != 0))
			}
		case exchange:
			j := (k + 1 + int(x&0xffff)) % len(codes)
			mma.Store(row, w, k, codes[j])
			mma.Store(row, w, j, codes[k])
		case toZero:
			mma.Store(row, w, k, 0)
		default:
			mma.Store(row, w, k, changed(f, codes[k], change, x))
		}
	}
}

// nonzero returns the positions of codes that are not zero, or all if there are none.
func (d *draw) nonzero(codes []uint64) []int {
	all := d.positions[:len(codes)]
	n := 0
	for k, c := range codes {
		all[n] = k
		if c != 0 {
			n++
		}
	}
	if n == 0 {
		for k := range all {
			all[k] = k
		}
		return all
	}
	return all[:n]
}

// changed returns a finite code near a finite one. x is random.
func changed(f *format, c uint64, change rowChange, x uint64) uint64 {
	n := f.FracBits
	one := uint64(1) << f.Low
	v := c
	switch change {
	case oneSign:
		return opposite(f, c)
	case oneExponent:
		return nextExponent(f, c, x&1 != 0)
	case lastPlace:
		v ^= one
	case anyBit:
		v ^= one << (uint64(uint32(x)) * uint64(n) >> 32)
	case lowHalf:
		v ^= one * (x & (1<<(n/2) - 1))
	case wholeFraction:
		v ^= one * (x & (1<<n - 1))
	}
	if v&^f.SignBit() > f.MaxFinite() || v == f.SignBit() && !f.HasNegZero() {
		return c
	}
	return v
}

// changeC stores c for every output, as designed in the first one and in every other: in each
// row a part, from a random place on, of one sequence.
func (d *draw) changeC(buf []byte, cols int) {
	f, c, x := d.fc, d.dot.C, d.next()
	near := [8]uint64{c, c, c, c, c, c, c, c}
	if c&^f.SignBit() <= f.MaxFinite() {
		near = [8]uint64{
			opposite(f, c), changed(f, c, anyBit, x>>32), nextExponent(f, c, true), changed(f, c, lowHalf, x>>32),
			0, changed(f, c, wholeFraction, x), nextExponent(f, c, false), changed(f, c, lastPlace, x),
		}
	}
	w := int(f.Width)
	seq := d.cs[:]
	for i := range (16 + cols) / 2 {
		mma.Store(seq, w, 2*i, c)
		mma.Store(seq, w, 2*i+1, near[i%len(near)])
	}
	n := cols * w
	x = d.next() &^ 1 // four bits for each of 16 rows
	for ; len(buf) > 0; buf = buf[n:] {
		copy(buf[:n], seq[int(x%16)*w:])
		x >>= 4
	}
}
