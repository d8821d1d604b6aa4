package mma

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
)

// TestGoldenRows tests what the golden files of tables rest on: only new rows are left out.
func TestGoldenRows(t *testing.T) {
	const want = "NAME  N\na     1\n  more\nb     2\n"
	for _, tc := range []struct {
		got, known string
		fresh      []string
	}{
		{want, want, nil},
		{"NAME      N\na         1\n  more\nlonger    3\n  more\nb         2\n", want, []string{"longer"}},
		{"NAME      N\na         1\nlonger    3\nb         2\n", "NAME  N\na         1\nb     2\n", []string{"longer"}}, // a line of a row is gone
		{"NAME      N\nlonger    3\nb         2\n", "NAME  N\nb     2\n", []string{"longer"}},                           // a row is gone
		{"NAME      N\nb         2\nlonger    3\na     1\n  more\n", "NAME  N\nb     2\na     1\n  more\n", []string{"longer"}},
		{"NAME  N\na     1\n  more\nb     3\n", "NAME  N\na     1\n  more\nb     3\n", nil},
		{"NAME   N\na      1\n  more\nb      2\n", "NAME   N\na      1\n  more\nb      2\n", nil}, // columns move for no reason
		{want + "b     2\n", want, []string{"b (2)"}},
		{"{\"a\":1}\n" + want, want, []string{"{\"a\":1}\n"}},
		{"", "", nil},
	} {
		known, fresh := golden.Known(want, tc.got)
		if known != tc.known || !slices.Equal(fresh, tc.fresh) {
			t.Errorf("%q:\n got %q and %q\nwant %q and %q", tc.got, known, fresh, tc.known, tc.fresh)
		}
	}
}
