// Package atlas makes a static site of everything that the catalogue knows: a page for each
// architecture and each instruction, a matrix of all architectures, and a page for every two of
// them. Its pages need nothing but each other, and their addresses are made of names alone, so
// that they last: architectures/hopper.html, instructions/hopper-NAME.html,
// compare/ampere-hopper.html.
//
// The API of this package is not promised: it may change in any version.
package atlas

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Options say what a site is made of.
type Options struct {
	Made   string               // program that makes it
	Guides []*document.Document // texts that it has besides; the names of their files are in Names
	Names  []string
	Speed  bool                         // measure how fast the models are on this machine
	Note   func(what string, n, of int) // progress; may be nil
}

// Site is what was written.
type Site struct{ Pages, Bytes int }

// maker makes a site.
type maker struct {
	Options
	archs        []mma.Arch
	instructions []mma.Instruction
	alike        map[arithmetic][]*mma.Instruction // those that compute the same
	versus       []*versus                         // of every two architectures that can be compared
	speeds       map[arithmetic]float64            // dot products a second of one core
	pages        []page
}

// page is a file of the site.
type page struct {
	file string // with slashes
	*document.Document
}

// arithmetic is what a result depends on.
type arithmetic struct {
	params  mma.Params
	formats mma.Formats
	k       int
}

func arithmeticOf(i *mma.Instruction) arithmetic { return arithmetic{i.Params, i.Formats, i.K} }

// Write writes a site to a directory that is new, empty, or has a site already.
func Write(ctx context.Context, dir string, o Options) (*Site, error) {
	return write(ctx, dir, mma.Archs, o)
}

// write writes a site of some architectures.
func write(ctx context.Context, dir string, archs []mma.Arch, o Options) (*Site, error) {
	if err := check(dir); err != nil {
		return nil, err
	}
	shared, err := prepare(dir)
	if err != nil {
		return nil, hint.New("name a directory with --out that can be made or written", "cannot use the directory %s: %w", dir, hint.Bare(err))
	}
	m := &maker{Options: o, archs: archs, alike: map[arithmetic][]*mma.Instruction{}, speeds: map[arithmetic]float64{}}
	for _, a := range archs {
		m.instructions = append(m.instructions, mma.Of(a.Name)...)
	}
	for n := range m.instructions {
		if i := &m.instructions[n]; i.Refuse == "" {
			m.alike[arithmeticOf(i)] = append(m.alike[arithmeticOf(i)], i)
		}
	}
	if o.Speed {
		if err := m.measure(ctx); err != nil {
			return nil, err
		}
	}
	if err := m.compareAll(ctx); err != nil {
		return nil, err
	}
	m.addIndex()
	for _, a := range archs {
		m.addArchitecture(a)
	}
	if err := m.addInstructions(ctx); err != nil {
		return nil, err
	}
	for _, v := range m.versus {
		m.addVersus(v)
	}
	for n, g := range o.Guides {
		m.add("guides/"+o.Names[n]+".html", g)
	}
	s, err := m.write(ctx, dir)
	if err == nil {
		s.Bytes += shared
	}
	return s, err
}

const indexFile, assets = "index.html", "assets/"

// check returns an error if the directory has files of others.
func check(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, assets, "style.css")); err != nil && len(files) > 0 {
		return hint.New("name another directory with --out, or empty it", "%s is not empty, and has no site of mmafuzz atlas", dir)
	}
	return nil
}

func (m *maker) note(what string, n, of int) {
	if m.Note != nil {
		m.Note(what, n, of)
	}
}

// add adds a page, with links to what is above it.
func (m *maker) add(file string, d *document.Document) {
	d.Made = m.Made
	if file != indexFile {
		d.Links = append([]document.Link{{Text: "Atlas", Href: "../" + indexFile}}, d.Links...)
	}
	m.pages = append(m.pages, page{file, d})
}

// prepare makes the directories, and the files that all pages share, of which it returns the size.
func prepare(dir string) (size int, err error) {
	for _, sub := range []string{"assets", "architectures", "instructions", "compare", "guides"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return 0, err
		}
	}
	for file, text := range map[string]string{"style.css": document.Style(), "script.js": document.Script()} {
		size += len(text)
		if err := os.WriteFile(filepath.Join(dir, assets, file), []byte(text), 0o666); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// write writes all pages.
func (m *maker) write(ctx context.Context, dir string) (*Site, error) {
	s := &Site{Pages: len(m.pages)}
	var size atomic.Int64
	err := m.each(ctx, "writing pages", len(m.pages), func(n int) error {
		p := m.pages[n]
		var b bytes.Buffer
		shared := assets
		if path.Dir(p.file) != "." {
			shared = "../" + assets
		}
		if err := p.Write(&b, "html", document.Options{Shared: shared}); err != nil {
			return err
		}
		size.Add(int64(b.Len()))
		return os.WriteFile(filepath.Join(dir, filepath.FromSlash(p.file)), b.Bytes(), 0o666)
	})
	s.Bytes += int(size.Load())
	return s, err
}

// each does something for all numbers below n, on all processors, and tells of the progress.
func (m *maker) each(ctx context.Context, what string, n int, do func(i int) error) error {
	var next, done atomic.Int64
	var failed error
	var once, report sync.Mutex
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				if err := do(i); err != nil {
					once.Lock()
					failed = err
					once.Unlock()
					return
				}
				report.Lock()
				m.note(what, int(done.Add(1)), n)
				report.Unlock()
			}
		})
	}
	all.Wait()
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}

// plural writes a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
