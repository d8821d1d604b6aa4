package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestOutput writes the program's own colours and other people's text, whole and in
// pieces of every size.
func TestOutput(t *testing.T) {
	text := "plain\ttext\n" + paintIf(true, "bold", bold) + " \x1b[31mred\x1b[0m \u009b1m \u202e 24→25 😀 \r\xff\xf0\x9f\n" + string(ownMark[:5]) + "\n\x1b"
	half := string(ownMark[1:5])
	want := "plain\ttext\n\x1b[1mbold\x1b[0m " + `\x1b[31mred\x1b[0m \u009b1m \u202e 24→25 😀 \r\xff\xf0\x9f` + "\n" + `\x1b` + half + "\n" + `\x1b`
	for size := 1; size <= len(text); size++ {
		var b bytes.Buffer
		o := &output{w: &b}
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			piece := rest[:min(size, len(rest))]
			if n, err := o.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		o.finish()
		if b.String() != want {
			t.Fatalf("in pieces of %d:\n got %q\nwant %q", size, b.String(), want)
		}
	}
}

// TestVisible: JSON means the same, and nothing in it is invisible.
func TestVisible(t *testing.T) {
	var b bytes.Buffer
	a := &app{stdout: &output{w: &b}}
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
		s := statusLine{app: &app{stderr: &output{w: &b}, tty: true, widthErr: width}}
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
	s := statusLine{app: &app{stderr: &output{w: &b}}, last: time.Now()}
	if s.show(statusField{text: "too early"}); b.String() != "" {
		t.Errorf("%q", b.String())
	}
}
