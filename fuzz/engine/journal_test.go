package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/minimize"
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

// TestDamagedRecords changes a record of a journal and gives it the right checksum: what
// cannot be is an error with the line and the reason, and the journal stays as it is.
func TestDamagedRecords(t *testing.T) {
	cfg := journalConfig(t)
	cfg.Count = 4096
	runCampaign(t, cfg)
	records := readRecords(t, cfg.Journal)
	if len(records) != 2 {
		t.Fatalf("%d records, want the header and an epoch", len(records))
	}
	good := epochOf(t, records[1])
	if p := good.Pairs[0]; len(p.Findings) == 0 || len(p.Corpus) == 0 || len(p.Differ) == 0 || p.Verdict == nil || !p.Verdict.Found() {
		t.Fatal("the campaign has found nothing to change")
	}
	dots, chunks := good.Pairs[0].Dots, good.Pairs[0].Units
	const far = "mutate@1(mutate@1(mutate@1(mutate@1(mutate@1(raw@2#1)#1)#1)#1)#1)"
	for _, tc := range []struct {
		name   string
		change func(d *delta, p *finding.Sum)
		want   string
	}{
		{"nothing", func(*delta, *finding.Sum) {}, ""},
		{"pairs", func(d *delta, _ *finding.Sum) { d.Pairs = nil }, "it has 0 pairs, expected 1"},
		{"dots", func(_ *delta, p *finding.Sum) { p.Dots++ }, fmt.Sprintf("pair 0: %d dot products, but the classes count %d", dots+1, dots)},
		{"too many dots", func(_ *delta, p *finding.Sum) { p.Dots, p.Classes[0] = 1<<63, 1<<63 }, fmt.Sprintf("pair 0: 9223372036854775808 dot products in %d chunks, more than an epoch or a campaign can have", chunks)},
		{"classes", func(_ *delta, p *finding.Sum) { p.Classes[1], p.Classes[2] = 1<<63, 1<<63 }, fmt.Sprintf("pair 0: %d dot products, but the classes count ", dots)},
		{"source", func(_ *delta, p *finding.Sum) { p.Corpus[0].Source = "nonsense@1" }, `pair 0: unknown generator "nonsense" (known: `},
		{"version of a source", func(_ *delta, p *finding.Sum) { p.Corpus[0].Source = "raw@9" }, "pair 0: generator raw: version 9 is not known (known: 2, 1)"},
		{"short source", func(_ *delta, p *finding.Sum) { p.Corpus[0].Source = "raw" }, `pair 0: "raw" is not the name of a source in full, raw@2 is`},
		{"empty source", func(_ *delta, p *finding.Sum) { p.Corpus[0].Source = "" }, `pair 0: unknown generator ""`},
		{"deep source", func(_ *delta, p *finding.Sum) { p.Corpus[0].Source = far }, `pair 0: "mutate@1(mutate@1(`},
		{"recorded", func(_ *delta, p *finding.Sum) { p.Corpus[0].Source = finding.Recorded }, `pair 0: unknown generator "recorded"`},
		{"next", func(_ *delta, p *finding.Sum) { p.Next = map[string]uint64{"raw@2": 5} }, "pair 0: raw@2 ends at 5, within a tile"},
		{"next of what", func(_ *delta, p *finding.Sum) { p.Next = map[string]uint64{"tie": 5} }, `pair 0: "tie" is not the name of a source in full, tie@2 is`},
		{"sample", func(_ *delta, p *finding.Sum) { p.Differ[0].A = 1 << 40 }, "pair 0: 10000000000 is no fp32 code"},
		{"source of a sample", func(_ *delta, p *finding.Sum) { p.Agree[0].Source = "x@1" }, `pair 0: unknown generator "x"`},
		{"verdict", func(_ *delta, p *finding.Sum) { p.Verdict.Changes[0].Path = "x" }, `pair 0: verdict: there is no parameter "x"`},
		{"value of a change", func(_ *delta, p *finding.Sum) { p.Verdict.Changes[0].To = "-7" }, "pair 0: verdict: "},
		{"program", func(_ *delta, p *finding.Sum) { p.Verdict.Program.Acc.Frac = 200 }, "pair 0: verdict: "},
		{"K of a verdict", func(_ *delta, p *finding.Sum) { p.Verdict.K = 0 }, "pair 0: verdict: its K is 0, which is neither unit's"},
		{"counts of a verdict", func(_ *delta, p *finding.Sum) { p.Verdict.Explained = -1 }, "pair 0: verdict: it explains -1 of "},
		{"null bucket", func(_ *delta, p *finding.Sum) { p.Buckets["x"] = nil }, `pair 0: bucket "x" is null`},
		{"bucket of another name", func(_ *delta, p *finding.Sum) { p.Buckets["x"] = &finding.Bucket{Name: "y"} }, `pair 0: bucket "x" calls itself "y"`},
		{"escape in a bucket", func(_ *delta, p *finding.Sum) { p.Buckets["\x1b[2J"] = &finding.Bucket{Name: "\x1b[2J"} }, `pair 0: "\x1b[2J" cannot be the name of a bucket`},
		{"nameless bucket", func(_ *delta, p *finding.Sum) { p.Buckets[""] = &finding.Bucket{} }, `pair 0: "" cannot be the name of a bucket`},
		{"ulps of a bucket", func(_ *delta, p *finding.Sum) { p.Buckets["x"] = &finding.Bucket{Name: "x", MaxUlp: -1} }, `pair 0: bucket "x": an error of -1 ulp`},
		{"null finding", func(_ *delta, p *finding.Sum) { p.Findings[0] = nil }, "pair 0: finding: it is null"},
		{"finding of another pair", func(_ *delta, p *finding.Sum) { p.Findings[0].Pair = 1 }, "pair 0: finding: it is of pair 1"},
		{"number of a finding", func(_ *delta, p *finding.Sum) { p.Findings[0].Number = 0 }, "pair 0: finding: number 0, "},
		{"operands", func(_ *delta, p *finding.Sum) { p.Findings[0].Dot.A = p.Findings[0].Dot.A[1:] }, "pair 0: finding: dot: 15 elements of a, not 16"},
		{"no operands", func(_ *delta, p *finding.Sum) { p.Findings[0].Start = nil }, "pair 0: finding: start: no operands"},
		{"operand", func(_ *delta, p *finding.Sum) { p.Findings[0].Dot.B[2] = 1 << 16 }, "pair 0: finding: dot: 10000 in b is no fp16 code"},
		{"scales", func(_ *delta, p *finding.Sum) { p.Findings[0].Dot.SA = []uint64{1} }, "pair 0: finding: dot: 1 elements of sa, not 0"},
		{"mask", func(_ *delta, p *finding.Sum) { p.Findings[0].Mask = &minimize.Mask{A: make([]minimize.Free, 16)} }, "pair 0: finding: the mask is of 16, 0 elements and 0, 0 scales"},
		{"set of a mask", func(_ *delta, p *finding.Sum) {
			p.Findings[0].Mask = &minimize.Mask{A: make([]minimize.Free, 16), B: make([]minimize.Free, 16), C: minimize.Free{Bits: 6, Set: 3}}
		}, "pair 0: finding: the mask has the set 3 of bits 6"},
		{"origin", func(_ *delta, p *finding.Sum) { p.Findings[0].Origin.Source = "?" }, `pair 0: finding: unknown generator "?"`},
		{"bucket of a finding", func(_ *delta, p *finding.Sum) { p.Findings[0].Bucket = "a\nb" }, `pair 0: finding: "a\nb" cannot be the name of a bucket`},
	} {
		d := epochOf(t, records[1])
		tc.change(d, &d.Pairs[0])
		body, err := json.Marshal(&record{Epoch: d})
		if err != nil {
			t.Fatal(err)
		}
		checkDamaged(t, cfg, tc.name, records[0], body, tc.want)
	}
	// What cannot be said with a delta.
	for _, tc := range []struct{ old, new, want string }{
		{`"class":"value"`, `"class":"odd"`, "odd"},
		{`"class":"value"`, `"class":99`, `"epoch.pairs #1.differ #1.class" is a number, not a string`},
		{fmt.Sprintf(`"dots":%d`, dots), `"dots":-1`, `"epoch.pairs #1.dots" is -1, not a whole number in range`},
		{`"units":`, `"units":1.5,"changed":`, `"epoch.pairs #1.units" is 1.5, not a whole number in range`},
	} {
		body := strings.Replace(string(records[1]), tc.old, tc.new, 1)
		if body == string(records[1]) {
			t.Fatalf("the record has no %s", tc.old)
		}
		checkDamaged(t, cfg, tc.new, records[0], []byte(body), tc.want)
	}
}

// checkDamaged writes a journal of a header and a record and opens it.
func checkDamaged(t *testing.T, cfg Config, name string, header, record []byte, want string) {
	t.Helper()
	writeRecords(t, cfg.Journal, header, record)
	before, err := os.ReadFile(cfg.Journal)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(cfg)
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case want != "" && (err == nil || !strings.HasPrefix(err.Error(), cfg.Journal+": line 2: ") || !strings.Contains(err.Error(), want)):
		t.Errorf("%s:\n got %v\nwant %s: line 2: %s", name, err, cfg.Journal, want)
	}
	if err == nil {
		c.Close()
	}
	if after, _ := os.ReadFile(cfg.Journal); string(after) != string(before) {
		t.Errorf("%s: the journal has changed", name)
	}
}

// epochOf reads the record of an epoch.
func epochOf(t *testing.T, body []byte) *delta {
	t.Helper()
	var r record
	if err := json.Unmarshal(body, &r); err != nil || r.Epoch == nil {
		t.Fatal(err)
	}
	return r.Epoch
}

// readRecords returns the records of a journal.
func readRecords(t *testing.T, path string) (records []json.RawMessage) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		body, ok := journal.Body(line)
		if !ok {
			t.Fatalf("%q is damaged", line)
		}
		records = append(records, body)
	}
	return records
}

// writeRecords writes a journal.
func writeRecords(t *testing.T, path string, records ...[]byte) {
	t.Helper()
	var all []byte
	for _, r := range records {
		line, err := journal.Line(json.RawMessage(r))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line...)
	}
	if err := os.WriteFile(path, all, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestOtherVersion checks that a journal which a program with another catalogue has begun,
// or one that did not keep digests, is refused with both digests.
func TestOtherVersion(t *testing.T) {
	cfg := journalConfig(t)
	runCampaign(t, cfg)
	records := readRecords(t, cfg.Journal)
	now := versions.Current()
	for digests, want := range map[string]string{
		`"catalogue":"0123456789abcdef"`:              "its catalogue: 0123456789abcdef, this program's: " + now.Catalogue + "; the same generators and formats",
		`"catalogue":"","generators":"","formats":""`: "one that did not keep the digests of its catalogue, generators and formats",
	} {
		old := fmt.Sprintf("%q:%q", "catalogue", now.Catalogue)
		if strings.Contains(digests, "formats") {
			old = strings.Trim(string(mustJSON(t, now)), "{}")
		}
		header := strings.Replace(string(records[0]), old, digests, 1)
		writeRecords(t, cfg.Journal, []byte(header), records[1])
		_, err := New(cfg)
		if want := cfg.Journal + ": another version of mmafuzz made it: " + want; !errors.Is(err, corpus.ErrOtherVersion) || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
