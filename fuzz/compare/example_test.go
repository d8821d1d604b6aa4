package compare_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
	"github.com/mmafuzz/mmafuzz/fuzz/record"
)

// plan is of one instruction and few inputs.
const plan = `{"v":1,"name":"example","seed":1,"entries":[{"instructions":["mma.m16n8k8.f32.f16.f16.f32"],
	"inputs":[{"source":"cut@1","count":500}]}]}`

// recordOf records a target.
func recordOf(target, file, name string) error {
	p, err := corpus.ReadPlan(strings.NewReader(plan))
	if err != nil {
		return err
	}
	t, err := devices.Open(target)
	if err != nil {
		return err
	}
	defer t.Close()
	_, err = record.Run(context.Background(), record.Config{Target: t, Plan: p, File: file, Name: name})
	return err
}

// Example compares the recordings of two machines: an A100 and an H100, if they computed
// as their models.
func Example() {
	dir, err := os.MkdirTemp("", "compare")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var sides []*compare.Side
	for _, x := range [][2]string{{"sim:hopper", "h100"}, {"sim:ampere", "a100"}} {
		target, name := x[0], x[1]
		file := filepath.Join(dir, name+".rec")
		if err := recordOf(target, file, name); err != nil {
			log.Fatal(err)
		}
		side, err := compare.Open(file)
		if err != nil {
			log.Fatal(err)
		}
		defer side.Target.Close()
		sides = append(sides, side)
	}
	c, err := compare.New(sides, compare.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := c.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range result.Differences {
		fmt.Printf("%s and %s differ by %s: %v\n", d.A, d.B, d.Bucket, d.Changes)
	}
	// Output:
	// h100 and a100 differ by truncation-width: [join.align.f 25→24]
}
