package main

import (
	"bytes"
	"encoding/json"
	"testing"

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
