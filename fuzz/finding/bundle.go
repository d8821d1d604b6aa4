package finding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// bundle makes the mismatch.json of a finding, and writes its bundle if the campaign has a
// directory for bundles. kept: an earlier run has written the bundle, and it is complete.
func (t *Finder) bundle(f *Case) (kept bool, err error) {
	f.Mismatch = t.mismatch(f)
	if f.Class == oracle.Fault {
		t.noteFaults(f)
	}
	if t.turned(f) {
		turn(f.Mismatch)
	}
	if t.Bundles == "" {
		return t.resumed[f], nil
	}
	f.Dir = t.bundleDir(f)
	if t.resumed[f] {
		complete, damage, err := bundle.Complete(f.Dir)
		if complete || err != nil {
			return complete, err
		}
		if damage != nil {
			slog.Warn(damage.Error() + "; it is written again")
		}
	}
	if !t.resumed[f] {
		if err := bundle.Vacant(f.Dir); err != nil {
			return false, err
		}
	}
	tiles, err := t.tiles(f)
	if err != nil {
		return false, err
	}
	return false, bundle.Write(f.Dir, f.Mismatch, tiles)
}

// turned reports whether B is the first side of a finding's bundle.
func (t *Finder) turned(f *Case) bool { return t.Turned != nil && t.Turned(f.Pair) }

// turn swaps the sides of a mismatch.
func turn(m *corpus.Mismatch) {
	m.A, m.B = m.B, m.A
	switch m.Base {
	case "a":
		m.Base = "b"
	case "b":
		m.Base = "a"
	}
}

// bundleDir is the directory of a finding's bundle.
func (t *Finder) bundleDir(f *Case) string {
	if t.BundleDir != nil {
		return t.BundleDir(f)
	}
	return filepath.Join(t.bundlesOf(f.Pair), fmt.Sprintf("%s-%d", readable.Slug(f.Bucket), f.Number))
}

// bundlesOf is the directory of a pair's bundles.
func (t *Finder) bundlesOf(pair int) string {
	p := &t.Pairs[pair]
	name := p.Name()
	if SeveralTargets(t.Pairs) {
		name = p.TargetA + "~" + p.TargetB + "~" + name
	}
	return filepath.Join(t.Bundles, readable.Slug(name))
}

// CheckPlaces returns an error, before anything is computed, if something that no campaign
// has written is where a bundle may come: a new finding of any cause.
func (t *Finder) CheckPlaces() error {
	if t.Bundles == "" || t.BundleDir != nil {
		return nil
	}
	old := map[string]bool{}
	for f := range t.resumed {
		old[t.bundleDir(f)] = true
	}
	owner := map[string]string{}
	for pair := range t.Pairs {
		dir, name := t.bundlesOf(pair), t.Pairs[pair].Name()
		if other, taken := owner[dir]; taken {
			return fmt.Errorf("%s and %s would share the directory %s: compare one at a time", other, name, dir)
		}
		owner[dir] = name
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if old[path] || !isBundleName(e.Name()) {
				continue
			}
			if err := bundle.Vacant(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// isBundleName reports whether a bundle may have this name: a cause and a number.
func isBundleName(name string) bool {
	dash := strings.LastIndexByte(name, '-')
	if dash < 0 {
		return false
	}
	_, err := strconv.ParseUint(name[dash+1:], 10, 64)
	cause := name[:dash]
	return err == nil && (cause == oracle.Fault.String() || cause == bundle.Unstable ||
		slices.ContainsFunc(triage.Labels(), func(l triage.LabelDoc) bool { return string(l.Label) == cause }))
}

// mismatch describes a finding as mismatch.json does.
func (t *Finder) mismatch(f *Case) *corpus.Mismatch {
	p, run := &t.Pairs[f.Pair], t.pairs[f.Pair]
	policy := run.Policy
	formats := p.Formats()
	exact := oracle.ExactDot(formats, f.Dot)
	m := &corpus.Mismatch{
		Version: corpus.BundleVersion, Versions: versions.Current(),
		A: t.sideRecord(p.A, p.TargetA, run.ProgramA, f.A, exact), B: t.sideRecord(p.B, p.TargetB, run.ProgramB, f.B, exact),
		Formats: formats, K: p.K,
		Case: mma.FormatDot(formats, f.Dot), Found: mma.FormatDot(formats, f.Start),
		Origin: originOf(p, f),
		Class:  f.Class.String(), NaN: strictness(policy.NaN), Zero: strictness(policy.Zero),
		Bucket: f.Bucket, Detail: f.Detail, Labels: LabelsIn(f.Detail),
		Exact: fmt.Sprintf("%s (%s)", exact, exact.Decimal()), Stable: f.Stable, Minimal: f.Minimal,
		Free:    strings.Join(bundle.Free(formats, f.Mask), "\n"),
		OnModel: f.OnModel, Test: t.Test, Made: "mmafuzz " + versions.Program(), CaseChanges: f.Changes, CaseBack: f.Back,
	}
	if !f.BaseA && f.Changes != nil { // mismatch.json has the changes of the base
		m.CaseChanges, m.CaseBack = readable.Reversed(f.Changes), !f.Back
	}
	if f.Of != bundle.DefaultRepetitions {
		m.Of = f.Of
	}
	if v := f.Verdict; v != nil && v.Found() {
		m.Changes, m.ProgramK, m.Base = v.Changes, f.ProgramK, "b"
		if f.BaseA {
			m.Base = "a"
		}
		m.Explained, m.Kept, m.Equivalent, m.Same, m.Alike = v.Explained, v.Kept, v.Equivalent, v.Same, v.Alike
	}
	if m.Defect = f.Spots; f.Bucket == string(triage.Defect) {
		m.Defect = describe(f.Verdict, map[bool]string{false: p.TargetA, true: p.TargetB}[f.BaseA])
	}
	if f.Bucket == string(triage.Schedule) {
		m.Sums = sumsOf(f, formats)
	}
	if m.Past = f.Past; f.Before != nil {
		m.Before = mma.FormatDot(formats, f.Before)
	}
	if f.Bucket == string(triage.Unexplained) {
		if u := t.Unexplained(f.Pair, f.Verdict); u != nil {
			m.Nearest, m.Next = u.Nearest, u.Next
		}
	}
	return m
}

// strictness returns the name that mismatch.json has for a strictness.
func strictness(s oracle.Strictness) string {
	if s == oracle.ByClass {
		return "class"
	}
	return "bits"
}

// originOf returns where a finding's case was generated; for a recorded case, where the input
// of the recording was.
func originOf(p *devices.Pair, f *Case) corpus.Origin {
	for _, u := range []devices.Unit{p.A, p.B} {
		if r, ok := u.(devices.Recorder); ok {
			source, seed, index := r.Origin(int(f.Origin.Index))
			return corpus.Origin{Source: source, Seed: seed, Index: index}
		}
	}
	return corpus.Origin{Source: f.Origin.Source, Seed: f.Seed, Index: f.Origin.Index}
}

// sideRecord describes one side of a mismatch; found is the program that was found out, or nil.
func (t *Finder) sideRecord(u devices.Unit, target string, found *mma.Params, code uint64, exact oracle.Exact) corpus.SideRecord {
	i := u.Instruction()
	s := corpus.SideRecord{
		Target: target, Instruction: i.Name, Arch: i.Arch, K: i.K,
		Result: mma.FormatCode(i.D, code), Ulps: fmt.Sprintf("%.6g", exact.Ulps(code)),
		Known: knownProgram(u) != nil && !devices.IsRecording(u), Environment: versions.Environment(),
	}
	if s.Params = found; i.Params != (mma.Params{}) {
		s.Params = &i.Params
	}
	maps.Copy(s.Environment, t.environment(target))
	if p, ok := u.(devices.Provenance); ok {
		maps.Copy(s.Environment, p.Environment())
	}
	return s
}

// environment returns what a target says of itself. It is kept for later bundles, because
// a recording may be long.
func (t *Finder) environment(target string) map[string]string {
	if env, ok := t.environments[target]; ok {
		return env
	}
	env := map[string]string{}
	if open, err := devices.Open(target); err == nil {
		env = open.Environment()
		if err := open.Close(); err != nil {
			slog.Warn("closing a target", "error", err)
		}
	}
	if t.environments == nil {
		t.environments = map[string]map[string]string{}
	}
	t.environments[target] = env
	return env
}

// noteFaults takes the result from the targets that fail on a finding's input, and adds what
// they say.
func (t *Finder) noteFaults(f *Case) {
	p := &t.Pairs[f.Pair]
	one := mma.BatchOf(p.Formats(), len(f.Dot.A), []*mma.Dot{f.Dot})
	for side, unit := range map[*corpus.SideRecord]devices.Unit{&f.Mismatch.A: p.A, &f.Mismatch.B: p.B} {
		var fault *devices.FaultError
		if err := unit.Run(context.Background(), one, make([]byte, one.Formats.D.Width())); errors.As(err, &fault) {
			side.Result, side.Ulps = corpus.NoResult, corpus.NoResult
			side.Environment["fault"] = fault.What
		}
	}
}

// tiles returns recordings of all of the tile on both sides, for a finding that depends on
// it.
func (t *Finder) tiles(f *Case) (map[string][]byte, error) {
	if f.Place == "" {
		return nil, nil
	}
	p := &t.Pairs[f.Pair]
	src, err := gen.ParseSource(f.Origin.Source)
	if err != nil {
		return nil, err
	}
	tile, output := src.Tile(t.pairs[f.Pair].Spec, f.Seed, f.Origin.Index)
	files := map[string][]byte{}
	a, b := "tile-a.rec", "tile-b.rec"
	if t.turned(f) {
		a, b = b, a
	}
	for name, side := range map[string]TargetUnit{a: {p.TargetA, p.A}, b: {p.TargetB, p.B}} {
		out := make([]byte, tile.Dots()*p.Formats().D.Width())
		if err := side.Unit.Run(context.Background(), tile, out); err != nil {
			return nil, err
		}
		var buf bytes.Buffer
		w, err := corpus.NewRecordingWriter(&buf, corpus.Header{Versions: versions.Current(), Target: side.Target, Environment: versions.Environment()})
		if err != nil {
			return nil, err
		}
		i := side.Unit.Instruction()
		s := corpus.Section{Arch: i.Arch, Instruction: i.Name, K: i.K, Generator: src.String(), Seed: f.Seed, First: f.Origin.Index - uint64(output)}
		if err := errors.Join(w.Add(s, tile, out), w.Close()); err != nil {
			return nil, err
		}
		files[name] = buf.Bytes()
	}
	return files, nil
}

// SeveralTargets reports whether pairs differ in their targets.
func SeveralTargets(pairs []devices.Pair) bool {
	first := &pairs[0]
	return slices.ContainsFunc(pairs, func(p devices.Pair) bool { return p.TargetA != first.TargetA || p.TargetB != first.TargetB })
}
