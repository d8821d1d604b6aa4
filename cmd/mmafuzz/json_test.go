package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// TestVisible: JSON means the same, and nothing in it is invisible.
func TestVisible(t *testing.T) {
	var b bytes.Buffer
	a := &app{stdout: printable.NewOutput(&b)}
	texts := map[string]string{"x": "\x1b[2J \u009b \x7f \u202e \U000e0041 \u2028 é→😀 \n"}
	if err := a.writeJSON(texts); err != nil {
		t.Fatal(err)
	}
	const want = `{"v":1,"x":"\u001b[2J \u009b \u007f \u202e \udb40\udc41 \u2028 é→😀 \n"}` + "\n"
	if b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
	var back map[string]any
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back["x"] != texts["x"] {
		t.Errorf("%v, %q", err, back["x"])
	}
}

// TestStatusLineFits shows long texts on terminals of several widths: each is on one
// line, whatever its characters.
func TestStatusLineFits(t *testing.T) {
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
