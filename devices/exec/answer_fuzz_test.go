package exec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// said is a process that has said something.
func said(text []byte) *process {
	return &process{r: bufio.NewReaderSize(bytes.NewReader(text), bufferSize), id: 7}
}

// FuzzAnswer reads anything as a child's answer to a request in binary mode: what is
// taken as D stood there, with its checksum, and what a child says can be printed.
func FuzzAnswer(f *testing.F) {
	answer := func(status uint32, payload string) []byte {
		a := wire.Answer{ID: 7, Status: status, Length: uint32(len(payload)), Checksum: wire.Checksum(0, []byte(payload))}
		return append(a.Append(nil), payload...)
	}
	f.Add(answer(wire.StatusD, "12345678"))
	f.Add(answer(wire.StatusError, "assertion \x1b[2Jfailed"))
	f.Add(answer(wire.StatusOther, "out of memory"))
	f.Add(append(answer(wire.StatusAbout, "code HMMA"), answer(wire.StatusD, "12345678")...))
	f.Add(answer(wire.StatusD, "12345678")[:20])
	f.Add([]byte("Loading design...\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, out := said(text), make([]byte, 8)
		err := p.readAnswer(out)
		for word, about := range p.about {
			if len(p.about) > maxAbout || printable.Line(about) != about || word == "" {
				t.Fatalf("%q says %q of itself", text, p.about)
			}
		}
		var refused *refusal
		if errors.As(err, &refused) && printable.Line(refused.text) != refused.text {
			t.Fatalf("%q refuses with %q", text, refused.text)
		}
		if err == nil && !bytes.HasSuffix(text, answer(wire.StatusD, string(out))[wire.AnswerSize:]) {
			t.Fatalf("%q is read as %q", text, out)
		}
	})
}

// FuzzResult reads anything as a child's line in text mode: what is taken as D is
// written as it stood there.
func FuzzResult(f *testing.F) {
	for _, line := range []string{"3f800000\n", " 3F800000 \r\n", "error no \x1b[2J licence\n", "3f80\n", "3f800000", strings.Repeat("0", 5000)} {
		f.Add(line)
	}
	a := &answer{d: fp.FP32}
	f.Fuzz(func(t *testing.T, line string) {
		out := make([]byte, 4)
		err := said([]byte(line)).readResult(a, 0, out)
		var refused *refusal
		if errors.As(err, &refused) && printable.Line(refused.text) != refused.text {
			t.Fatalf("%q refuses with %q", line, refused.text)
		}
		if err != nil {
			return
		}
		first, _, _ := strings.Cut(line, "\n")
		if got := mma.FormatCode(a.d, mma.Load(out, 4, 0)); got != strings.ToLower(strings.TrimSpace(first)) {
			t.Fatalf("%q is read as %s", line, got)
		}
	})
}

// FuzzSplit cuts anything into words as a command: words that are quoted as this program quotes
// them in the commands that it prints are those words.
func FuzzSplit(f *testing.F) {
	f.Add("python3 'a b.py' --x=\"y z\"")
	f.Add("'")
	f.Add(`'it'\''s' a\ b "\$c\\" C:\d`)
	f.Add("")
	f.Fuzz(func(t *testing.T, command string) {
		words, err := split(command)
		if err != nil {
			return
		}
		if printable.Line(command) != command {
			return // a shell has to expand what is printed of it
		}
		quoted := readable.ShellCommand(words...)
		again, err := split(quoted)
		if err != nil || fmt.Sprintf("%q", again) != fmt.Sprintf("%q", words) {
			t.Fatalf("%q is %q, and that in quotes %s, which is %q, %v", command, words, quoted, again, err)
		}
	})
}

// FuzzRequest reads anything as the head of a request: what is one is written as it
// stood there, and its size is counted without overflow.
func FuzzRequest(f *testing.F) {
	q := wire.Request{ID: 7, Instruction: 2, Shape: mma.Shape{M: 16, N: 8, K: 4, Tiles: 1000}, Length: 12345, Checksum: 0xdeadbeef}
	f.Add(q.Append(nil))
	q.Shape = mma.Shape{M: math.MaxUint32, N: math.MaxUint32, K: math.MaxUint32, Tiles: math.MaxUint32}
	f.Add(q.Append(nil))
	f.Add([]byte("mmaQ"))
	formats := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	f.Fuzz(func(t *testing.T, head []byte) {
		var q wire.Request
		if !q.Parse(head) {
			return
		}
		if !bytes.HasPrefix(head, q.Append(nil)) {
			t.Fatalf("%x is written as %x", head, q.Append(nil))
		}
		if n := wire.PayloadSize(formats, q.Shape); n < 0 {
			t.Fatalf("%+v has %d bytes", q.Shape, n)
		}
	})
}
