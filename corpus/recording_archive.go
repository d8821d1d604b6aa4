package corpus

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
)

// RecordingExt is how the name of a recording ends.
const RecordingExt = ".rec"

// errNotInArchive reports an archive without a recording.
var errNotInArchive = errors.New("the archive has no recording: was the checklist interrupted before its recordings?")

// readArchived reads the only recording in a zip archive. It must be stored uncompressed, so
// that operands and results can be read in the archive itself; that of a checklist is.
func readArchived(file string) (*Recording, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	all, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, err
	}
	var found *zip.File
	for _, e := range all.File {
		if path.Ext(e.Name) != RecordingExt {
			continue
		}
		if found != nil {
			return nil, errors.New("the archive has more than one recording: unpack it first")
		}
		found = e
	}
	switch {
	case found == nil:
		return nil, errNotInArchive
	case found.Method != zip.Store:
		return nil, fmt.Errorf("%s is compressed in this archive: unpack it first", found.Name)
	}
	at, err := found.DataOffset()
	if err != nil {
		return nil, err
	}
	return readRecording(io.NewSectionReader(f, at, int64(min(found.UncompressedSize64, uint64(info.Size())))), place{file, at})
}
