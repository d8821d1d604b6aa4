package bundle

import (
	"os"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
)

// Read reads a bundle; what is wrong with a bad one comes with a hint. A bundle
// carries its input, so that one of another version can be used: note tells
// if another version made it.
func Read(dir string) (b *corpus.Bundle, note string, err error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, "", hint.New("mmafuzz run writes bundles and says where", "bundle %s: %w", dir, hint.Bare(err))
	case !info.IsDir():
		return nil, "", hint.New("name the directory that mmafuzz run has written", "bundle %s: a bundle is a directory, not a file", dir)
	}
	b, err = corpus.ReadBundle(dir)
	if err == nil {
		return b, VersionNote(dir, &b.Mismatch), nil
	}
	if below, _ := Below(dir); !Is(dir) && len(below) > 0 {
		return nil, "", hint.New("for example "+below[0]+"; mmafuzz triage looks at all of them", "bundle %s: it is not a bundle, but has %s below it", dir, readable.Plural(len(below), "bundle"))
	}
	if made := madeByOther(dir); made != "" {
		return nil, "", hint.Add(err, "it was made by %s; use that program, or make the bundle again with mmafuzz run", made)
	}
	return nil, "", hint.Add(err, "copy the bundle again from where it was made, or make it again with mmafuzz run")
}

// VersionNote says that another version made the bundle in a directory; "" if this one did.
func VersionNote(dir string, m *corpus.Mismatch) string {
	return versions.Note("bundle "+dir, m.Versions, "simulators may compute otherwise now")
}
