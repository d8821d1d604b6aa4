package corpus

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// RecordingWriter writes a recording frame by frame.
type RecordingWriter struct {
	w       io.Writer
	section *Section
	dots    int
	size    int64 // of the operands and results so far
}

// NewRecordingWriter writes the magic and the header.
func NewRecordingWriter(w io.Writer, h Header) (*RecordingWriter, error) {
	h.Version = recordingVersion
	var buf bytes.Buffer
	buf.WriteString(recordingMagic)
	if err := jsonFrame(&buf, frameHeader, h); err != nil {
		return nil, err
	}
	_, err := w.Write(buf.Bytes())
	return &RecordingWriter{w: w}, err
}

func jsonFrame(buf *bytes.Buffer, kind byte, v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		frame(buf, kind, b)
	}
	return err
}

func frame(buf *bytes.Buffer, kind byte, payload []byte) {
	var head [9]byte
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(head[5:], frameSum(kind, payload))
	buf.Write(head[:])
	buf.Write(payload)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func frameSum(kind byte, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte{kind}, castagnoli), castagnoli, payload)
}

// Packed is a batch and its results, ready to be written.
type Packed struct {
	section Section
	data    []byte // deflated
	faults  []Fault
	dots    int
}

// Faults returns the number of outputs on which the target failed.
func (p *Packed) Faults() int { return faultyOutputs(p.faults) }

func faultyOutputs(faults []Fault) int {
	n := 0
	for _, f := range faults {
		n += f.Count
	}
	return n
}

var deflaters = sync.Pool{New: func() any {
	z, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		panic("corpus: " + err.Error()) // the level is a constant
	}
	return z
}}

// Pack deflates a batch and its results d. The results of the dot products in faults mean
// nothing. A batch that is too large for ReadRecording is an error. Several goroutines may
// call Pack at once.
func Pack(s Section, b *mma.Batch, d []byte, faults []Fault) (*Packed, error) {
	s.Formats, s.Shape = b.Formats, b.Shape
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := checkFaults(faults, b.Dots()); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	z := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(z)
	z.Reset(&buf)
	for _, part := range [][]byte{b.A, b.B, b.C, b.SA, b.SB, d} {
		if _, err := z.Write(part); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if buf.Len() > maxFrame {
		return nil, fmt.Errorf("%d bytes are too many for one frame: add smaller batches", buf.Len())
	}
	return &Packed{s, buf.Bytes(), faults, b.Dots()}, nil
}

// Write writes a packed batch in one piece: a Section frame first if its section
// differs from the last one, then its faults, then the data. A recording that gets too
// large for ReadRecording is an error, and the batch is not written.
func (r *RecordingWriter) Write(p *Packed) error {
	size := r.size + p.section.Bytes()
	if size > MaxRecording {
		return fmt.Errorf("the recording would hold more than %s of operands and results: record fewer instructions or inputs at a time", byteSize(MaxRecording))
	}
	var buf bytes.Buffer
	if r.section == nil || *r.section != p.section {
		if err := jsonFrame(&buf, frameSection, p.section); err != nil {
			return err
		}
	}
	if len(p.faults) > 0 {
		if err := jsonFrame(&buf, frameFaults, p.faults); err != nil {
			return err
		}
	}
	frame(&buf, frameData, p.data)
	if _, err := r.w.Write(buf.Bytes()); err != nil {
		return err
	}
	r.section = &p.section
	r.dots += p.dots
	r.size = size
	return nil
}

// Add writes a batch and its results, after a Section frame if s differs from the last
// section. A batch that is too large for ReadRecording is an error, and nothing of it is
// written.
func (r *RecordingWriter) Add(s Section, b *mma.Batch, d []byte) error {
	p, err := Pack(s, b, d, nil)
	if err != nil {
		return err
	}
	return r.Write(p)
}

// Note writes what results of an instruction depend on.
func (r *RecordingWriter) Note(n Note) error { return r.json(frameNote, n) }

// Problem writes why an instruction has no data, or no more.
func (r *RecordingWriter) Problem(p Problem) error { return r.json(frameProblem, p) }

// Close writes the end frame.
func (r *RecordingWriter) Close() error { return r.json(frameEnd, r.dots) }

func (r *RecordingWriter) json(kind byte, v any) error {
	var buf bytes.Buffer
	if err := jsonFrame(&buf, kind, v); err != nil {
		return err
	}
	_, err := r.w.Write(buf.Bytes())
	return err
}
