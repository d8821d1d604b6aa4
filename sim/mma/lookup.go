package mma

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// declared are the lines of the catalogue files.
var declared = slices.Concat(nvidia, wmma, amd, x86, arm, power, riscv, mesa, tensix, conversions, integerRows)

// Catalog returns every row, in the order of Archs and of the catalogue files.
// The slice is shared: do not change it.
func Catalog() []Instruction {
	all, _ := catalogue()
	return all
}

// catalogue returns all rows, and those of each architecture.
var catalogue = sync.OnceValues(func() ([]Instruction, map[string][]Instruction) {
	names, count := make([][]string, len(declared)), map[string]int{}
	for i := range declared {
		names[i] = declared[i].allNames()
		for a := range strings.FieldsSeq(declared[i].archs) {
			count[a] += len(names[i])
		}
	}
	sum := 0
	for i := range Archs {
		sum += count[Archs[i].Name]
	}
	all, rows := make([]Instruction, sum), map[string][]Instruction{} // of all: a row is large
	for i, from := 0, 0; i < len(Archs); i++ {
		a := Archs[i].Name
		rows[a] = all[from : from : from+count[a]]
		from += count[a]
	}
	for i := range declared {
		declared[i].addRows(rows, names[i])
	}
	return all, rows
})

// Of returns the rows of one architecture.
func Of(arch string) []Instruction {
	_, rows := catalogue()
	return append([]Instruction{}, rows[arch]...) // not nil, which would mean any instruction
}

// Lookup returns the instruction of an architecture that a name stands for: the
// ISA spelling with any legal N, an alias, or a prefix that only one instruction
// has, apart from variants of it whose names add, for example, a rounding. The
// result has the shape that the name gives. The error for an unknown name lists the
// nearest ones.
func Lookup(arch, name string) (*Instruction, error) {
	a, ok := FindArch(arch)
	if !ok {
		return nil, fmt.Errorf("unknown architecture %q (known: %s)", arch, strings.Join(archNames(), ", "))
	}
	_, rows := catalogue()
	return Search(a.Name, rows[a.Name], name)
}

// Search is Lookup among the given rows; where names their owner in the error.
func Search(where string, rows []Instruction, name string) (*Instruction, error) {
	plain, shape := defaultShape(name)
	var prefixed []Instruction
	for n := range rows {
		i := &rows[n] // a row is large
		if i.Name == plain || i.Name == name || i.Alias != "" && i.Alias == name {
			return i.withShape(shape)
		}
		if strings.HasPrefix(i.Name, plain) {
			prefixed = append(prefixed, *i)
		}
	}
	prefixed = unless(prefixed, func(i Instruction) bool { return i.D.Integer() || isWMMA(i) })
	if plainest, ok := extended(prefixed); ok {
		return plainest.withShape(shape)
	}
	return nil, lookupError(where, name, rows, prefixed)
}

// extended returns the row whose name all others extend.
func extended(rows []Instruction) (Instruction, bool) {
	if len(rows) == 0 {
		return Instruction{}, false
	}
	plainest := slices.MinFunc(rows, func(x, y Instruction) int { return len(x.Name) - len(y.Name) })
	return plainest, !slices.ContainsFunc(rows, func(i Instruction) bool {
		return i.Name != plainest.Name && !strings.HasPrefix(i.Name, plainest.Name+".")
	})
}

func archNames() []string {
	var names []string
	for _, a := range Archs {
		names = append(names, a.Name)
	}
	return names
}

func lookupError(arch, name string, rows, prefixed []Instruction) error {
	const most = 200 // bytes: no name has as many, but a file may
	if len(name) > most {
		name = name[:most] + "..."
	}
	if len(prefixed) > 1 && name == "" {
		return fmt.Errorf("%s has %d instructions, of which one has to be named: %s", arch, len(prefixed), someNames(prefixed))
	}
	if len(prefixed) > 1 {
		return fmt.Errorf("%s: %q is the beginning of %d instructions: %s", arch, name, len(prefixed), someNames(prefixed))
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s: no instructions are known", arch)
	}
	return &unknownError{arch, name, rows}
}

// unknownError is the error of a name that no row of an architecture has. The nearest
// names, which take long to find, are looked for when somebody reads the text.
type unknownError struct {
	arch, name string
	rows       []Instruction
}

func (e *unknownError) Error() string {
	if strings.HasSuffix(e.name, ".flags") {
		return fmt.Sprintf("%s gives no exception flags of %s: children (exec:) whose header has flags=, references, model files of such formats, and cpu:0 on x86 do, unless subnormals are flushed", e.arch, strings.TrimSuffix(e.name, ".flags"))
	}
	distance := make(map[string]int, len(e.rows))
	kinds := strings.Split(e.name, ".")
	kinds = slices.DeleteFunc(kinds, func(part string) bool { return !strings.HasPrefix(part, "kind::") })
	for _, i := range e.rows {
		if !strings.Contains(i.Name, e.name) { // part of a name is nearest
			distance[i.Name] = 1 + hint.Distance(e.name, i.Name)
		}
		if len(kinds) > 0 && !slices.Contains(strings.Split(i.Name, "."), kinds[0]) {
			distance[i.Name] += len(e.name) // another kind is no slip
		}
	}
	near := slices.Clone(e.rows)
	if !strings.Contains(e.name, "cvt") && !strings.HasPrefix(e.name, "wmma") { // conversions and integers have short names, which are near to any
		near = unless(near, func(i Instruction) bool { return i.Conversion() || i.D.Integer() || isWMMA(i) })
	}
	slices.SortStableFunc(near, func(x, y Instruction) int { return distance[x.Name] - distance[y.Name] })
	return fmt.Sprintf("%s has no instruction %q; nearest: %s", e.arch, e.name, someNames(near))
}

// isWMMA reports whether an instruction is one of wmma.
func isWMMA(i Instruction) bool { return strings.HasPrefix(i.Name, "wmma.") }

// unless returns the rows of which f is not true; all, if it is true of all.
func unless(rows []Instruction, f func(Instruction) bool) []Instruction {
	if some := slices.DeleteFunc(slices.Clone(rows), f); len(some) > 0 {
		return some
	}
	return rows
}

func someNames(rows []Instruction) string {
	const most = 4
	var names []string
	for _, i := range rows[:min(len(rows), most)] {
		names = append(names, i.Name)
	}
	if len(rows) > most {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

var freeShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(wgmma|tcgen05)\.m(\d+)n(\d+)k`) })

// freeDims are the free dimensions of a name.
type freeDims struct{ m, n int }

// defaultShape returns a name with its free dimensions replaced by those that
// stand in the catalogue, and what they were (nil: none is free).
func defaultShape(name string) (plain string, dims *freeDims) {
	s := freeShape().FindStringSubmatch(name)
	if s == nil {
		return name, nil
	}
	m, _ := strconv.Atoi(s[2]) // a number too large is no legal dimension either
	n, _ := strconv.Atoi(s[3])
	rows := "64"
	if s[1] == "tcgen05" {
		rows = "128"
	}
	return s[1] + ".m" + rows + "n8k" + name[len(s[0]):], &freeDims{m, n}
}

// withShape returns a copy of i with the given free dimensions.
func (i Instruction) withShape(dims *freeDims) (*Instruction, error) {
	if dims == nil {
		return &i, nil
	}
	m, n := dims.m, dims.n
	if !i.M.Contains(m) || !i.N.Contains(n) {
		return nil, fmt.Errorf("%s: M is %s and N is %s; m%dn%d is not a shape", i.Name, i.M, i.N, m, n)
	}
	form, rest, _ := strings.Cut(i.Name, ".")
	_, rest, _ = strings.Cut(rest, "k")
	i.Name = fmt.Sprintf("%s.m%dn%dk%s", form, m, n, rest)
	return &i, nil
}

// Arithmetics returns a row for each distinct floating-point arithmetic of the catalogue (its
// parameters and the formats of A, D and scales) among the rows in which A and B have
// the same format and C takes part. Of several rows with one arithmetic it is the first
// of those with the largest K; one of wmma, which is a sequence of others, only if there is no
// other.
func Arithmetics() []Instruction {
	type key struct {
		p           Params
		a, d, scale fp.ID
	}
	var rows []Instruction
	index := map[key]int{}
	for _, i := range Catalog() {
		if i.Refuse != "" || i.A != i.B || i.C == fp.None || i.D.Integer() {
			continue
		}
		k := key{i.Params, i.A, i.D, i.Scale}
		n, seen := index[k]
		switch {
		case !seen:
			index[k] = len(rows)
			rows = append(rows, i)
		case i.K > rows[n].K && !isWMMA(i):
			rows[n] = i
		}
	}
	return rows
}
