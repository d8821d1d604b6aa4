// Package study measures the project: the fast models against the oracle, the
// generators, the triage and the minimizer. Each measurement is a command,
//
//	mmafuzz selfcheck models|generators|triage|minimizer --out FILE
//
// whose table is kept under testdata with a digest of what it was made from:
// arithmetics, mutants, versions of generators, limits. The tests of this package
// fail when a table is out of date, check what the tables must show, and make a
// sample of their rows anew. go generate writes TABLES.md and the tables of the
// project's README from them.
//
// A mutant is an arithmetic with one knob turned (package triage, Singles). Where
// no input can tell it from its base, a written argument says why (Equivalent).
package study

//go:generate go run ./mktables
