package bundle

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Replayed is what the case of a bundle gives now.
type Replayed struct {
	Bundle     string `json:"bundle"`
	A          string `json:"a"` // results now
	B          string `json:"b"`
	RecordedA  string `json:"recorded_a"`
	RecordedB  string `json:"recorded_b"`
	Class      string `json:"class"`
	Reproduced bool   `json:"reproduced"`
	Undecided  bool   `json:"undecided,omitempty"`     // see undecided
	Tile       string `json:"tile,omitempty"`          // the place in the recorded tile in which the case was asked; "": it was asked alone
	OnModel    string `json:"through_model,omitempty"` // the side that a model stands in for: a, b or both
	FaultA     string `json:"fault_a,omitempty"`       // how a side failed on the input now
	FaultB     string `json:"fault_b,omitempty"`
	Runs       int    `json:"runs,omitempty"`     // of a case that does not repeat itself
	Differed   int    `json:"differed,omitempty"` // runs in which the sides differ

	differed int  // as Differed, but counted for stable cases too
	changed  bool // the runs did not all give the same
	mismatch *corpus.Mismatch
	tile     *tile // in which the case was asked; nil: alone
}

// Replay runs the case of the bundle in a directory on both targets: once, or if it is
// unstable as often as it was run when it was found, at most 1000 times.
func Replay(ctx context.Context, b *corpus.Bundle, dir string) (*Replayed, error) {
	m := Local(&b.Mismatch, dir)
	r := &Replayed{Bundle: dir, RecordedA: m.A.Result, RecordedB: m.B.Result, mismatch: m, tile: tileOf(b)}
	if r.tile != nil {
		r.Tile = fmt.Sprintf("row %d, column %d of %d x %d", r.tile.output/r.tile.batch.N, r.tile.output%r.tile.batch.N, r.tile.batch.M, r.tile.batch.N)
	}
	runs := 1
	if m.Bucket == Unstable {
		r.Runs = min(repetitions(m), mostRuns)
		runs = r.Runs
	}
	return r, r.run(ctx, runs)
}

// Differ reports whether the two sides differed in any run.
func (r *Replayed) Differ() bool { return r.differed > 0 }

// Changed reports whether the case gave other results in some run than in another.
func (r *Replayed) Changed() bool { return r.changed }

// mostRuns is how often a case is replayed at most, whatever number the bundle has.
const mostRuns = 1000

// run runs the case. The results that are shown are those of the first run that differed,
// or the last.
func (r *Replayed) run(ctx context.Context, runs int) error {
	m := r.mismatch
	again, err := openRerun(m)
	if err != nil {
		return err
	}
	again.tile = r.tile
	var first results
	for i := range runs {
		res, err := again.run(ctx)
		if err != nil {
			return err
		}
		if i == 0 {
			first = res
		}
		r.changed = r.changed || res != first
		if r.differed == 0 {
			r.show(&res)
		}
		if res.Class != oracle.Same {
			r.differed++
		}
	}
	r.Undecided = r.differed == 0 && undecided(m, r.tile)
	if r.Reproduced = !r.Undecided && r.A == r.RecordedA && r.B == r.RecordedB; r.Runs > 0 {
		r.Reproduced, r.Differed = r.differed > 0, r.differed
	}
	return nil
}

// undecided reports whether it says nothing of a mismatch that both sides agree on its case: it depends on
// something that is not repeated. t is the recorded tile in which the case was asked, which decides it if it
// has shown the mismatch.
func undecided(m *corpus.Mismatch, t *tile) bool {
	return m.Before == "" && (m.Past != nil || m.Bucket == string(triage.Layout) && (t == nil || !t.shows))
}

// show makes the results of a run those that are shown.
func (r *Replayed) show(res *results) {
	text := func(code uint64, fault string) string {
		if fault != "" {
			return corpus.NoResult
		}
		return mma.FormatCode(r.mismatch.Formats.D, code)
	}
	r.A, r.B, r.Class, r.OnModel = text(res.A, res.FaultA), text(res.B, res.FaultB), res.Class.String(), res.OnModel
	r.FaultA, r.FaultB = res.FaultA, res.FaultB
}

// writeSides writes the case and both results.
func (r *Replayed) writeSides(w io.Writer, width int) {
	m := r.mismatch
	fmt.Fprint(w, readable.Flowing(m.Case+"  ("+m.A.Instruction+")", width))
	if m.Before != "" {
		fmt.Fprint(w, readable.Hanging("right after "+m.Before, width))
	}
	if r.Tile != "" {
		fmt.Fprint(w, readable.Hanging("in "+r.Tile+", in the tile of the bundle", width))
	}
	g := readable.Table{Width: width}
	for _, s := range []struct{ name, target, now, then, fault string }{{"A", m.A.Target, r.A, r.RecordedA, r.FaultA}, {"B", m.B.Target, r.B, r.RecordedB, r.FaultB}} {
		note := ""
		if s.fault != "" {
			note = "failed: " + printable.Line(s.fault)
		}
		if s.now != s.then {
			note = strings.TrimPrefix(note+" (was "+s.then+")", " ")
		}
		if r.OnModel == strings.ToLower(s.name) || r.OnModel == "both" {
			note += " (computed by the model that stands in for this recording)"
		}
		g.Add("  "+s.name, printable.Line(s.target), s.now, note)
	}
	g.Write(w, nil)
}

// Write writes the outcome for people.
func (r *Replayed) Write(w io.Writer, width int) {
	r.writeSides(w, width)
	switch {
	case r.mismatch.Bucket == Unstable:
		fmt.Fprint(w, readable.Hanging(r.unstableText(), width))
	case r.Reproduced:
		fmt.Fprintln(w, "reproduced")
	case r.Undecided:
		fmt.Fprint(w, readable.Hanging("not decided: the two sides agree on this input "+map[bool]string{true: "alone", false: "in the tile of the bundle"}[r.tile == nil]+", but "+surroundings(r.mismatch)+", which a replay does not repeat", width))
	case r.Class == oracle.Same.String():
		fmt.Fprintln(w, "not reproduced: the two sides agree")
	default:
		fmt.Fprint(w, readable.Hanging("not reproduced: the two sides still differ, but with other results", width))
	}
	for _, d := range []*corpus.Defect{r.mismatch.Past, r.mismatch.Defect} {
		if d != nil && r.Undecided {
			fmt.Fprint(w, readable.Hanging(DefectText(d), width))
		}
	}
}

// surroundings says what the results of an undecided mismatch depend on.
func surroundings(m *corpus.Mismatch) string {
	if m.Past != nil {
		return "the result depends on what a process was asked before"
	}
	return LabelDoc(string(triage.Layout))
}

// UnstableText says that a case is unstable: in how many of so many runs the sides differed.
func UnstableText(differed, runs int) string {
	return fmt.Sprintf("unstable: the two sides differ in %d of %d runs", differed, runs)
}

// unstableText is the outcome of a case that does not repeat itself.
func (r *Replayed) unstableText() string {
	if r.Differed > 0 {
		return UnstableText(r.Differed, r.Runs)
	}
	return fmt.Sprintf("unstable: the two sides agree in all of %d runs; when it was found, %d of %d repetitions gave the results of the bundle",
		r.Runs, r.mismatch.Stable, repetitions(r.mismatch))
}
