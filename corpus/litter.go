package corpus

import (
	"io/fs"
	"path/filepath"
	"slices"
)

// litter are patterns of the names of files that file managers and editors leave behind, which
// nobody misses.
var litter = []string{".DS_Store", "._*", "Thumbs.db", "desktop.ini", ".*.sw[a-p]"}

// IsLitter reports whether something may vanish from a directory that mmafuzz writes: nobody has
// put it there, or it is what mmafuzz itself has not written to its end. Other hidden files and
// directories, such as .notes or .git, are a person's.
func IsLitter(e fs.DirEntry) bool {
	if IsTemporary(e.Name()) {
		return true
	}
	return e.Type().IsRegular() && slices.ContainsFunc(litter, func(pattern string) bool {
		ok, err := filepath.Match(pattern, e.Name())
		return ok && err == nil
	})
}
