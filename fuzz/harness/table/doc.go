// Command table measures how long fuzzing engines take to find planted faults, and writes
// fuzz/harness/TABLE.md. It needs Linux and clang.
//
//	go run ./fuzz/harness/table                  makes the runs that are missing, then the table
//	go run ./fuzz/harness/table --only width     only the runs on faults whose names match
//	go run ./fuzz/harness/table --text           only the table
//
// Every engine runs one process at a time on the same harness (package fuzz/harness) with
// the same inputs to begin with; mmafuzz runs its campaign. A run counts its executions, and
// the processor time of all its processes including their start, until the fault shows.
// fuzz/harness/testdata/runs.tsv has each run; delete lines to have them made again. A run
// ends after --cpu of processor time without a find.
//
// The ten runs of each engine on each fault have the seeds 1 to 10 for mmafuzz, libFuzzer and
// Go's mutator. go-fuzz takes no seed, so that its runs differ from time to time, as all
// processor times do.
package main
