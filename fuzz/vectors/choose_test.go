package vectors_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	choose "github.com/mmafuzz/mmafuzz/fuzz/vectors"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

const published = "../../corpus/vectors/"

// find returns the catalogue's instruction with a name ARCH/INSTRUCTION.
func find(name string) (*mma.Instruction, error) {
	arch, inst, _ := strings.Cut(name, "/")
	return mma.Lookup(arch, inst)
}

// TestSets makes published sets again: not a byte differs. A set need not know new rows of
// the catalogue.
func TestSets(t *testing.T) {
	files, err := filepath.Glob(published + "sets/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no sets: %v", err)
	}
	for _, file := range files[len(files)-tier.Of(1, 1, len(files)):] {
		s, err := vectors.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		i, err := find(s.Instruction)
		if err != nil {
			t.Fatal(err)
		}
		again, err := choose.Choose(t.Context(), i, mma.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		old := slices.DeleteFunc(slices.Clone(mma.Catalog()), func(o mma.Instruction) bool { return names(again, &o) && !names(s, &o) })
		if fresh := len(mma.Catalog()) - len(old); fresh > 0 {
			t.Logf("%s does not know %d new rows of the catalogue yet", file, fresh)
			if again, err = choose.Choose(t.Context(), i, old); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(s, again); d != "" {
			t.Errorf("%s is outdated: mmafuzz vectors --arch %s --inst %s --format json --out corpus/vectors/sets\n%s", file, i.Arch, i.Name, d)
		}
	}
}

// names reports whether a set names an instruction beside its own.
func names(s *vectors.Set, i *mma.Instruction) bool {
	name := i.FullName()
	return slices.Contains(s.Also, name) ||
		slices.ContainsFunc(s.Others, func(o vectors.Other) bool { return o.Kind == vectors.KindInstruction && o.Name == name })
}

// TestCancelled ends a search.
func TestCancelled(t *testing.T) {
	i, err := find("volta/mma.m8n8k4.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := choose.Choose(ctx, i, mma.Catalog()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
