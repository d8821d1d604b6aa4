package fuzz

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
	"github.com/mmafuzz/mmafuzz/corpus/journal"
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
// directory for bundles. kept: an earlier run has written the bundle, and it is whole.
func (c *Campaign) bundle(f *Case) (kept bool, err error) {
	f.Mismatch = c.mismatch(f)
	if f.Class == oracle.Fault {
		c.noteFaults(f)
	}
	if c.cfg.Bundles == "" {
		return c.resumed[f], nil
	}
	f.Dir = c.bundleDir(f)
	if c.resumed[f] {
		whole, damage, err := bundle.Whole(f.Dir)
		if whole || err != nil {
			return whole, err
		}
		if damage != nil {
			slog.Warn(damage.Error() + "; it is written again")
		}
	}
	if !c.resumed[f] {
		if err := bundle.Vacant(f.Dir); err != nil {
			return false, err
		}
	}
	tiles, err := c.tiles(f)
	if err != nil {
		return false, err
	}
	return false, bundle.Write(f.Dir, f.Mismatch, tiles)
}

// bundleDir is the directory of a finding's bundle.
func (c *Campaign) bundleDir(f *Case) string {
	if c.cfg.BundleDir != nil {
		return c.cfg.BundleDir(f)
	}
	return filepath.Join(c.bundlesOf(f.Pair), fmt.Sprintf("%s-%d", readable.Slug(f.Bucket), f.Number))
}

// bundlesOf is the directory of a pair's bundles.
func (c *Campaign) bundlesOf(pair int) string {
	p := &c.cfg.Pairs[pair]
	name := p.Name()
	if c.cfg.SeveralTargets() {
		name = p.TargetA + "~" + p.TargetB + "~" + name
	}
	return filepath.Join(c.cfg.Bundles, readable.Slug(name))
}

// checkPlaces returns an error, before anything is computed, if something that no campaign
// has written is where a bundle may come: a new finding of any cause.
func (c *Campaign) checkPlaces() error {
	if c.cfg.Bundles == "" || c.cfg.BundleDir != nil {
		return nil
	}
	old := map[string]bool{}
	for f := range c.resumed {
		old[c.bundleDir(f)] = true
	}
	owner := map[string]string{}
	for pair := range c.cfg.Pairs {
		dir, name := c.bundlesOf(pair), c.cfg.Pairs[pair].Name()
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

// HoldCampaignOf locks the journal of the campaign that a bundle belongs to, if there is one
// two directories above it, so that no run writes the bundle meanwhile. ErrInUse: one is at
// work.
func HoldCampaignOf(dir string) (release func() error, err error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "..", "..", JournalFile)
	release, err = journal.Hold(file)
	if errors.Is(err, corpus.ErrInUse) {
		err = fmt.Errorf("%s: %w", file, ErrInUse)
	}
	return release, err
}

// RemoveDir removes the directory of a campaign. It is an error, and nothing is removed, if
// something is there that no campaign has written.
func RemoveDir(dir string) error {
	err := bundle.Removable(dir, JournalFile, JournalFile+checkpointSuffix, JournalFile+incompleteSuffix)
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// mismatch describes a finding as mismatch.json does.
func (c *Campaign) mismatch(f *Case) *corpus.Mismatch {
	p, policy := &c.cfg.Pairs[f.Pair], c.pairs[f.Pair].policy
	formats := p.Formats()
	exact := oracle.ExactDot(formats, f.Dot)
	m := &corpus.Mismatch{
		Version: corpus.BundleVersion, Versions: versions.Current(),
		A: c.sideRecord(p.A, p.TargetA, f.A, exact), B: c.sideRecord(p.B, p.TargetB, f.B, exact),
		Formats: formats, K: p.K,
		Case: mma.FormatDot(formats, f.Dot), Found: mma.FormatDot(formats, f.Start),
		Origin: originOf(p, f),
		Class:  f.Class.String(), NaN: strictness(policy.NaN), Zero: strictness(policy.Zero),
		Bucket: f.Bucket, Detail: f.Detail, Labels: LabelsIn(f.Detail),
		Exact: fmt.Sprintf("%s (%s)", exact, exact.Decimal()), Stable: f.Stable, Minimal: f.Minimal,
		Free:    strings.Join(bundle.Free(formats, f.Mask), "\n"),
		Through: f.Through, Made: "mmafuzz " + versions.Program(), CaseChanges: f.Changes, CaseBack: f.Back,
	}
	if !f.BaseA && f.Changes != nil { // mismatch.json has the changes of the base
		m.CaseChanges, m.CaseBack = mma.Reversed(f.Changes), !f.Back
	}
	if f.Of != bundle.DefaultRepetitions {
		m.Of = f.Of
	}
	if v := f.Verdict; v != nil && v.Found() {
		m.Changes, m.ProgramK, m.Base = v.Changes, f.ProgramK, "b"
		if f.BaseA {
			m.Base = "a"
		}
		m.Explained, m.Kept, m.Equivalent, m.Alike = v.Explained, v.Kept, v.Equivalent, v.Alike
	}
	if f.Bucket == string(triage.Unexplained) {
		if u := c.unexplained(f.Pair, f.Verdict); u != nil {
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

// sideRecord describes one side of a mismatch.
func (c *Campaign) sideRecord(u devices.Unit, target string, code uint64, exact oracle.Exact) corpus.SideRecord {
	i := u.Instruction()
	s := corpus.SideRecord{
		Target: target, Instruction: i.Name, Arch: i.Arch, K: i.K,
		Result: mma.FormatCode(i.D, code), Ulps: fmt.Sprintf("%.6g", exact.Ulps(code)),
		Known: given(u) != nil && !devices.IsRecording(u), Environment: versions.Environment(),
	}
	if i.Params != (mma.Params{}) {
		s.Params = &i.Params
	}
	maps.Copy(s.Environment, c.environment(target))
	if p, ok := u.(devices.Provenance); ok {
		maps.Copy(s.Environment, p.Environment())
	}
	return s
}

// environment returns what a target says of itself. It is kept for later bundles, because
// a recording may be long.
func (c *Campaign) environment(target string) map[string]string {
	if env, ok := c.environments[target]; ok {
		return env
	}
	env := map[string]string{}
	if t, err := devices.Open(target); err == nil {
		env = t.Environment()
		if err := t.Close(); err != nil {
			slog.Warn("closing a target", "error", err)
		}
	}
	if c.environments == nil {
		c.environments = map[string]map[string]string{}
	}
	c.environments[target] = env
	return env
}

// noteFaults takes the result from the targets that fail on a finding's input, and adds what
// they say.
func (c *Campaign) noteFaults(f *Case) {
	p := &c.cfg.Pairs[f.Pair]
	one := mma.BatchOf(p.Formats(), len(f.Dot.A), []*mma.Dot{f.Dot})
	for side, unit := range map[*corpus.SideRecord]devices.Unit{&f.Mismatch.A: p.A, &f.Mismatch.B: p.B} {
		var fault *devices.FaultError
		if err := unit.Run(context.Background(), one, make([]byte, one.Formats.D.Width())); errors.As(err, &fault) {
			side.Result, side.Ulps = corpus.NoResult, corpus.NoResult
			side.Environment["fault"] = fault.What
		}
	}
}

// tiles returns recordings of the whole tile on both sides, for a finding that depends on
// it.
func (c *Campaign) tiles(f *Case) (map[string][]byte, error) {
	if f.Place == "" {
		return nil, nil
	}
	p := &c.cfg.Pairs[f.Pair]
	src, err := gen.ParseSource(f.Origin.Source)
	if err != nil {
		return nil, err
	}
	tile, output := src.Tile(c.pairs[f.Pair].spec, f.Seed, f.Origin.Index)
	files := map[string][]byte{}
	for name, side := range map[string]targetUnit{"tile-a.rec": {p.TargetA, p.A}, "tile-b.rec": {p.TargetB, p.B}} {
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
