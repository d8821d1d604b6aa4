package gen

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/mmafuzz/mmafuzz/fuzz/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// rawWords fills every buffer with random bits: the words of the tile's own stream, many of
// which can be made at once.
func rawWords(d *draw, b *mma.Batch, tile int) {
	if d.bytes != nil {
		rawTile(d, b, tile)
		return
	}
	blocks := b.Blocks(b.K)
	w := rawPart(d, b.A, b.Formats.A, b.M*b.K, tile, 0)
	w = rawPart(d, b.B, b.Formats.B, b.N*b.K, tile, w)
	w = rawPart(d, b.C, b.Formats.C, b.M*b.N, tile, w)
	w = rawPart(d, b.SA, b.Scale, b.M*blocks, tile, w)
	rawPart(d, b.SB, b.Scale, b.N*blocks, tile, w)
}

// rawPart fills a tile's n codes of an operand with the words from w on, and returns
// where the next operand's begin.
func rawPart(d *draw, buf []byte, id fp.ID, n, tile int, w uint32) uint32 {
	if id == fp.None {
		return w
	}
	n *= id.Width()
	buf = buf[tile*n:][:n]
	simd.Words(buf, d.state, w)
	maskCodes(buf, id)
	return w + uint32(n+3)/4
}

// rawTile is the first version of rawWords, which makes one number after the other.
func rawTile(d *draw, b *mma.Batch, tile int) {
	ps, n := parts(b)
	for _, p := range ps[:n] {
		buf := p.tile(tile)
		i := 0
		for ; i+8 <= len(buf); i += 8 {
			binary.LittleEndian.PutUint64(buf[i:], d.next())
		}
		for x := d.next(); i < len(buf); i++ {
			buf[i] = byte(x)
			x >>= 8
		}
		maskCodes(buf, p.id)
	}
}

// maskCodes clears the bits above a code, which containers of FP6, FP4 and some described
// formats have.
func maskCodes(buf []byte, id fp.ID) {
	f := id.Get()
	w := int(f.Width)
	if int(f.CodeBits()) < 8*w {
		for i := range len(buf) / w {
			mma.Store(buf, w, i, mma.Load(buf, w, i)&f.CodeMask())
		}
	}
}

// operandPart is one buffer of a batch.
type operandPart struct {
	buf  []byte
	id   fp.ID
	rows int // per tile
	cols int
}

// parts returns the buffers of a batch that are in use, the first n of ps.
func parts(b *mma.Batch) (ps [5]operandPart, n int) {
	add := func(buf []byte, id fp.ID, rows, cols int) {
		if id != fp.None {
			ps[n] = operandPart{buf, id, rows, cols}
			n++
		}
	}
	blocks := b.Blocks(b.K)
	add(b.A, b.Formats.A, b.M, b.K)
	add(b.B, b.Formats.B, b.N, b.K)
	add(b.C, b.Formats.C, b.M, b.N)
	add(b.SA, b.Scale, b.M, blocks)
	add(b.SB, b.Scale, b.N, blocks)
	return ps, n
}

// tile returns a tile's share of a buffer.
func (p *operandPart) tile(t int) []byte {
	n := p.rows * p.cols * p.id.Width()
	return p.buf[t*n:][:n]
}

// valueTile fills a tile with values of a distribution, rounded to nearest even;
// scales are powers of two from 1/4 to 4.
func valueTile(value func(*draw) float64) func(*draw, *mma.Batch, int) {
	return func(d *draw, b *mma.Batch, tile int) {
		ps, n := parts(b)
		for _, p := range ps[:n] {
			f := p.id.Get()
			buf := p.tile(tile)
			for i := range p.rows * p.cols {
				var x float64
				if p.id == b.Scale && !f.Signed {
					x = math.Ldexp(1, d.between(-2, 2))
				} else {
					x = value(d)
				}
				mma.Store(buf, int(f.Width), i, f.FromFloat64(x))
			}
		}
	}
}

// samples are the codes of values of a distribution that were drawn once, and a mask of the
// last bits of their fractions, which are drawn anew each time.
type samples struct {
	codes [1 << 12]uint64
	fresh uint64 // mask
}

// sampleKey is what samples depend on.
type sampleKey struct {
	distribution string
	format       fp.ID
}

const sampledBits = 7 // leading bits of a fraction that a sample gives

// sampleTile is valueTile of values that are picked from samples, which is many times
// faster. 4,096 samples (sign, exponent, leading bits) represent a distribution well enough.
func sampleTile(name string, value func(*draw) float64) func(*draw, *mma.Batch, int) {
	return func(d *draw, b *mma.Batch, tile int) {
		ps, n := parts(b)
		for _, p := range ps[:n] {
			f, buf := p.id.Get(), p.tile(tile)
			if p.id == b.Scale && !f.Signed {
				for i := range p.rows * p.cols {
					mma.Store(buf, int(f.Width), i, f.FromFloat64(math.Ldexp(1, d.between(-2, 2))))
				}
				continue
			}
			s := samplesOf(name, f, value)
			for i := range p.rows * p.cols {
				x := d.next()
				mma.Store(buf, int(f.Width), i, s.codes[x%uint64(len(s.codes))]^x>>12&s.fresh)
			}
		}
	}
}

// sampled has what samplesOf has made so far: *samples by sampleKey.
var sampled sync.Map

// samplesOf returns the samples of a distribution in a format.
func samplesOf(name string, f *fp.Format, value func(*draw) float64) *samples {
	key := sampleKey{name, f.ID}
	if s, ok := sampled.Load(key); ok {
		return s.(*samples)
	}
	d, s := &draw{}, &samples{} // always the same ones
	for i := range s.codes {
		s.codes[i] = f.FromFloat64(value(d))
	}
	if n := int(f.FracBits) - sampledBits; n > 0 {
		s.fresh = (1<<n - 1) << f.Low
	}
	sampled.Store(key, s)
	return s
}

// unit returns a number in [0, 1) of 53 random bits.
func (d *draw) unit() float64 { return float64(d.next()>>11) / (1 << 53) }

func uniformValue(d *draw) float64 { return 2*d.unit() - 1 }

// normalValue is the sum of 12 uniform values less 6: standard normal to within
// the needs of a test, and the same bits on every machine, which a logarithm or
// a cosine would not be.
func normalValue(d *draw) float64 {
	s := -6.0
	for range 4 {
		// Three values of 21 bits from one draw.
		x := d.next()
		s += float64(x&(1<<21-1))/(1<<21) + float64(x>>21&(1<<21-1))/(1<<21) + float64(x>>42&(1<<21-1))/(1<<21)
	}
	return s
}

func dnnValue(d *draw) float64 {
	x := normalValue(d)
	if d.oneIn(1000) {
		x += float64(10 * normalValue(d)) // N(0, 100): variance 100; the conversion forbids fusing
	}
	return x
}
