//go:build linux

// Package table measures how long fuzzing engines take to find planted faults, and writes
// fuzz/harness/TABLE.md. It needs Linux and clang.
//
//	go test ./fuzz/harness/table -update -timeout 0               makes the runs that are missing, then the table
//	go test ./fuzz/harness/table -update -timeout 0 -only width   only the runs on faults whose names match
//
// Every engine runs one process at a time on the same harness (package fuzz/harness) with
// the same inputs to begin with; mmafuzz runs its campaign. A run counts its executions, and
// the processor time of all its processes including their start, until the fault shows.
// fuzz/harness/testdata/runs.tsv has each run; delete lines to have them made again. A run
// ends after -limit of processor time without a find.
//
// The ten runs of each engine on each fault have the seeds 1 to 10 for mmafuzz, libFuzzer and
// Go's mutator. go-fuzz takes no seed, so that its runs differ from time to time, as all
// processor times do.
package table

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/harness"
)

const (
	root      = "../../.."
	runsFile  = "../testdata/runs.tsv"
	tableFile = "../TABLE.md"

	seeds = 10 // runs of each engine on each fault
)

var (
	update = flag.Bool("update", false, "make the runs that are missing, and write TABLE.md")
	only   = flag.String("only", "", "`pattern` of the names of faults to run")
	limit  = flag.Duration("limit", 8*time.Second, "processor time of a run without a find")
)

// TestMain lets the test program be mmafuzz, in a run.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == campaignArg {
		if err := campaign(os.Args[2], os.Args[3]); err != nil {
			fail(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "table:", err)
	os.Exit(2)
}

// TestTable checks that the table is that of the runs. With -update it makes them first.
func TestTable(t *testing.T) {
	rs, err := readRuns(runsFile)
	if err == nil && *update {
		if rs, err = measure(t, rs); err == nil {
			err = os.WriteFile(tableFile, []byte(markdown(rs)), 0o666)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(table) != markdown(rs) {
		t.Error("TABLE.md is not that of testdata/runs.tsv: go test ./fuzz/harness/table -update -timeout 0")
	}
	if n := len(engines); len(rs) != seeds*n*len(harness.Faults) {
		t.Errorf("%d runs, want %d of each engine on each fault", len(rs), seeds)
	}
}

// measure makes the runs that are missing.
func measure(t *testing.T, rs []run) ([]run, error) {
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return nil, err
	}
	var b *built
	for i := range harness.Faults {
		f := &harness.Faults[i]
		for _, e := range engines {
			for seed := 1; seed <= seeds; seed++ {
				if !pattern.MatchString(f.Name) || slices.ContainsFunc(rs, func(r run) bool { return r.is(f.Name, e.name) && r.seed == seed }) {
					continue
				}
				if b == nil {
					if b, err = build(t.TempDir()); err != nil {
						return nil, err
					}
				}
				r, err := e.run(b, f, seed, *limit)
				if err != nil {
					return nil, err
				}
				t.Log(r)
				rs = append(rs, r)
				if err := writeRuns(runsFile, rs); err != nil {
					return nil, err
				}
			}
		}
	}
	return rs, nil
}

// built has the directory of the runs and the programs of the engines.
type built struct{ dir, self, test, zip, goFuzz, libFuzzer string }

func (b *built) file(name string) string { return filepath.Join(b.dir, name) }
