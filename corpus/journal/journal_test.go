package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

type options struct {
	Seed  int      `json:"seed" is:"seed"`
	Names []string `json:"names,omitempty" is:"list of names"`
	Note  string   `json:"note,omitempty"`
}

type record struct {
	N    int    `json:"n"`
	Text string `json:"text,omitempty"`
}

var errOther = errors.New("the journal is of another test")

var kind = Kind[options]{
	Of: "test", Version: 3, By: ByStudy, Versions: corpus.Versions{Catalogue: "c", Generators: "g", Formats: "f"},
	Differ: func(have, want options) error {
		return fmt.Errorf("%w: %s", errOther, strings.Join(Differences(have, want), "; "))
	},
}

// open opens the journal of a test and returns its records, which are numbered.
func open(path string) (*Journal[record], []record, error) {
	var have []record
	k := kind
	k.Forget = func() error { have = nil; return nil }
	j, err := Open(path, k, options{Seed: 1}, func(r *record) error {
		if r.N != len(have)+1 {
			return Damaged(errors.New("out of place"))
		}
		have = append(have, *r)
		return nil
	})
	return j, have, err
}

// begun is what writeRecords writes.
var begun = []record{{N: 1}, {N: 2, Text: "two\nlines"}, {N: 3}}

// writeRecords appends the records of begun from a number on.
func writeRecords(t *testing.T, j *Journal[record], from int) {
	t.Helper()
	err := j.Begin()
	for i := range begun[from:] {
		err = errors.Join(err, j.Append(&begun[from+i]))
	}
	if err = errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
}

// written returns the file of a journal with the records of begun; compacted: the first two came
// of a compaction.
func written(t *testing.T, compacted bool) (path string, body []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "dir", File)
	j, _, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	if compacted {
		err = errors.Join(j.Append(&record{N: 7}), j.Compact([]*record{&begun[0], &begun[1]}), j.Append(&begun[2]), j.Close())
	} else {
		writeRecords(t, j, 0)
	}
	if body, _ = os.ReadFile(path); err != nil || len(body) == 0 {
		t.Fatal(err)
	}
	return path, body
}

func write(t *testing.T, path string, body []byte) {
	t.Helper()
	if err := os.WriteFile(path, body, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestKilled ends a journal at every byte, as a kill does: the records before that come back, and
// what is written next makes it the same as one that was never cut.
func TestKilled(t *testing.T) {
	path, all := written(t, false)
	for cut := range len(all) + 1 {
		write(t, path, all[:cut])
		j, have, err := open(path)
		if want := max(0, bytes.Count(all[:cut], []byte("\n"))-1); err != nil || !slices.Equal(have, begun[:want]) {
			t.Fatalf("cut at %d: %v, %v, want %v", cut, have, err, begun[:want])
		}
		if j.Begun() != (cut > bytes.IndexByte(all, '\n')) {
			t.Fatalf("cut at %d: begun is %v", cut, j.Begun())
		}
		writeRecords(t, j, len(have))
		if now, _ := os.ReadFile(path); !bytes.Equal(now, all) {
			t.Fatalf("cut at %d: it goes on as %q", cut, now)
		}
	}
}

// TestCutCompaction ends a compacted journal at every byte. Its first records have appeared at
// once, so that a file without them is damaged, and it begins with nothing.
func TestCutCompaction(t *testing.T) {
	said := warned(t)
	_, plain := written(t, false)
	path, all := written(t, true)
	for cut := bytes.IndexByte(all, '\n') + 1; cut <= len(all); cut++ {
		write(t, path, all[:cut])
		j, have, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		want := all
		if n := bytes.Count(all[:cut], []byte("\n")) - 1; n < 2 {
			if missing := fmt.Sprintf("%d records are missing at its end", 2-n); len(have) > 0 || !strings.Contains(said.String(), missing) {
				t.Fatalf("cut at %d: %v, %s, want %s", cut, have, said, missing)
			}
			want = plain
		}
		said.Reset()
		writeRecords(t, j, len(have))
		if now, _ := os.ReadFile(path); !bytes.Equal(now, want) {
			t.Fatalf("cut at %d: it goes on as %q", cut, now)
		}
	}
}

// TestDamaged changes every byte of a journal in several ways: the file is set aside, which is
// said, or, in the last line, taken as one that was cut short. What is written next makes it whole.
func TestDamaged(t *testing.T) {
	said := warned(t)
	_, plain := written(t, false)
	for _, compacted := range []bool{false, true} {
		path, all := written(t, compacted)
		last := bytes.LastIndexByte(all[:len(all)-1], '\n') // before the last line
		for at := range all {
			for _, with := range []byte{all[at] ^ 1, all[at] ^ 0x20, 0, '\n', 0xff} {
				body := bytes.Clone(all)
				if body[at] = with; with == all[at] {
					continue
				}
				said.Reset()
				write(t, path, body)
				j, have, err := open(path)
				if err != nil || len(have) >= len(begun) || !slices.Equal(have, begun[:len(have)]) {
					t.Fatalf("byte %d is %q: %v, %v", at, with, have, err)
				}
				const warning = "what is lost is done again; the damaged file is now " + File + DamagedSuffix
				if n := strings.Count(said.String(), warning); n > 1 || n == 0 && at < last {
					t.Fatalf("byte %d is %q: it says %q", at, with, said)
				}
				if aside, _ := os.ReadFile(path + DamagedSuffix); said.Len() > 0 && !bytes.Equal(aside, body) {
					t.Fatalf("byte %d is %q: it is set aside as %q", at, with, aside)
				}
				writeRecords(t, j, len(have))
				if now, _ := os.ReadFile(path); !bytes.Equal(now, all) && !(compacted && len(have) == 0 && bytes.Equal(now, plain)) {
					t.Fatalf("byte %d is %q: it goes on as %q", at, with, now)
				}
			}
		}
	}
}

// TestZeros leaves zeros of a journal from every byte on, as a crash of the machine may: the
// records before them come back, and it goes on behind these.
func TestZeros(t *testing.T) {
	path, all := written(t, false)
	for from := range len(all) + 1 {
		for i, zeros := range []int{len(all) - from, len(all) - from + 1, 1 << 21} {
			if i == 2 && from%8 != 0 {
				continue // long ones take time
			}
			write(t, path, append(bytes.Clone(all[:from]), make([]byte, zeros)...))
			j, have, err := open(path)
			if want := max(0, bytes.Count(all[:from], []byte("\n"))-1); err != nil || !slices.Equal(have, begun[:want]) {
				t.Fatalf("zeros from %d: %v, %v, want %d", from, have, err, want)
			}
			writeRecords(t, j, len(have))
			if now, _ := os.ReadFile(path); !bytes.Equal(now, all) {
				t.Fatalf("zeros from %d: it goes on as %q", from, now)
			}
		}
	}
}

// TestLongLine checks that a line without an end is read to a limit only.
func TestLongLine(t *testing.T) {
	tier.SkipUnderRace(t)
	_, err := scan(io.MultiReader(strings.NewReader("01234567 {"), endless('x')), nil)
	if want := "line 1: longer than 64 MiB: the file is damaged"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = scan(io.MultiReader(strings.NewReader("01234567 {"), io.LimitReader(endless(0), 1<<28)), nil)
	if err != nil {
		t.Errorf("zeros: %v", err)
	}
}

// endless reads as one byte for ever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// sealed returns lines of JSON as those of a journal.
func sealed(t *testing.T, lines ...string) (all []byte) {
	t.Helper()
	for _, text := range lines {
		line, err := Line(rawJSON(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line...)
	}
	return all
}

// head is the first record of the journals of these tests.
const head = `{"journal":"test","v":3,"by":"mmafuzz study","versions":{"catalogue":"c","generators":"g","formats":"f"},"options":{"seed":1}}`

// TestRefuses opens files that are something else, or of something else, and forged ones. They stay
// as they are.
func TestRefuses(t *testing.T) {
	with := func(from, to string) []byte { return sealed(t, strings.Replace(head, from, to, 1)) }
	path := filepath.Join(t.TempDir(), "log")
	for want, body := range map[string][]byte{
		"this is not a journal": []byte("my diary\n"),
		"line 1 is damaged":     []byte("e3a3c2c4 {}\n{}\n{}"),
		"another version of mmafuzz made it: its journal is of version 4, this program's of version 3":             with(`"v":3`, `"v":4`),
		"another version of mmafuzz made it: its catalogue: d, this program's: c; the same generators and formats": with(`"c"`, `"d"`),
		"the journal is of another test: its seed is 2, not 1; its list of names is [a], not []":                   with(`"seed":1`, `"seed":2,"names":["a"]`),
		"mmafuzz infer has written it, not mmafuzz study":                                                          with("study", "infer"),
		`"mmafuzz \x1b" has written it, and compacted it to 0 records`:                                             with("study", `\u001b`),
		`"mmafuzz study" has written it, and compacted it to -1 records`:                                           with(`{"seed":1}`, `{"seed":1},"compacted":-1`),
		`unknown field "sede"`:                        with(`"seed"`, `"sede"`),
		`"options.seed" is there twice`:               with(`"seed":1`, `"seed":1,"seed":1`),
		`line 2: unknown field "m"`:                   sealed(t, head, `{"n":1,"m":2}`),
		`line 3: "n" is there twice`:                  sealed(t, head, `{"n":1}`, `{"n":1,"n":2}`),
		`line 2: "n" is a string, not a whole number`: sealed(t, head, `{"n":"1"}`),
		"line 2: it is an array, not an object":       sealed(t, head, `[]`),
	} {
		write(t, path, body)
		_, _, err := open(path)
		if err == nil || err.Error() != path+": "+want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, body) {
			t.Errorf("%s: %q became %q", want, body, now)
		}
	}
	write(t, path, sealed(t, head, `{"n":1}`))
	stop := errors.New("stop")
	if _, err := Open(path, kind, options{Seed: 1}, func(*record) error { return stop }); !errors.Is(err, stop) || err.Error() != path+": line 2: stop" {
		t.Errorf("an error of replay: %v", err)
	}
}

// TestDecode reads single lines.
func TestDecode(t *testing.T) {
	good := string(sealed(t, `{"n":1,"text":"x"}`))
	for line, want := range map[string]string{
		good: "", good[:len(good)-1]: "it is damaged", "0" + good: "it is damaged", "": "it is damaged", "\n": "it is damaged",
		string(sealed(t, `{"n":1,"m":1}`)): `unknown field "m"`, string(checksum([]byte("{} {}"))) + " {} {}\n": "there is something after the JSON value",
	} {
		var r record
		err := Decode([]byte(line), &r)
		if want == "" && (err != nil || r != record{N: 1, Text: "x"}) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %+v, %v, want %s", line, r, err, want)
		}
	}
}

// TestInUse opens a journal twice, and one that a process has put in the place of another.
func TestInUse(t *testing.T) {
	path, _ := written(t, false)
	j, _, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, _, err := open(path); !errors.Is(err, corpus.ErrInUse) {
			t.Errorf("open twice: %v", err)
		}
		if _, err := Hold(path); !errors.Is(err, corpus.ErrInUse) {
			t.Errorf("open and held: %v", err)
		}
		if err := j.Compact([]*record{{N: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	release, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(path); !errors.Is(err, corpus.ErrInUse) {
		t.Errorf("held: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if _, have, err := open(path); err != nil || !slices.Equal(have, []record{{N: 1}}) {
		t.Errorf("afterwards: %v, %v", have, err)
	}
}

// TestCompact compacts a journal whenever it is long, once without interruption and once opening
// it again before each record: both files are the same, and stay short.
func TestCompact(t *testing.T) {
	run := func(again bool) []byte {
		path := filepath.Join(t.TempDir(), File)
		sum := 0
		replay := func(r *record) error { sum += r.N; return nil }
		j, err := Open(path, kind, options{Seed: 1}, replay)
		for range 1000 {
			if again && err == nil {
				sum = 0
				if err = j.Close(); err == nil {
					j, err = Open(path, kind, options{Seed: 1}, replay)
				}
			}
			if err == nil {
				err = j.Append(&record{N: 1})
				sum++
			}
			if err == nil && j.Long(500) {
				err = j.Compact([]*record{{N: sum}})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil || sum != 1000 {
			t.Fatalf("%d, %v", sum, err)
		}
		body, err := os.ReadFile(path)
		if err != nil || len(body) > 1000 {
			t.Errorf("%d bytes, %v", len(body), err)
		}
		return body
	}
	if once, often := run(false), run(true); !bytes.Equal(once, often) {
		t.Errorf("%s\nis after interruptions\n%s", once, often)
	}
}

// TestRead reads a journal that is open, one of other options and another program, and what the
// first record of any journal says.
func TestRead(t *testing.T) {
	path, _ := written(t, true)
	j, _, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	other := kind
	other.Versions, other.By = corpus.Versions{Catalogue: "x"}, ByRun
	var have []record
	err = Read(path, other, func(h *Head[options]) error {
		if h.By != ByStudy || h.Versions != kind.Versions || h.Options.Seed != 1 || h.Compacted != 2 {
			t.Errorf("%+v", h)
		}
		return nil
	}, func(r *record) error { have = append(have, *r); return nil })
	if err != nil || !slices.Equal(have, begun) {
		t.Errorf("%v, %v", have, err)
	}
	if h := HeadOf(path); h.Of != "test" || string(h.Options) != `{"seed":1}` {
		t.Errorf("%+v", h)
	}
}

// FuzzJournal opens any file as a journal, and with the right checksums: it gives an error and stays
// as it is, or records that are read again.
func FuzzJournal(f *testing.F) {
	warned(f)
	f.Add([]byte(head + "\n" + `{"n":1}`))
	f.Add([]byte(strings.Replace(head, `{"seed":1}`, `{"seed":1},"compacted":2`, 1) + "\n{\"n\":1}\n{\"n\":2}\n\x00\x00"))
	f.Add([]byte("00000000 {}\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		var good []byte
		for _, line := range bytes.Split(text, []byte("\n")) {
			good = append(append(append(append(good, checksum(line)...), ' '), line...), '\n')
		}
		for _, body := range [][]byte{text, good} {
			path := filepath.Join(dir, File)
			write(t, path, body)
			_ = HeadOf(path)
			j, have, err := open(path)
			if err != nil {
				if now, _ := os.ReadFile(path); !bytes.Equal(now, body) {
					t.Fatalf("%v: the file has changed", err)
				}
				continue
			}
			next := record{N: len(have) + 1}
			if err := errors.Join(j.Append(&next), j.Close()); err != nil {
				t.Fatal(err)
			}
			j, again, err := open(path)
			if err != nil || !slices.Equal(again, append(have, next)) {
				t.Fatalf("%v, then %v, %v", have, again, err)
			}
			j.Close()
		}
	})
}

// FuzzScan reads anything as a journal, with the checksums of its lines made right
// or not: what is good of it is read again as the same, to its end.
func FuzzScan(f *testing.F) {
	line := func(body string) string {
		return fmt.Sprintf("%s %s\n", checksum([]byte(body)), body)
	}
	f.Add([]byte(line(`{"v":1}`)+line(`{"epoch":0}`)), false)
	f.Add([]byte(line(`{"v":1}`)+line(`{"epoch":0}`)[:12]), false)
	f.Add([]byte(line(`{"v":1}`)+"\x00\x00\x00\x00"), false)
	f.Add([]byte("{\"v\":1}\n{\"epoch\":0}\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, mend bool) {
		if mend {
			var b strings.Builder
			for body := range bytes.Lines(data) {
				b.WriteString(line(string(bytes.TrimSuffix(body, []byte("\n")))))
			}
			data = []byte(b.String())
		}
		read := func(data []byte) (good int64, lines string, err error) {
			good, err = scan(bytes.NewReader(data), func(n int, body []byte) error {
				if n != strings.Count(lines, "\n") {
					t.Errorf("record %d after %q", n, lines)
				}
				lines += line(string(body))
				return nil
			})
			return good, lines, err
		}
		good, lines, err := read(data)
		if err != nil {
			return
		}
		if good < 0 || good > int64(len(data)) || lines != string(data[:good]) {
			t.Fatalf("%q has %d good bytes, and the records %q", data, good, lines)
		}
		if n, again, err := read(data[:good]); n != good || again != lines || err != nil {
			t.Errorf("the good part of %q is read as %d bytes %q, %v", data, n, again, err)
		}
	})
}
