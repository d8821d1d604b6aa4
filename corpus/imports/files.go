package imports

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/npy"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/corpus/safetensors"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// maxFile bounds a file, and what an array of an archive expands to, in bytes.
const maxFile = 256 << 20

// operandName is the name of an operand alone or at the end of a name, with the number of an
// element: d, run_a, B[3].
var operandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:^|[_.-])(sa|sb|[abcd])_?\[?(\d*)\]?$`) })

// roleOf returns the operand that a name stands for, "" if it stands for none.
func roleOf(name string) string {
	name = strings.TrimSpace(name)
	if m := operandName().FindStringSubmatch(name); m != nil {
		return strings.ToLower(m[1])
	}
	switch strings.ToLower(name) {
	case "result", "expected":
		return "d"
	}
	return ""
}

// source is an argument: [OPERAND=]FILE[:ARRAY].
type source struct{ role, file, array string }

var argument = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(sa|sb|[abcdABCD])=)?(.*?)(?:(\.npz|\.safetensors):(.+))?$`)
})

func parseSource(text string) source {
	m := argument().FindStringSubmatch(text)
	if m == nil { // a line break
		return source{file: text}
	}
	return source{strings.ToLower(m[1]), m[2] + m[3], m[4]}
}

// load reads all files. f are the formats, as far as they are known.
func (o *Options) load(f mma.Formats) (map[string]*array, error) {
	all := map[string]*array{}
	for _, text := range o.Files {
		s := parseSource(text)
		body, err := corpus.ReadFile(s.file, "file of operands and results", maxFile)
		if err != nil {
			return nil, err
		}
		arrays, err := s.read(body, f, o.Columns)
		if err != nil {
			return nil, hint.Add(fmt.Errorf("%s: %w", s.file, err), "%s", hint.Of(err))
		}
		for _, role := range operands {
			x := arrays[role]
			switch {
			case x == nil:
				continue
			case all[role] != nil:
				return nil, hint.New("OPERAND=FILE names the operand that a file has, and ARCHIVE.npz:ARRAY one array of an archive", "%s and %s both have %s", all[role].from, x.from, strings.ToUpper(role))
			}
			all[role] = x
		}
	}
	for _, role := range []string{"a", "d"} {
		if all[role] == nil {
			return nil, hint.New(fmt.Sprintf("%s=FILE names the file that has it, %s=FILE.npz:ARRAY an array of an archive; --columns a*8,b*8,c,d names the columns of a table", role, role),
				"there is no %s in %s", strings.ToUpper(role), strings.Join(o.Files, ", "))
		}
	}
	return all, nil
}

// read reads a file of any kind.
func (s *source) read(body []byte, f mma.Formats, columns string) (map[string]*array, error) {
	switch ext := strings.ToLower(filepath.Ext(s.file)); {
	case bytes.HasPrefix(body, []byte("\x93NUMPY")):
		x, err := readNPY(bytes.NewReader(body), s.file)
		return s.only(x, err)
	case bytes.HasPrefix(body, []byte("PK")):
		return s.readNPZ(body)
	case ext == ".npy" || ext == ".npz":
		return nil, fmt.Errorf("it does not begin as a file %s does: it is damaged", ext)
	case ext == ".safetensors":
		m, id, err := safetensors.Read(bytes.NewReader(body), s.array, maxFile)
		if err != nil {
			return nil, err
		}
		return s.only(&array{from: s.file, shape: []int{m.Rows, m.Columns}, code: func(i int) uint64 { return m.Code(i/m.Columns, i%m.Columns) }, id: id, width: m.Width}, nil)
	case bytes.HasPrefix(body, []byte("mmafuzz recording")):
		return nil, hint.New("mmafuzz run --a replay:FILE and mmafuzz compare take it as it is", "it is a recording")
	case bytes.HasPrefix(body, []byte("go test fuzz")):
		return nil, hint.New("mmafuzz corpus import compares two units on it", "it is an input of go test -fuzz, which has no results")
	case !utf8.Valid(body) || bytes.ContainsRune(body, 0):
		return nil, hint.New("mmafuzz import --help lists the kinds", "it is of no kind that is known")
	case strings.ContainsRune("{[", first(body)):
		return readJSON(body, s.file)
	default:
		return s.readTable(string(body), ext, f, columns)
	}
}

// first returns the first character that is no blank.
func first(body []byte) rune {
	r, _ := utf8.DecodeRune(bytes.TrimSpace(body))
	return r
}

// operand returns the operand that a file is given or named for, "" if there is none.
func (s *source) operand() string {
	if s.role != "" {
		return s.role
	}
	return roleOf(strings.TrimSuffix(filepath.Base(s.file), filepath.Ext(s.file)))
}

// only returns the array of a file that has one; x is nil if it is empty.
func (s *source) only(x *array, err error) (map[string]*array, error) {
	if err != nil || x == nil {
		return nil, err
	}
	role := s.operand()
	if role == "" {
		return nil, hint.New(fmt.Sprintf("a=%s, if it is A", readable.ShellPath(s.file)), "the name does not say which operand it is")
	}
	return map[string]*array{role: x}, nil
}

// readNPY reads an array of NumPy.
func readNPY(r io.Reader, name string) (*array, error) {
	a, err := npy.ReadArray(r, maxFile)
	if err != nil {
		return nil, err
	}
	ids := map[byte]map[int]fp.ID{
		'f': {2: fp.FP16, 4: fp.FP32, 8: fp.FP64},
		'i': {1: fp.S8, 2: fp.S16, 4: fp.S32},
		'V': {2: fp.BF16}, // of ml_dtypes, the only one of 2 bytes
	}
	return &array{from: name, shape: a.Shape, code: a.Code, id: ids[a.Kind][a.Width], width: a.Width, signed: a.Kind == 'i'}, nil
}

// readNPZ reads the arrays of an archive that have the names of operands, or the named one.
func (s *source) readNPZ(body []byte) (map[string]*array, error) {
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("the archive is damaged: %w", err)
	}
	all := map[string]*array{}
	var names []string
	for _, e := range z.File {
		name, is := strings.CutSuffix(e.Name, ".npy")
		role := roleOf(name)
		if s.array != "" {
			if role = ""; name == s.array {
				role = s.role
			}
		}
		if names = append(names, name); !is || role == "" {
			continue
		}
		r, err := e.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		x, err := readNPY(r, s.file+":"+name)
		if errors.Is(err, zip.ErrChecksum) {
			err = errors.New("its CRC-32 is not that of its contents: the archive is damaged")
		}
		if err == nil && all[role] != nil {
			err = fmt.Errorf("there is another array of %s in the archive", strings.ToUpper(role))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		all[role] = x
	}
	if len(all) == 0 {
		slices.Sort(names)
		return nil, hint.New(fmt.Sprintf("a=%s:NAME, if NAME is A, and the like for B, C and D", readable.ShellPath(s.file)), "no array has the name of an operand; there are %.200s", strings.Join(names, ", "))
	}
	return all, nil
}
