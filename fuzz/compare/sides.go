package compare

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
)

// Side is one of the things that are compared: a recording, or a target that answers for
// the inputs of recordings.
type Side struct {
	Name      string // of the machine; New sets it
	Spec      string // as it was given
	Target    devices.Target
	Recording *corpus.Recording // nil: the target answers itself

	equalTo *Side // a recording that holds the same and is compared in place of this one
}

// specError reports that what was given is neither a file nor a target.
type specError struct {
	Spec string
	Err  error
}

func (e *specError) Error() string { return fmt.Sprintf("%s: %v", e.Spec, e.Err) }
func (e *specError) Unwrap() error { return e.Err }

// Open opens a file as a recording, and anything else as a target. The caller must close
// the side's Target. The error is a specError, or that of devices.Open.
func Open(spec string) (*Side, error) {
	target := spec
	info, err := os.Stat(spec)
	var path *fs.PathError
	switch {
	case err == nil && !info.IsDir():
		target = "replay:" + spec
	case strings.Contains(spec, ":"):
	case err == nil:
		return nil, &specError{spec, errors.New("it is a directory")}
	case errors.As(err, &path):
		return nil, &specError{spec, path.Err}
	default:
		return nil, &specError{spec, err}
	}
	t, err := devices.Open(target)
	if err != nil {
		return nil, err
	}
	s := &Side{Spec: spec, Target: t}
	if r, ok := t.(interface{ Recording() *corpus.Recording }); ok {
		s.Recording = r.Recording()
	}
	return s, nil
}

// sameNameError reports that two sides are of machines with the same name.
type sameNameError struct{ A, B, Name string }

func (e *sameNameError) Error() string {
	return fmt.Sprintf("%s and %s are both named %s", e.A, e.B, e.Name)
}

// nameSides gives sides the names in their recordings. Recordings with the same name are
// named after their files, and those with the same name of a file after its directory, too.
func nameSides(sides []*Side) error {
	if !slices.ContainsFunc(sides, func(s *Side) bool { return s.Recording != nil }) {
		return errNoRecordings
	}
	for _, s := range sides {
		switch {
		case s.Recording == nil:
			s.Name = corpus.MachineName(s.Target.Name())
		case s.Recording.Header.Name != "":
			s.Name = s.Recording.Header.Name
		default:
			s.Name = s.fileName()
		}
	}
	for _, name := range []func(*Side) string{(*Side).fileName, (*Side).pathName} {
		count := map[string]int{}
		for _, s := range sides {
			count[s.Name]++
		}
		for _, s := range sides {
			if count[s.Name] > 1 && s.Recording != nil {
				s.Name = name(s)
			}
		}
	}
	seen := map[string]string{} // by their directories
	for _, s := range sides {
		dir := readable.Slug(s.Name)
		if other, dup := seen[dir]; dup {
			return &sameNameError{other, s.Spec, s.Name}
		}
		seen[dir] = s.Spec
	}
	return nil
}

// fileName returns a machine's name made from the name of the recording's file.
func (s *Side) fileName() string {
	base := filepath.Base(strings.TrimPrefix(s.Target.Name(), "replay:"))
	name, _, _ := strings.Cut(base, ".")
	if name == "" {
		name = base
	}
	return corpus.MachineName(name)
}

// pathName returns fileName with the name of the directory before it.
func (s *Side) pathName() string {
	dir, err := filepath.Abs(filepath.Dir(strings.TrimPrefix(s.Target.Name(), "replay:")))
	if err != nil {
		return s.fileName()
	}
	return corpus.MachineName(filepath.Base(dir)) + "-" + s.fileName()
}

// plan says with which plan a side was recorded, if it was.
func (s *Side) plan() string {
	if s.Recording == nil {
		return s.Spec + " is not a recording"
	}
	if s.Recording.Header.Plan == nil {
		return s.Spec + " was recorded without a plan"
	}
	p := s.Recording.Header.Plan
	return fmt.Sprintf("%s was recorded with plan %s, seed %d", s.Spec, p.Name, p.Seed)
}
