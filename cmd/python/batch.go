package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// partProducts is about how many products a part of a batch has: some milliseconds of the
// fastest kernels, and a quarter of a second of the slowest, after which a run can end.
const partProducts = 1 << 22

// momentProducts is how many products a simulator computes while a goroutine would start and
// be waited for.
const momentProducts = 1 << 17

// newBatch returns a batch in buffers that somebody else owns, or an error if one has the
// wrong size.
func newBatch(f mma.Formats, s mma.Shape, a, b, c, sa, sb, d []byte) (*mma.Batch, error) {
	in := &mma.Batch{Formats: f, Shape: s, A: a, B: b, C: c, SA: sa, SB: sb}
	dots, scales := s.Dots(), s.Tiles*f.Blocks(s.K)
	for _, buf := range []struct {
		name      string
		got, want int
	}{
		{"a", len(a), s.Tiles * s.M * s.K * f.A.Width()}, {"b", len(b), s.Tiles * s.N * s.K * f.B.Width()},
		{"c", len(c), dots * f.C.Width()}, {"d", len(d), dots * f.D.Width()},
		{"sa", len(sa), s.M * scales * f.Scale.Width()}, {"sb", len(sb), s.N * scales * f.Scale.Width()},
	} {
		if buf.got != buf.want {
			return nil, fmt.Errorf("%s has %d bytes, and should have %d", buf.name, buf.got, buf.want)
		}
	}
	return in, nil
}

// moment is how long a batch may be computed in the thread of a caller, who could not interrupt it.
const moment = 20 * time.Millisecond

// runNow computes parts of a batch in the calling thread, which has the caller's caches, and returns how
// many of them: those of the first moment, and of a batch for several workers only one that is small.
func runNow(u devices.Unit, in *mma.Batch, out []byte, workers int) (done int, err error) {
	if u.Model() == nil {
		return 0, nil // of others it is not known how long they take
	}
	n, of := parts(in, workers)
	if workers > 1 && in.Dots()*in.K > momentProducts {
		return 0, nil
	}
	for began := time.Now(); done < n && err == nil && time.Since(began) < moment; done++ {
		part, d := of(done)
		err = u.Run(context.Background(), part, outputs(in, out, d, part.Dots()))
	}
	return done, err
}

// runParts runs a unit on the parts of a batch from one on, on some goroutines at once.
func runParts(ctx context.Context, u devices.Unit, in *mma.Batch, out []byte, workers, from int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	n, of := parts(in, workers)
	parallel.For(workers, n-from, func(i int) {
		if ctx.Err() != nil {
			return
		}
		part, d := of(from + i)
		if err := parallel.Guarded(func() error { return u.Run(ctx, part, outputs(in, out, d, part.Dots())) }); err != nil {
			cancel(err)
		}
	})
	return context.Cause(ctx)
}

// outputs is the part of D that begins at dot product number from.
func outputs(in *mma.Batch, out []byte, from, n int) []byte {
	w := in.D.Width()
	return out[from*w:][:n*w]
}

// parts divides a batch: by tiles, or a single tile by its rows. It returns the number of parts
// and a function that makes one, with the number of its first dot product.
func parts(in *mma.Batch, workers int) (n int, of func(i int) (part *mma.Batch, dot int)) {
	units, dots := in.Tiles, in.M*in.N
	if in.Tiles == 1 {
		units, dots = in.M, in.N
	}
	size := max(1, partProducts/max(1, dots*in.K))
	size = min(size, max(1, (units+workers-1)/workers))
	return (units + size - 1) / size, func(i int) (*mma.Batch, int) {
		from, to := i*size, min(units, (i+1)*size)
		return slice(in, from, to), from * dots
	}
}

// slice returns the tiles, or of a single tile the rows, from..to-1, in the same buffers.
func slice(in *mma.Batch, from, to int) *mma.Batch {
	b := *in
	cut := func(buf []byte, n int) []byte { return buf[from*n : to*n] }
	k, s := in.K, in.Blocks(in.K)
	rows, outputs := in.M, in.M*in.N
	if in.Tiles == 1 {
		b.M, rows, outputs = to-from, 1, in.N
	} else {
		b.Tiles = to - from
		b.B = cut(in.B, in.N*k*in.Formats.B.Width())
		b.SB = cut(in.SB, in.N*s*in.Scale.Width())
	}
	b.A = cut(in.A, rows*k*in.Formats.A.Width())
	b.SA = cut(in.SA, rows*s*in.Scale.Width())
	b.C = cut(in.C, outputs*in.Formats.C.Width())
	return &b
}

// transposed returns the columns of a matrix of n columns, one after the other.
func transposed(matrix []byte, n, width int) []byte {
	out := make([]byte, 0, len(matrix))
	for column := range n {
		for at := column * width; at < len(matrix); at += n * width {
			out = append(out, matrix[at:at+width]...)
		}
	}
	return out
}

// stored is how a product has codes of less than a byte.
type stored int64

const (
	asCodes  stored = iota
	inBytes         // as MMA-Sim has them: FP4 up by two bits; what is above FP6 and a UE4M3 scale does not count
	twoAByte        // the same, but FP4 two to a byte, the first in the high half
)

// bytes is how many bytes k codes of FP4 take.
func (s stored) bytes(k int) int {
	if s == twoAByte {
		return k / 2
	}
	return k
}

// codes returns the codes of a format.
func (s stored) codes(f fp.ID, x []byte) []byte {
	if s == asCodes {
		return x
	}
	shift, mask := 0, byte(0)
	switch f {
	case fp.E2M1:
		if s == twoAByte {
			out := make([]byte, 0, 2*len(x))
			for _, c := range x {
				out = append(out, c>>4, c&15)
			}
			return out
		}
		shift, mask = 2, 15
	case fp.E3M2, fp.E2M3:
		mask = 63
	case fp.UE4M3:
		mask = 127
	default:
		return x
	}
	out := make([]byte, len(x))
	for i, c := range x {
		out[i] = c >> shift & mask
	}
	return out
}
