//go:build unix

package main

import (
	"context"
	"os"
	"slices"
	"syscall"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() { programs["mmaprints"] = mmaprints }

// mmaprints is mmafuzz serve with targets that print like C libraries, to file descriptor 1
// whatever os.Stdout is: prints:ampere is sim:ampere otherwise.
func mmaprints() {
	devices.Register("prints", func(arch string) (devices.Target, error) {
		printf("a driver was loaded")
		t, err := devices.Open("sim:" + arch)
		return printingTarget{t}, err
	}, "a simulator that prints")
	os.Args = slices.Insert(os.Args, 1, "serve")
	main()
}

func printf(text string) { _, _ = syscall.Write(1, []byte(text+"\n")) }

type printingTarget struct{ devices.Target }

func (t printingTarget) Open(i *mma.Instruction) (devices.Unit, error) {
	u, err := t.Target.Open(i)
	return printingUnit{u}, err
}

type printingUnit struct{ devices.Unit }

func (u printingUnit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	printf("a kernel was run")
	return u.Unit.Run(ctx, in, out)
}
