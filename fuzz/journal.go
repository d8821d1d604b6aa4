package fuzz

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// The journal is a text file of one record a line: a CRC-32C of the rest in
// hexadecimal, a blank, JSON. The first record is a header that says what the
// campaign is, each other one the delta of an epoch. A line is appended and
// synced in one go; a line that was cut short is the last one, and is dropped
// when the campaign is taken up again.
type journal struct {
	f *os.File
}

// journalHeader must be the same when a campaign is resumed.
type journalHeader struct {
	Version    int      `json:"v"`
	Seed       uint64   `json:"seed"`
	Generators []string `json:"generators"` // with versions
	Pairs      []string `json:"pairs"`
	PerBucket  int      `json:"per_bucket"`
	Policies   []string `json:"policies"`
}

func (c *Campaign) header() journalHeader {
	h := journalHeader{Version: 1, Seed: c.cfg.Seed, PerBucket: c.cfg.PerBucket}
	for _, p := range c.pairs {
		h.Pairs = append(h.Pairs, fmt.Sprintf("%s %s | %s %s", p.TargetA, p.A.Instruction().Name, p.TargetB, p.B.Instruction().Name))
		h.Policies = append(h.Policies, policyName(p.policy))
		var names []string
		for _, s := range p.sources {
			names = append(names, s.String())
		}
		h.Generators = append(h.Generators, strings.Join(names, " "))
	}
	return h
}

func policyName(p oracle.Policy) string {
	name := map[oracle.Strictness]string{oracle.Bits: "bits", oracle.ByClass: "class"}
	return fmt.Sprintf("NaNs by %s, zeros by %s", name[p.NaN], name[p.Zero])
}

// ErrOtherCampaign says that a journal belongs to a campaign of another
// configuration.
var ErrOtherCampaign = errors.New("the directory holds another campaign")

// ErrInUse says that another process works on a journal.
var ErrInUse = errors.New("another process is working in this directory")

// differences says in which points a journal's header is not the expected one.
func (h *journalHeader) differences(want *journalHeader) []string {
	var d []string
	point := func(what string, have, want any) {
		if have != want {
			d = append(d, fmt.Sprintf("its %s is %v, not %v", what, have, want))
		}
	}
	point("version", h.Version, want.Version)
	point("seed", h.Seed, want.Seed)
	point("number of cases per bucket", h.PerBucket, want.PerBucket)
	point("number of pairs", len(h.Pairs), len(want.Pairs))
	if n := len(h.Pairs); n != len(want.Pairs) || n != len(h.Policies) || n != len(h.Generators) {
		return d
	}
	for i := range h.Pairs {
		point("pair", h.Pairs[i], want.Pairs[i])
		point("comparison", h.Policies[i], want.Policies[i])
		point("list of generators", h.Generators[i], want.Generators[i])
		if d != nil {
			break // one example is enough
		}
	}
	return d
}

// openJournal reads the journal, if there is one, and opens it for appending.
func (c *Campaign) openJournal() error {
	if err := os.MkdirAll(filepath.Dir(c.cfg.Journal), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(c.cfg.Journal, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	c.jour = &journal{f}
	if err := corpus.Lock(f); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", f.Name(), ErrInUse)
	}
	good, err := c.replay(f)
	if err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", c.cfg.Journal, err)
	}
	// Drop a line that was cut short, then go on behind the last good one.
	if err := f.Truncate(good); err != nil {
		return err
	}
	if _, err := f.Seek(good, io.SeekStart); err != nil {
		return err
	}
	if good == 0 {
		return c.jour.record(c.header())
	}
	return nil
}

// replay applies the records of a journal and returns the length of the good
// part.
func (c *Campaign) replay(r io.Reader) (good int64, err error) {
	in := bufio.NewReaderSize(r, 1<<20)
	for n := 0; ; n++ {
		line, err := in.ReadBytes('\n')
		if n == 0 && len(line) > 0 && !headOfRecord.Match(line[:min(len(line), headLen)]) {
			return 0, errors.New("this is not a journal")
		}
		if err == io.EOF {
			return good, nil // what has no end of line was cut short
		}
		if err != nil {
			return good, err
		}
		body, ok := checkedBody(line)
		if !ok {
			if _, err := in.Peek(1); err == io.EOF {
				return good, nil // a damaged last line: cut short
			}
			return good, fmt.Errorf("line %d is damaged", n+1)
		}
		if err := c.replayRecord(n, body); err != nil {
			return good, err
		}
		good += int64(len(line))
	}
}

// headOfRecord is how a record begins, or what is left of that.
var headOfRecord = regexp.MustCompile(`^([0-9a-f]{0,8}|[0-9a-f]{8} \{?)$`)

const headLen = 10

// checkedBody returns a record's JSON if its checksum is right.
func checkedBody(line []byte) ([]byte, bool) {
	sum, body, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	return body, ok && string(sum) == fmt.Sprintf("%08x", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}

func (c *Campaign) replayRecord(n int, body []byte) error {
	if n == 0 {
		var have journalHeader
		if err := json.Unmarshal(body, &have); err != nil {
			return err
		}
		want := c.header()
		if !reflect.DeepEqual(have, want) {
			return fmt.Errorf("%w: %s", ErrOtherCampaign, strings.Join(have.differences(&want), "; "))
		}
		return nil
	}
	var d delta
	if err := json.Unmarshal(body, &d); err != nil {
		return err
	}
	if d.Epoch != c.state.Epochs || len(d.Pairs) != len(c.pairs) {
		return fmt.Errorf("line %d is of epoch %d with %d pairs, expected epoch %d with %d", n+1, d.Epoch, len(d.Pairs), c.state.Epochs, len(c.pairs))
	}
	c.state.apply(&d)
	for i := range d.Pairs {
		for _, f := range d.Pairs[i].Findings {
			if c.cfg.Observe == nil {
				continue
			}
			if err := c.cfg.Observe.Finding(f, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *journal) write(d *delta) error { return j.record(d) }

// record appends one line and waits until it is on disk.
func (j *journal) record(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line := fmt.Appendf(nil, "%08x ", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	line = append(append(line, body...), '\n')
	if _, err := j.f.Write(line); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return j.f.Sync()
}

func (j *journal) close() { j.f.Close() }
