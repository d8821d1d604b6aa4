package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/fuzz/fleet"
)

// TestStatusLineFits shows long texts on terminals of several widths: each is on one
// line, whatever its characters.
func TestStatusLineFits(t *testing.T) { synctest.Test(t, testStatusLineFits) }

func testStatusLineFits(t *testing.T) {
	for _, width := range []int{40, 60, 80} {
		var b bytes.Buffer
		s := statusLine{app: &app{stderr: printable.NewOutput(&b), tty: true, widthErr: width}}
		for _, text := range []string{"short", strings.Repeat("Größe\n", 40), strings.Repeat("\x1b[2J", 40)} {
			b.Reset()
			s.show(statusField{text: text})
			line, ok := strings.CutPrefix(b.String(), "\r\x1b[K")
			if n := len([]rune(line)); !ok || n >= width || strings.ContainsAny(line, "\n\x1b\r") {
				t.Errorf("%d columns: %q", width, b.String())
			}
		}
		b.Reset()
		if s.clear(); b.String() != "\r\x1b[K" {
			t.Errorf("%q", b.String())
		}
	}
	fields := []statusField{{"10:01:23", 9}, {"12.3G dots", 8}, {"", 0}, {"a-long-name-that-nobody-needs", 1}, {"mismatch 123M in 98765 buckets", 7}}
	for width, want := range map[int]string{
		80: "10:01:23  12.3G dots  mismatch 123M in 98765 buckets",
		90: "10:01:23  12.3G dots  a-long-name-that-nobody-needs  mismatch 123M in 98765 buckets",
		50: "10:01:23  12.3G dots",
		15: "10:01:23",
		6:  "10:0…",
	} {
		if got := fitting(fields, width-1); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
	var b bytes.Buffer
	s := statusLine{app: &app{stderr: printable.NewOutput(&b)}, last: time.Now()}
	if s.show(statusField{text: "too early"}); b.String() != "" {
		t.Errorf("%q", b.String())
	}
}

// TestStatusLineBeats leaves a terminal for three seconds without anything new: each second the
// line says for how long. Elsewhere it does after four seconds and then every ten, and after the
// line is cleared nothing is written.
func TestStatusLineBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		s := statusLine{app: &app{stderr: printable.NewOutput(&b), tty: true, widthErr: 40}}
		written := func(s *statusLine) string {
			time.Sleep(3*time.Second + time.Millisecond)
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			text := b.String()
			b.Reset()
			return text
		}
		s.expect("waiting")
		if got, want := written(&s), "\r\x1b[Kwaiting\r\x1b[Kwaiting  (unchanged for 0:01)\r\x1b[Kwaiting  (unchanged for 0:02)\r\x1b[Kwaiting  (unchanged for 0:03)"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		s.clear()
		if got := written(&s); got != "\r\x1b[K" {
			t.Errorf("after clear: %q", got)
		}
		if s.redraw(); !strings.HasPrefix(written(&s), "\r\x1b[Kwaiting\r") {
			t.Error("it does not come again")
		}
		s.clear()
		b.Reset()
		file := newStatusLine(&app{stderr: printable.NewOutput(&b)})
		file.expect("waiting")
		file.redraw()
		if got := written(&file); got != "" {
			t.Errorf("no terminal: %q", got)
		}
		if got := written(&file) + written(&file) + written(&file) + written(&file); got != "waiting  (unchanged for 0:04)\nwaiting  (unchanged for 0:14)\n" {
			t.Errorf("no terminal, after fifteen seconds: %q", got)
		}
		file.show(statusField{"working", 1})
		if got := written(&file) + written(&file) + written(&file); got != "working  (unchanged for 0:08)\n" {
			t.Errorf("no terminal, after ten more: %q", got)
		}
		file.clear()
		if got := written(&file) + written(&file) + written(&file) + written(&file); got != "" {
			t.Errorf("no terminal, after clear: %q", got)
		}
	})
}

// TestShardWaits: a shard that waits for others says once how long.
func TestShardWaits(t *testing.T) { synctest.Test(t, testShardWaits) }

func testShardWaits(t *testing.T) {
	var b bytes.Buffer
	a := &app{stderr: printable.NewOutput(&b)}
	u := shardUI{app: a, began: time.Now(), line: newStatusLine(a), wait: 90 * time.Second}
	for _, waiting := range []bool{false, true, true} {
		u.progress(fleet.Progress{Waiting: waiting})
	}
	const want = "mmafuzz: waiting for other shards: the units of one that writes no result for 1m30s are done here (--wait sets that time)\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}
