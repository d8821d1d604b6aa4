// Package fuzz runs campaigns: the engine that feeds pairs of units with the inputs
// of package gen, compares their results, and follows features of the arithmetic to
// new inputs.
//
// # Campaigns
//
// A campaign goes by epochs (schedule.go), an epoch by chunks of one source. A worker
// makes a chunk's inputs in a batch, runs both units on it, looks for results that
// differ, and takes features of a sample (worker.go); EndToEnd is that loop alone.
// Every differing case is counted in the bucket of its primary cause: programs between
// the two sides' run on batches, by the kernels of package sim (triage.Names). So no
// cause is too rare to be found. Beneath it are a bounded number of details: other
// causes that would do, combinations, classes of results (bucket.go). Of each cause one
// case is shrunk, of details as long as there is room (choose.go, explain.go). A chunk needs no new memory, and what chunks find is put together in
// the order of the plan, so that it does not show how many workers there were.
package fuzz
