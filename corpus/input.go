package corpus

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Inputs of fuzzing engines are files of bytes. go-fuzz and libFuzzer keep the bytes as they
// are, go test -fuzz as a literal of Go below a line of its own.

const (
	goTestHead = "go test fuzz v1\n"
	goTestLine = "[]byte(%s)\n"

	maxInput = 1 << 20 // bytes of a file: libFuzzer's inputs have that at most
)

// InputFile is a file of a fuzzing engine.
type InputFile struct {
	Name string
	Data []byte
}

// ReadInputs reads files of fuzzing engines: each named one, and those in named
// directories, such as corpus and crashers of go-fuzz. Files that go-fuzz writes beside a
// crasher are no inputs.
func ReadInputs(names ...string) ([]InputFile, error) {
	var all []InputFile
	for _, name := range names {
		files := []string{name}
		if entries, err := os.ReadDir(name); err == nil {
			files = nil
			for _, e := range entries {
				if e.Type().IsRegular() && !slices.Contains([]string{".output", ".quoted"}, filepath.Ext(e.Name())) {
					files = append(files, filepath.Join(name, e.Name()))
				}
			}
		}
		for _, file := range files {
			body, err := ReadFile(file, "input", maxInput)
			if err != nil {
				return nil, err
			}
			data, err := parseInput(body)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = append(all, InputFile{file, data})
		}
	}
	return all, nil
}

// parseInput returns the bytes that a file stands for.
func parseInput(body []byte) ([]byte, error) {
	text, is := bytes.CutPrefix(body, []byte(goTestHead))
	if !is {
		return body, nil
	}
	line := strings.TrimSpace(string(text))
	quoted, begins := strings.CutPrefix(line, "[]byte(")
	quoted, ends := strings.CutSuffix(quoted, ")")
	data, err := strconv.Unquote(quoted)
	if !begins || !ends || err != nil {
		return nil, fmt.Errorf("%.60q is not one value []byte(\"...\"): the file is of a fuzz target of something else", line)
	}
	return []byte(data), nil
}

// WriteInput writes an input into a directory, under a name that the bytes give: as go test
// -fuzz reads it, or as the other engines do.
func WriteInput(dir string, data []byte, goTest bool) error {
	body := data
	if goTest {
		body = fmt.Appendf([]byte(goTestHead), goTestLine, strconv.Quote(string(data)))
	}
	return ReplaceFile(filepath.Join(dir, fmt.Sprintf("%x", sha1.Sum(data))), body)
}
