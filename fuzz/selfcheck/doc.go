// Package selfcheck measures the project: the fast models against the oracle, the
// generators, the triage, the causes that it finds, the minimizer and inference. All of it is
// tests. Each measurement has a table under testdata, with one row for each thing that was
// measured, and
//
//	go test ./fuzz/selfcheck -update -timeout 0
//
// measures the rows that are missing or stale; -run chooses tables by the names of their
// tests, -v prints every single measurement, and with -tables and an empty directory
// everything is measured again (.ci/nightly studies). It also writes
// the pages made of them: TABLES.md, SPEED.md, PEERS.md and devices/replay/SILICON.md.
//
// Every row carries a digest of the data that it depends on (digest_test.go). Without -update
// the tests fail when a row is stale, check what the tables must show, and measure a sample
// of the rows again. A row that is missing is no fault: a test says that it is not measured
// yet. So a new arithmetic fails nothing; a new generator makes its column in the table of
// mutants and all rows of pairs and causes stale, a new label all rows of causes.
//
// A mutant is an arithmetic with one design decision changed (package triage/change,
// Decisions); the units of the table changes are drawn from all values of all parameters.
// If no input can tell it from its base, a written argument says why (package
// triage/prove/argued), which package prove proves or refutes if it can.
//
// The API of this package is not promised: it may change in any version.
package selfcheck
