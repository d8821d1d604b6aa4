//go:build linux

package main

import (
	"os"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/harness"
)

// TestTable checks that the table is that of the runs.
func TestTable(t *testing.T) {
	rs, err := readRuns("../testdata/runs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("../TABLE.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(table) != markdown(rs) {
		t.Error("TABLE.md is not that of testdata/runs.tsv: go run ./fuzz/harness/table --text")
	}
	if n := len(engines); len(rs) != seeds*n*len(harness.Faults) {
		t.Errorf("%d runs, want %d of each engine on each fault", len(rs), seeds)
	}
}
