package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
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
// flips, or those that a hash chooses: it scatters; or a bit of its first result changes from one request to the next: it
// changes; or it is slow; or its results are short of a digit; or it dies of every
// hundredth request, whatever that is, which makes it tired; or from the twentieth request
// on it is gone, or hangs, as long as there is a file of that name; or it is flaky, as
// long as there is a file of that name: one in a hundred of its results has a bit flipped;
// or it is shaky: one in fifty has; or it is mortal: it dies after 200 dot products, whatever they
// are; or it drifts: after 3000 of them every result has its lowest bit flipped;
// or it is stuck: bit 3 of the sixth result of every batch is always 1;
// or it stalls, as long as there is a file of that name: it answers twenty requests;
// or the last bit of a result is lost right after an infinite one: remembers;
// or the last bit of its results is lost in tiles of several rows, which are batched, or where
// OMP_NUM_THREADS is more than 1: threads.
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
	if flags["-bad"] == "short" {
		short(i)
		return
	}
	name := i.Name
	if flags["-name"] != "" {
		name = flags["-name"]
	}
	requests, dots := 0, 0
	infinite := false
	rng := rand.New(rand.NewPCG(1, 2))
	deadline := 2 * time.Second
	if flags["-bad"] == "hangs" {
		deadline = time.Second // busy processors may take as long for a first answer
	}
	if flags["-bad"] == "stalls" {
		deadline = time.Hour
	}
	stdout, err := child.Stdout()
	if err != nil {
		die(err)
	}
	if err := child.Serve(os.Stdin, stdout, child.Options{Deadline: deadline, About: map[string]string{"model": "sim"}}, child.Instruction{
		Name: name, Formats: i.Formats, K: i.K,
		Run: func(in *mma.Batch, out []byte) error {
			m.Run(in, out)
			requests++
			dots += in.Dots()
			switch bad := flags["-bad"]; {
			case bad == "flips":
				flip(out)
			case bad == "scatters":
				scatter(out)
			case bad == "changes":
				out[0] ^= byte(requests & 1)
			case bad == "batched" || bad == "threads":
				loseLast(in, out, bad == "batched" && in.M > 1 || bad == "threads" && os.Getenv("OMP_NUM_THREADS") > "1")
			case bad == "remembers":
				for n := range in.Dots() {
					code := mma.Load(out, 4, n)
					if infinite {
						mma.Store(out, 4, n, code&^1)
					}
					infinite = code&0x7fffffff == 0x7f800000
				}
			case bad == "stuck":
				if in.Dots() > 5 {
					out[5*i.D.Width()] |= 8
				}
			case bad == "slow":
				time.Sleep(time.Second)
			case bad == "tired" && requests%100 == 0:
				return misbehave("dies", stdout)
			case bad == "gone" || bad == "hangs":
				return dieForGood(bad, requests, stdout)
			case bad == "stalls":
				stall(requests)
			case bad == "flaky":
				if _, err := os.Stat("flaky"); err == nil {
					mistake(out, rng, 100)
				}
			case bad == "shaky":
				mistake(out, rng, 50)
			case bad == "mortal":
				if dots > 200 {
					return misbehave("dies", stdout)
				}
			case bad == "drifts":
				for i := 0; i < len(out) && dots > 3000; i += 4 {
					out[i] ^= 1
				}
			case bad != "" && guilty(in):
				return misbehave(bad, stdout)
			}
			return nil
		},
	}); err != nil {
		die(err)
	}
}

// short answers in text, with one digit for every result.
func short(i *mma.Instruction) {
	fmt.Printf("mmafuzz-exec 1 text\ninstruction %s\nready\n", i.Name)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println("0")
	}
}

func die(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// guilty reports whether a batch has an input that a bad child cannot take.
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

// scatter flips a bit of FP32 results that a hash chooses: no rule says of which.
func scatter(out []byte) {
	for i := range len(out) / 4 {
		h := fnv.New32a()
		h.Write(out[4*i : 4*i+4])
		if h.Sum32()>>11&15 == 5 {
			out[4*i] ^= 2
		}
	}
}

// loseLast clears the last bit of FP32 results, if that is so.
func loseLast(in *mma.Batch, out []byte, so bool) {
	for i := range in.Dots() {
		if so {
			out[4*i] &^= 1
		}
	}
}

// mistake flips one of the low bits of one result in so many.
func mistake(out []byte, rng *rand.Rand, in int) {
	for i := range len(out) / 4 {
		if rng.IntN(in) == 0 {
			out[4*i] ^= 1 << rng.IntN(3)
		}
	}
}

// stall does not answer from some request on.
func stall(requests int) {
	if _, err := os.Stat("stalls"); err == nil && requests > 20 {
		time.Sleep(time.Hour) // until it is killed
	}
}

// dieForGood dies or hangs from a request on, and so does every other child.
func dieForGood(mark string, requests int, stdout io.Writer) error {
	if _, err := os.Stat(mark); err != nil {
		if requests < 20 {
			return nil
		}
		if err := os.WriteFile(mark, nil, 0o666); err != nil {
			die(err)
		}
	}
	if mark == "hangs" {
		time.Sleep(time.Hour) // until it is killed
	}
	return misbehave("dies", stdout)
}

func misbehave(kind string, stdout io.Writer) error {
	switch kind {
	case "dies":
		fmt.Fprintln(os.Stderr, "assertion failed: exponent_ok")
		os.Exit(134)
	case "prints":
		fmt.Fprintln(stdout, "warning: subnormal seen")
	}
	return fmt.Errorf("%s", kind)
}
