package corpus

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"
)

// TestArchived rejects archives in which no recording can be read in place.
func TestArchived(t *testing.T) {
	type entry struct {
		name   string
		method uint16
	}
	for want, entries := range map[string][]entry{
		"the archive has no recording: was the checklist interrupted before its recordings?": {{"report.md", zip.Deflate}},
		"the archive has more than one recording: unpack it first":                           {{"a.rec", zip.Store}, {"b.rec", zip.Store}},
		"a.rec is compressed in this archive: unpack it first":                               {{"a.rec", zip.Deflate}},
		"this is not an mmafuzz recording":                                                   {{"report.md", zip.Deflate}, {"a.rec", zip.Store}},
	} {
		path := filepath.Join(t.TempDir(), "a.zip")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := zip.NewWriter(f)
		for _, e := range entries {
			in, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := in.Write([]byte("nothing")); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if _, err := OpenRecording(path); err == nil || err.Error() != path+": "+want {
			t.Errorf("%v: %v, want %s", entries, err, want)
		}
	}
}
