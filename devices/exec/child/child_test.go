package child_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// copies is an instruction whose D is C.
var copies = child.Instruction{
	Name: "copy", K: 2, Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32},
	Run: func(in *mma.Batch, out []byte) error {
		switch in.A[0] {
		case 1:
			return errors.New(strings.Repeat("no ", 5000))
		case 2:
			panic("two")
		}
		copy(out, in.C)
		return nil
	},
}

// request returns a request of one tile, 2x2x2.
func request(id uint32, first byte, change func(*wire.Request)) []byte {
	payload := make([]byte, 8+8+16)
	payload[0] = first
	for i := range 16 {
		payload[16+i] = byte(i)
	}
	q := wire.Request{ID: id, Shape: mma.Shape{M: 2, N: 2, K: 2, Tiles: 1}, Length: uint32(len(payload)), Checksum: wire.Checksum(0, payload)}
	if change != nil {
		change(&q)
	}
	return append(q.Append(nil), payload...)
}

// answers cuts what a child has written after its header into payloads.
func answers(t *testing.T, out string) (as []wire.Answer, payloads []string) {
	t.Helper()
	_, rest, ok := strings.Cut(out, "\nready\n")
	if !ok {
		t.Fatalf("no header in %q", out)
	}
	for len(rest) > 0 {
		var a wire.Answer
		a.Parse([]byte(rest[:wire.AnswerSize]))
		rest = rest[wire.AnswerSize:]
		if a.Checksum != wire.Checksum(0, []byte(rest[:a.Length])) {
			t.Errorf("the checksum of answer %d is wrong", a.ID)
		}
		as, payloads = append(as, a), append(payloads, rest[:a.Length])
		rest = rest[a.Length:]
	}
	return as, payloads
}

func TestServe(t *testing.T) {
	in := bytes.Join([][]byte{request(1, 0, nil), request(2, 1, nil), request(3, 2, nil), request(9, 0, nil)}, nil)
	var out bytes.Buffer
	o := child.Options{Batch: 5, Deadline: time.Minute, Children: 3, About: map[string]string{"x": "y z"}}
	if err := child.Serve(bytes.NewReader(in), &out, o, copies); err != nil {
		t.Fatal(err)
	}
	const header = "mmafuzz-exec 1 binary\ninstruction copy k=2 a=fp16 b=fp16 c=fp32 d=fp32\nbatch 5\ndeadline 1m0s\nchildren 3\nabout x y z\nready\n"
	if !strings.HasPrefix(out.String(), header) {
		t.Errorf("header %q", out.String())
	}
	as, payloads := answers(t, out.String())
	if len(as) != 4 {
		t.Fatalf("%d answers", len(as))
	}
	for i, want := range []struct {
		id, status uint32
		payload    string
	}{
		{1, wire.StatusD, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"},
		{2, wire.StatusError, strings.Repeat("no ", 5000)[:wire.MaxError]},
		{3, wire.StatusError, "panic: two"},
		{9, wire.StatusD, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"},
	} {
		if as[i].ID != want.id || as[i].Status != want.status || payloads[i] != want.payload {
			t.Errorf("answer %d: %+v %q", i, as[i], payloads[i])
		}
	}
}

// TestServeErrors gives requests that are none: the child ends with an error, and
// spends no memory on what they announce.
func TestServeErrors(t *testing.T) {
	for want, in := range map[string][]byte{
		`"mmafuzz " is no request`:                          []byte(strings.Repeat("mmafuzz ", 5)),
		"unexpected EOF":                                    request(1, 0, nil)[:20],
		"request 1: unexpected EOF":                         request(1, 0, nil)[:50],
		"request 1 is for instruction 1 of 1":               request(1, 0, func(q *wire.Request) { q.Instruction = 1 }),
		"request 1: the checksum of the operands is":        request(1, 0, func(q *wire.Request) { q.Checksum++ }),
		"request 1: 31 bytes for 1 tiles of 2x2x2, which":   request(1, 0, func(q *wire.Request) { q.Length-- }),
		"request 1: 32 bytes for 1 tiles of 2x2x3, which":   request(1, 0, func(q *wire.Request) { q.K++ }),
		"request 1: 32 bytes for 0 tiles of 2x2x2, which":   request(1, 0, func(q *wire.Request) { q.Tiles = 0 }),
		"request 1: 32 bytes for 4294967295 tiles of 42949": request(1, 0, func(q *wire.Request) { q.Shape = mma.Shape{M: 1<<32 - 1, N: 1<<32 - 1, K: 2, Tiles: 1<<32 - 1} }),
	} {
		err := child.Serve(bytes.NewReader(in), io.Discard, child.Options{}, copies)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	broken := errors.New("broken pipe")
	if err := child.Serve(bytes.NewReader(nil), failing{broken}, child.Options{}, copies); err != broken {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// FuzzServe checks that no request makes a child panic or answer with another id.
func FuzzServe(f *testing.F) {
	f.Add(request(1, 0, nil))
	f.Add(append(request(1, 1, nil), request(2, 2, nil)...))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		_ = child.Serve(bytes.NewReader(in), &out, child.Options{}, copies)
		as, _ := answers(t, out.String())
		if len(as) > 0 && as[0].ID != binary.LittleEndian.Uint32(in[4:]) {
			t.Errorf("request %x, answer %d", in[4:8], as[0].ID)
		}
	})
}
