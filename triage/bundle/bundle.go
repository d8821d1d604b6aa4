// Package bundle makes bundles: directories that hold everything about one differing case,
// for people who have never seen one and for programs.
//
// Everything this package puts into a bundle is made from mismatch.json (corpus.Mismatch)
// alone: a README, the picture of what both sides did, their steps as JSON, a Go test and,
// for instructions of GPUs, programs that reproduce the case. So a bundle can be made again
// from a mismatch.json, drawn (Picture), and run again (Replay), wherever its units are.
// Callers of Write may add files, such as recordings of whole tiles.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// replay:
//
//	bundle         string   its directory
//	a              string   the first side's result now
//	b              string   the second side's result now
//	recorded_a     string   the result that the bundle has
//	recorded_b     string   the result that the bundle has
//	class          string   class of the difference now, as in summary
//	reproduced     bool     both results are the recorded ones; of an unstable case: the sides differed in some run
//	tile           string?  the place in the tile that the bundle has, if the case was asked there and not alone
//	undecided      bool?    the sides agree on the case alone, but it differed because of its place or of what was asked before, which was not repeated
//	fault_a        string?  how the first side failed on the input now; its result is then -
//	fault_b        string?  the second side
//	through_model  string?  a, b or both: the sides that were replaced by the program that explains them
//	runs           number?  of an unstable case: how often it was run
//	differed       number?  runs in which the sides differed; absent if there were none
//
// The API of this package is not promised: it may change in any version.
package bundle

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// Write writes the bundle of a mismatch into a directory, with extra files by name. A bundle
// that is in the directory already is replaced.
func Write(dir string, m *corpus.Mismatch, extra map[string][]byte) error {
	files, err := files(m)
	if err != nil {
		return err
	}
	maps.Copy(files, extra)
	return corpus.WriteBundle(dir, m, files)
}

// Tiles returns the recordings of whole tiles that a bundle has, by name. They cannot be
// made again from the rest of the bundle.
func Tiles(b *corpus.Bundle) map[string][]byte {
	tiles := map[string][]byte{}
	for name, body := range b.Files {
		if ok, err := filepath.Match(tileFiles, name); ok && err == nil {
			tiles[name] = body
		}
	}
	return tiles
}

// here is what the files of a bundle call its directory: they are the same wherever that is.
const here = "BUNDLE"

// files returns what a bundle has beside mismatch.json, case.txt and MANIFEST.
func files(m *corpus.Mismatch) (map[string][]byte, error) {
	pic, err := Picture(m, here)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := report.Text(&text, pic, report.TextOptions{}); err != nil {
		return nil, err
	}
	numpy, err := numpyRepro(m)
	if err != nil {
		return nil, err
	}
	files := programs(m)
	gpu := slices.Sorted(maps.Keys(files))
	files["picture.txt"], files[numpyFile] = text.Bytes(), numpy
	if functionOf(m) == "" {
		files["repro_test.go"] = []byte(reproTest(m))
	}
	for _, side := range []struct {
		name   string
		record *corpus.SideRecord
		drawn  *report.Side
	}{{"a", &m.A, &pic.A}, {"b", &m.B, &pic.B}} {
		if isModel(side.record) {
			var b bytes.Buffer
			s := side.record
			if err := mma.WriteModel(&b, &mma.Instruction{Name: s.Instruction, Formats: m.Formats, K: s.K, Params: *s.Params}); err != nil {
				return nil, err
			}
			files[modelFile(side.name)] = b.Bytes()
		}
		if side.drawn.Trace != nil {
			body, err := json.MarshalIndent(report.StepsOf(side.drawn, m.Formats.D), "", "  ")
			if err != nil {
				return nil, err
			}
			files["trace-"+side.name+".json"] = append(body, '\n')
		}
	}
	files["README.md"] = []byte(readme(m, text.String(), gpu, slices.Sorted(maps.Keys(files))))
	return files, nil
}

// Unstable is the bucket of cases that do not reproduce.
const Unstable = "unstable"
