package study

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

func TestScan(t *testing.T) {
	var from, to int
	fmt.Sscan(os.Getenv("SCAN"), &from, &to)
	all := mma.Arithmetics()
	for n := from; n < min(to, len(all)); n++ {
		i := all[n]
		t0 := time.Now()
		var rs []rival
		for _, s := range triage.Singles(i.Params, i.Formats, i.K) {
			if Equivalent(&i, &s.Params) != "" {
				continue
			}
			m, _ := sim.New(i.Formats, i.K, s.Params)
			rs = append(rs, rival{&Separation{Other: s.Knob, Change: mma.Diff(&i.Params, &s.Params)}, m})
		}
		separateWithin(&i, rs, SeparateFirst, SeparateFirst)
		left := 0
		for _, r := range rs {
			if !r.sep.Separated() {
				left++
				fmt.Println("LEFT", n, i.FullName(), r.sep.Other, r.sep.Change)
			}
		}
		fmt.Println(n, i.FullName(), left, time.Since(t0))
	}
}
