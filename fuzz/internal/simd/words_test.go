package simd

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestWords checks that every part of a stream is the same made alone, with vector
// instructions and without.
func TestWords(t *testing.T) {
	for _, key := range []uint64{0, 1, 0x0123456789abcdef, math.MaxUint64} {
		complete := make([]byte, 1000)
		portableWords(complete, key, math.MaxUint32-100)
		for first := range uint32(20) {
			for n := range 200 {
				got := make([]byte, n)
				Words(got, key, math.MaxUint32-100+first)
				if !bytes.Equal(got, complete[4*first:][:n]) {
					t.Fatalf("key %x: %d bytes from word %d differ", key, n, first)
				}
			}
		}
	}
	// The stream is what cases are named by.
	var got [12]byte
	Words(got[:], 0x0123456789abcdef, 7)
	if want := [12]byte{}; got == want {
		t.Fatal("nothing was written")
	}
	for i, want := range []uint32{0x4127feae, 0x6543acbb, 0x143d05d0} {
		if w := binary.LittleEndian.Uint32(got[4*i:]); w != want {
			t.Errorf("word %d is %08x, want %08x", 7+i, w, want)
		}
	}
}

// TestBits checks what a stream of random bits has: every bit half of the time set,
// independent of its neighbours in the word, of the same bit in the next word, and
// of that in the stream of the next key. With 2^16 words a count is within 6
// standard deviations, 6 * 2^8 / 2.
func TestBits(t *testing.T) {
	const n, limit = 1 << 16, 6 * 128
	var ones, next, along, across [32]int
	x, y := make([]byte, 4*(n+1)), make([]byte, 4*(n+1))
	Words(x, 0x9e3779b97f4a7c15, 0)
	Words(y, 0x9e3779b97f4a7c16, 0)
	for i := range n {
		w := binary.LittleEndian.Uint32(x[4*i:])
		count(&ones, w)
		count(&next, w^bits.RotateLeft32(w, 1))
		count(&along, w^binary.LittleEndian.Uint32(x[4*i+4:]))
		count(&across, w^binary.LittleEndian.Uint32(y[4*i:]))
	}
	for name, c := range map[string]*[32]int{"set": &ones, "unlike the next": &next, "unlike the next word's": &along, "unlike the next key's": &across} {
		for bit, k := range c {
			if k < n/2-limit || k > n/2+limit {
				t.Errorf("bit %d is %s %d times in %d", bit, name, k, n)
			}
		}
	}
}

// TestBytes checks by chi-square that the 2^16 values of neighbouring bytes are equally
// frequent, along a stream and in the streams of 2^14 keys: of 65,535
// degrees of freedom it is within 6 standard deviations of 362.
func TestBytes(t *testing.T) {
	const n, bins, limit = 1 << 20, 1 << 16, 6 * 362
	for what, fill := range map[string]func(buf []byte){
		"one stream": func(buf []byte) { Words(buf, 1, 0) },
		"streams of many keys": func(buf []byte) {
			r := rand.New(rand.NewPCG(1, 2))
			for key := range n / 64 {
				Words(buf[64*key:][:64], r.Uint64(), 0)
			}
		},
		"streams of neighbouring keys": func(buf []byte) {
			for key := range n / 64 {
				Words(buf[64*key:][:64], uint64(key), 0)
			}
		},
	} {
		buf := make([]byte, n)
		fill(buf)
		var seen [bins]int
		for i := range n - 1 {
			seen[binary.LittleEndian.Uint16(buf[i:])]++
		}
		chi := 0.0
		const expected = float64(n-1) / bins
		for _, k := range seen {
			d := float64(k) - expected
			chi += d * d / expected
		}
		if math.Abs(chi-(bins-1)) > limit {
			t.Errorf("%s: chi-square %.0f of %d", what, chi, bins-1)
		}
	}
}

func count(c *[32]int, w uint32) {
	for i := range c {
		c[i] += int(w >> i & 1)
	}
}

func BenchmarkWords(b *testing.B) {
	buf := make([]byte, 1280) // an FP16 tile
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		Words(buf, 1, 0)
	}
}
