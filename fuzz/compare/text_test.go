package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestPictures holds that of many instructions with the same cause one picture is named, unless all
// are asked for: one for every two machines and cause.
func TestPictures(t *testing.T) {
	var all []Difference
	for i, d := range []struct{ b, instruction, bucket string }{
		{"h100", "x", "fusion-width"}, {"h100", "x", "truncation-width"}, {"h100", "y", "truncation-width"}, {"h100", "z", "truncation-width"}, {"mi300", "z", "truncation-width"},
	} {
		all = append(all, Difference{A: "a100", B: d.b, Instruction: d.instruction, Bucket: d.bucket, State: StateNew, ID: fmt.Sprint(i), Cases: 1, Dots: 2,
			Bundle: strings.Join([]string{d.b, d.instruction, d.bucket}, "/")})
	}
	shown := func(o TextOptions) (pictures []string) {
		var b strings.Builder
		o.Width, o.Command = 100, "mmafuzz"
		if err := WriteUnknown(&b, all, o); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if _, picture, ok := strings.Cut(strings.TrimSpace(line), "mmafuzz show "); ok {
				pictures = append(pictures, picture)
			}
		}
		slices.Sort(pictures)
		return pictures
	}
	if got, want := shown(TextOptions{}), []string{"h100/x/fusion-width", "h100/y/truncation-width", "mi300/z/truncation-width"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := shown(TextOptions{Verbose: true}), []string{"h100/x/fusion-width", "h100/y/truncation-width", "h100/z/truncation-width", "mi300/z/truncation-width"}; !slices.Equal(got, want) {
		t.Errorf("with -v: %q, want %q", got, want)
	}
}

// TestPictureBeneath holds that the picture of a difference is named beneath it, not beneath others.
func TestPictureBeneath(t *testing.T) {
	all := []Difference{{A: "a", B: "b", Instruction: "x", Bucket: "overflow", State: StateNew, ID: "1", Cases: 2, Dots: 9, Bundle: "o/overflow-1"},
		{A: "a", B: "b", Instruction: "x", Bucket: "defect", State: StateNew, ID: "2", Cases: 1, Dots: 9, Bundle: "o/defect-1"}}
	var b strings.Builder
	if err := WriteUnknown(&b, all, TextOptions{Width: 100, Command: "mmafuzz"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "show o/overflow-1") }); at < 1 || !strings.Contains(lines[at-1], "overflow") {
		t.Errorf("the picture of overflow is elsewhere:\n%s", b.String())
	}
}
