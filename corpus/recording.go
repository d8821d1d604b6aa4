package corpus

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

const recordingMagic = "mmafuzz recording 1\n"

// recordingVersion is the version of the recordings that this program reads and writes.
const recordingVersion = 2

// The kinds of frames.
const (
	frameHeader  = 'H'
	frameSection = 'S'
	frameData    = 'D'
	frameFaults  = 'F'
	frameNote    = 'N'
	frameProblem = 'P'
	frameEnd     = 'E'
)

// Sizes beyond which a frame, or the operands and results that it expands to,
// are damage and not data.
const (
	maxFrame = 64 << 20
	maxData  = 256 << 20
)

// maxFrameDots is the largest number of dot products in a frame. Writers put 1024 or one
// tile into it; zeros compress so well that without a limit a small file would expand to
// any number.
const maxFrameDots = 1 << 16

// MaxRecording is the largest size of a recording in bytes, and that of the operands and
// results that it expands to. The plan nightly on an architecture of 75 instructions comes
// to a fortieth of it.
const MaxRecording = 4 << 30

// Header describes where a recording was made.
type Header struct {
	Version     int               `json:"v"`
	Versions    Versions          `json:"versions,omitzero"` // of the program; not known of recordings that earlier programs made
	Name        string            `json:"name,omitempty"`    // of the machine, as comparisons call it
	Target      string            `json:"target"`
	Environment map[string]string `json:"environment,omitempty"`
	Date        string            `json:"date,omitempty"` // as whoever recorded gave it
	Plan        *Plan             `json:"plan,omitempty"`
	Work        string            `json:"work,omitempty"` // digest of what the plan comes to on this target: see package record
}

// Section describes what the data frames after it hold: Shape.Tiles tiles each, of
// one instruction. The frames of a section follow each other without a gap.
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

// Fault reports that a target failed on outputs First..First+Count-1 of a data frame.
// What stands for them in D means nothing.
type Fault struct {
	First int    `json:"first"`
	Count int    `json:"count"`
	What  string `json:"what"`
}

// Problem explains why an instruction has no data, or no more than there is.
type Problem struct {
	Arch        string `json:"arch"`
	Instruction string `json:"instruction"`
	What        string `json:"what"`
}

// Note is what results of an instruction depend on besides what the header says: how
// the machine executes it, which tests it has passed. It stands before the instruction's
// data.
type Note struct {
	Arch        string            `json:"arch"`
	Instruction string            `json:"instruction"`
	Environment map[string]string `json:"environment"`
}

// UnstableKey is what a Note calls that the unit changed its answers when it was recorded: a
// sentence, which says how often.
const UnstableKey = "unstable"

// Recorded is one data frame. Load returns its operands and results.
type Recorded struct {
	Section *Section
	First   uint64  // index of the first dot product
	Faults  []Fault // in the order of the outputs, without overlap

	// Batch and D are the operands and results, where they are in memory: of what
	// OpenRecording has read from a native recording they are not.
	Batch *mma.Batch
	D     []byte

	place place // where the frame is in the file, if they are not in memory
	sum   Sum   // of the operands and results; zero: not computed yet
}

// Recording is the results of a target on inputs that it carries itself, so that it
// outlives any change of the generators. The native format is a line of
// magic and then frames:
//
//	byte     kind
//	uint32   length of the payload, little-endian
//	uint32   CRC-32C of kind and payload
//	payload
//
// The kinds are
//
//	H  first, once: a JSON Header
//	S  a JSON Section: what the data frames after it hold
//	D  deflated data of the section before it
//	F  a JSON list of Faults: of the data frame after it (version 2)
//	N  a JSON Note: what else results of an instruction depend on (version 2)
//	P  a JSON Problem: why an instruction has no data, or no more (version 2)
//	E  last: the JSON number of dot products
//
// The data of a frame is a batch's buffers A, B, C, SA, SB and D, one after the
// other, laid out as mma.Batch says. So a frame of whole tiles has the rows and
// columns that the outputs of a tile share once: 128 outputs of a tile of 16 x 8
// with K = 16, with A and B in FP16, C and D in FP32, take 14 bytes each, alone they
// would take 72.
//
// A file is valid at any moment while it is written. A file without an E frame was cut short:
// everything before the cut is good, and RecordingFile takes it up again.
type Recording struct {
	Header   Header
	Data     []Recorded
	Notes    []Note
	Problems []Problem
	Complete bool // the end frame was there
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
	// A slash stands between the two, and between a target and its instruction.
	if strings.Contains(s.Arch, "/") {
		return fmt.Errorf("the architecture is %q, with a slash", s.Arch)
	}
	if strings.Contains(s.Instruction, "/") {
		return fmt.Errorf("the instruction is %q, with a slash", s.Instruction)
	}
	if s.Bytes() > maxData || sh.Dots() > maxFrameDots {
		return fmt.Errorf("impossible shape %+v: too large for one frame", sh)
	}
	return nil
}

// Bytes is the size of the operands and results of a frame.
func (s *Section) Bytes() int64 {
	sh, f := s.Shape, s.Formats
	row := int64(sh.K*f.A.Width() + f.Blocks(sh.K)*f.Scale.Width())
	column := int64(sh.K*f.B.Width() + f.Blocks(sh.K)*f.Scale.Width())
	output := int64(f.C.Width() + f.D.Width())
	return int64(sh.Tiles) * (int64(sh.M)*row + int64(sh.N)*column + int64(sh.M*sh.N)*output)
}

// checkFaults returns an error unless faults can be those of a frame with the given number
// of outputs.
func checkFaults(faults []Fault, outputs int) error {
	next := 0
	for _, f := range faults {
		if f.First < next || f.Count < 1 || f.Count > outputs-f.First {
			return fmt.Errorf("impossible faults: %d outputs from %d on, of %d", f.Count, f.First, outputs)
		}
		next = f.First + f.Count
	}
	return nil
}

// OpenRecording reads a recording from a file: a native one, or one of the
// hwvectors files of Khattak and Mikaitis, compressed or not (see readHWVectors), or the
// native one in the archive of a checklist or a kit (see readArchived). All of a native one is checked, but operands and results stay in the file until they are loaded.
// The file must not change meanwhile.
func OpenRecording(file string) (*Recording, error) {
	f, err := Open(file, "recording", MaxRecording)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	head, err := in.Peek(2)
	var rec *Recording
	if err == nil && (head[0] == 0x1f && head[1] == 0x8b || head[0] == '#') {
		rec, err = readHWVectors(in)
	} else if err == nil && string(head) == "PK" {
		rec, err = readArchived(file)
	} else {
		rec, err = readRecording(in, place{file: file})
	}
	if err != nil {
		return nil, recordingHint(fmt.Errorf("%s: %w", file, err))
	}
	return rec, nil
}

// BeginsAsRecording reports whether a file begins as one that OpenRecording reads, or as one of
// these that was compressed and has to be unpacked first.
func BeginsAsRecording(file string) bool {
	line := firstLine(file)
	return line == recordingMagic || headerField(line, "gpu") != "" && headerField(line, "in") != ""
}

// IsRecording reports whether a file begins as a recording that mmafuzz has written, also a
// compressed one.
func IsRecording(file string) bool { return firstLine(file) == recordingMagic }

// firstLine returns the first line of what may be a recording, unpacked if it is compressed; ""
// if it cannot be read.
func firstLine(file string) string {
	f, err := Open(file, "recording", MaxRecording)
	if err != nil {
		return ""
	}
	defer f.Close()
	in := bufio.NewReader(f)
	if head, err := in.Peek(2); err == nil && head[0] == 0x1f && head[1] == 0x8b {
		text, err := gzip.NewReader(in)
		if err != nil {
			return ""
		}
		in = bufio.NewReader(text)
	}
	line, _ := in.ReadSlice('\n')
	return string(line)
}

// recordingHint adds what can be done about a file that cannot be read as a recording.
func recordingHint(err error) error {
	switch {
	case errors.Is(err, errNoRecording), errors.Is(err, errNoHead), errors.Is(err, errNotInArchive):
		return hint.Add(err, "mmafuzz record makes recordings; mmafuzz import makes one of arrays and tables, such as .npy, .npz, CSV and JSON")
	case errors.As(err, new(*badSum)):
		return hint.Add(err, "copy it again from where it was made, or record again with mmafuzz record")
	}
	return err
}
