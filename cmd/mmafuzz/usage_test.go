package main

import "testing"

func TestCheckWord(t *testing.T) {
	if err := checkWord("color", "never", colors...); err != nil {
		t.Error(err)
	}
	err := checkWord("color", "pink", colors...)
	if err == nil || err.Error() != `--color is "pink", not auto, always or never` {
		t.Error(err)
	}
}
