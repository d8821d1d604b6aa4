package bundle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
)

// Read reads a bundle; what is wrong with a bad one comes with a hint. A bundle
// carries its input, so that one of another version can be used. note gets what Notes says;
// it may be nil.
func Read(dir string, note func(string)) (*corpus.Bundle, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, hint.New("mmafuzz run writes bundles and says where", "bundle %s: %w", dir, hint.Bare(err))
	case !info.IsDir():
		return nil, hint.New("name the directory that mmafuzz run has written", "bundle %s: a bundle is a directory, not a file", dir)
	}
	b, err := corpus.ReadBundle(dir)
	if err == nil {
		Notes(b, note)
		return b, nil
	}
	if !Is(dir) && kernel.Rerun(dir) != nil {
		return nil, hint.New("mmafuzz replay computes the product again, and mmafuzz show writes what is in README.md", "bundle %s is of a matrix product: there is no dot product of an instruction in it", dir)
	}
	if below, _ := Below(dir); !Is(dir) && len(below) > 0 {
		return nil, hint.New("for example "+below[0]+"; mmafuzz triage looks at all of them", "bundle %s: it is not a bundle, but has %s below it", dir, readable.Plural(len(below), "bundle"))
	}
	if made := madeByOther(dir); made != "" {
		return nil, hint.Add(err, "it was made by %s; use that program, or make the bundle again with mmafuzz run", made)
	}
	var unlisted *corpus.UnlistedError
	if errors.As(err, &unlisted) {
		return nil, hint.Add(err, "if you have added it, move %s away; otherwise copy the bundle again from where it was made", readable.ShellPath(filepath.Join(dir, unlisted.Name)))
	}
	return nil, hint.Add(err, "copy the bundle again from where it was made, or make it again with mmafuzz run")
}

// Notes says of a bundle if another version made it, and which files in its directory are
// ignored, since they have been added to it. note may be nil.
func Notes(b *corpus.Bundle, note func(string)) {
	if note == nil {
		return
	}
	note(versions.Note("bundle "+b.Dir, b.Mismatch.Versions, "simulators may compute otherwise now"))
	if len(b.Added) > 0 {
		const most = 5
		note(fmt.Sprintf("bundle %s: not part of the bundle, ignored: %s", b.Dir, strings.Join(readable.First(b.Added, most), ", ")))
	}
}
