package corpus

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ErrNotBegun reports that a recording was cut short before its first results.
var ErrNotBegun = errors.New("the recording was cut short before its first results")

// ReadRecording reads a native recording. Damage is an error that says where;
// a file that merely ends early, or ends in zeros that a crash of the machine has left,
// is read up to there, with Complete false.
func ReadRecording(r io.Reader) (*Recording, error) { return readRecording(r, place{}) }

// readRecording is ReadRecording; if the reader is of a file, from an offset on, operands and
// results are left there.
func readRecording(r io.Reader, from place) (*Recording, error) {
	rec := &Recording{}
	s := newFrameReader(r)
	s.data = func(sec *Section, first uint64, payload []byte, faults []Fault) error {
		d, err := sec.data(payload)
		if err != nil {
			return err
		}
		d.First, d.Faults = first, faults
		d.sum = d.summed()
		if from.file != "" {
			d.Batch, d.D, d.place = nil, nil, place{from.file, from.offset + s.offset - int64(len(payload)) - frameHead}
		}
		rec.Data = append(rec.Data, d)
		return nil
	}
	s.note = func(n Note) { rec.Notes = append(rec.Notes, n) }
	s.problem = func(p Problem) { rec.Problems = append(rec.Problems, p) }
	err := s.read()
	if err == nil && s.frames == 0 {
		err = errors.New("the recording ends before its header")
	}
	if err != nil {
		return nil, err
	}
	rec.Header, rec.Complete = s.header, s.complete
	printable.Strings(&rec.Header)
	printable.Strings(&rec.Notes)
	printable.Strings(&rec.Problems)
	for i := range rec.Data {
		printable.Strings(&rec.Data[i].Faults)
		if i == 0 || rec.Data[i].Section != rec.Data[i-1].Section {
			printable.Strings(rec.Data[i].Section)
		}
	}
	return rec, nil
}

// frameReader reads the frames of a recording and checks that they make sense
// together.
type frameReader struct {
	in *bufio.Reader
	// data is called with each data frame: its section, the index of its first dot
	// product, its payload, and its faults.
	data    func(s *Section, first uint64, payload []byte, faults []Fault) error
	note    func(n Note)    // is called with each note
	problem func(p Problem) // is called with each problem

	frames   int
	header   Header
	section  *Section
	next     uint64  // index of the next dot product of the section
	faults   []Fault // of the next data frame; nil: none
	dots     int
	size     int64 // of the operands and results so far
	complete bool
	offset   int64 // after the last frame
	good     int64 // after the last frame that is complete without the next one: not a section, not faults
}

func newFrameReader(r io.Reader) *frameReader { return &frameReader{in: bufio.NewReader(r)} }

var errNoRecording = errors.New("this is not an mmafuzz recording")

// errCompressed reports that a recording is in a gzip file, where its data frames cannot be
// read one by one.
var errCompressed = errors.New("this recording is compressed: gunzip it first")

// read reads to the end, or to where the file was cut short.
func (s *frameReader) read() error {
	magic := make([]byte, len(recordingMagic))
	if _, err := io.ReadFull(s.in, magic); err != nil || string(magic) != recordingMagic {
		return errNoRecording
	}
	s.offset = int64(len(magic))
	for ; ; s.frames++ {
		kind, payload, err := readFrame(s.in)
		if bad, ok := err.(*badSum); ok && bad.last == 0 && OnlyZeros(s.in) {
			return nil // a crash of the machine: the file had its length, but not yet its contents
		}
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err == nil {
			s.offset += frameHead + int64(len(payload))
			err = s.frame(kind, payload)
		}
		if err != nil {
			return fmt.Errorf("frame %d: %w", s.frames, err)
		}
		if kind != frameSection && kind != frameFaults {
			s.good = s.offset
		}
		if s.complete {
			if !OnlyZeros(s.in) {
				return errors.New("there is something after the end of the recording")
			}
			return nil
		}
	}
}

// frameHead is the bytes of a frame before its payload.
const frameHead = 9

func readFrame(r io.Reader) (kind byte, payload []byte, err error) {
	var head [frameHead]byte
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
		last := head[frameHead-1]
		if n > 0 {
			last = payload[n-1]
		}
		return 0, nil, &badSum{last}
	}
	return head[0], payload, nil
}

// badSum reports that the checksum of a frame is wrong; last is the frame's last byte.
type badSum struct{ last byte }

func (*badSum) Error() string { return "the checksum is wrong: the file is damaged" }

// OnlyZeros reads to the end and reports whether there was nothing but zero bytes.
func OnlyZeros(r io.Reader) bool {
	buf := make([]byte, 1<<16)
	for {
		n, err := r.Read(buf)
		if slices.ContainsFunc(buf[:n], func(b byte) bool { return b != 0 }) {
			return false
		}
		if err != nil {
			return err == io.EOF
		}
	}
}

func (s *frameReader) frame(kind byte, payload []byte) error {
	if (s.frames == 0) != (kind == frameHeader) {
		return fmt.Errorf("unexpected kind %q", kind)
	}
	if s.faults != nil && kind != frameData {
		return errors.New("faults without data")
	}
	switch kind {
	case frameHeader:
		return s.readHeader(payload)
	case frameSection:
		s.section = &Section{}
		if err := decode(payload, s.section); err != nil {
			return err
		}
		s.next = s.section.First
		return s.section.check()
	case frameFaults:
		return s.readFaults(payload)
	case frameData:
		return s.readData(payload)
	case frameNote:
		var n Note
		if err := decode(payload, &n); err != nil {
			return err
		}
		s.note(n)
		return nil
	case frameProblem:
		var p Problem
		if err := decode(payload, &p); err != nil {
			return err
		}
		s.problem(p)
		return nil
	case frameEnd:
		return s.end(payload)
	}
	return fmt.Errorf("unknown kind %q", kind)
}

// decode reads the JSON of a frame.
func decode(payload []byte, v any) error { return strictjson.Unmarshal(payload, v) }

func (s *frameReader) readHeader(payload []byte) error {
	var version struct {
		V int `json:"v"`
	}
	// The version first: the other fields of another version may not fit Header.
	if err := decode(payload, &version); err != nil {
		return err
	}
	if version.V != recordingVersion {
		return fmt.Errorf("recording version %d, this program reads %d", version.V, recordingVersion)
	}
	return decode(payload, &s.header)
}

func (s *frameReader) readFaults(payload []byte) error {
	if s.section == nil {
		return errors.New("faults before a section")
	}
	s.faults = []Fault{}
	if err := decode(payload, &s.faults); err != nil {
		return err
	}
	if len(s.faults) == 0 {
		return errors.New("an empty list of faults")
	}
	return checkFaults(s.faults, s.section.Shape.Dots())
}

func (s *frameReader) readData(payload []byte) error {
	if s.section == nil {
		return errors.New("data before a section")
	}
	first, faults := s.next, s.faults
	s.faults = nil
	s.next += uint64(s.section.Shape.Dots())
	s.dots += s.section.Shape.Dots()
	if s.size += s.section.Bytes(); s.size > MaxRecording {
		return fmt.Errorf("the recording holds more than %s of operands and results: record in parts", byteSize(MaxRecording))
	}
	return s.data(s.section, first, payload, faults)
}

// end checks that as much was read as the writer says it has written.
func (s *frameReader) end(payload []byte) error {
	var dots int
	if err := decode(payload, &dots); err != nil {
		return err
	}
	if s.dots != dots {
		return fmt.Errorf("the recording holds %d dot products, but says that it has %d", s.dots, dots)
	}
	s.complete = true
	return nil
}

// inflaters are used again: each takes 40 KB, which would be most of the work for a small
// frame.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// data inflates a data frame.
func (s *Section) data(payload []byte) (Recorded, error) {
	b := mma.NewBatch(s.Formats, s.Shape)
	d := make([]byte, b.Dots()*s.Formats.D.Width())
	z := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(z)
	if err := z.(flate.Resetter).Reset(bytes.NewReader(payload), nil); err != nil {
		return Recorded{}, err
	}
	for _, part := range [][]byte{b.A, b.B, b.C, b.SA, b.SB, d} {
		if _, err := io.ReadFull(z, part); errors.As(err, new(flate.CorruptInputError)) {
			return Recorded{}, errors.New("the compressed data is damaged")
		} else if err != nil {
			return Recorded{}, errors.New("the data is shorter than its shape")
		}
	}
	if n, err := z.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return Recorded{}, errors.New("the data is longer than its shape")
	}
	return Recorded{Section: s, Batch: b, D: d}, nil
}
