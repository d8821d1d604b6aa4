package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// mmachild is a child process for the target exec, which computes an instruction
// of an architecture, with parameters changed:
//
//	mmachild [-name NAME] [-bad KIND] ARCH INSTRUCTION [PARAMETER=VALUE ...]
//
// A bad one fails on inputs whose first element of A is 1 and whose second is 0:
// it dies, prints or refuses; or its results that end in the bits 101 are wrong: it
// flips.
func mmachild() {
	args := os.Args[1:]
	flags := map[string]string{}
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		flags[args[0]], args = args[1], args[2:]
	}
	i, err := mma.Lookup(args[0], args[1])
	if err != nil {
		die(err)
	}
	p := i.Params
	for _, set := range args[2:] {
		path, value, _ := strings.Cut(set, "=")
		if err := p.Apply([]mma.Change{{Path: path, To: value}}); err != nil {
			die(err)
		}
	}
	m, err := sim.New(i.Formats, i.K, p)
	if err != nil {
		die(err)
	}
	name := i.Name
	if flags["-name"] != "" {
		name = flags["-name"]
	}
	stdout := os.Stdout // child.Main gives what is printed to stderr
	child.Main(child.Options{Deadline: 2 * time.Second, About: map[string]string{"model": "sim"}}, child.Instruction{
		Name: name, Formats: i.Formats, K: i.K,
		Run: func(in *mma.Batch, out []byte) error {
			m.Run(in, out)
			if flags["-bad"] == "flips" {
				flip(out)
			} else if flags["-bad"] != "" && guilty(in) {
				return misbehave(flags["-bad"], stdout)
			}
			return nil
		},
	})
}

func die(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// guilty says whether a batch has an input that a bad child cannot take.
func guilty(in *mma.Batch) bool {
	for row := range in.Tiles * in.M {
		if mma.Load(in.A, 2, row*in.K) == 0x3c00 && mma.Load(in.A, 2, row*in.K+1) == 0 {
			return true
		}
	}
	return false
}

// flip makes FP32 results wrong that no arithmetic explains.
func flip(out []byte) {
	for i := range len(out) / 4 {
		if d := mma.Load(out, 4, i); d&7 == 5 {
			mma.Store(out, 4, i, d^2)
		}
	}
}

func misbehave(kind string, stdout *os.File) error {
	switch kind {
	case "dies":
		fmt.Fprintln(os.Stderr, "assertion failed: exponent_ok")
		os.Exit(134)
	case "prints":
		fmt.Fprintln(stdout, "warning: subnormal seen")
	}
	return fmt.Errorf("%s", kind)
}
