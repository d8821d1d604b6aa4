package study

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestSep(t *testing.T) {
	var from, to int
	fmt.Sscan(os.Getenv("SEP"), &from, &to)
	out, _ := os.OpenFile("/tmp/sep.txt", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	os.MkdirAll("/tmp/sep", 0o777)
	all := mma.Arithmetics()
	for n, i := range all {
		if n < from || n >= to {
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
		pairs, err := Pairs(&i, all[n+1:])
		if err != nil {
			t.Fatal(err)
		}
		f, _ := os.Create(fmt.Sprintf("/tmp/sep/%02d.tsv", n))
		WriteSeparations(f, append(seps, pairs...))
		f.Close()
	}
}
