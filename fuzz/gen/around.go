package gen

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A dot product that is aimed at a decision costs a hundred times as much to design as to
// compute in a tile. Around makes a tile of each: every row of A and column of B but the first
// has one change of the designed one, and c varies from output to output, so that the
// neighbourhood of a decision is tried at the cost of raw bits. Output 0 of tile i is the dot
// product i of the source that is varied.

// aroundName begins the names of sources of variations, which name the source that they vary
// too: around@1(cut@1[24]).
const aroundName = "around"

// arounds are the versions. They are not in the table: campaigns use version 1 with two fast
// units, and version 2 if one of them is a device, whose tiles are that large.
var arounds = [...]Generator{
	{Name: aroundName, Version: 1, M: 8, N: 8, fill: aroundTile,
		Doc: "tiles of small variations of designed dot products"},
	{Name: aroundName, Version: 2, M: tileM, N: tileN, fill: aroundTile2,
		Doc: "the same in larger tiles"},
}

// aroundBy returns the source of variations of s by a version, and whether there is one: s must
// design single dot products, and not enumerate them.
func (s Source) aroundBy(version int) (Source, bool) {
	g := s.Generator
	if g.dot == nil || g.Size != nil || s.Base != nil {
		return Source{}, false
	}
	return Source{Generator: &arounds[version-1], Base: &Base{Source: s}}, true
}

func (s Source) isAround() bool { return s.Generator.Name == aroundName }

// aroundWhat returns the name of the source that a source of variations varies.
func aroundWhat(name string) string {
	_, what, _ := strings.Cut(name, "(")
	return strings.TrimSuffix(what, ")")
}

func parseAround(text string) (Source, error) {
	head, _, _ := strings.Cut(text, "(")
	version := slices.IndexFunc(arounds[:], func(g Generator) bool { return head == fmt.Sprintf("%s@%d", g.Name, g.Version) }) + 1
	if version == 0 || !strings.HasSuffix(text, ")") {
		return Source{}, fmt.Errorf("%.200q is not of the form %s@1(SOURCE) or %[2]s@%d(SOURCE)", text, aroundName, len(arounds))
	}
	what, err := ParseSource(aroundWhat(text))
	if err != nil {
		return Source{}, err
	}
	s, ok := what.aroundBy(version)
	if !ok {
		return Source{}, fmt.Errorf("%.200q: %s makes no single dot products that can be varied", text, what.Generator.Name)
	}
	return s, nil
}

func aroundTile(d *draw, b *mma.Batch, tile int) {
	d.reset()
	d.around.dot(d)
	varyRows(d, part(b.A, tile, b.Tiles), b.M, d.fa, d.dot.A)
	varyRows(d, part(b.B, tile, b.Tiles), b.N, d.fb, d.dot.B)
	if d.fs != nil {
		varyScales(d, part(b.SA, tile, b.Tiles), b.M, d.dot.SA)
		varyScales(d, part(b.SB, tile, b.Tiles), b.N, d.dot.SB)
	}
	if d.fc != nil {
		d.varyC(part(b.C, tile, b.Tiles), b.M*b.N)
	}
}

// part returns part i of n equal ones.
func part(buf []byte, i, n int) []byte { return buf[len(buf)/n*i:][:len(buf)/n] }

// varyRows fills rows, or columns: the first with codes, each other one with one change of
// them.
func varyRows(d *draw, buf []byte, rows int, f *format, codes []uint64) {
	w := int(f.Width)
	n := len(codes) * w
	for k, c := range codes {
		mma.Store(buf, w, k, c)
	}
	for r := 1; r < rows; r++ {
		row := buf[r*n:][:n]
		copy(row, buf[:n])
		k := d.term(codes)
		switch x := d.next(); x % 16 {
		case 0: // all of them with the other sign
			f.negate(row, codes)
		case 1: // all of them with an exponent more or less
			up := x>>8&1 != 0
			for j, c := range codes {
				mma.Store(row, w, j, nextExponent(f, c, up))
			}
		case 2: // two products exchange a factor
			j := (k + 1 + int(x>>8)%len(codes)) % len(codes)
			mma.Store(row, w, k, codes[j])
			mma.Store(row, w, j, codes[k])
		case 3:
			mma.Store(row, w, k, 0)
		default:
			mma.Store(row, w, k, variation(f, codes[k], x))
		}
	}
}

// term returns the position of a code that is not zero, or any position if all are.
func (d *draw) term(codes []uint64) int {
	k := d.intn(len(codes))
	for range codes {
		if codes[k] != 0 {
			return k
		}
		if k++; k == len(codes) {
			k = 0
		}
	}
	return k
}

// variation returns a finite code near a finite one. x is random.
func variation(f *format, c, x uint64) uint64 {
	n := f.FracBits
	one := uint64(1) << f.Low
	v := c
	switch y := x >> 8; (x >> 4) % 8 {
	case 0:
		return opposite(f, c)
	case 1:
		return nextExponent(f, c, y&1 != 0)
	case 2, 3: // a unit in the last place
		v = c ^ one
	case 4, 5: // one bit
		v = c ^ one<<(y%uint64(max(n, 1)))
	case 6: // the low half of the fraction
		v = c ^ one*(y&(1<<(n/2)-1))
	default:
		v = c ^ one*(y&(1<<n-1))
	}
	if v&^f.SignBit() > f.MaxFinite() || v == f.SignBit() && !f.HasNegZero() {
		return c
	}
	return v
}

// negate changes the signs of a row of codes.
func (f *format) negate(row []byte, codes []uint64) {
	w := int(f.Width)
	if !f.HasNegZero() || len(row)%8 != 0 {
		for i, c := range codes {
			mma.Store(row, w, i, opposite(f, c))
		}
		return
	}
	signs := f.SignBit() * (math.MaxUint64 / (1<<(8*w) - 1)) // of every code in 8 bytes
	for ; len(row) > 0; row = row[8:] {
		binary.LittleEndian.PutUint64(row, binary.LittleEndian.Uint64(row)^signs)
	}
}

// opposite returns a code with the other sign, if there is one.
func opposite(f *format, c uint64) uint64 {
	if c == 0 && !f.HasNegZero() {
		return c
	}
	return c ^ f.SignBit()
}

// nextExponent returns a code with the next exponent, up or down, unless it is the last one.
func nextExponent(f *format, c uint64, up bool) uint64 {
	sign, one := c&f.SignBit(), uint64(1)<<(f.FracBits+f.Low)
	v := c &^ f.SignBit()
	switch {
	case up && v != 0 && v <= f.MaxFinite() && f.MaxFinite()-v >= one:
		v += one
	case !up && v >= one:
		v -= one
	}
	if v == 0 && !f.HasNegZero() {
		return 0
	}
	return sign | v
}

// varyScales stores the scales of a row or column in all of them. In half of these one of
// the scales is twice or half as large.
func varyScales(d *draw, buf []byte, rows int, codes []uint64) {
	w := int(d.fs.Width)
	n := len(codes) * w
	for r := range rows {
		row := buf[r*n:][:n]
		for i, c := range codes {
			mma.Store(row, w, i, c)
		}
		if x := d.next(); r > 0 && x&1 != 0 {
			i := int(x>>8) % len(codes)
			mma.Store(row, w, i, nextExponent(d.fs, codes[i], x&2 != 0))
		}
	}
}

// varyC stores c for n outputs: as designed in the first one and in half of the others.
func (d *draw) varyC(buf []byte, n int) {
	f, c, x := d.fc, d.dot.C, d.next()
	finite := c&^f.SignBit() <= f.MaxFinite()
	near := [16]uint64{8: opposite(f, c), 9: 0, 10: nextExponent(f, c, true), 11: nextExponent(f, c, false)}
	for i := range near {
		switch {
		case i < 8 || !finite:
			near[i] = c
		case i >= 12:
			near[i] = variation(f, c, d.next())
		}
	}
	w := int(f.Width)
	mma.Store(buf, w, 0, c)
	for i := 1; i < n; i++ {
		if i%16 == 0 {
			x = d.next()
		}
		mma.Store(buf, w, i, near[x&15])
		x >>= 4
	}
}
