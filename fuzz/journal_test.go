package fuzz

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
)

// journalConfig is a campaign with a journal that does nothing yet.
func journalConfig(t *testing.T) Config {
	return Config{
		Pairs: openPairs(t, "sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"),
		Seed:  3, Count: 64, Journal: filepath.Join(t.TempDir(), "journal"),
	}
}

// TestOtherCampaign checks that a journal of other flags is refused, with the
// reason, and is left as it is.
func TestOtherCampaign(t *testing.T) {
	cfg := journalConfig(t)
	runCampaign(t, cfg)
	before, err := os.ReadFile(cfg.Journal)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"its seed is 3, not 4":                       func(c *Config) { c.Seed = 4 },
		"its number of cases per bucket is 1, not 2": func(c *Config) { c.PerBucket = 2 },
		"its comparison is NaNs by bits, zeros by bits, not NaNs by class, zeros by bits": func(c *Config) {
			class := oracle.ByClass
			c.NaN = &class
		},
		"its number of pairs is 1, not 2": func(c *Config) { c.Pairs = append(c.Pairs, c.Pairs[0]) },
		"its pair is sim:ampere mma.m16n8k16.f32.f16.f16.f32 | sim:hopper mma.m16n8k16.f32.f16.f16.f32, " +
			"not sim:ampere mma.m16n8k8.f32.f16.f16.f32 | sim:hopper mma.m16n8k8.f32.f16.f16.f32": func(c *Config) {
			c.Pairs = openPairs(t, "sim:ampere", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32")
		},
	} {
		other := cfg
		change(&other)
		_, err := New(other)
		if !errors.Is(err, ErrOtherCampaign) || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("got %v, want ... %s", err, want)
		}
	}
	after, err := os.ReadFile(cfg.Journal)
	if err != nil || string(after) != string(before) {
		t.Errorf("the journal has changed, %v", err)
	}
}

// TestForeignFile checks that a file which is no journal is not overwritten, and
// that the beginning of one, as a crash leaves it, is.
func TestForeignFile(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "0": true, "01234567": true, "01234567 ": true, "01234567 {\"v": true,
		"my diary": false, "0123456g": false, "012345678": false, "01234567 x": false, "my\ndiary\n": false,
	} {
		cfg := journalConfig(t)
		if err := os.WriteFile(cfg.Journal, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		c, err := New(cfg)
		if ok != (err == nil) {
			t.Errorf("%q gives %v", text, err)
		}
		if err == nil {
			c.Close()
			continue
		}
		if have, _ := os.ReadFile(cfg.Journal); string(have) != text {
			t.Errorf("%q became %q", text, have)
		}
	}
}
