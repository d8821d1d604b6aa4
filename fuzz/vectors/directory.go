package vectors

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Directory is where the files of sets are: ARCH/NAME.json and so on.
type Directory struct {
	Path  string
	Forms []string // names of vectors.Formats, those that its sets have
}

// base is the path of a set's files, without what their forms add.
func (d *Directory) base(instruction string) string {
	arch, name, _ := strings.Cut(instruction, "/")
	return filepath.Join(d.Path, readable.Slug(arch), readable.Slug(name))
}

// formats are the forms of its files.
func (d *Directory) formats() []vectors.Format {
	return slices.DeleteFunc(slices.Clone(vectors.Formats), func(f vectors.Format) bool { return !slices.Contains(d.Forms, f.Name) })
}

// Check returns an error if files of sets would be overwritten by what is no set. All files of
// a set are there if its JSON is.
func (d *Directory) Check(instructions ...mma.Instruction) error {
	for _, i := range instructions {
		file := d.base(i.FullName()) + ".json"
		if err := corpus.CheckForeign(file, "set of test vectors", func() bool { return vectors.Is(file) }); err != nil {
			return err
		}
	}
	return nil
}

// Writable returns an error if no file can be written into the directory, which it makes if
// need be: a search of minutes would be lost.
func (d *Directory) Writable() error {
	if err := os.MkdirAll(d.Path, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(d.Path, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Save writes the files of a set, JSON last: where it is, the others are.
func (d *Directory) Save(s *vectors.Set) error {
	base := d.base(s.Instruction)
	if err := os.MkdirAll(filepath.Dir(base), 0o777); err != nil {
		return err
	}
	for _, f := range slices.Backward(d.formats()) {
		text, err := f.Write(s)
		if err == nil {
			err = corpus.ReplaceFile(base+f.Ext, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// kept returns the set of an instruction that the directory has, nil if it has none, an
// outdated one, or not in all forms.
func (d *Directory) kept(i *mma.Instruction) (*vectors.Set, error) {
	base := d.base(i.FullName())
	for _, f := range d.formats() {
		if info, err := os.Stat(base + f.Ext); err != nil || info.IsDir() {
			return nil, nil
		}
	}
	s, err := vectors.Open(base + ".json")
	if err != nil {
		return nil, nil
	}
	if digest, err := digestOf(i); err != nil || digest != s.Digest {
		return nil, err
	}
	return s, nil
}

// make returns the set of an instruction, and saves it if the directory does not have it.
func (d *Directory) make(ctx context.Context, i *mma.Instruction) (*vectors.Set, error) {
	s, err := d.kept(i)
	if s != nil || err != nil {
		return s, err
	}
	if s, err = Choose(ctx, i, mma.Catalog()); err != nil {
		return nil, err
	}
	return s, d.Save(s)
}

// MakeAll makes the sets of instructions that the directory does not have yet, several at a
// time (workers; 0: one per processor), and the table of all sets that it has then. After
// each set it calls made, not twice at the same time.
func (d *Directory) MakeAll(ctx context.Context, all []mma.Instruction, workers int, made func(done int, i *mma.Instruction)) ([]*vectors.Set, error) {
	tableFile := filepath.Join(d.Path, TableFile)
	err := cmp.Or(d.Check(all...), corpus.CheckForeign(tableFile, "table of such sets", func() bool { return isTable(tableFile) }), d.Writable())
	if err != nil {
		return nil, err
	}
	sets, errs := make([]*vectors.Set, len(all)), make([]error, len(all))
	var mu sync.Mutex
	var wg sync.WaitGroup
	next, done := 0, 0
	// turn gives out the next instruction, -1 at the end.
	turn := func() int {
		mu.Lock()
		defer mu.Unlock()
		if next == len(all) || ctx.Err() != nil {
			return -1
		}
		next++
		return next - 1
	}
	for range cmp.Or(workers, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for n := turn(); n >= 0; n = turn() {
				sets[n], errs[n] = d.make(ctx, &all[n])
				mu.Lock()
				done++
				made(done, &all[n])
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sets, d.writeTable()
}

// writeTable writes the table of all sets that the directory has.
func (d *Directory) writeTable() error {
	var sets []*vectors.Set
	for _, i := range Instructions() {
		s, err := d.kept(&i)
		if err != nil {
			return err
		}
		if s != nil {
			sets = append(sets, s)
		}
	}
	text, err := table(sets)
	if err != nil {
		return err
	}
	return corpus.ReplaceFile(filepath.Join(d.Path, TableFile), text)
}
