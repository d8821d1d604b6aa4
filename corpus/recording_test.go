package corpus

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// recorded is a batch of random operands with random results.
func recorded(f mma.Formats, s mma.Shape, seed uint64) (*mma.Batch, []byte) {
	r := rand.New(rand.NewPCG(seed, 1))
	b := mma.NewBatch(f, s)
	d := make([]byte, b.Dots()*f.D.Width())
	for _, buf := range [][]byte{b.A, b.B, b.C, b.SA, b.SB, d} {
		for i := range buf {
			buf[i] = byte(r.Uint32())
		}
	}
	return b, d
}

// write makes a recording of some batches.
func write(t testing.TB, sections []Section, batches []*mma.Batch, results [][]byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewRecordingWriter(&buf, Header{Target: "test", Environment: map[string]string{"driver": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range sections {
		if err := w.Add(sections[i], batches[i], results[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

var (
	half = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	tile = mma.Shape{M: 2, N: 3, K: 4, Tiles: 5}
)

// sample is a small recording of two sections and three data frames.
func sample(t testing.TB) []byte {
	s := Section{Arch: "hopper", Instruction: "x", K: 4, Generator: "raw@1", Seed: 7}
	next := s
	next.Instruction = "y"
	b1, d1 := recorded(half, tile, 1)
	b2, d2 := recorded(half, tile, 2)
	b3, d3 := recorded(half, mma.Shape{M: 1, N: 1, K: 8, Tiles: 2}, 3)
	return write(t, []Section{s, s, next}, []*mma.Batch{b1, b2, b3}, [][]byte{d1, d2, d3})
}

// TestRecordingRoundTrip writes and reads recordings of all formats of the
// catalogue.
func TestRecordingRoundTrip(t *testing.T) {
	var sections []Section
	var batches []*mma.Batch
	var results [][]byte
	for n, i := range mma.Arithmetics() {
		b, d := recorded(i.Formats, mma.Shape{M: 1 + n%3, N: 1 + n%2, K: i.K * (1 + n%2), Tiles: 1 + n%4}, uint64(n))
		s := Section{Arch: i.Arch, Instruction: i.Name, Formats: i.Formats, K: i.K, Generator: "raw@1", Seed: 1, First: uint64(n), Shape: b.Shape}
		sections, batches, results = append(sections, s), append(batches, b), append(results, d)
	}
	rec, err := ReadRecording(bytes.NewReader(write(t, sections, batches, results)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Header{Version: 2, Target: "test", Environment: map[string]string{"driver": "1"}}, rec.Header); diff != "" || !rec.Complete {
		t.Errorf("complete %v, header:\n%s", rec.Complete, diff)
	}
	if len(rec.Data) != len(sections) {
		t.Fatalf("%d frames of %d", len(rec.Data), len(sections))
	}
	for n, d := range rec.Data {
		if diff := cmp.Diff(Recorded{Section: &sections[n], First: sections[n].First, Batch: batches[n], D: results[n]}, d, cmpopts.IgnoreUnexported(Recorded{})); diff != "" {
			t.Fatalf("%s:\n%s", sections[n].Instruction, diff)
		}
	}
}

// TestSections checks that a section is written when it changes and not before.
func TestSections(t *testing.T) {
	rec, err := ReadRecording(bytes.NewReader(sample(t)))
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Data) != 3 || rec.Data[0].Section != rec.Data[1].Section || rec.Data[1].Section == rec.Data[2].Section {
		t.Errorf("%d frames; sections %p, %p, %p", len(rec.Data), rec.Data[0].Section, rec.Data[1].Section, rec.Data[2].Section)
	}
	want := Section{Arch: "hopper", Instruction: "y", Formats: half, K: 4, Generator: "raw@1", Seed: 7, Shape: mma.Shape{M: 1, N: 1, K: 8, Tiles: 2}}
	if diff := cmp.Diff(want, *rec.Data[2].Section); diff != "" {
		t.Error(diff)
	}
}

// TestVersion1 refuses a recording of an earlier version.
func TestVersion1(t *testing.T) {
	_, err := OpenRecording("testdata/version1.rec")
	if want := "testdata/version1.rec: frame 0: recording version 1, this program reads 2"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestLoad keeps what was read last, and notices that a file has changed.
func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.rec")
	body := sample(t)
	if err := os.WriteFile(file, body, 0o666); err != nil {
		t.Fatal(err)
	}
	open := func() *Recording {
		rec, err := OpenRecording(file)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	rec := open()
	before := loads.most
	loads.most = 1 // a frame stays, whatever its size
	defer func() { loads.most = before }()
	first, d, err := rec.Data[0].Load()
	if err != nil || first.Dots()*first.Formats.D.Width() != len(d) {
		t.Fatal(err)
	}
	if again, _, _ := rec.Data[0].Load(); again != first {
		t.Error("a frame is read twice")
	}
	if _, _, err := rec.Data[1].Load(); err != nil || loads.order.Len() != 1 {
		t.Errorf("%d frames are kept, %v", loads.order.Len(), err)
	}
	rec = open()
	if err := os.WriteFile(file, body[:len(body)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	last := &rec.Data[len(rec.Data)-1]
	if _, _, err := last.Load(); err == nil || err.Error() != file+": the file has changed since it was opened" {
		t.Errorf("%v", err)
	}
}

// TestFaults writes and reads faults, problems, and frames of one section.
func TestFaults(t *testing.T) {
	var buf bytes.Buffer
	w, err := NewRecordingWriter(&buf, Header{Target: "test", Name: "lab", Date: "2026-01-02", Plan: &Plan{Version: 1, Name: "p"}, Work: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	b, d := recorded(half, tile, 1)
	s := Section{Arch: "hopper", Instruction: "x", K: 4, Generator: "raw@1", Seed: 7, First: 90}
	note := Note{"hopper", "x", map[string]string{"opcode": "HMMA"}}
	if err := w.Note(note); err != nil {
		t.Fatal(err)
	}
	faults := [][]Fault{nil, {{0, 6, "illegal address"}, {29, 1, "timeout"}}, nil}
	for _, f := range faults {
		p, err := Pack(s, b, d, f)
		if err != nil {
			t.Fatal(err)
		}
		if want := 7; f != nil && p.Faults() != want {
			t.Errorf("%d faults, want %d", p.Faults(), want)
		}
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	problem := Problem{"hopper", "y", "no such instruction"}
	if err := errors.Join(w.Problem(problem), w.Close()); err != nil {
		t.Fatal(err)
	}
	rec, err := ReadRecording(bytes.NewReader(buf.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for n, r := range rec.Data {
		if diff := cmp.Diff(faults[n], r.Faults); diff != "" || r.First != 90+30*uint64(n) || !bytes.Equal(r.D, d) {
			t.Errorf("frame %d begins at %d: %s", n, r.First, diff)
		}
	}
	if diff := cmp.Diff([]Problem{problem}, rec.Problems); diff != "" || !rec.Complete {
		t.Errorf("complete %v: %s", rec.Complete, diff)
	}
	if diff := cmp.Diff([]Note{note}, rec.Notes); diff != "" {
		t.Error(diff)
	}
	if n := bytes.Count(buf.Bytes(), []byte(`"instruction":"x","formats"`)); n != 1 {
		t.Errorf("%d section frames, want 1", n)
	}
	if h := rec.Header; h.Name != "lab" || h.Date != "2026-01-02" || h.Plan.Name != "p" || h.Work != "abc" || h.Version != 2 {
		t.Errorf("%+v", h)
	}
	if _, err := Pack(s, b, d, []Fault{{30, 1, ""}}); err == nil || err.Error() != "impossible faults: 1 outputs from 30 on, of 30" {
		t.Errorf("a fault beyond the end: %v", err)
	}
}

// TestTornRecording cuts a recording at every byte: what was whole is read, what
// has no header is refused, nothing else is an error.
func TestTornRecording(t *testing.T) {
	complete := sample(t)
	want, err := ReadRecording(bytes.NewReader(complete))
	if err != nil {
		t.Fatal(err)
	}
	frames := -1
	for cut := range complete {
		rec, err := ReadRecording(bytes.NewReader(complete[:cut]))
		if err != nil {
			if frames >= 0 || err.Error() != "this is not an mmafuzz recording" && err.Error() != "the recording ends before its header" {
				t.Fatalf("cut at %d of %d: %v", cut, len(complete), err)
			}
			continue
		}
		if rec.Complete || len(rec.Data) < frames || len(rec.Data) > frames+1 && frames >= 0 {
			t.Fatalf("cut at %d of %d: complete %v, %d frames after %d", cut, len(complete), rec.Complete, len(rec.Data), frames)
		}
		frames = len(rec.Data)
		if diff := cmp.Diff(want.Data[:frames], rec.Data, cmp.Transformer("nil", func(d []Recorded) int { return len(d) })); diff != "" {
			t.Fatal(diff)
		}
		for n := range frames {
			if !bytes.Equal(rec.Data[n].D, want.Data[n].D) {
				t.Fatalf("cut at %d: frame %d has other results", cut, n)
			}
		}
	}
	if frames != 3 {
		t.Errorf("%d frames before the end", frames)
	}
}

// TestFlippedBits flips every bit: nothing is read that was not written.
func TestFlippedBits(t *testing.T) {
	complete := sample(t)
	want, err := ReadRecording(bytes.NewReader(complete))
	if err != nil {
		t.Fatal(err)
	}
	for i := range complete {
		for bit := range 8 {
			damaged := bytes.Clone(complete)
			damaged[i] ^= 1 << bit
			rec, err := ReadRecording(bytes.NewReader(damaged))
			if err != nil {
				continue
			}
			// A length that has grown looks like a torn tail.
			if rec.Complete {
				t.Fatalf("bit %d of byte %d flipped: no error", bit, i)
			}
			for n, d := range rec.Data {
				if !bytes.Equal(d.D, want.Data[n].D) || !bytes.Equal(d.Batch.A, want.Data[n].Batch.A) {
					t.Fatalf("bit %d of byte %d flipped: frame %d has other data", bit, i, n)
				}
			}
		}
	}
}

// frames is a recording made by hand.
type frames struct{ bytes.Buffer }

func newFrames() *frames {
	f := &frames{}
	f.WriteString(recordingMagic)
	return f
}

func (f *frames) add(kind byte, payload []byte) *frames {
	head := binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(payload)))
	f.Write(binary.LittleEndian.AppendUint32(head, frameSum(kind, payload)))
	f.Write(payload)
	return f
}

func (f *frames) json(kind byte, text string) *frames { return f.add(kind, []byte(text)) }

func deflated(t testing.TB, n int) []byte {
	t.Helper()
	var buf bytes.Buffer
	z, err := flate.NewWriter(&buf, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

const (
	goodHeader  = `{"v":2,"target":"x"}`
	goodSection = `{"arch":"x","instruction":"y","formats":{"a":"fp16","b":"fp16","c":"fp32","d":"fp32"},"k":4,"shape":{"M":1,"N":1,"K":4,"Tiles":1}}`
)

func TestReadRecordingErrors(t *testing.T) {
	section := func(old, new string) *frames {
		if !strings.Contains(goodSection, old) {
			t.Fatalf("%q is not in the section", old)
		}
		return newFrames().json('H', goodHeader).json('S', strings.Replace(goodSection, old, new, 1))
	}
	good := func() *frames { return newFrames().json('H', goodHeader).json('S', goodSection) }
	long := newFrames().json('H', goodHeader)
	long.Write([]byte{'D', 1, 0, 0, 4, 0, 0, 0, 0})
	for _, tc := range []struct {
		name, file, want string
	}{
		{"empty", "", "this is not an mmafuzz recording"},
		{"text", "hello, this is no recording at all", "this is not an mmafuzz recording"},
		{"another version of the format", strings.Replace(newFrames().String(), "1", "2", 1), "this is not an mmafuzz recording"},
		{"magic alone", newFrames().String(), "the recording ends before its header"},
		{"no header", newFrames().json('S', goodSection).String(), "frame 0: unexpected kind 'S'"},
		{"two headers", newFrames().json('H', goodHeader).json('H', goodHeader).String(), "frame 1: unexpected kind 'H'"},
		{"newer header", newFrames().json('H', `{"v":3,"target":1}`).String(), "frame 0: recording version 3, this program reads 2"},
		{"header without version", newFrames().json('H', `{}`).String(), "frame 0: recording version 0, this program reads 2"},
		{"header that is no JSON", newFrames().json('H', `{`).String(), "frame 0: the JSON is cut short"},
		{"data before a section", newFrames().json('H', goodHeader).add('D', nil).String(), "frame 1: data before a section"},
		{"problem that is no JSON", good().json('P', `x`).String(), "frame 2: 'x' is no JSON: a value should begin there"},
		{"note that is no JSON", good().json('N', `x`).String(), "frame 2: 'x' is no JSON: a value should begin there"},
		{"faults before a section", newFrames().json('H', goodHeader).json('F', `[{"first":0,"count":1}]`).String(), "frame 1: faults before a section"},
		{"faults that are no JSON", good().json('F', `[`).String(), "frame 2: the JSON is cut short"},
		{"no faults", good().json('F', `[]`).String(), "frame 2: an empty list of faults"},
		{"null faults", good().json('F', `null`).String(), "frame 2: an empty list of faults"},
		{"too many faults", good().json('F', `[{"first":0,"count":2}]`).String(), "frame 2: impossible faults: 2 outputs from 0 on, of 1"},
		{"faults of nothing", good().json('F', `[{"first":0,"count":0}]`).String(), "frame 2: impossible faults: 0 outputs from 0 on, of 1"},
		{"fault before the first", good().json('F', `[{"first":-1,"count":1}]`).String(), "frame 2: impossible faults: 1 outputs from -1 on, of 1"},
		{"endless fault", good().json('F', `[{"first":1,"count":9223372036854775807}]`).String(), "frame 2: impossible faults: 9223372036854775807 outputs from 1 on, of 1"},
		{"overlapping faults", good().json('F', `[{"first":0,"count":1},{"first":0,"count":1}]`).String(), "frame 2: impossible faults: 1 outputs from 0 on, of 1"},
		{"faults of another section", good().json('F', `[{"first":0,"count":1}]`).json('S', goodSection).String(), "frame 3: faults without data"},
		{"faults at the end", good().add('D', deflated(t, 24)).json('F', `[{"first":0,"count":1}]`).json('E', `1`).String(), "frame 4: faults without data"},
		{"unknown kind", good().add('X', nil).String(), "frame 2: unknown kind 'X'"},
		{"section that is no JSON", newFrames().json('H', goodHeader).json('S', `x`).String(), "frame 1: 'x' is no JSON: a value should begin there"},
		{"unknown format", section("fp16", "fp17").String(), `frame 1: unknown format "fp17"`},
		{"no format", section(`"d":"fp32"`, `"d":"none"`).String(), "frame 1: format of d is not given"},
		{"twice", section(`"k":4`, `"k":4,"k":8`).String(), `frame 1: "k" is there twice`},
		{"in capitals", section(`"k":4`, `"K":4`).String(), `frame 1: "K" is written "k"`},
		{"no tiles", section(`"Tiles":1`, `"Tiles":0`).String(), "frame 1: impossible shape {M:1 N:1 K:4 Tiles:0} with k = 4"},
		{"negative", section(`"M":1`, `"M":-1`).String(), "frame 1: impossible shape {M:-1 N:1 K:4 Tiles:1} with k = 4"},
		{"K of another instruction", section(`"K":4`, `"K":6`).String(), "frame 1: impossible shape {M:1 N:1 K:6 Tiles:1} with k = 4"},
		{"k of 0", section(`"k":4`, `"k":0`).String(), "frame 1: impossible shape {M:1 N:1 K:4 Tiles:1} with k = 0"},
		{"many rows", section(`"M":1`, `"M":1025`).String(), "frame 1: impossible shape {M:1025 N:1 K:4 Tiles:1} with k = 4"},
		{"many columns", section(`"N":1`, `"N":1025`).String(), "frame 1: impossible shape {M:1 N:1025 K:4 Tiles:1} with k = 4"},
		{"many products", section(`"K":4`, `"K":65540`).String(), "frame 1: impossible shape {M:1 N:1 K:65540 Tiles:1} with k = 4"},
		{"many tiles", section(`"Tiles":1`, `"Tiles":1048577`).String(), "frame 1: impossible shape {M:1 N:1 K:4 Tiles:1048577} with k = 4"},
		{"large all together", section(`"M":1,"N":1,"K":4,"Tiles":1`, `"M":1024,"N":1024,"K":4,"Tiles":1048576`).String(),
			"frame 1: impossible shape {M:1024 N:1024 K:4 Tiles:1048576}: too large for one frame"},
		{"many small dot products", section(`"M":1,"N":1,"K":4,"Tiles":1`, `"M":1024,"N":64,"K":4,"Tiles":2`).String(),
			"frame 1: impossible shape {M:1024 N:64 K:4 Tiles:2}: too large for one frame"},
		{"endless", section(`"Tiles":1`, `"Tiles":9223372036854775808`).String(),
			`frame 1: "shape.Tiles" is 9223372036854775808, not a whole number in range`},
		{"too little data", good().add('D', deflated(t, 23)).String(), "frame 2: the data is shorter than its shape"},
		{"no data", good().add('D', nil).String(), "frame 2: the data is shorter than its shape"},
		{"too much data", good().add('D', deflated(t, 25)).String(), "frame 2: the data is longer than its shape"},
		{"data that is not deflated", good().add('D', []byte{0xff, 0xff}).String(), "frame 2: the compressed data is damaged"},
		{"end without number", good().json('E', `"x"`).String(), "frame 2: it is a string, not a whole number"},
		{"end with another number", good().add('D', deflated(t, 24)).json('E', `2`).String(), "frame 3: the recording holds 1 dot products, but says that it has 2"},
		{"after the end", good().add('D', deflated(t, 24)).json('E', `1`).json('E', `1`).String(), "there is something after the end of the recording"},
		{"frame too long", long.String(), "frame 1: a length of 67108865 bytes: the file is damaged"},
		{"wrong checksum", good().String()[:len(good().String())-1] + "!", "frame 1: the checksum is wrong: the file is damaged"},
	} {
		rec, err := ReadRecording(strings.NewReader(tc.file))
		if err == nil {
			t.Errorf("%s: read as %+v", tc.name, rec)
		} else if err.Error() != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, err, tc.want)
		}
	}
	if rec, err := ReadRecording(bytes.NewReader(good().add('D', deflated(t, 24)).json('E', `1`).Bytes())); err != nil || !rec.Complete {
		t.Errorf("the good recording of this test: %+v, %v", rec, err)
	}
}

// TestHugeLength checks that a frame that says it is long, in a file that is
// not, takes no memory for it.
func TestHugeLength(t *testing.T) {
	f := newFrames()
	f.Write([]byte{'H', 0, 0, 0, 4, 0, 0, 0, 0, 'x'}) // 64 MiB
	data := f.Bytes()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if rec, err := ReadRecording(bytes.NewReader(data)); err == nil {
		t.Errorf("read as %+v", rec)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes allocated", got)
	}
}

// failAfter is a disk that is full after some bytes.
type failAfter struct{ left int }

var errFull = errors.New("disk full")

func (w *failAfter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return 0, errFull
	}
	w.left -= len(p)
	return len(p), nil
}

// TestRecordingWriterErrors writes to a disk that becomes full at every byte.
func TestRecordingWriterErrors(t *testing.T) {
	b, d := recorded(half, tile, 1)
	s := Section{Arch: "x", Instruction: "y", K: 4}
	size := len(write(t, []Section{s}, []*mma.Batch{b}, [][]byte{d}))
	for n := range size {
		w, err := NewRecordingWriter(&failAfter{n}, Header{Target: "test", Environment: map[string]string{"driver": "1"}})
		if err == nil {
			err = w.Add(s, b, d)
		}
		if err == nil {
			err = w.Close()
		}
		if !errors.Is(err, errFull) {
			t.Fatalf("%d bytes of %d: %v", n, size, err)
		}
	}
}

// TestAddLimits checks that nothing is written that cannot be read.
func TestAddLimits(t *testing.T) {
	var buf bytes.Buffer
	w, err := NewRecordingWriter(&buf, Header{})
	if err != nil {
		t.Fatal(err)
	}
	b, d := recorded(half, tile, 1)
	const want = "impossible shape {M:2 N:3 K:4 Tiles:5} with k = 3"
	if err := w.Add(Section{K: 3}, b, d); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	large := &mma.Batch{Formats: half, Shape: mma.Shape{M: 1 << 10, N: 1 << 10, K: 4, Tiles: 64}}
	if err := w.Add(Section{K: 4}, large, nil); err == nil || !strings.HasSuffix(err.Error(), "too large for one frame") {
		t.Errorf("a large batch: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if rec, err := ReadRecording(&buf); err != nil || len(rec.Data) != 0 || !rec.Complete {
		t.Errorf("%+v, %v", rec, err)
	}
}

func TestOpenRecording(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, path := range []string{file("native", sample(t)), file("text", []byte(hwText)), file("text.gz", zipped(t, hwText))} {
		if rec, err := OpenRecording(path); err != nil || len(rec.Data) == 0 || !rec.Complete {
			t.Errorf("%s: %+v, %v", path, rec, err)
		}
	}
	for _, tc := range []struct{ path, want string }{
		{file("empty", nil), "this is not an mmafuzz recording"},
		{file("one byte", []byte{0x1f}), "this is not an mmafuzz recording"},
		{file("no gzip", []byte{0x1f, 0x8b, 1}), "line 1: the compressed file is cut short"},
		{file("bad row", []byte(hwText+"x\n")), "line 4: 1 columns, not 5"},
		{file("native.gz", zipped(t, string(sample(t)))), "this recording is compressed: gunzip it first"},
	} {
		if _, err := OpenRecording(tc.path); err == nil || err.Error() != tc.path+": "+tc.want {
			t.Errorf("%s: %v, want %s", tc.path, err, tc.want)
		}
	}
	if _, err := OpenRecording(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// FuzzReadRecording reads anything: what is read without an error and written
// again is read as the same.
func FuzzReadRecording(f *testing.F) {
	complete := sample(f)
	f.Add(complete)
	f.Add(complete[:len(complete)/2])
	f.Add([]byte(recordingMagic))
	f.Add([]byte(nil))
	f.Add(newFrames().json('H', goodHeader).json('S', goodSection).add('D', deflated(f, 24)).json('E', "1").Bytes())
	f.Add(newFrames().json('H', goodHeader).json('E', "0").Bytes())
	f.Add(newFrames().json('H', goodHeader).json('P', `{"instruction":"x"}`).json('N', `{"environment":{"a":"b"}}`).json('S', goodSection).json('F', `[{"first":0,"count":1}]`).add('D', deflated(f, 24)).Bytes())
	f.Add(bytes.Replace(complete, []byte(`"Tiles":5`), []byte(`"Tiles":9`), 1))
	f.Add(newFrames().json('H', goodHeader).json('S', strings.Replace(goodSection, `"M":1,"N":1`, `"M":1024,"N":1024`, 1)).add('D', deflated(f, 24)).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := ReadRecording(bytes.NewReader(data))
		if err != nil {
			return
		}
		var buf bytes.Buffer
		w, err := NewRecordingWriter(&buf, rec.Header)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range rec.Data {
			s := *d.Section
			s.First = d.First
			p, err := Pack(s, d.Batch, d.D, d.Faults)
			if err == nil {
				err = w.Write(p)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range rec.Notes {
			if err := w.Note(n); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range rec.Problems {
			if err := w.Problem(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := ReadRecording(&buf)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*Recording{rec, again} { // a section for each frame is as good
			for i := range r.Data {
				s := *r.Data[i].Section
				s.First, r.Data[i].Section = 0, &s
			}
		}
		x, _ := json.Marshal([]any{rec.Data, rec.Notes, rec.Problems})
		y, _ := json.Marshal([]any{again.Data, again.Notes, again.Problems})
		if !bytes.Equal(x, y) {
			t.Errorf("%s\nis read again as\n%s", x, y)
		}
	})
}
