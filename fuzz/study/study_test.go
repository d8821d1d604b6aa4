package study

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestSep(t *testing.T) {
	out, _ := os.Create("/tmp/sep.txt")
	for n, i := range mma.Arithmetics() {
		if n < 20 && n != 4 && n != 5 && n != 18 && n != 19 {
			continue
		}
		t0 := time.Now()
		seps, err := Mutants(&i)
		if err != nil {
			t.Fatal(err)
		}
		left, arg := 0, 0
		for _, s := range seps {
			if s.Argument != "" {
				arg++
			}
			if !s.Separated() && s.Argument == "" {
				left++
				fmt.Fprintln(out, "LEFT", i.FullName(), s.Other, s.Change)
			}
			if s.Separated() && s.Argument != "" {
				fmt.Fprintln(out, "WRONG", s.Argument, i.FullName(), s.Other, s.Change, s.First)
			}
		}
		fmt.Fprintln(out, n, i.FullName(), i.Params, len(seps), "argued", arg, "left", left, time.Since(t0))
	}
}
