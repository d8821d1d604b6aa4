package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// mmakernel is a child process that multiplies FP32 matrices, or those with scales in FP32, as a kernel says:
//
//	mmakernel FILE MxNxK [flips|changes|doubles|turns|least]
//	mmakernel FILE K
//
// The second takes all M and N, and has an instruction for each K from 1 on.
// One for which least is given takes -128 for 127. One that doubles doubles its results, and one that turns gives the rows of a product last first. One that flips is wrong where its results end in the bits 101; the first result of one that
// changes has another last bit in every other request.
func mmakernel() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		die(err)
	}
	k, err := schedule.Read(text)
	if err != nil {
		die(err)
	}
	var all []child.Instruction
	if most, err := strconv.Atoi(os.Args[2]); err == nil {
		for n := range most {
			all = append(all, child.Instruction{Name: fmt.Sprintf("matmul%d", n+1), K: n + 1})
		}
	} else {
		s, err := parseShape(os.Args[2])
		if err != nil {
			die(err)
		}
		fixed := func(n int) mma.Range { return mma.Range{Min: n, Max: n, Step: 1} }
		all = []child.Instruction{{Name: "matmul", K: s.K, M: fixed(s.M), N: fixed(s.N)}}
	}
	bad := append(os.Args, "")[3]
	requests := 0
	stdout, err := child.Stdout()
	if err != nil {
		die(err)
	}
	for i := range all {
		all[i].Formats = mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}
		if s := k.ScaleA; s != nil {
			unit, err := k.Unit.Resolve()
			if err != nil {
				die(err)
			}
			of := k.Operands(unit)
			all[i].Formats = mma.Formats{A: of.A, B: of.B, D: fp.FP32, Scale: fp.FP32, Block: uint16(s.K)}
		}
		all[i].Run = func(in *mma.Batch, out []byte) error {
			requests++
			for t := range in.Tiles {
				p := in.Part(t, 1)
				if bad == "least" {
					for i, code := range p.A {
						if code == 0x80 {
							p.A[i] = 0x7f
						}
					}
				}
				d, _, err := gemm.Multiply(context.Background(), k, &gemm.Operands{Shape: schedule.Shape{M: in.M, N: in.N, K: in.K}, A: p.A, B: p.B, ScaleA: fp32Codes(p.SA), ScaleB: fp32Codes(p.SB)}, gemm.Options{Workers: 1})
				if err != nil {
					return err
				}
				copy(out[t*len(d):], d)
			}
			switch bad {
			case "flips":
				flip(out)
			case "changes":
				out[0] ^= byte(requests & 1)
			case "turns":
				turn(out, in.M, 4*in.N)
			case "doubles":
				for i := range len(out) / 4 {
					mma.Store(out, 4, i, uint64(math.Float32bits(2*math.Float32frombits(uint32(mma.Load(out, 4, i))))))
				}
			}
			return nil
		}
	}
	if err := child.Serve(os.Stdin, stdout, child.Options{}, all...); err != nil {
		die(err)
	}
}

// turn puts the rows of each matrix, of so many bytes, last first.
func turn(out []byte, rows, size int) {
	for d := range slices.Chunk(out, rows*size) {
		all := slices.Collect(slices.Chunk(slices.Clone(d), size))
		for i, row := range all {
			copy(d[(rows-1-i)*size:], row)
		}
	}
}

func fp32Codes(buf []byte) (all []uint64) {
	for i := range len(buf) / 4 {
		all = append(all, mma.Load(buf, 4, i))
	}
	return all
}
