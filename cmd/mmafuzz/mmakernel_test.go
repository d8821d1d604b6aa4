package main

import (
	"context"
	"os"

	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// mmakernel is a child process that multiplies FP32 matrices as a kernel says:
//
//	mmakernel FILE MxNxK [flips|changes]
//
// One that flips is wrong where its results end in the bits 101; the first result of one that
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
	s, err := parseShape(os.Args[2])
	if err != nil {
		die(err)
	}
	bad := append(os.Args, "")[3]
	requests := 0
	one := func(n int) mma.Range { return mma.Range{Min: n, Max: n, Step: 1} }
	stdout, err := child.Stdout()
	if err != nil {
		die(err)
	}
	if err := child.Serve(os.Stdin, stdout, child.Options{}, child.Instruction{
		Name: "matmul", Formats: mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}, K: s.K, M: one(s.M), N: one(s.N),
		Run: func(in *mma.Batch, out []byte) error {
			requests++
			for t := range in.Tiles {
				p := in.Part(t, 1)
				d, _, err := gemm.Multiply(context.Background(), k, &gemm.Operands{Shape: s, A: p.A, B: p.B}, gemm.Options{Workers: 1})
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
			}
			return nil
		},
	}); err != nil {
		die(err)
	}
}
