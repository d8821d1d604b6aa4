package imports

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// table is rows of cells; a cell may hold a list.
type table struct {
	from  string
	roles []string // operands of the columns, "" for none; nil: not known
	names []string // of the columns; nil: they have none, or --columns is given in their place
	cells [][]string
	lines []int // of the rows in the file
	flags bool  // the last column has exception flags, and is left out
}

// readTable reads text with rows of cells.
func (s *source) readTable(text, ext string, f mma.Formats, columns string) (map[string]*array, error) {
	t := &table{from: s.file}
	text = strings.TrimPrefix(text, "\ufeff") // a byte order mark
	start := strings.TrimSpace(text)
	memory := slices.Contains([]string{".hex", ".mem", ".memh", ".vmem"}, ext) || strings.HasPrefix(start, "//") || strings.HasPrefix(start, "@")
	var order []column
	var err error
	if columns != "" {
		if order, err = parseColumns(columns); err != nil {
			return nil, err
		}
	}
	switch {
	case memory:
		return s.readMemory(text, f, order)
	case ext == ".csv" || ext == ".tsv" || isCSV(start):
		err = t.readCSV(text)
	default:
		t.readLines(text)
	}
	switch {
	case err != nil:
		return nil, err
	case len(t.cells) == 0:
		return nil, errors.New("there are no rows in it")
	case order != nil:
		t.roles, t.names = nil, nil
		for _, c := range order {
			t.roles = append(t.roles, slices.Repeat([]string{c.role}, c.count)...)
		}
	case t.roles == nil && s.operand() != "":
		x, err := t.array(nil)
		return s.only(x, err)
	case t.roles == nil:
		if err := t.guess(); err != nil {
			return nil, err
		}
	}
	all := map[string]*array{}
	for _, role := range operands {
		if slices.Contains(t.roles, role) {
			columns, err := t.columns(role)
			if err != nil {
				return nil, err
			}
			x, err := t.array(columns)
			if err != nil {
				return nil, err
			}
			if x != nil {
				all[role] = x
			}
		}
	}
	if x := all["d"]; x != nil {
		x.flags = t.flags
	}
	return all, nil
}

// column is an entry of --columns: so many columns, or words of a number, of an operand.
type column struct {
	role  string // "": none
	count int
}

var columnEntry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(sa|sb|[abcd]|-)(?:\*([1-9][0-9]{0,4}))?$`) })

// parseColumns reads --columns.
func parseColumns(text string) (all []column, err error) {
	for entry := range strings.SplitSeq(text, ",") {
		m := columnEntry().FindStringSubmatch(strings.ToLower(strings.TrimSpace(entry)))
		if m == nil {
			return nil, hint.New("for example --columns a*8,b*8,c,d,-", "--columns: %.40q is neither an operand (a, b, c, d, sa, sb) nor -, for what is left out", entry)
		}
		c := column{strings.Trim(m[1], "-"), 1}
		if m[2] != "" {
			c.count, _ = strconv.Atoi(m[2])
		}
		all = append(all, c)
	}
	return all, nil
}

// isCSV reports whether the first row that is no comment has columns between commas, semicolons
// or tabulators. Lists with commas stand between blanks without any beside the commas.
func isCSV(text string) bool {
	row := firstRow(text)
	return strings.ContainsAny(row, ";\t") || strings.Contains(row, ", ") || strings.Contains(row, ",") && !strings.Contains(row, " ")
}

// firstRow returns the first line that is neither blank nor a comment.
func firstRow(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line
		}
	}
	return ""
}

// readCSV reads rows; the first may have the names of the columns.
func (t *table) readCSV(text string) error {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment, r.TrimLeadingSpace = '#', true
	head := firstRow(text)
	for _, comma := range ",;\t" { // the last of these that is there: a cell may be a list with commas
		if strings.ContainsRune(head, comma) {
			r.Comma = comma
		}
	}
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		if len(t.lines) == 0 && t.roles == nil && t.named(row) {
			continue
		}
		t.cells, t.lines = append(t.cells, row), append(t.lines, line)
	}
	return nil
}

// named takes the names of columns over if these are names of operands, A and D among them.
func (t *table) named(row []string) bool {
	var roles []string
	for _, name := range row {
		roles = append(roles, roleOf(name))
	}
	if !slices.Contains(roles, "a") || !slices.Contains(roles, "d") {
		return false
	}
	t.roles, t.names = roles, row
	return true
}

// columns returns the columns of an operand, in the order of the numbers in their names. These
// count from 0 or 1, for all operands alike.
func (t *table) columns(role string) (all []int, err error) {
	const none = -1
	numbers := make([]int, len(t.names)) // by column
	first := 1
	for c, name := range t.names {
		numbers[c] = none
		if m := operandName().FindStringSubmatch(strings.TrimSpace(name)); m != nil && m[2] != "" {
			numbers[c], _ = strconv.Atoi(m[2]) // one out of range is the largest int, which makes a gap
			first = min(first, numbers[c])
		}
	}
	for c, r := range t.roles {
		if r == role {
			all = append(all, c)
		}
	}
	if t.names == nil || len(all) == 1 && numbers[all[0]] <= 1 {
		return all, nil
	}
	slices.SortStableFunc(all, func(x, y int) int { return cmp.Compare(numbers[x], numbers[y]) })
	for i, c := range all {
		if numbers[c] != first+i {
			return nil, hint.New("correct the names; --columns a*8,b*8,c,d gives operands in their place", "the columns of %s should be numbered from %d on without a gap, each number once: after %d of them comes %.40q",
				strings.ToUpper(role), first, i, t.names[c])
		}
	}
	return all, nil
}

// readLines reads rows of cells between blanks; sa= and sb= may stand before a list.
func (t *table) readLines(text string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		cells := slices.DeleteFunc(strings.Fields(line), func(c string) bool { return c == "=" })
		if len(cells) == 0 || cells[0][0] == '#' || len(t.cells) == 0 && t.roles == nil && t.named(cells) {
			continue
		}
		t.cells, t.lines = append(t.cells, cells), append(t.lines, n)
	}
}

// guess finds out what the columns are from the first row: operands as mmafuzz eval reads them,
// with the result, or TestFloat's lines of mulAdd.
func (t *table) guess() error {
	row := t.cells[0]
	var roles []string
	plain := 0
	for _, cell := range row {
		name, _, scales := strings.Cut(cell, "=")
		if !scales {
			name = operands[min(plain, 3)]
			plain++
		}
		roles = append(roles, name)
	}
	const flags = 2 // hexadecimal digits, of TestFloat
	last := len(row) - 1
	switch testfloat := len(row[last]) == flags && len(row[0]) > flags; {
	case strings.Contains(row[0], ",") && plain == 4:
		t.roles = roles
		return nil
	case testfloat && len(row) == 5:
		t.roles, t.flags = []string{"a", "b", "c", "d", ""}, true
		return nil
	case testfloat && len(row) == 4:
		return hint.New("--columns a,b,d,- if it is that of products", "TestFloat's lines do not say of which operation of two operands they are")
	case testfloat && len(row) == 3:
		return hint.New("--columns a,d,- if it is that of conversions", "TestFloat's lines do not say of which operation of one operand they are")
	}
	return hint.New("--columns a*8,b*8,c,d says it, with - for a column to leave out", "its %d columns do not say which operands they are", len(row))
}

// array returns the array of some columns, nil: all, with a row for each of the table's; nil if they
// are empty.
func (t *table) array(columns []int) (*array, error) {
	x := &array{from: t.from, byRow: t.roles != nil}
	perRow := 0
	for i, row := range t.cells {
		place := fmt.Sprintf("%s, line %d", t.from, t.lines[i])
		if t.roles != nil && len(row) != len(t.roles) {
			return nil, fmt.Errorf("line %d has %d columns, not %d", t.lines[i], len(row), len(t.roles))
		}
		before := len(x.text)
		cells := row
		if columns != nil {
			cells = nil
			for _, c := range columns {
				cells = append(cells, row[c])
			}
		}
		for _, cell := range cells {
			cell = strings.TrimPrefix(strings.TrimPrefix(cell, "sa="), "sb=")
			x.text = append(x.text, strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(", \t;[]", r) })...)
		}
		if n := len(x.text) - before; i == 0 {
			perRow = n
		} else if n != perRow {
			return nil, fmt.Errorf("line %d has %d elements where others have %d", t.lines[i], n, perRow)
		}
		x.rows = append(x.rows, place)
	}
	if perRow == 0 {
		return nil, nil // an operand that the instruction does not have
	}
	x.shape = []int{len(t.cells), perRow}
	return x, nil
}

// bitRange is a part of a word, as mmafuzz vectors writes it into the first lines of its files.
var bitRange = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(sa|sb|[abcd]|compare)\[(\d{1,7}):(\d{1,7})\]`) })

// readMemory reads words of $readmemh: rows of operands, or elements of one operand. Elements take
// whole digits of their formats, and the first one is the lowest part of its operand.
func (s *source) readMemory(text string, f mma.Formats, order []column) (map[string]*array, error) {
	if f.D == fp.None {
		return nil, hint.New("--formats fp16,fp16,fp32,fp32, or the like, gives those of A, B, C and D; or --target T --inst I", "$readmemh does not say in which formats words are")
	}
	ids := map[string]fp.ID{"a": f.A, "b": f.B, "c": f.C, "d": f.D, "sa": f.Scale, "sb": f.Scale}
	digits := func(role string) int {
		if id := ids[role]; id != fp.None {
			return id.Get().Digits()
		}
		return 1
	}
	role := s.operand()
	if order == nil && role == "" {
		for _, m := range bitRange().FindAllStringSubmatch(text, -1) { // from the lowest on
			high, _ := strconv.Atoi(m[2])
			low, _ := strconv.Atoi(m[3])
			name := strings.TrimPrefix(m[1], "compare")
			order = append([]column{{name, max(0, high-low+1) / 4 / digits(name)}}, order...)
		}
	}
	byRow := order != nil
	words, lines, err := memoryWords(text)
	switch {
	case err != nil:
		return nil, err
	case len(words) == 0:
		return nil, errors.New("there are no words in it")
	case order == nil && role == "":
		return nil, hint.New("--columns a*8,b*8,c,d says what a word consists of, from the highest bits on; a=FILE that all of it is A", "it does not say which operands the words are")
	case order == nil:
		order = []column{{role, len(words[0]) / digits(role)}}
	}
	width := 0
	for _, c := range order {
		width += c.count * digits(c.role)
	}
	all := map[string]*array{}
	for i, word := range words {
		if len(word) != width {
			return nil, fmt.Errorf("line %d: a word of %d hexadecimal digits, not %d", lines[i], len(word), width)
		}
		for _, c := range order {
			n := digits(c.role)
			part := word[:c.count*n]
			if word = word[c.count*n:]; c.role == "" {
				continue
			}
			x := all[c.role]
			if x == nil {
				x = &array{from: s.file, shape: []int{len(words), c.count}, byRow: byRow}
				all[c.role] = x
			}
			for e := c.count - 1; e >= 0; e-- {
				x.text = append(x.text, "0x"+part[e*n:(e+1)*n])
			}
			if len(x.text) != (i+1)*c.count {
				return nil, fmt.Errorf("--columns names %s twice", c.role)
			}
			x.rows = append(x.rows, fmt.Sprintf("%s, line %d", s.file, lines[i]))
		}
	}
	return all, nil
}

var blockComment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)/\*.*?\*/`) })

// memoryWords returns the words of $readmemh, and the lines in which they stand.
func memoryWords(text string) (words []string, lines []int, err error) {
	text = blockComment().ReplaceAllStringFunc(text, func(c string) string { return " " + strings.Repeat("\n", strings.Count(c, "\n")) })
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "//")
		for word := range strings.FieldsSeq(line) {
			if address, is := strings.CutPrefix(word, "@"); is {
				if at, err := strconv.ParseUint(address, 16, 64); err != nil || at != uint64(len(words)) {
					return nil, nil, fmt.Errorf("line %d: %.40q, but %d words stand before it: gaps are not read", n, word, len(words))
				}
				continue
			}
			word = strings.ReplaceAll(word, "_", "")
			if word == "" || strings.Trim(word, "0123456789abcdefABCDEF") != "" {
				return nil, nil, fmt.Errorf("line %d: %.40q has other than hexadecimal digits", n, word)
			}
			words, lines = append(words, word), append(lines, n)
		}
	}
	return words, lines, nil
}
