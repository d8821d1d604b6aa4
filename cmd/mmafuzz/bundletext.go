package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// traceJSON writes a side's steps.
func traceJSON(s *report.Side, d fp.ID) ([]byte, error) {
	body, err := json.MarshalIndent(report.StepsOf(s, d), "", "  ")
	return append(body, '\n'), err
}

// bundleReadme is the README of a bundle: what it is, for somebody who has never
// seen one. programs are the files of its programs for GPUs.
func bundleReadme(m *corpus.Mismatch, dir, picture string, programs []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", m.Bucket)
	fmt.Fprintf(&b, "`%s` (%s) and `%s` (%s) give different results for the same dot product:\n`%s` and `%s`.\n\n",
		inCode(m.A.Target), m.A.Instruction, inCode(m.B.Target), m.B.Instruction, m.A.Result, m.B.Result)
	fmt.Fprintf(&b, "```\n%s```\n\n", strings.ReplaceAll(picture, "```", "'''"))
	if len(m.CaseChanges) > 0 {
		side, other, changes := m.A, m.B, m.CaseChanges
		if m.Base == "b" {
			side, other = other, side
		}
		if m.CaseBack {
			side, other, changes = other, side, mma.Reversed(changes)
		}
		fmt.Fprintf(&b, "%s's arithmetic with the change %s gives %s's result.\n", inCode(side.Target), readable.Changes(changes, 20), inCode(other.Target))
		fmt.Fprintf(&b, "All of %s together explain %d differing cases of this pair and keep %d agreeing ones.\n\n",
			readable.Changes(m.Changes, 20), m.Explained, m.Kept)
	}
	for _, e := range m.Equivalent {
		fmt.Fprintf(&b, "No input was found that tells this from %s.\n\n", readable.Changes(e, 20))
	}
	b.WriteString(puzzleText(m))
	if m.Through {
		b.WriteString(throughText(m))
	}
	fmt.Fprintf(&b, "Found as %s, seed %d, index %d. ", m.Origin.Source, m.Origin.Seed, m.Origin.Index)
	if text := repeatedText(m); text != "" && !m.Through { // a recording repeats itself
		b.WriteString(text)
	}
	b.WriteString("\n\n")
	fmt.Fprintf(&b, "Files: `case.txt` the operands, `mismatch.json` everything for programs, `picture.txt`,\n`trace-*.json` every step of the sums, `repro_test.go` a Go test, `MANIFEST` checksums.\n\n")
	if len(programs) > 0 {
		fmt.Fprintf(&b, "Programs that run the case on a GPU and need nothing but its driver or compiler; each\nsays how: `%s`.\n\n", strings.Join(programs, "`, `"))
	}
	fmt.Fprintf(&b, "Re-run:\n\n    mmafuzz replay %s\n\n", readable.ShellPath(dir))
	if allowance(m.A.Target, m.B.Target) != "" {
		b.WriteString("This runs the command that is the target, and so does the Go test: mmafuzz shows it and asks\nfirst, or is told `--allow-exec`.\n\n")
	}
	fmt.Fprintf(&b, "The Go test, in a clone of mmafuzz or in any module that requires it:\n\n    go test %s\n", readable.ShellPath(filepath.Join(dir, "repro_test.go")))
	return b.String()
}

// inCode makes a target's name fit for code in Markdown, between backquotes.
func inCode(target string) string { return strings.ReplaceAll(printable.Line(target), "`", "'") }

// throughText says which targets a model stood in for while the case was shrunk.
func throughText(m *corpus.Mismatch) string {
	if strings.HasPrefix(m.A.Target, "replay:") && strings.HasPrefix(m.B.Target, "replay:") {
		return "The case was shrunk on models of the two recorded targets, not on the targets themselves.\n\n"
	}
	return "The case was shrunk on a model of the recorded target, not on the target itself.\n\n"
}

// reproTest is a Go test that reproduces the mismatch. It needs the mmafuzz module
// and nothing else. Its constraint keeps it out of packages, so that it is run by
// its name only, from a clone or from any module that requires this one.
func reproTest(m *corpus.Mismatch) string {
	m = withModels(m, "")
	return fmt.Sprintf(`//go:build ignore

// Run it by its name, in a clone of mmafuzz or in a module that requires it:
//
//	go test DIR/repro_test.go

package repro

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/cpu"
	_ "github.com/mmafuzz/mmafuzz/devices/cuda"
	_ "github.com/mmafuzz/mmafuzz/devices/exec"
	_ "github.com/mmafuzz/mmafuzz/devices/hip"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestRepro runs one dot product on two targets, which gave %[1]s and %[2]s.
func TestRepro(t *testing.T) {
	const operands = %[3]q
	for _, side := range []struct{ target, instruction, like, want string }{
		{%[4]q, %[5]q, %[6]q, %[1]q},
		{%[7]q, %[8]q, %[9]q, %[2]q},
	} {
		unit, err := devices.OpenUnit(side.target, side.instruction, side.like)
		if err != nil {
			t.Skip(err) // the target is not on this machine
		}
		f := unit.Instruction().Formats
		dot, err := mma.ParseDot(f, %[10]d, false, strings.Fields(operands))
		if err != nil {
			t.Fatal(err)
		}
		b := mma.NewBatch(f, mma.Shape{M: 1, N: 1, K: %[10]d, Tiles: 1})
		b.Set(0, dot)
		out := make([]byte, f.D.Width())
		if err := unit.Run(t.Context(), b, out); err != nil {
			t.Skip(err)
		}
		if got := mma.FormatCode(f.D, mma.Load(out, f.D.Width(), 0)); got != side.want {
			t.Errorf("%%s %%s gives %%s, it gave %%s", side.target, side.instruction, got, side.want)
		}
	}
}
`, m.A.Result, m.B.Result, m.Case, m.A.Target, m.A.Instruction, likeOf(m, "a"), m.B.Target, m.B.Instruction, likeOf(m, "b"), m.K)
}

// likeOf names the instruction that gives the formats for reference arithmetic:
// that of the other side, of its architecture, or of its target if that is no
// architecture's.
func likeOf(m *corpus.Mismatch, which string) string {
	other := m.B
	if which == "b" {
		other = m.A
	}
	if _, ok := mma.FindArch(other.Arch); !ok {
		return other.Target + "/" + other.Instruction
	}
	return other.Arch + "/" + other.Instruction
}
