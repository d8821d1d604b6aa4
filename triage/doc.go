// Package triage explains why two units differ: it looks for the smallest change of the
// parameter program of one that makes it compute what the other does, names the cause,
// and attributes every differing case to a cause.
//
// A label is earned by evidence. A hypothesis, which is a mutant of a known program,
// holds if it explains every differing case that is known and breaks none of the agreeing
// ones; where several hold, a search finds an input on which they differ and the unit is
// asked about it. What no hypothesis explains is labelled unexplained.
//
// # The files
//
//	explain.go      Explain: the search for the smallest change
//	candidates.go   its steps: one decision of a designer first, any values of all parameters last
//	codes.go        which explanations are about numbers, and not about signs of zeros and NaNs
//	separate.go     inputs that tell hypotheses apart, and those that put one to the test
//	catalog.go      the programs of the catalogue, which are hypotheses too
//	plain.go        sums as kernels write them, which are hypotheses too
//	nearest.go      what comes nearest where nothing explains the unit
//	between.go      the programs between two: parts of their difference
//	known.go        the verdict where both programs are known: nothing is searched for
//	label.go        the labels, and which change of a program earns which
//	witness.go      the smallest input that shows a difference of two programs
//	attributor.go   Attributor: which labels it takes to make two programs agree on a case
//	attribution.go  Attribution: the same for many cases at once
//	cause.go        Cause: the labels that one case needs
//
// Mutants are made by package triage/change, cases are kept by package
// triage/internal/evidence, and package triage/internal/search goes from one program to the
// next; package triage/infer, which finds a program without knowing one to start from, uses
// all of them.
//
// # Adding a label
//
// A label is one constant in label.go, a row of labelDocs there, and the label of the
// parameters that it stands for in their rows of package mma. A change that sets several fields at once is a row of
// package change. A test checks that every field of mma.Params has a label. Regression
// cases go to testdata/LABEL.case.
package triage
