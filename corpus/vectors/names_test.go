package vectors_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/vectors"
)

// TestStrangersName has an instruction whose name is code, unless it stays in its comment or
// string.
func TestStrangersName(t *testing.T) {
	set, err := chosen()
	if err != nil {
		t.Fatal(err)
	}
	s := new(*set)
	s.Instruction = "model/x*/ int evil(void){return 1;} /* ??/\" \n int evil;\\"
	noCode := regexp.MustCompile(`(?s)/\*.*?\*/|(?m://.*$)|"(\\.|[^"\\])*"`)
	for _, f := range vectors.Formats {
		if f.Name != "c" && f.Name != "readmemh" {
			continue
		}
		text, err := f.Write(s)
		if err != nil {
			t.Fatal(err)
		}
		if left := noCode.ReplaceAllString(string(text), ""); strings.Contains(left, "evil") || strings.Contains(string(text), "\\\n") {
			t.Errorf("%s has the name outside of comments and strings:\n%.300s", f.Name, left)
		}
		if f.Name == "c" && regexp.MustCompile(`define.*\?\?/`).Match(text) {
			t.Errorf("a string has a trigraph:\n%.300s", text)
		}
	}
}
