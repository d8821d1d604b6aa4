//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/harness"
)

const (
	runsFile  = "fuzz/harness/testdata/runs.tsv"
	tableFile = "fuzz/harness/TABLE.md"

	seeds = 10 // runs of each engine on each fault
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == campaignArg {
		if err := campaign(os.Args[2], os.Args[3]); err != nil {
			fail(err)
		}
		return
	}
	only := flag.String("only", "", "`pattern` of the names of faults to run")
	limit := flag.Duration("cpu", 8*time.Second, "processor time of a run without a find")
	text := flag.Bool("text", false, "run nothing, write the table of the runs that there are")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err != nil {
		fail(err)
	}
	rs, err := readRuns(runsFile)
	if err == nil && !*text {
		rs, err = measure(rs, pattern, *limit)
	}
	if err == nil {
		err = os.WriteFile(tableFile, []byte(markdown(rs)), 0o666)
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "table:", err)
	os.Exit(2)
}

// measure makes the runs that are missing.
func measure(rs []run, only *regexp.Regexp, limit time.Duration) ([]run, error) {
	dir, err := os.MkdirTemp("", "engines")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b, err := build(dir)
	if err != nil {
		return nil, err
	}
	for i := range harness.Faults {
		f := &harness.Faults[i]
		if !only.MatchString(f.Name) {
			continue
		}
		for _, e := range engines {
			for seed := 1; seed <= seeds; seed++ {
				if slices.ContainsFunc(rs, func(r run) bool { return r.is(f.Name, e.name) && r.seed == seed }) {
					continue
				}
				r, err := e.run(b, f, seed, limit)
				if err != nil {
					return nil, err
				}
				fmt.Println(r)
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
