package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// mismatch describes a finding as mismatch.json does.
func (u *runUI) mismatch(f *fuzz.Finding) *corpus.Mismatch {
	p := &u.cfg.Pairs[f.Pair]
	formats := p.Formats()
	exact := oracle.ExactDot(formats, f.Dot)
	m := &corpus.Mismatch{
		Version: corpus.BundleVersion, Versions: versions.Current(),
		A: u.side(p.A, p.TargetA, f.A, exact), B: u.side(p.B, p.TargetB, f.B, exact),
		Formats: formats, K: p.K,
		Case: mma.FormatDot(formats, f.Dot), Found: mma.FormatDot(formats, f.Start),
		Origin: originOf(p, f),
		Class:  f.Class.String(), NaN: "bits", Zero: "bits",
		Bucket: f.Bucket, Detail: f.Detail, Labels: fuzz.LabelsIn(f.Detail),
		Exact: fmt.Sprintf("%s (%s)", exact, exact.Decimal()), Stable: f.Stable, Minimal: f.Minimal,
		Through: f.Through, Made: "mmafuzz " + version(), CaseChanges: f.Changes, CaseBack: f.Back,
	}
	if !f.BaseA && f.Changes != nil { // they are of the base there
		m.CaseChanges, m.CaseBack = mma.Reversed(f.Changes), !f.Back
	}
	if f.Of != defaultRepetitions {
		m.Of = f.Of
	}
	m.Free = strings.Join(freeText(formats, f.Mask), "\n")
	policy := u.policy(f.Pair)
	if policy.NaN == oracle.ByClass {
		m.NaN = "class"
	}
	if policy.Zero == oracle.ByClass {
		m.Zero = "class"
	}
	if v := f.Verdict; v != nil && v.Found() {
		m.Changes, m.ProgramK, m.Base = v.Changes, f.ProgramK, "b"
		if f.BaseA {
			m.Base = "a"
		}
		m.Explained, m.Kept, m.Equivalent, m.Alike = v.Explained, v.Kept, v.Equivalent, v.Alike
	}
	if z := u.puzzleOf(f.Pair, f.Verdict); z != nil && isUnexplained(f.Bucket) {
		m.Nearest, m.Next = z.nearest, z.next
	}
	return m
}

// originOf says where a finding's case was generated; one of a recording, where that
// of the recording was.
func originOf(p *devices.Pair, f *fuzz.Finding) corpus.Origin {
	for _, u := range []devices.Unit{p.A, p.B} {
		if r, ok := u.(devices.Recorder); ok {
			source, seed, index := r.Origin(int(f.Origin.Index))
			return corpus.Origin{Source: source, Seed: seed, Index: index}
		}
	}
	return corpus.Origin{Source: f.Origin.Source, Seed: f.Seed, Index: f.Origin.Index}
}

// policy returns how the results of a pair are compared.
func (u *runUI) policy(pair int) oracle.Policy {
	p := &u.cfg.Pairs[pair]
	policy := oracle.DefaultPolicy(p.A.Instruction().Unknown, p.B.Instruction().Unknown)
	if u.cfg.NaN != nil {
		policy.NaN = *u.cfg.NaN
	}
	if u.cfg.Zero != nil {
		policy.Zero = *u.cfg.Zero
	}
	return policy
}

func (u *runUI) side(unit devices.Unit, target string, code uint64, exact oracle.Exact) corpus.SideRecord {
	i := unit.Instruction()
	s := corpus.SideRecord{
		Target: target, Instruction: i.Name, Arch: i.Arch, K: i.K,
		Result: mma.FormatCode(i.D, code), Ulps: fmt.Sprintf("%.6g", exact.Ulps(code)),
		Known: unit.Model() != nil, Environment: environment(),
	}
	if i.Params != (mma.Params{}) {
		s.Params = &i.Params
	}
	maps.Copy(s.Environment, u.targetEnvironment(target))
	if p, ok := unit.(devices.Provenance); ok {
		maps.Copy(s.Environment, p.Environment())
	}
	return s
}

// targetEnvironment returns what a target says of itself, kept from one bundle to
// the next: a recording may be long.
func (u *runUI) targetEnvironment(target string) map[string]string {
	if env, ok := u.environments[target]; ok {
		return env
	}
	env := map[string]string{}
	if t, err := devices.Open(target); err == nil {
		env = t.Environment()
		if err := t.Close(); err != nil {
			u.log.Warn().Err(err).Msg("closing a target")
		}
	}
	u.environments[target] = env
	return env
}

// writeBundle writes a finding's bundle.
func (u *runUI) writeBundle(f *fuzz.Finding, dir string) error {
	tiles, err := u.tiles(f)
	if err != nil {
		return err
	}
	m := u.mismatch(f)
	if f.Class == oracle.Fault {
		u.noteFaults(m, f)
	}
	return saveBundle(dir, m, tiles)
}

// noteFaults adds what the targets say when they fail on a finding's input.
func (u *runUI) noteFaults(m *corpus.Mismatch, f *fuzz.Finding) {
	p := &u.cfg.Pairs[f.Pair]
	one := mma.NewBatch(p.Formats(), mma.Shape{M: 1, N: 1, K: p.K, Tiles: 1})
	one.Set(0, f.Dot)
	for side, unit := range map[*corpus.SideRecord]devices.Unit{&m.A: p.A, &m.B: p.B} {
		var fault *devices.FaultError
		if err := unit.Run(context.Background(), one, make([]byte, one.Formats.D.Width())); errors.As(err, &fault) {
			side.Environment["fault"] = fault.What
		}
	}
}

// tiles returns recordings of the whole tile on both sides, for a finding that
// depends on it.
func (u *runUI) tiles(f *fuzz.Finding) (map[string][]byte, error) {
	if f.Place == "" {
		return nil, nil
	}
	p := &u.cfg.Pairs[f.Pair]
	src, err := gen.ParseSource(f.Origin.Source)
	if err != nil {
		return nil, err
	}
	tile, output := src.Tile(gen.Spec{Formats: p.Formats(), K: p.K}, f.Seed, f.Origin.Index)
	files := map[string][]byte{}
	for name, side := range map[string]struct {
		target string
		unit   devices.Unit
	}{"tile-a.rec": {p.TargetA, p.A}, "tile-b.rec": {p.TargetB, p.B}} {
		out := make([]byte, tile.Dots()*p.Formats().D.Width())
		if err := side.unit.Run(context.Background(), tile, out); err != nil {
			return nil, err
		}
		var buf bytes.Buffer
		w, err := corpus.NewRecordingWriter(&buf, corpus.Header{Versions: versions.Current(), Target: side.target, Environment: environment()})
		if err != nil {
			return nil, err
		}
		i := side.unit.Instruction()
		s := corpus.Section{Arch: i.Arch, Instruction: i.Name, K: i.K, Generator: src.String(), Seed: f.Seed, First: f.Origin.Index - uint64(output)}
		if err := errors.Join(w.Add(s, tile, out), w.Close()); err != nil {
			return nil, err
		}
		files[name] = buf.Bytes()
	}
	return files, nil
}

// saveBundle writes a mismatch with all that a bundle has for people, and extra
// files.
func saveBundle(dir string, m *corpus.Mismatch, extra map[string][]byte) error {
	pic, err := pictureOf(m, dir)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := report.Text(&text, pic, report.TextOptions{}); err != nil {
		return err
	}
	files := programs(m)
	readme := bundleReadme(m, dir, text.String(), slices.Sorted(maps.Keys(files)))
	maps.Copy(files, map[string][]byte{
		"picture.txt":   text.Bytes(),
		"README.md":     []byte(readme),
		"repro_test.go": []byte(reproTest(m)),
	})
	maps.Copy(files, extra)
	for which, s := range map[string]*corpus.SideRecord{"a": &m.A, "b": &m.B} {
		if !isModel(s) {
			continue
		}
		if files[modelName(which)], err = modelBody(m, s); err != nil {
			return err
		}
	}
	for name, s := range map[string]*report.Side{"trace-a.json": &pic.A, "trace-b.json": &pic.B} {
		if s.Trace == nil {
			continue
		}
		if files[name], err = traceJSON(s, pic.Formats.D); err != nil {
			return err
		}
	}
	return corpus.WriteBundle(dir, m, files)
}

// picture draws a finding. How to run it again stands at the end of the summary.
func (u *runUI) picture(w io.Writer, f *fuzz.Finding) error {
	pic, err := pictureOf(u.mismatch(f), "")
	if err != nil {
		return err
	}
	return report.Text(raw(w), pic, u.textOptions())
}

func (a *app) textOptions() report.TextOptions {
	return report.TextOptions{Width: a.width, Color: a.color}
}

// pictureOf prepares the picture of a mismatch. A side whose arithmetic is not
// known is drawn by the program that explains it, and says so.
func pictureOf(m *corpus.Mismatch, dir string) (*report.Mismatch, error) {
	dot, err := m.Dot()
	if err != nil {
		return nil, err
	}
	pic := &report.Mismatch{
		Input:   report.Input{Title: m.A.Instruction, Formats: m.Formats, Dot: dot},
		Changes: m.Changes,
	}
	if len(m.CaseChanges) > 0 {
		pic.Changes = m.CaseChanges
	}
	if m.Base == "b" {
		pic.Changes = mma.Reversed(pic.Changes)
	}
	if m.A.Instruction != m.B.Instruction {
		pic.Title += " ~ " + m.B.Instruction
	}
	if dir != "" {
		pic.Rerun = []string{"mmafuzz", "replay", readable.ShellPath(dir)}
	}
	if m.Free != "" {
		pic.Free = strings.Split(m.Free, "\n")
	}
	pic.Labels = []string{inWords(cmp.Or(m.Detail, m.Bucket))}
	pic.Notes, pic.Next = puzzleNotes(m), m.Next
	if pic.A, err = pictureSide(m, &m.A, "a", dot); err != nil {
		return nil, err
	}
	pic.B, err = pictureSide(m, &m.B, "b", dot)
	return pic, err
}

// pictureSide prepares one side: its own trace if its arithmetic is known, that
// of the explanation if there is one, none otherwise.
func pictureSide(m *corpus.Mismatch, s *corpus.SideRecord, which string, dot *mma.Dot) (report.Side, error) {
	side := report.Side{Name: s.Target + "/" + s.Instruction}
	if s.Result != "-" {
		code, err := mma.ParseCode("result", m.Formats.D, s.Result)
		if err != nil {
			return side, err
		}
		side.Result = code
	}
	params, k := s.Params, s.K
	if !s.Known {
		params, k = explainingProgram(m, which)
		side.Inferred = true
	}
	if params == nil {
		return side, nil
	}
	model, err := sim.New(m.Formats, k, *params)
	if err != nil {
		return side, nil // a program of another version: no trace
	}
	tr := &sim.Trace{}
	if model.Dot(dot, tr) == side.Result {
		side.Trace, side.Params = tr, params
	}
	return side, nil
}

// explainingProgram returns the arithmetic of a side that is not known itself:
// the other's with the changes that explain it, or what is believed of it.
func explainingProgram(m *corpus.Mismatch, which string) (*mma.Params, int) {
	base, own := &m.A, &m.B
	if which == "a" {
		base, own = &m.B, &m.A
	}
	if m.Base == which || base.Params == nil || len(m.Changes) == 0 {
		return own.Params, own.K
	}
	p := *base.Params
	if p.Apply(m.Changes) != nil {
		return nil, 0
	}
	return &p, m.ProgramK
}
