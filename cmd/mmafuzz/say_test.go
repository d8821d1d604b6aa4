package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestSay writes messages with names that try to look like other messages.
func TestSay(t *testing.T) {
	const name = "x\nmmafuzz: verified"
	_, notThere := os.Open(name)
	for _, c := range []struct {
		format, want string
		arg          any
	}{
		{"%s is left out", `mmafuzz: x\nmmafuzz: verified is left out`, name},
		{"%v", `mmafuzz: open x\nmmafuzz: verified: no such file or directory`, &fs.PathError{Op: "open", Path: name, Err: errors.New("no such file or directory")}},
		{"%v", `mmafuzz: target "x": open x\nmmafuzz: verified: `, fmt.Errorf("target %q: %w", "x", notThere)},
		{"%v", "mmafuzz: bad x\n  mmafuzz: verified", errors.New("bad " + name)},
		{"%v", "mmafuzz: one\n  rename a b\\nc: two\n  line 2 of two", errors.Join(errors.New("one"), &os.LinkError{Op: "rename", Old: "a", New: "b\nc", Err: errors.New("two\nline 2 of two")})},
	} {
		var b strings.Builder
		say(&b, c.format, c.arg)
		if !strings.HasPrefix(b.String(), c.want) {
			t.Errorf("got %s, want %s", b.String(), c.want)
		}
	}
}
