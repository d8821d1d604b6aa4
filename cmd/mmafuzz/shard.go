package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/fleet"
)

// shardFlags are the flags with which run works on one part of a campaign.
type shardFlags struct {
	campaign string
	shard    string
	wait     time.Duration
	own      bool

	index, of int
}

func (s *shardFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.campaign, "campaign", "", "`file` of a plan: work on its units (mmafuzz campaign --help)")
	f.StringVar(&s.shard, "shard", "0/1", "`I/N`: with --campaign, the units whose number modulo N is I")
	f.DurationVar(&s.wait, "wait", fleet.DefaultWait, "with --campaign, how long a shard may write no results until others do its units, `time`")
	f.BoolVar(&s.own, "own-units", false, "with --campaign, do no units of other shards, which have directories of their own")
}

// check reads --shard, and returns an error if flags are wrong or do not go together.
func (s *shardFlags) check(f *pflag.FlagSet) error {
	if s.campaign == "" {
		for _, name := range []string{"shard", "wait", "own-units", "allow-exec"} {
			if f.Changed(name) {
				return hint.New("add --campaign FILE: mmafuzz campaign plan makes one", "--%s is given without --campaign", name)
			}
		}
		return nil
	}
	var excluded []string
	f.Visit(func(one *pflag.Flag) {
		switch one.Name {
		case "campaign", "shard", "wait", "own-units", "allow-exec", "workers", "out", "json", "color", "verbose", "width":
		default:
			excluded = append(excluded, "--"+one.Name)
		}
	})
	if excluded != nil {
		return hint.New("leave it out, or make another plan", "%s does not go with --campaign, whose plan says what is compared", strings.Join(excluded, ", "))
	}
	index, of, ok := strings.Cut(s.shard, "/")
	var err, err2 error
	s.index, err = strconv.Atoi(index)
	s.of, err2 = strconv.Atoi(of)
	switch {
	case !ok || err != nil || err2 != nil:
		return hint.New("for example --shard 0/7 to --shard 6/7", "--shard is %q, not I/N", s.shard)
	case s.of < 1 || s.index < 0 || s.index >= s.of:
		return hint.New("numbers of shards begin with 0", "--shard is %s, which is none of 0/%d to %d/%d", s.shard, max(s.of, 1), max(s.of, 1)-1, max(s.of, 1))
	case s.wait < time.Second:
		return hint.New("files may take seconds to appear on a file system that is shared", "--wait is %s, at least 1s is needed", s.wait)
	}
	return nil
}

// openPlan opens the pairs of a plan, which a file has, and returns the configuration of its
// campaign.
func (r *runCmd) openPlan(ctx context.Context, file string, p *fleet.Plan) (fuzz.Config, error) {
	if err := r.trust.plan(ctx, file, p); err != nil {
		return fuzz.Config{}, err
	}
	pairs, err := p.Open(r.targets.Target)
	if err != nil {
		return fuzz.Config{}, err
	}
	cfg, err := p.Config(pairs)
	cfg.Partial = r.targets.Partial()
	return cfg, err
}

// runShard works on the units of a plan.
func (r *runCmd) runShard(ctx context.Context) error {
	defer r.targets.Close()
	if r.out == "" {
		return hint.New("name one that all shards see, or one for each shard", "--campaign needs --out, the directory of the units")
	}
	p, err := fleet.ReadPlan(r.shard.campaign)
	if err != nil {
		return planError(err)
	}
	cfg, err := r.openPlan(ctx, r.shard.campaign, p)
	if err != nil {
		return err
	}
	if cfg.Workers = r.workers; r.workers == 0 {
		cfg.Workers = fuzz.Workers(cfg.Pairs)
	}
	if !r.json {
		r.say("plan %s: shard %s of %s, out=%s", p.Digest(), r.shard.shard, readable.Plural(len(p.Units()), "unit"), r.out)
	}
	u := shardUI{app: r.app, began: time.Now(), line: newStatusLine(r.app), wait: r.shard.wait}
	s := fleet.Shard{Plan: p, Pairs: cfg.Pairs, Dir: r.out, Index: r.shard.index, Of: r.shard.of, Workers: cfg.Workers, Wait: r.shard.wait, OwnOnly: r.shard.own, Observe: u.progress}
	err = s.Run(ctx)
	u.line.clear()
	if result := u.summarize(p, r.shard.shard, err); result != nil {
		return result
	}
	further := fmt.Sprintf("the same command goes on: what is done is in %s", readable.ShellPath(r.out))
	switch {
	case errors.Is(err, fleet.ErrRound):
		return incomplete(hint.New(fmt.Sprintf("mmafuzz merge DIR... --out %s%s, then the same command", readable.ShellPath(r.out), p.Allow()), "%w", err))
	case isIncomplete(err):
		return incomplete(hint.New(further, "%s", why(err)))
	}
	return planError(err)
}

// why says what has ended a shard.
func why(err error) string {
	if errors.Is(err, context.Canceled) {
		return fuzz.Interrupted
	}
	return err.Error()
}

// planError adds what to do about an error of a plan or of a directory of units.
func planError(err error) error {
	var other *fleet.OtherPlanError
	switch {
	case errors.As(err, &other):
		return hint.Add(err, "a directory is of one plan: name another one")
	case errors.Is(err, corpus.ErrOtherVersion):
		return hint.Add(err, "%s", otherVersionHint)
	case errors.Is(err, fs.ErrNotExist):
		return hint.Add(err, "mmafuzz campaign --help shows how a campaign is split")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return hint.Add(err, "name a directory with --out that can be made or written")
	}
	return err
}

// shardUI shows how far a shard is.
type shardUI struct {
	*app
	began time.Time
	line  statusLine
	last  fleet.Progress

	wait   time.Duration
	waited bool // it was said how long
}

func (u *shardUI) progress(p fleet.Progress) {
	u.last = p
	if u.json {
		return
	}
	t := time.Since(u.began)
	waiting := ""
	if p.Waiting {
		waiting = "waiting for other shards"
		if !u.waited {
			u.waited = true
			u.line.clear()
			u.say("waiting for other shards: the units of one that writes no result for %v are done here (--wait sets that time)", u.wait)
		}
	}
	u.line.show(
		statusField{fmt.Sprintf("%6s", readable.Clock(t)), 6},
		statusField{fmt.Sprintf("%d of %d units, %d here", p.Done, p.Of, p.Here), 7},
		statusField{readable.Count(p.Dots) + " dots", 5},
		statusField{readable.Count(readable.Rate(p.Dots, t)) + "/s", 4},
		statusField{"mismatch " + readable.Count(p.Mismatches), 3},
		statusField{waiting, 2},
	)
}

// shardEvent is the event that comes last in run --campaign.
type shardEvent struct {
	eventHead
	*fleet.ShardSummary
}

func (u *shardUI) summarize(p *fleet.Plan, shard string, err error) error {
	if err != nil && u.last.Of == 0 && !u.json {
		return nil // it has not looked at the directory: nothing is known of what is done
	}
	sum := u.last.Summary(p, shard, time.Since(u.began), err == nil)
	return u.result(&shardEvent{newEvent("shard"), sum}, sum.Write)
}
