// Command table measures how long fuzzing engines take to find planted faults, and makes
// fuzz/engine/TABLE.md of it. It needs Linux and clang.
//
//	go run ./fuzz/engine/table                  the runs that are missing, then the table
//	go run ./fuzz/engine/table --only width     those of faults whose names match
//	go run ./fuzz/engine/table --text           the table alone
//
// Every engine runs one process at a time on the same harness (package fuzz/engine) with
// the same inputs to begin with; mmafuzz runs its campaign. A run counts its executions, and
// the processor time of all its processes including their start, until the fault shows.
// fuzz/engine/testdata/runs.tsv has each run; delete lines to have them made again. A run
// ends after --cpu of processor time without a find. Of each engine and fault there are
// three runs, and if these took less than that together, ten.
//
// The seeds 1 to 10 are those of mmafuzz, of libFuzzer and of Go's mutator; go-fuzz takes
// none, so that its runs differ from time to time. Processor times do, too.
package main
