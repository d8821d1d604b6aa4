package compare

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// TestHidden holds that an unused entry about codes alone says whether these were compared where it holds.
func TestHidden(t *testing.T) {
	nan, zero := byClass(oracle.Policy{NaN: oracle.ByClass}), byClass(oracle.Policy{Zero: oracle.ByClass})
	for _, c := range []struct {
		name  string
		entry corpus.KnownEntry
		cells []Cell
		want  string
	}{
		{"bucket", corpus.KnownEntry{Bucket: "nan-encoding"}, []Cell{{ByClass: nan}}, "NaN codes alone"},
		{"kind", corpus.KnownEntry{Bucket: "*:nan-code"}, []Cell{{ByClass: nan}}, "NaN codes alone"},
		{"labels", corpus.KnownEntry{Labels: []string{"signed-zero"}}, []Cell{{ByClass: zero}}, "zero signs alone"},
		{"changes", corpus.KnownEntry{Changes: []string{"special.nan quiet→ones"}}, []Cell{{ByClass: nan}}, "NaN codes alone"},
		{"numbers, too", corpus.KnownEntry{Changes: []string{"special.nan quiet→ones", "l 8→16"}}, []Cell{{ByClass: nan}}, ""},
		{"compared", corpus.KnownEntry{Bucket: "nan-encoding"}, []Cell{{ByClass: zero}}, ""},
		{"compared in one", corpus.KnownEntry{Bucket: "nan-encoding"}, []Cell{{ByClass: nan}, {}}, ""},
		{"of another pair", corpus.KnownEntry{Bucket: "nan-encoding", Pair: []string{"x", "y"}}, []Cell{{A: "a", B: "b", ByClass: nan}}, ""},
		{"of this one of two", corpus.KnownEntry{Bucket: "nan-encoding", Instruction: "i"}, []Cell{{Instruction: "i ~ j", ByClass: nan}, {Instruction: "k"}}, "NaN codes alone"},
	} {
		k := &Known{List: &corpus.Known{Entries: []corpus.KnownEntry{c.entry}}}
		uses := []KnownUse{{State: "unused"}}
		k.Hidden(uses, c.cells)
		if got := uses[0].What; !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
