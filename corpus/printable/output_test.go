package printable

import (
	"bytes"
	"testing"
)

// TestOutput writes the program's own colours and other people's text, whole and in
// pieces of every size.
func TestOutput(t *testing.T) {
	text := "plain\ttext\n" + Style("bold", "1") + " \x1b[31mred\x1b[0m \u009b1m \u202e 24→25 😀 \r\xff\xf0\x9f\n" + string(ownMark[:5]) + "\n\x1b"
	half := string(ownMark[1:5])
	want := "plain\ttext\n\x1b[1mbold\x1b[0m " + `\x1b[31mred\x1b[0m \u009b1m \u202e 24→25 😀 \r\xff\xf0\x9f` + "\n" + `\x1b` + half + "\n" + `\x1b`
	for size := 1; size <= len(text); size++ {
		var b bytes.Buffer
		o := NewOutput(&b)
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			piece := rest[:min(size, len(rest))]
			if n, err := o.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		o.Finish()
		if b.String() != want {
			t.Fatalf("in pieces of %d:\n got %q\nwant %q", size, b.String(), want)
		}
	}
}
