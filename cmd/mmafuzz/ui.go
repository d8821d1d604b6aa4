package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/summary"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// runUI shows a campaign: a status line and new findings on stderr, the summary
// on stdout, or everything as JSON events on stdout.
type runUI struct {
	*app
	cfg   fuzz.Config
	dir   string // of the campaign
	began time.Time

	startDots uint64    // before this run, in a campaign that was resumed
	lastNew   time.Time // of the newest bucket
	findings  []*fuzz.Case
	announced map[string]bool // primary causes that had their line
	line      statusLine
	list      *knownFlags // of known differences
}

func newRunUI(a *app, cfg fuzz.Config, dir string) *runUI {
	return &runUI{app: a, cfg: cfg, dir: dir, began: time.Now(), announced: map[string]bool{}, line: statusLine{app: a}, list: &knownFlags{}}
}

func (u *runUI) start(s *fuzz.State, resumed uint64) {
	u.began, u.line.last = time.Now(), time.Now()
	u.startDots = resumed
	if u.json {
		u.event(u.startEvent())
		return
	}
	p := u.cfg.Pairs[0]
	what := fmt.Sprintf("a=%s b=%s inst=%d", p.TargetA, p.TargetB, len(u.cfg.Pairs))
	if u.cfg.SeveralTargets() {
		what = fmt.Sprintf("pairs=%d", len(u.cfg.Pairs))
	}
	u.say("%s seed=%d out=%s", what, u.cfg.Seed, u.dir)
	switch {
	case resumed == 0:
	case u.cfg.Count > 0 && s.Complete(u.cfg.Count):
		u.say("this run was complete after %s dots; its findings:", readable.Count(u.startDots))
	default:
		u.say("resumed after %s dots", readable.Count(u.startDots))
	}
}

// forget drops the findings of a campaign that is done anew.
func (u *runUI) forget() {
	u.findings = nil
	clear(u.announced)
}

// Finding announces a finding, unless it was kept by an earlier run.
func (u *runUI) Finding(f *fuzz.Case, kept bool) error {
	u.findings = append(u.findings, f)
	if kept {
		u.announced[f.Bucket] = true
		return nil
	}
	u.lastNew = time.Now()
	if u.json {
		u.event(u.findingEvent(f))
		return u.stdout.Err() // nobody would see what is found from here on
	}
	u.announce(f)
	return nil
}

// announce writes a line for the first finding of a primary cause; with -v, of every
// finding.
func (u *runUI) announce(f *fuzz.Case) {
	name := f.Bucket
	if u.verbose {
		name = f.Detail
	} else if u.announced[f.Bucket] {
		return
	}
	rule := ""
	if f.Mismatch != nil {
		rule = f.Mismatch.Rule()
	}
	if u.list.Covers(&u.cfg.Pairs[f.Pair], f, rule) {
		return
	}
	u.announced[f.Bucket] = true
	u.line.clear()
	p := &u.cfg.Pairs[f.Pair]
	when := fmt.Sprintf("%6s  NEW  ", readable.Clock(time.Since(u.began)))
	line := name + "  " + printable.Line(p.Name()) + "  " + u.shrunk(f)
	for i, part := range readable.Flow(line, cmp.Or(u.widthFlag, u.widthErr)-len(when)) {
		if i == 0 {
			part = paintIf(u.colorErr, name, bold) + strings.TrimPrefix(part, name)
		} else {
			when = strings.Repeat(" ", len(when))
		}
		fmt.Fprintln(u.stderr, when+part)
	}
	u.line.redraw()
}

// shrunk says in a few words what minimization made of a finding.
func (u *runUI) shrunk(f *fuzz.Case) string {
	if f.Bucket == fuzz.Unstable {
		return fmt.Sprintf("repeated %d of %d times", f.Stable, f.Of)
	}
	if f.Bucket == string(triage.Layout) {
		return "not minimized: what is around it or came before it matters"
	}
	formats := u.cfg.Pairs[f.Pair].Formats()
	from, to := minimize.Terms(formats, f.Start), minimize.Terms(formats, f.Dot)
	switch {
	case f.Start.Equal(f.Dot):
		return "already minimal"
	case from == to:
		return fmt.Sprintf("minimized: simpler values, %s", readable.Plural(to, "term"))
	}
	return fmt.Sprintf("minimized %d→%d terms", from, to)
}

// searching shows on the status line how far the search for an explanation is.
func (u *runUI) searching(_ int, doing string) {
	if !u.json {
		u.line.show(statusField{doing, 1})
	}
}

// slow says what is known of a pair of which a complete epoch would take long.
func (u *runUI) slow(pair int, look fuzz.FirstLook) {
	u.line.clear()
	defer u.line.redraw()
	p := &u.cfg.Pairs[pair]
	u.say("a dot product of %s takes %s: mismatches are explained after %s of them, in about %s", p.Name(), look.Each.Round(time.Millisecond),
		readable.Thousands(look.Epoch), readable.Clock(look.Takes))
	if look.Dot == nil {
		u.say("the first %d are equal", look.Inputs)
		return
	}
	d := p.Formats().D
	u.say("the sides differ on %s: A gives %s, B %s; not examined yet", mma.FormatDot(p.Formats(), look.Dot), mma.FormatCode(d, look.A), mma.FormatCode(d, look.B))
}

// Progress shows the status line.
func (u *runUI) Progress(s *fuzz.State) {
	if u.json {
		if time.Since(u.line.last) >= time.Second {
			u.line.last = time.Now()
			u.event(u.progressEvent(s))
		}
		return
	}
	u.line.show(u.status(s)...)
}

func (u *runUI) status(s *fuzz.State) []statusField {
	dots, mismatches, causes := s.Totals()
	examined, unstable := uint64(0), uint64(0)
	for _, p := range s.Pairs {
		examined += p.Checked
		unstable += p.Changed
	}
	t := time.Since(u.began)
	lastNew := ""
	if !u.lastNew.IsZero() {
		lastNew = fmt.Sprintf("last new cause %s ago", readable.Clock(time.Since(u.lastNew)))
	}
	repeats := ""
	if unstable > 0 {
		repeats = fmt.Sprintf("%.0f%% of answers repeat", 100*float64(examined-unstable)/float64(examined))
	}
	clock, amount := fmt.Sprintf("%6s", readable.Clock(t)), readable.Count(dots)
	if u.cfg.Time > 0 {
		clock += " of " + readable.Clock(u.cfg.Time)
	}
	if u.cfg.Count > 0 {
		amount += " of " + readable.Count(u.cfg.Count*uint64(len(u.cfg.Pairs)))
	}
	return []statusField{
		{clock, 8},
		{amount + " dot products", 7},
		{readable.Count(readable.Rate(dots-u.startDots, t)) + "/s", 4},
		{fmt.Sprintf("%s differ, %s", readable.Count(mismatches), readable.Plural(causes, "cause")), 6},
		{lastNew, 5},
		{repeats, 3},
	}
}

// summarize shows what the campaign has found.
func (u *runUI) summarize(s *summary.Summary, exit int) {
	u.line.clear()
	if u.json {
		u.event(&summaryEvent{newEvent("summary"), s})
		return
	}
	err := s.Write(u.stdout, summary.TextOptions{
		Width: u.width, Verbose: u.verbose, Bold: u.bolden, Color: u.color, Command: command(),
		Dir: u.dir, KnownFile: u.list.known, Resumed: u.startDots, Exit: exit,
	})
	if err != nil && u.stdout.Err() == nil {
		u.log.Error().Err(err).Msg("writing the summary")
	}
}

// bold is the style of names. It only helps the eye: the column tells names apart where there
// is no colour.
const bold = "1"

// bolden marks up a name on stdout, if that has colour.
func (a *app) bolden(s string) string { return paintIf(a.color, s, bold) }

func paintIf(color bool, text, style string) string {
	if !color {
		return text
	}
	return printable.Style(text, style)
}
