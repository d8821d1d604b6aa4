package corpus

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A recording is the results of a target on inputs that it carries itself, so
// that it outlives any change of the generators. The native format is a line of
// magic and then frames:
//
//	byte     kind
//	uint32   length of the payload, little-endian
//	uint32   CRC-32C of kind and payload
//	payload
//
// Kind H (first, once) is a JSON Header, S a JSON Section, D deflated data of the
// section before it, E (last) the JSON number of dot products. The data of a
// frame is a batch's buffers A, B, C, SA, SB and D, one after the other. A file
// without an E frame was cut short: everything before the cut is good.
const recordingMagic = "mmafuzz recording 1\n"

// The kinds of frames.
const (
	frameHeader  = 'H'
	frameSection = 'S'
	frameData    = 'D'
	frameEnd     = 'E'
)

// Sizes beyond which a frame, or the operands and results that it expands to,
// are damage and not data.
const (
	maxFrame = 64 << 20
	maxData  = 256 << 20
)

// Header says where a recording was made.
type Header struct {
	Version     int               `json:"v"`
	Target      string            `json:"target"`
	Environment map[string]string `json:"environment,omitempty"`
}

// Section says what the data frames after it hold: Shape.Tiles tiles each, of
// one instruction.
type Section struct {
	Arch        string      `json:"arch"`
	Instruction string      `json:"instruction"`
	Formats     mma.Formats `json:"formats"`
	K           int         `json:"k"`         // of the instruction
	Generator   string      `json:"generator"` // name@version
	Seed        uint64      `json:"seed"`
	First       uint64      `json:"first"` // index of the first dot product
	Shape       mma.Shape   `json:"shape"`
}

// Recorded is one data frame.
type Recorded struct {
	Section *Section
	Batch   *mma.Batch
	D       []byte
}

// Recording is a recording in memory.
type Recording struct {
	Header   Header
	Data     []Recorded
	Complete bool // the end frame was there
}

// RecordingWriter writes a recording frame by frame.
type RecordingWriter struct {
	w       io.Writer
	section *Section
	dots    int
}

// NewRecordingWriter writes the magic and the header.
func NewRecordingWriter(w io.Writer, h Header) (*RecordingWriter, error) {
	if _, err := io.WriteString(w, recordingMagic); err != nil {
		return nil, err
	}
	h.Version = 1
	r := &RecordingWriter{w: w}
	return r, r.json(frameHeader, h)
}

func (r *RecordingWriter) json(kind byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return r.frame(kind, b)
}

func (r *RecordingWriter) frame(kind byte, payload []byte) error {
	var head [9]byte
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(head[5:], frameSum(kind, payload))
	if _, err := r.w.Write(head[:]); err != nil {
		return err
	}
	_, err := r.w.Write(payload)
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func frameSum(kind byte, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte{kind}, castagnoli), castagnoli, payload)
}

// Add writes a batch and its results; a new Section frame first if s differs
// from the last one. Of a batch that is too large for ReadRecording nothing or a
// Section frame is written.
func (r *RecordingWriter) Add(s Section, b *mma.Batch, d []byte) error {
	s.Formats, s.Shape = b.Formats, b.Shape
	if err := s.check(); err != nil {
		return err
	}
	if r.section == nil || *r.section != s {
		if err := r.json(frameSection, s); err != nil {
			return err
		}
		r.section = &s
	}
	var buf bytes.Buffer
	z, err := flate.NewWriter(&buf, flate.BestCompression)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{b.A, b.B, b.C, b.SA, b.SB, d} {
		if _, err := z.Write(part); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if buf.Len() > maxFrame {
		return fmt.Errorf("%d bytes are too many for one frame: add smaller batches", buf.Len())
	}
	r.dots += b.Dots()
	return r.frame(frameData, buf.Bytes())
}

// Close writes the end frame.
func (r *RecordingWriter) Close() error { return r.json(frameEnd, r.dots) }

// ReadRecording reads a native recording. Damage is an error that says where;
// a file that merely ends early is read up to there, with Complete false.
func ReadRecording(r io.Reader) (*Recording, error) {
	in := bufio.NewReader(r)
	magic := make([]byte, len(recordingMagic))
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != recordingMagic {
		return nil, errors.New("this is not an mmafuzz recording")
	}
	rec := &Recording{}
	var section *Section
	for n := 0; ; n++ {
		kind, payload, err := readFrame(in)
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return rec, headerMissing(n)
		}
		if err == nil {
			section, err = rec.frame(n, kind, payload, section)
		}
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", n, err)
		}
		if rec.Complete {
			if _, err := in.ReadByte(); err != io.EOF {
				return nil, errors.New("there is something after the end of the recording")
			}
			return rec, nil
		}
	}
}

func headerMissing(frames int) error {
	if frames == 0 {
		return errors.New("the recording ends before its header")
	}
	return nil
}

func readFrame(r io.Reader) (kind byte, payload []byte, err error) {
	var head [9]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a length of %d bytes: the file is damaged", n)
	}
	// The length may be damaged: take no more memory than there are bytes.
	payload, err = io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return 0, nil, err
	}
	if len(payload) < int(n) {
		return 0, nil, io.ErrUnexpectedEOF
	}
	if frameSum(head[0], payload) != binary.LittleEndian.Uint32(head[5:]) {
		return 0, nil, errors.New("the checksum is wrong: the file is damaged")
	}
	return head[0], payload, nil
}

func (rec *Recording) frame(n int, kind byte, payload []byte, section *Section) (*Section, error) {
	if (n == 0) != (kind == frameHeader) {
		return nil, fmt.Errorf("unexpected kind %q", kind)
	}
	switch kind {
	case frameHeader:
		if err := json.Unmarshal(payload, &rec.Header); err != nil {
			return nil, err
		}
		if rec.Header.Version != 1 {
			return nil, fmt.Errorf("recording version %d, this program reads 1", rec.Header.Version)
		}
	case frameSection:
		section = &Section{}
		if err := json.Unmarshal(payload, section); err != nil {
			return nil, err
		}
		return section, section.check()
	case frameData:
		if section == nil {
			return nil, errors.New("data before a section")
		}
		d, err := section.data(payload)
		if err != nil {
			return nil, err
		}
		rec.Data = append(rec.Data, d)
	case frameEnd:
		return section, rec.end(payload)
	default:
		return nil, fmt.Errorf("unknown kind %q", kind)
	}
	return section, nil
}

// end checks that as much was read as the writer says it has written.
func (rec *Recording) end(payload []byte) error {
	var dots int
	if err := json.Unmarshal(payload, &dots); err != nil {
		return err
	}
	have := 0
	for _, d := range rec.Data {
		have += d.Batch.Dots()
	}
	if have != dots {
		return fmt.Errorf("the recording holds %d dot products, but says that it has %d", have, dots)
	}
	rec.Complete = true
	return nil
}

// check rejects sizes that no writer makes, so that a bad file cannot ask for
// endless memory.
func (s *Section) check() error {
	sh := s.Shape
	if sh.M < 1 || sh.N < 1 || sh.K < 1 || sh.Tiles < 1 || s.K < 1 || sh.K%s.K != 0 ||
		sh.M > 1<<10 || sh.N > 1<<10 || sh.K > 1<<16 || sh.Tiles > 1<<20 {
		return fmt.Errorf("impossible shape %+v with k = %d", sh, s.K)
	}
	if err := s.Formats.Validate(); err != nil {
		return err
	}
	f := s.Formats
	row := int64(sh.K*f.A.Width() + f.Blocks(sh.K)*f.Scale.Width())
	column := int64(sh.K*f.B.Width() + f.Blocks(sh.K)*f.Scale.Width())
	output := int64(f.C.Width() + f.D.Width())
	if int64(sh.Tiles)*(int64(sh.M)*row+int64(sh.N)*column+int64(sh.M*sh.N)*output) > maxData {
		return fmt.Errorf("impossible shape %+v: too large for one frame", sh)
	}
	return nil
}

func (s *Section) data(payload []byte) (Recorded, error) {
	b := mma.NewBatch(s.Formats, s.Shape)
	d := make([]byte, b.Dots()*s.Formats.D.Width())
	z := flate.NewReader(bytes.NewReader(payload))
	for _, part := range [][]byte{b.A, b.B, b.C, b.SA, b.SB, d} {
		if _, err := io.ReadFull(z, part); err != nil {
			return Recorded{}, fmt.Errorf("the data is too short: %w", err)
		}
	}
	if n, err := z.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return Recorded{}, errors.New("the data is longer than its shape")
	}
	return Recorded{s, b, d}, nil
}

// OpenRecording reads a recording from a file: a native one, or one of the
// hwvectors files of Khattak and Mikaitis, compressed or not (see ReadHWVectors).
func OpenRecording(file string) (*Recording, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	head, err := in.Peek(2)
	var rec *Recording
	if err == nil && (head[0] == 0x1f && head[1] == 0x8b || head[0] == '#') {
		rec, err = ReadHWVectors(in)
	} else {
		rec, err = ReadRecording(in)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rec, nil
}
