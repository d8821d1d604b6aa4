package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/summary"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// testUI is the display of a campaign that has found things in two instructions.
func testUI(t *testing.T) (ui *runUI, stdout, stderr *bytes.Buffer) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{stdout: printable.NewOutput(&out), stderr: &errs, width: 100, widthErr: 60}
	var targets open.Set
	var pairs []devices.Pair
	for _, inst := range []string{"mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32"} {
		ps, err := targets.Pairs("sim:ampere", "sim:hopper", inst, "")
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, ps...)
	}
	return newRunUI(a, fuzz.Config{Pairs: pairs, Seed: 1}, t.TempDir()), &out, &errs
}

// finding is an ordinary one.
func finding(ui *runUI, pair int, detail string) *fuzz.Case {
	f := ui.cfg.Pairs[pair].Formats()
	dot, err := mma.ParseDot(f, ui.cfg.Pairs[pair].K, false, []string{"3c00", "3c00", "b3000000"})
	if err != nil {
		panic(err)
	}
	labels, _, _ := strings.Cut(detail, ":")
	return &fuzz.Case{Pair: pair, Number: 1, Bucket: string(triage.PrimaryIn(labels)), Detail: detail, Class: oracle.Value, Dot: dot, Start: dot, A: 0x3f800000, B: 0x3f7fffff, Stable: 3}
}

// TestAnnounce checks that the first finding of each primary cause has a line, and no
// other; with -v all have.
func TestAnnounce(t *testing.T) {
	ui, _, stderr := testUI(t)
	for _, f := range []struct {
		pair   int
		detail string
	}{{0, "fusion-width"}, {0, "fusion-width:inf"}, {1, "fusion-width"}, {1, "overflow|fusion-width"}, {1, "overflow"}} {
		if err := ui.Finding(finding(ui, f.pair, f.detail), false); err != nil {
			t.Fatal(err)
		}
	}
	want := "  TIME  NEW  fusion-width  mma.m16n8k8.f32.f16.f16.f32\n             already minimal\n" +
		"  TIME  NEW  overflow  mma.m16n8k16.f32.f16.f16.f32\n             already minimal\n"
	if got := regexp.MustCompile(` +\d:\d\d  `).ReplaceAllString(stderr.String(), "  TIME  "); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if len(ui.findings) != 5 {
		t.Errorf("%d findings are remembered", len(ui.findings))
	}
	ui.verbose = true
	ui.announce(finding(ui, 0, "fusion-width+truncation-width"))
	if got := stderr.String(); strings.Count(got, "NEW") != 3 || !strings.Contains(got, "NEW  fusion-width+truncation-width\n") {
		t.Errorf("with -v: %s", got)
	}
}

// TestShrunk says what minimization made of a finding.
func TestShrunk(t *testing.T) {
	ui, _, _ := testUI(t)
	for _, c := range []struct{ from, want string }{
		{"3c00 3c00 b3000000", "already minimal"},
		{"4c00 3c00 b3000001", "minimized: simpler values, 2 terms"},
		{"3c00,3c00 3c00,3c00 b3000000", "minimized 3→2 terms"},
	} {
		f := finding(ui, 0, "fusion-width")
		var err error
		if f.Start, err = mma.ParseDot(ui.cfg.Pairs[0].Formats(), ui.cfg.Pairs[0].K, false, strings.Fields(c.from)); err != nil {
			t.Fatal(err)
		}
		if got := ui.shrunk(f); got != c.want {
			t.Errorf("%s: %q, want %q", c.from, got, c.want)
		}
	}
}

// TestStatusLine checks that the status line is rewritten in place on a terminal,
// never wider than it, makes room for other lines, and is gone at the end; and
// that elsewhere it comes every ten seconds.
func TestStatusLine(t *testing.T) { synctest.Test(t, testStatusLine) }

func testStatusLine(t *testing.T) {
	ui, stdout, stderr := testUI(t)
	s := &fuzz.State{Epochs: 1, Pairs: []*fuzz.PairState{{TargetA: "sim:ampere", TargetB: "sim:hopper", Name: "x", Sum: fuzz.Sum{Dots: 12345}}}}
	s.Pairs[0].Classes[oracle.Same], s.Pairs[0].Classes[oracle.Value] = 12000, 345
	ui.tty = true
	ui.Progress(s)
	ui.Progress(s)
	ui.announce(finding(ui, 0, "fusion-width"))
	ui.Progress(s)
	ui.summarize(summary.New(summary.Input{Config: &ui.cfg, State: s, Unexplained: func(int) *fuzz.Unexplained { return nil }}), exitMismatch)
	const status = "\r\x1b[K  0:00  12.3k dot products  N/s  345 differ"
	want := status + status + "\r\x1b[K  0:00  NEW  fusion-width  mma.m16n8k8.f32.f16.f16.f32\n             already minimal\n" + status + status + "\r\x1b[K"
	got := regexp.MustCompile(`  [0-9.kMG]+/s`).ReplaceAllString(stderr.String(), "  N/s")
	got = regexp.MustCompile(`345 differ[^\r]*`).ReplaceAllString(got, "345 differ")
	if got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	for part := range strings.SplitSeq(stderr.String(), "\r\x1b[K") {
		if n := len([]rune(part)); n >= ui.widthErr && !strings.Contains(part, "NEW") {
			t.Errorf("%d columns: %q", n, part)
		}
	}
	if !strings.HasPrefix(stdout.String(), "sim:ampere and sim:hopper differ on x: in 345 of 12,345 dot products (2.79%): unexplained\n") {
		t.Errorf("summary: %s", stdout)
	}

	ui, _, stderr = testUI(t)
	ui.line.last = time.Now()
	lines := func(after time.Duration) int {
		time.Sleep(after)
		synctest.Wait()
		ui.Progress(s)
		ui.line.mu.Lock()
		defer ui.line.mu.Unlock()
		if strings.ContainsAny(stderr.String(), "\r\x1b") {
			t.Errorf("no terminal: %q", stderr)
		}
		return strings.Count(stderr.String(), "\n")
	}
	if at0, at4, at14 := lines(0), lines(statusFirst), lines(statusEvery); at0 != 0 || at4 != 1 || at14 != 2 {
		t.Errorf("no terminal: %d lines at once, %d after four seconds, %d after ten more", at0, at4, at14)
	}
}

// TestStatusWidths checks what of a long run's status line has room on terminals of
// 60 and 80 columns.
func TestStatusWidths(t *testing.T) {
	ui, _, _ := testUI(t)
	ui.began, ui.lastNew = time.Now().Add(-36083*time.Second), time.Now().Add(-7200*time.Second)
	s := &fuzz.State{Epochs: 1, Pairs: []*fuzz.PairState{{Sum: fuzz.Sum{Dots: 123_456_789_012, Checked: 100, Buckets: map[string]*fuzz.Bucket{}}}}}
	for n := range 14 {
		s.Pairs[0].Buckets[strings.Repeat("long-", 20)+fmt.Sprint(n)] = &fuzz.Bucket{}
	}
	s.Pairs[0].Classes[oracle.Value] = 23_456_789_012
	fields := ui.status(s)
	for width, want := range map[int]string{
		60:  "10:01:23  123G dot products  23.5G differ, 14 causes",
		80:  "10:01:23  123G dot products  23.5G differ, 14 causes",
		200: "10:01:23  123G dot products  3.42M/s  23.5G differ, 14 causes  last new cause 2:00:00 ago",
	} {
		if got := fitting(fields, width-1); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
	ui.cfg.Count = 1_000_000_000_000 // for each of two pairs
	if got, want := fitting(ui.status(s), 40), "10:01:23  123G of 2T dot products"; got != want {
		t.Errorf("with --count: %q, want %q", got, want)
	}
	ui.cfg.Count, ui.cfg.Time = 0, 12*time.Hour
	if got, want := fitting(ui.status(s), 40), "10:01:23 of 12:00:00  123G dot products"; got != want {
		t.Errorf("with --time: %q, want %q", got, want)
	}
}

// TestColor checks who decides about colour.
func TestColor(t *testing.T) {
	for _, c := range []struct {
		flag, noColor, force string
		want                 bool
	}{
		{"auto", "", "", false}, {"always", "1", "", true}, {"never", "", "1", false},
		{"auto", "", "1", true}, {"auto", "1", "1", false}, {"auto", "", "0", false},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("CLICOLOR_FORCE", c.force)
		a := &app{colorFlag: c.flag}
		if got := a.useColor(&bytes.Buffer{}); got != c.want {
			t.Errorf("%+v gives %v", c, got)
		}
	}
}
