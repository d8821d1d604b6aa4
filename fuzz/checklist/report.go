package checklist

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// Report is everything that was found.
type Report struct {
	V       int          `json:"v"` // 1
	Target  string       `json:"target"`
	Began   string       `json:"began"` // when this run of the checklist began, RFC 3339
	Seconds float64      `json:"seconds"`
	Steps   []StepReport `json:"steps"`
}

// StepReport is a step of a Report.
type StepReport struct {
	Name   string        `json:"name"`
	Title  string        `json:"title"`
	Counts map[State]int `json:"counts"`
	Rows   []Row         `json:"rows"`
}

// Count returns how many parts, of all steps, are in a state.
func (r *Report) Count(s State) int {
	n := 0
	for _, st := range r.Steps {
		n += st.Counts[s]
	}
	return n
}

// report writes report.json and report.md with the rows so far.
func (r *run) report() (*Report, error) {
	rep := &Report{V: 1, Target: r.Target.Name(), Began: r.began.UTC().Format(time.RFC3339), Seconds: time.Since(r.began).Seconds()}
	for _, s := range steps {
		st := StepReport{Name: s.name, Title: s.title, Counts: map[State]int{}, Rows: r.journal.of(s.name)}
		for _, row := range st.Rows {
			st.Counts[row.State]++
		}
		rep.Steps = append(rep.Steps, st)
	}
	body, err := json.MarshalIndent(rep, "", " ")
	if err != nil {
		return nil, err
	}
	if err := corpus.ReplaceFile(filepath.Join(r.Dir, "report.json"), append(body, '\n')); err != nil {
		return nil, err
	}
	return rep, corpus.ReplaceFile(filepath.Join(r.Dir, "report.md"), []byte(rep.markdown()))
}

// Archive is the usual name of the file that holds all other files of the directory.
const Archive = "checklist.zip"

// archive packs the directory into one file, to be fetched from a machine that keeps
// nothing.
func (r *run) archive() error {
	out, err := corpus.Replace(r.Options.Archive)
	if err != nil {
		return err
	}
	if err := pack(out, os.DirFS(r.Dir)); err != nil {
		return errors.Join(err, out.Discard())
	}
	return out.Commit()
}

// pack packs the files of a directory, except for the archive itself and for temporary
// files. Recordings, which are compressed already, are stored as they are: so
// corpus.OpenRecording reads them in the archive.
func pack(out io.Writer, dir fs.FS) error {
	w := zip.NewWriter(out)
	err := fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == Archive || corpus.IsTemporary(d.Name()) {
			return err
		}
		body, err := fs.ReadFile(dir, path)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: path, Method: zip.Deflate}
		if strings.HasSuffix(path, corpus.RecordingExt) {
			h.Method = zip.Store
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		_, err = f.Write(body)
		return err
	})
	return errors.Join(err, w.Close())
}

// Summary writes the outcome of each step, the parts that differ or failed, and the names of
// the report and the archive.
func (r *Report) Summary(w io.Writer, dir, archive string, width int) error {
	var b bytes.Buffer
	for _, s := range r.Steps {
		var counts []string
		for _, state := range []State{OK, Differs, Failed, Skipped} {
			if n := s.Counts[state]; n > 0 {
				counts = append(counts, fmt.Sprintf("%d %s", n, state))
			}
		}
		fmt.Fprintf(&b, "%-20s %s\n", s.Title, strings.Join(counts, ", "))
		for _, row := range s.Rows {
			if row.State == Differs || row.State == Failed {
				b.WriteString(readable.Indented(2, fmt.Sprintf("%s %s: %s", row.State, row.Key, row.Text), width))
			}
		}
	}
	fmt.Fprintf(&b, "\nreport:  %s\narchive: %s\n", filepath.Join(dir, "report.md"), archive)
	_, err := w.Write(b.Bytes())
	return err
}
