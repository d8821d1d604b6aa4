package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// RecordingFile is a recording in the making, in a file that this process alone
// writes. What was written survives the end of the process; Sync makes it survive
// that of the machine.
type RecordingFile struct {
	*RecordingWriter
	f *os.File
	// Steps are what the file held when it was opened, in its order.
	Steps []Step
	// Complete: nothing is missing, and nothing may be written.
	Complete bool
}

// Step is a data frame, a note or a problem.
type Step struct {
	Section Section // of a data frame
	First   uint64  // index of its first dot product
	Dots    int
	Faults  int // outputs on which the target failed

	// One of these is not nil if the step is no data frame.
	Note    *Note
	Problem *Problem
}

// ErrOtherRecording reports that a file holds a recording of something else.
var ErrOtherRecording = errors.New("the file holds another recording")

// ErrInUse reports that another process has locked a file.
var ErrInUse = errors.New("another process is writing this file")

// OpenRecordingFile begins the recording of a header in a file, or takes it up
// again where it was cut short. A file that holds something else is left alone:
// ErrOtherRecording, ErrOtherVersion or another error; ErrInUse if another process
// writes it.
func OpenRecordingFile(path string, h Header) (*RecordingFile, error) {
	h.Version = recordingVersion
	_, absent := os.Lstat(path)
	f, err := OpenLocked(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	r := &RecordingFile{f: f}
	if err := r.begin(h); err != nil {
		if errors.Is(absent, fs.ErrNotExist) {
			os.Remove(path) // it has no header, and would look like a file of somebody else's
		}
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (r *RecordingFile) begin(h Header) error {
	if fresh, err := r.unbegun(); err != nil {
		return err
	} else if fresh {
		return r.restart(h)
	}
	s := newFrameReader(r.f)
	var last *Section // of the last data frame
	s.data = func(sec *Section, first uint64, _ []byte, faults []Fault) error {
		last = sec
		r.Steps = append(r.Steps, Step{Section: *sec, First: first, Dots: sec.Shape.Dots(), Faults: faultyOutputs(faults)})
		return nil
	}
	s.note = func(n Note) { r.Steps = append(r.Steps, Step{Note: &n}) }
	s.problem = func(p Problem) { r.Steps = append(r.Steps, Step{Problem: &p}) }
	if err := s.read(); err != nil {
		return err
	}
	if s.frames == 0 {
		return r.restart(h)
	}
	if err := s.header.Versions.Check(h.Versions); err != nil {
		return err
	}
	if d := s.header.differences(&h); d != nil {
		return fmt.Errorf("%w: %s", ErrOtherRecording, strings.Join(d, "; "))
	}
	r.RecordingWriter = &RecordingWriter{w: r.f, section: last, dots: s.dots, size: s.size}
	r.Complete = s.complete
	return r.cut(s.good)
}

// unbegun reports whether a file holds no more than a part of the magic, and zeros that
// a crash of the machine has left of the rest.
func (r *RecordingFile) unbegun() (bool, error) {
	head := make([]byte, len(recordingMagic))
	n, err := io.ReadFull(r.f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	text := strings.TrimRight(string(head[:n]), "\x00")
	begun := text == recordingMagic || !strings.HasPrefix(recordingMagic, text) || !OnlyZeros(r.f)
	_, err = r.f.Seek(0, io.SeekStart)
	return !begun, err
}

// restart begins a recording that had not got as far as its header.
func (r *RecordingFile) restart(h Header) (err error) {
	if err := r.cut(0); err != nil {
		return err
	}
	r.RecordingWriter, err = NewRecordingWriter(r.f, h)
	return err
}

// cut drops everything from an offset on.
func (r *RecordingFile) cut(offset int64) error {
	if err := r.f.Truncate(offset); err != nil {
		return err
	}
	_, err := r.f.Seek(offset, io.SeekStart)
	return err
}

// Close closes the file, whether or not the recording is complete. Finish completes it.
func (r *RecordingFile) Close() error { return r.f.Close() }

// Sync returns when all that was written is on disk.
func (r *RecordingFile) Sync() error { return r.f.Sync() }

// Finish writes the end frame.
func (r *RecordingFile) Finish() error {
	if err := r.RecordingWriter.Close(); err != nil {
		return err
	}
	r.Complete = true
	return r.Sync()
}

// Size returns the bytes in the file.
func (r *RecordingFile) Size() (int64, error) { return r.f.Seek(0, io.SeekCurrent) }

// differences lists where a file's header differs from the expected one.
func (h *Header) differences(want *Header) []string {
	var d []string
	point := func(what string, have, want any) {
		if have != want {
			d = append(d, difference(what, have, want))
		}
	}
	point("name", h.Name, want.Name)
	point("target", h.Target, want.Target)
	point("date", h.Date, want.Date)
	d = append(d, EnvironmentDifferences(h.Environment, want.Environment)...)
	if a, b := planText(h.Plan), planText(want.Plan); a != b {
		d = append(d, "its plan is another one: "+planDifference(h.Plan, want.Plan))
	} else {
		point("list of instructions and inputs", h.Work, want.Work)
	}
	return d
}

// AtStart begins the names of facts that describe a machine at the moment when a target was
// opened, such as its clocks. They are kept for readers, and change from one start to the
// next.
const AtStart = "start-"

// Lasting returns an environment without the facts of a moment (AtStart).
func Lasting(environment map[string]string) map[string]string {
	lasting := maps.Clone(environment)
	maps.DeleteFunc(lasting, func(name, _ string) bool { return strings.HasPrefix(name, AtStart) })
	return lasting
}

// EnvironmentDifferences describes in what two environments differ on which results depend:
// what Lasting keeps.
func EnvironmentDifferences(have, want map[string]string) []string {
	have, want = Lasting(have), Lasting(want)
	names := map[string]bool{}
	for n := range have {
		names[n] = true
	}
	for n := range want {
		names[n] = true
	}
	var d []string
	for _, n := range slices.Sorted(maps.Keys(names)) {
		if have[n] != want[n] {
			d = append(d, difference(n, have[n], want[n]))
		}
	}
	return d
}

func difference(what string, have, want any) string {
	return fmt.Sprintf("its %s is %v, here it is %v", what, orNone(have), orNone(want))
}

func orNone(v any) any {
	if v == "" {
		return "not given"
	}
	return v
}

func planText(p *Plan) string {
	if p == nil {
		return ""
	}
	b, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// planDifference describes a plan that is not the wanted one.
func planDifference(have, want *Plan) string {
	switch {
	case have == nil:
		return "none"
	case want == nil || have.Name != want.Name:
		return have.Name
	}
	return have.Name + " with other contents (" + Differences(have, want) + ")"
}
