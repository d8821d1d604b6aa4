package triage_test

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Why a unit, here one that computes as Hopper does, differs from Ampere's program.
func ExampleExplain() {
	known, err := mma.Lookup("ampere", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		fmt.Println(err)
		return
	}
	secret, err := mma.Lookup("hopper", known.Name)
	if err != nil {
		fmt.Println(err)
		return
	}
	unit := func(d *mma.Dot) uint64 { return oracle.Eval(&secret.Params, secret.Formats, secret.K, d) }
	pr := &triage.Unknown{Formats: known.Formats, K: known.K, Base: known.Params}
	for _, d := range gen.Probe(gen.Spec{Formats: known.Formats, K: known.K}, 1, 0, &known.Params) {
		c := triage.Case{Dot: d, Want: unit(d)}
		if oracle.Eval(&known.Params, known.Formats, known.K, d) == c.Want {
			pr.Agree = append(pr.Agree, c)
		} else {
			pr.Differ = append(pr.Differ, c)
		}
	}
	v, err := triage.Explain(context.Background(), pr)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(triage.Join(v.Labels), v.Changes)
	fmt.Println(v.Explained == v.Differ, v.Kept == v.Agree)
	// Output:
	// truncation-width [join.align.f 24→25]
	// true true
}
