package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/bisect"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// bisectCmd is mmafuzz bisect.
type bisectCmd struct {
	*app
	a, b, inst string
	versions   []string
	git, repo  string
	build      string
	count      uint64
	seed       uint64
	policy     policyFlags

	dir  string                       // of checkouts
	seen map[int]map[string]testedDot // results by version and input
}

// versionWord stands for the version, or its checkout, in --b.
const versionWord = "{}"

func newBisect(a *app) *cobra.Command {
	b := &bisectCmd{app: a, seen: map[int]map[string]testedDot{}}
	c := &cobra.Command{
		Use:   "bisect --a A --b B --versions LIST | --git RANGE --build COMMAND",
		Short: "the first version of a unit whose results changed, with the input that shows it",
		Long: `bisect finds out which version of a unit changed its results. A is a target that
computes as before. The versions are in order, and the last one computes otherwise:
the inputs on which it differs from A, one of each cause, are what the other versions
are asked.

  mmafuzz bisect --a sim:hopper --versions v1/unit,v2/unit,v3/unit
  mmafuzz bisect --a may.rec --versions june.rec,july.rec
  mmafuzz bisect --a exec:./released --b "exec:{}/unit" --git v1.0..main --build make

A version is a program that speaks the protocol of exec: (go doc ./devices/exec), a
recording, a model file, the plan of a campaign, which stands for the second of its
targets, or the name of a target. In --b the word {} stands for the version.
With --git the versions are the commits of a range, oldest first, {} is a checkout, and
--build is run by sh in it. A version that cannot be built or opened is passed over.
--git and --build run the commands of that repository: only with one that you trust.

Exit status: 0 the last version computes as A, 1 a version was found, 2 trouble, 75
interrupted, or versions that cannot be tested leave a choice.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context()) },
	}
	f := c.Flags()
	f.StringVar(&b.a, "a", "", "`target` that computes as before, or a file as in --versions (required)")
	f.StringVar(&b.b, "b", versionWord, "`target` of a version: {} is the version or its checkout")
	f.StringVar(&b.inst, "inst", "", "`instruction` (default: all that A and the last version have)")
	f.StringSliceVar(&b.versions, "versions", nil, "`list` of versions, the oldest first")
	f.StringVar(&b.git, "git", "", "`range` of commits, as in git log")
	f.StringVar(&b.repo, "repo", ".", "`directory` of the repository of --git")
	f.StringVar(&b.build, "build", "", "`command` that builds a checkout")
	f.Uint64Var(&b.count, "count", 100_000, "`number` of inputs for each instruction")
	f.Uint64Var(&b.seed, "seed", 1, "`seed` of the inputs")
	b.policy.add(c, "", "how NaNs are compared: `bits|class`", "how signs of zeros are compared: `bits|class`")
	completeTargets(c, "a", "b")
	_ = c.MarkFlagDirname("repo")
	return c
}

func (b *bisectCmd) run(ctx context.Context) error {
	switch {
	case b.a == "":
		return hint.New("name a target that computes as before, such as sim:hopper or exec:./released", "--a is missing")
	case (b.git == "") == (len(b.versions) == 0):
		return hint.New("name versions with --versions, or commits with --git", "one of --versions and --git is needed")
	case b.git == "" && b.build != "":
		return hint.New("leave it out, or name commits with --git", "--build is for --git")
	case b.git != "" && !strings.Contains(b.b, versionWord):
		return hint.New(`write {} for the checkout, as in --b "exec:{}/unit"`, "--b %s is the same for every commit", b.b)
	}
	if b.git != "" {
		if err := b.commits(ctx); err != nil {
			return err
		}
		defer b.removeCheckouts()
	}
	last := len(b.versions) - 1
	findings, err := b.findings(ctx, last)
	if err != nil {
		return err
	}
	if len(findings) == 0 {
		if !b.json {
			fmt.Fprintf(b.stdout, "%s computes as %s on %s inputs of each instruction\n", b.name(last), b.a, readable.Thousands(b.count))
		}
		return nil
	}
	exact := true
	for _, f := range findings {
		r, err := bisect.Search(len(b.versions), func(v int) (bisect.Verdict, error) { return b.test(ctx, v, f) })
		if err != nil {
			return err
		}
		if exact = exact && r.Exact(); ctx.Err() != nil {
			return ctx.Err()
		}
		if err := b.show(f, r); err != nil {
			return err
		}
	}
	if !exact {
		return incomplete(errors.New("versions that could not be tested leave a choice"))
	}
	return errMismatch
}

// changedInput is an input on which the last version differs from A.
type changedInput struct {
	pair   *devices.Pair
	bucket string
	dot    *mma.Dot
	a, b   uint64
}

// name is the name of a version, for people.
func (b *bisectCmd) name(version int) string { return b.versions[version] }

// spec is the target of a version; with --git it is built first.
func (b *bisectCmd) spec(ctx context.Context, version int) (string, error) {
	word := b.versions[version]
	if b.git == "" {
		target, err := fileTarget(word, b.b)
		return strings.ReplaceAll(b.b, versionWord, target), err
	}
	dir, err := b.checkout(ctx, strings.Fields(word)[0])
	return strings.ReplaceAll(b.b, versionWord, dir), err
}

// fileTarget makes a target of a file: a recording, a model file, the plan of a campaign, or a
// program. Beside other words the file stays what it is.
func fileTarget(word, around string) (string, error) {
	info, err := os.Stat(word)
	if err != nil || info.IsDir() || around != versionWord {
		return word, nil
	}
	switch ext := filepath.Ext(word); {
	case ext == ".json":
		return jsonTarget(word)
	case ext == ".rec" || ext == ".gz":
		return "replay:" + word, nil
	case !filepath.IsAbs(word):
		return "exec:./" + word, nil
	}
	return "exec:" + word, nil
}

// jsonTarget makes a target of a model file, or of the plan of a campaign, also of one that
// another version of this program has made.
func jsonTarget(file string) (string, error) {
	body, err := corpus.ReadFile(file, "version", 1<<28)
	if err != nil {
		return "", err
	}
	var plan struct {
		Pairs   []struct{ B string }
		Entries []any
	}
	switch err := json.Unmarshal(body, &plan); {
	case err != nil || plan.Pairs == nil && plan.Entries == nil:
		return "model:" + file, nil // which tells what is wrong with it
	case plan.Entries != nil:
		return "", hint.New("mmafuzz record makes a recording with it, which is a version", "%s is a plan of recordings, which names no target", file)
	}
	for _, p := range plan.Pairs {
		if p.B != plan.Pairs[0].B {
			return "", hint.New("a version is one target", "%s is the plan of a campaign with several second targets, %s and %s", file, plan.Pairs[0].B, p.B)
		}
	}
	if len(plan.Pairs) == 0 || plan.Pairs[0].B == "" {
		return "", fmt.Errorf("%s: this is no plan of a campaign", file)
	}
	return plan.Pairs[0].B, nil
}

// findings compares A with a version and returns a case of each cause.
func (b *bisectCmd) findings(ctx context.Context, version int) ([]*changedInput, error) {
	spec, err := b.spec(ctx, version)
	if err != nil {
		return nil, fmt.Errorf("the last version, %s: %w", b.name(version), err)
	}
	a, err := fileTarget(b.a, versionWord)
	if err != nil {
		return nil, err
	}
	ta, err := open.Target(a)
	if err != nil {
		return nil, err
	}
	defer ta.Close()
	tb, err := open.Target(spec)
	if err != nil {
		return nil, fmt.Errorf("the last version, %s: %w", b.name(version), err)
	}
	defer tb.Close()
	pairs, err := devices.Pairs(ta, tb, b.inst, "")
	if err != nil {
		return nil, hint.Add(err, "%s", open.InstructionHint(ta, b.inst))
	}
	o := &bisectObserver{cmd: b, pairs: pairs}
	cfg := fuzz.Config{Pairs: pairs, Seed: b.seed, Count: b.count, Observe: o}
	cfg.NaN, cfg.Zero = b.policy.strictness()
	campaign, err := fuzz.New(cfg)
	if err == nil {
		err = campaign.Run(ctx)
	}
	if err == nil {
		err = ctx.Err()
	}
	return o.found, err
}

// bisectObserver keeps the findings of a campaign.
type bisectObserver struct {
	cmd   *bisectCmd
	pairs []devices.Pair
	found []*changedInput
}

func (o *bisectObserver) Progress(*fuzz.State) {}

// Finding keeps a case: as small as it could be made, unless that was done on a model because
// a recording has no answer to new inputs.
func (o *bisectObserver) Finding(f *fuzz.Case, _ bool) error {
	p := &o.pairs[f.Pair]
	x := &changedInput{pair: p, bucket: f.Bucket, dot: f.Dot, a: f.A, b: f.B}
	if f.Through || f.Dot == nil {
		x.dot = f.Start
		var err error
		if x.a, err = resultOf(context.Background(), p.A, x.dot); err == nil {
			x.b, err = resultOf(context.Background(), p.B, x.dot)
		}
		if err != nil {
			return err
		}
	}
	o.found = append(o.found, x)
	return nil
}

// testedDot is what a version gives for an input, or why it gives nothing.
type testedDot struct {
	d   uint64
	err error
}

// test asks a version for the result of a finding.
func (b *bisectCmd) test(ctx context.Context, version int, f *changedInput) (bisect.Verdict, error) {
	key := f.pair.Name() + " " + mma.FormatDot(f.pair.Formats(), f.dot)
	got, ok := b.seen[version][key]
	if !ok {
		got.d, got.err = b.ask(ctx, version, f)
		if b.seen[version] == nil {
			b.seen[version] = map[string]testedDot{}
		}
		b.seen[version][key] = got
	}
	switch {
	case ctx.Err() != nil:
		return bisect.Skipped, ctx.Err()
	case got.err != nil:
		fmt.Fprintf(b.stderr, "mmafuzz: %s is passed over: %v\n", b.name(version), got.err)
		return bisect.Skipped, nil
	case got.d == f.a:
		return bisect.Old, nil
	}
	return bisect.New, nil
}

func (b *bisectCmd) ask(ctx context.Context, version int, f *changedInput) (uint64, error) {
	fmt.Fprintf(b.stderr, "testing %s\n", b.name(version))
	spec, err := b.spec(ctx, version)
	if err != nil {
		return 0, err
	}
	t, err := open.Target(spec)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	i, err := devices.Find(t, f.pair.B.Instruction().Name)
	if err != nil {
		return 0, err
	}
	if err := devices.Comparable(i.Formats, f.pair.Formats()); err != nil {
		return 0, err
	}
	u, err := t.Open(i)
	if err != nil {
		return 0, err
	}
	return resultOf(ctx, devices.WithK(u, len(f.dot.A)), f.dot)
}

// resultOf runs one dot product.
func resultOf(ctx context.Context, u devices.Unit, d *mma.Dot) (uint64, error) {
	f := u.Instruction().Formats
	out := make([]byte, f.D.Width())
	err := u.Run(ctx, mma.BatchOf(f, len(d.A), []*mma.Dot{d}), out)
	return mma.Load(out, f.D.Width(), 0), err
}

// bisected is where the results of an input changed.
type bisected struct {
	Instruction string   `json:"instruction"`
	Cause       string   `json:"cause"`
	First       string   `json:"first"`           // version with other results
	Last        string   `json:"last,omitempty"`  // version before it with those of A; "": there is none
	Among       []string `json:"among,omitempty"` // versions that could not be tested, any of which may be the first
	Input       string   `json:"input"`
	Before      string   `json:"before"`
	After       string   `json:"after"` // by the last version of all
}

// show writes what was found.
func (b *bisectCmd) show(f *changedInput, r bisect.Range) error {
	format := f.pair.Formats()
	x := bisected{Instruction: f.pair.Name(), Cause: f.bucket, First: b.name(r.New), Input: mma.FormatDot(format, f.dot),
		Before: mma.FormatCode(format.D, f.a), After: mma.FormatCode(format.D, f.b)}
	if r.Old >= 0 {
		x.Last = b.name(r.Old)
	}
	x.Among = slices.Clone(b.versions[r.Old+1 : r.New])
	if b.json {
		return b.writeJSON(x)
	}
	fmt.Fprintf(b.stdout, "%s  %s\n", x.Instruction, x.Cause)
	fmt.Fprintf(b.stdout, "  changed in  %s\n", x.First)
	if len(x.Among) > 0 {
		fmt.Fprintf(b.stdout, "  or in       %s, which could not be tested\n", strings.Join(x.Among, ", "))
	}
	fmt.Fprintf(b.stdout, "  last as A   %s\n", cmp.Or(x.Last, "none of these versions"))
	fmt.Fprintf(b.stdout, "  input       %s\n", x.Input)
	fmt.Fprintf(b.stdout, "  result      %s, was %s\n\n", x.After, x.Before)
	return b.stdout.Err()
}

// commits makes the versions of the range of commits, oldest first.
func (b *bisectCmd) commits(ctx context.Context) error {
	out, err := b.gitOutput(ctx, "log", "--reverse", "--first-parent", "--format=%h %s", b.git, "--")
	if err != nil {
		return hint.Add(err, "--git takes a range as git log does, such as v1.0..main, and --repo the directory of the repository")
	}
	for line := range strings.Lines(out) {
		b.versions = append(b.versions, strings.TrimSpace(line))
	}
	if len(b.versions) == 0 {
		return hint.New("the range is OLD..NEW", "there are no commits in %s", b.git)
	}
	b.dir, err = os.MkdirTemp("", "mmafuzz-bisect-")
	return err
}

func (b *bisectCmd) gitOutput(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", b.repo}, args...)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %s", args[0], cmp.Or(lastLine(errs.String()), err.Error()))
	}
	return string(out), err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// checkout returns the directory of a commit, built.
func (b *bisectCmd) checkout(ctx context.Context, commit string) (string, error) {
	dir := filepath.Join(b.dir, commit)
	failed := dir + ".failed"
	if text, err := os.ReadFile(failed); err == nil {
		return dir, errors.New(string(text))
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if _, err := b.gitOutput(ctx, "worktree", "add", "--detach", dir, commit); err != nil {
		return dir, err
	}
	if b.build == "" {
		return dir, nil
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", b.build)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("--build failed: %s", cmp.Or(lastLine(string(out)), err.Error()))
		return dir, errors.Join(err, os.WriteFile(failed, []byte(err.Error()), 0o666))
	}
	return dir, err
}

// removeCheckouts removes what checkout has made, also from git's list of worktrees.
func (b *bisectCmd) removeCheckouts() {
	if err := os.RemoveAll(b.dir); err != nil {
		b.log.Warn().Err(err).Msg("removing checkouts")
	}
	if _, err := b.gitOutput(context.Background(), "worktree", "prune"); err != nil {
		b.log.Warn().Err(err).Msg("removing checkouts")
	}
}
