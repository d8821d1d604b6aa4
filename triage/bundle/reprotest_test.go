package bundle

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// TestReproImports checks that the Go test of a bundle knows every kind of target
// that mmafuzz knows: of an unknown one it would only skip.
func TestReproImports(t *testing.T) {
	backends, err := os.ReadFile("../../cmd/mmafuzz/backends.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`_ "[^"]*"`)
	want, got := kinds.FindAllString(string(backends), -1), kinds.FindAllString(reproTest(&corpus.Mismatch{}), -1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
