// Package engine runs campaigns: package fuzz has their API.
//
// A campaign goes by epochs. The plan of an epoch (schedule.go) lists units of work: a range of
// the inputs of one source of package gen for one pair (unit.go). A worker makes a unit's inputs
// in batches, runs both sides on them, looks for results that differ, and takes features of a
// sample (worker.go, feature.go): inputs with new features are mutated later. EndToEnd is that
// loop alone. What units have found, their Results, is merged in the order of the plan
// (merge.go), so that findings do not depend on the number of workers; package finding takes
// the differing cases from there.
//
// A local campaign plans one epoch after another and computes it itself. One that is split
// over machines has all its units planned before (planned.go, package fleet); their results come
// from files, and are merged by the same code.
//
// The journal records what is done (journal.go), as a snapshot once it is long (compact.go);
// the checkpoint has the results of the units of the epoch in progress (checkpoint.go).
//
// The API of this package is not promised: it may change in any version.
package engine
