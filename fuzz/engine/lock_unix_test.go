//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package engine

import (
	"errors"
	"testing"
)

// TestInUse checks that a journal is one campaign's at a time.
func TestInUse(t *testing.T) {
	cfg := journalConfig(t)
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(cfg); !errors.Is(err, ErrInUse) {
		t.Errorf("a second campaign gives %v", err)
	}
	c.Close()
	if c, err = New(cfg); err != nil {
		t.Fatalf("after the first was closed: %v", err)
	}
	c.Close()
}
