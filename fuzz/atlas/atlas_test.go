package atlas

import (
	"bytes"
	"encoding/xml"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestSite checks every page of a site: its markup, its links, and that all instructions are there.
func TestSite(t *testing.T) {
	archs := mma.Archs
	if !tier.Long() {
		archs = nil
		for _, name := range []string{"turing", "ampere", "cdna2", "rdna3"} {
			a, _ := mma.FindArch(name)
			archs = append(archs, a)
		}
	}
	dir := filepath.Join(t.TempDir(), "site")
	site, err := write(t.Context(), dir, archs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const most = 30 << 20
	if site.Bytes > most {
		t.Errorf("%d bytes, at most %d are wanted", site.Bytes, most)
	}
	pages := readSite(t, dir)
	for _, a := range archs {
		for _, i := range mma.Of(a.Name) {
			if pages[instructionFile(&i)] == nil {
				t.Errorf("%s has no page", i.FullName())
			}
		}
	}
	for file, text := range pages {
		if path.Ext(file) != ".html" {
			continue
		}
		for _, link := range checkMarkup(t, file, text) {
			if target, ok := linked(t, file, link); ok && pages[target] == nil {
				t.Errorf("%s: the link %s leads to nothing", file, link)
			}
		}
	}
	if _, err := write(t.Context(), dir, archs[:1], Options{}); err != nil {
		t.Errorf("a site cannot be made anew: %v", err)
	}
}

// readSite returns the files of a site.
func readSite(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// voidElement is an element that has no end, which XML does not know.
var voidElement = regexp.MustCompile(`(<(?:meta|link)\b[^>]*)>`)

// checkMarkup checks that elements are closed in the right order, that attributes are quoted, and
// that no id comes twice. It returns the links, to places in the page apart.
func checkMarkup(t *testing.T, file string, text []byte) (links []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(voidElement.ReplaceAll(text, []byte("$1/>"))))
	d.Entity = xml.HTMLEntity
	ids := map[string]bool{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return links
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			switch {
			case a.Name.Local == "id" && ids[a.Value]:
				t.Errorf("%s: two elements have the id %s", file, a.Value)
			case a.Name.Local == "id":
				ids[a.Value] = true
			case (a.Name.Local == "href" || a.Name.Local == "src") && !strings.HasPrefix(a.Value, "#"):
				links = append(links, a.Value)
			}
		}
	}
}

// linked returns the file of the site that a link of a page leads to.
func linked(t *testing.T, file, link string) (string, bool) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil || u.Host != "" {
		t.Errorf("%s: the link %s leads elsewhere", file, link)
		return "", false
	}
	return path.Join(path.Dir(file), u.Path), true
}

// TestForeign holds that a directory with other files is left alone.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := write(t.Context(), dir, nil, Options{}); err == nil {
		t.Error("a site was written beside somebody's files")
	}
}
