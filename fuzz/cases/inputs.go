package cases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// Imported is an input of another fuzzing engine on which two units differ.
type Imported struct {
	File   string `json:"file"`
	Class  string `json:"class"`
	Bucket string `json:"bucket,omitempty"`
	Detail string `json:"detail,omitempty"`
	Bundle string `json:"bundle,omitempty"`

	Differed int `json:"differed,omitempty"` // of an unstable case: of Runs
	Runs     int `json:"runs,omitempty"`
}

// Write writes the input and its cause for people.
func (i *Imported) Write(w io.Writer, width int) {
	text := i.Detail
	if i.Runs > 0 {
		text = bundle.UnstableText(i.Differed, i.Runs)
	}
	fmt.Fprint(w, readable.Hanging(i.File+": "+text, width))
	if i.Bundle != "" {
		fmt.Fprintf(w, "  bundle %s\n", readable.ShellPath(i.Bundle))
	}
}

// isText is what files of operands consist of: at least three fields of codes in hexadecimal,
// scales, and comments.
var isText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s*(#.*\n|\n))*[0-9a-f,]+[ \t]+[0-9a-f,]+[ \t]+[0-9a-f-]+[ \t\r\n]`)
})

// Operands returns inputs in which a text file of operands is replaced by one input for each of
// its lines. All others are bytes of a fuzzing engine.
func Operands(pair devices.Pair, inputs []corpus.InputFile) ([]corpus.InputFile, error) {
	checker := fuzz.NewPairChecker(pair)
	var all []corpus.InputFile
	for _, in := range inputs {
		if !isText().Match(append(in.Data, '\n')) {
			all = append(all, in)
			continue
		}
		for n, line := range strings.Split(string(in.Data), "\n") {
			fields := strings.Fields(line)
			if len(fields) == 0 || fields[0][0] == '#' {
				continue
			}
			dot, err := mma.ParseDot(pair.Formats(), pair.K, false, fields)
			if err != nil {
				return nil, hint.New("a line has the operands of a dot product, as mmafuzz eval reads them", "%s:%d: %w", in.Name, n+1, err)
			}
			all = append(all, corpus.InputFile{Name: fmt.Sprintf("%s:%d", in.Name, n+1), Data: checker.Encode(dot)})
		}
	}
	return all, nil
}

// Import compares two units on inputs and calls differ for each on which they differ. The
// first of each cause, and the first that is unstable, become bundles below the directory out. It
// returns the number of causes, and that of unstable inputs.
func Import(ctx context.Context, pair devices.Pair, inputs []corpus.InputFile, out string, differ func(*Imported) error) (causes, unstable int, err error) {
	checker := fuzz.NewPairChecker(pair)
	seen := map[string]bool{}
	for _, in := range inputs {
		if _, err := checker.Check(in.Data); err == nil {
			continue
		}
		i, f, err := explainInput(ctx, pair, checker, &in)
		if err != nil {
			return 0, 0, err
		}
		if f != nil && !seen[i.Bucket] {
			i.Bundle = filepath.Join(out, readable.Slug(i.Bucket)+"-1")
			err := bundle.Vacant(i.Bundle)
			if err == nil {
				err = bundle.Write(i.Bundle, f.Mismatch, nil)
			}
			if err != nil {
				return 0, 0, err
			}
			seen[i.Bucket] = true
		}
		if i.Bucket == fuzz.Unstable {
			unstable++
		}
		if err := differ(i); err != nil {
			return 0, 0, err
		}
	}
	delete(seen, fuzz.Unstable)
	return len(seen), unstable, nil
}

// explainInput explains an input on which two units have differed. The case is nil if they do
// not differ again: then the input is unstable.
func explainInput(ctx context.Context, pair devices.Pair, checker *fuzz.Checker, in *corpus.InputFile) (*Imported, *fuzz.Case, error) {
	_, dot := checker.Decode(in.Data)
	f, err := fuzz.TriageCase(ctx, fuzz.Config{Pairs: []devices.Pair{pair}, Seed: 1, Workers: 1}, dot)
	if errors.Is(err, fuzz.ErrAgree) {
		return &Imported{File: in.Name, Class: oracle.Same.String(), Bucket: fuzz.Unstable, Detail: fuzz.Unstable, Differed: 1, Runs: 1 + fuzz.TriageRuns}, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	i := &Imported{File: in.Name, Class: f.Class.String(), Bucket: f.Bucket, Detail: f.Detail}
	if f.Bucket == fuzz.Unstable {
		i.Differed, i.Runs = f.Differed, f.Of
	}
	return i, f, nil
}

// Seeds returns inputs for other fuzzing engines to begin with: one of each generator, and the
// cases of bundles. note gets a warning, or "", about each bundle if another version made it; it
// may be nil.
func Seeds(pair devices.Pair, bundles []string, note func(string)) ([][]byte, error) {
	checker := fuzz.NewPairChecker(pair)
	inputs := checker.Seeds()
	for _, dir := range bundles {
		b, err := bundle.Read(dir, note)
		if err != nil {
			return nil, err
		}
		if b.Mismatch.Formats != pair.Formats() {
			return nil, hint.New("give the units of the bundle", "bundle %s: its operands are not those of %s", dir, pair.Name())
		}
		dot, err := mma.ParseDot(pair.Formats(), pair.K, false, strings.Fields(b.Mismatch.Case))
		if err != nil {
			return nil, fmt.Errorf("bundle %s: %w", dir, err)
		}
		inputs = append(inputs, checker.Encode(dot))
	}
	return inputs, nil
}
