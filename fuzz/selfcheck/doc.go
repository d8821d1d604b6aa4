// Package selfcheck measures the project: the fast models against the oracle, the
// generators, the triage, the causes that it finds, the minimizer and inference. Each
// measurement is a command,
//
//	mmafuzz selfcheck models|generators|proofs|pairs|triage|changes|minimizer|infer|causes --out FILE
//
// whose summary is a table with one row for each thing that was measured. The tables are
// kept under testdata. Every row carries a digest of the data that it depends on
// (digest.go), so that a change makes few rows stale: a new arithmetic those that it is in, a new generator its column in the table of mutants and all rows of
// pairs and causes, a new label all rows of causes. The same command measures what is stale
// in an existing FILE and keeps the rest. The tests of this package fail when a row is stale,
// check what the tables must show, and measure a sample of the rows again. --full FILE writes
// every single measurement as well; that data is too large to commit. go generate writes
// TABLES.md and the tables of the project's README.
//
// A mutant is an arithmetic with one parameter changed (package triage/change, Decisions).
// If no input can tell it from its base, a written argument says why (equivalent.go), which
// package prove proves or refutes if it can (proofs.go).
//
// The API of this package is not promised: it may change in any version.
package selfcheck

//go:generate go run ./mktables
