package vectors_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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

var update = flag.Bool("update", false, "write the names of the catalogue: the published sets were made anew")

// known returns the instructions of the catalogue that there were when the published sets
// were made. The sets know nothing of the others yet.
func known(t *testing.T) []mma.Instruction {
	t.Helper()
	const file = "testdata/catalog.txt"
	var now strings.Builder
	for _, i := range mma.Catalog() {
		fmt.Fprintln(&now, i.FullName())
	}
	if *update {
		if err := os.WriteFile(file, []byte(now.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for name := range strings.Lines(string(text)) {
		names[strings.TrimSpace(name)] = true
	}
	var all []mma.Instruction
	for _, i := range mma.Catalog() {
		if names[i.FullName()] {
			all = append(all, i)
		} else {
			t.Logf("not measured yet: %s in the published sets: mmafuzz vectors --all --out DIR makes them, then go test ./fuzz/vectors -run TestSets -update", i.FullName())
		}
	}
	if len(all) < len(names) {
		t.Errorf("%d instructions of %s are gone: the sets are outdated", len(names)-len(all), file)
	}
	return all
}

// TestSets makes published sets again: not a byte differs.
func TestSets(t *testing.T) {
	catalog := known(t)
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
		again, err := choose.ChooseAmong(t.Context(), i, catalog)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s, again); d != "" {
			t.Errorf("%s is outdated: mmafuzz vectors --arch %s --inst %s --format json --out corpus/vectors/sets\n%s", file, i.Arch, i.Name, d)
		}
	}
}

// TestCancelled ends a search.
func TestCancelled(t *testing.T) {
	i, err := find("volta/mma.m8n8k4.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := choose.Choose(ctx, i); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
