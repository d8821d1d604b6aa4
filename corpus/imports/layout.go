package imports

import (
	"fmt"
	"math"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// layout says what the dimensions of A, B and D are, as numpy.einsum does: m rows and n columns of
// D, k products of each element, t tiles. C lies as D does, or is one number; scales lie as A and B
// do, with a number for each block in place of k.
type layout struct {
	name    string
	a, b, d string
}

// layouts are the names of those that are tried; without B, only the first.
var layouts = []string{
	"tk,tk,t", // a dot product in each row
	"kt,kt,t",
	"mk,kn,mn", // D = A*B
	"mk,nk,mn", // B as the weights of a linear layer lie
	"km,kn,mn",
	"km,nk,mn",
	"tmk,tkn,tmn",
	"tmk,tnk,tmn",
}

// parseLayout reads the name of a layout.
func parseLayout(name string) (*layout, error) {
	parts := strings.Split(name, ",")
	if len(parts) != 3 {
		return nil, fmt.Errorf("it has %d parts, those of A, B and D are needed", len(parts))
	}
	l := &layout{name, parts[0], parts[1], parts[2]}
	for i, letters := range []string{"tmk", "tnk", "tmn"} {
		for j, c := range parts[i] {
			if !strings.ContainsRune(letters, c) || strings.IndexRune(parts[i], c) < j {
				return nil, fmt.Errorf("%q has other letters than %s, or one twice", parts[i], letters)
			}
		}
	}
	return l, nil
}

// sizes are the sizes by letter; one that is missing is 1.
type sizes map[byte]int

func (s sizes) of(letter byte) int {
	if n, ok := s[letter]; ok {
		return n
	}
	return 1
}

// bind takes the sizes of an array's dimensions over, which may have more or fewer dimensions of
// size 1. It reports whether they fit.
func (s sizes) bind(letters string, shape []int) bool {
	for len(shape) < len(letters) {
		shape = append([]int{1}, shape...)
	}
	for len(shape) > len(letters) {
		switch last := len(shape) - 1; {
		case shape[last] == 1:
			shape = shape[:last]
		case shape[0] == 1:
			shape = shape[1:]
		default:
			return false
		}
	}
	for i := range letters {
		if n, ok := s[letters[i]]; ok && n != shape[i] {
			return false
		}
		s[letters[i]] = shape[i]
	}
	return true
}

// strides returns by how much the index of an element grows with each letter.
func (s sizes) strides(letters string) sizes {
	out, step := sizes{'t': 0, 'm': 0, 'n': 0, 'k': 0, 'j': 0}, 1
	for i := len(letters) - 1; i >= 0; i-- {
		out[letters[i]] = step
		step *= s.of(letters[i])
	}
	return out
}

// fit returns the sizes if all arrays fit the layout; j is the number of scales of k elements.
func (l *layout) fit(f mma.Formats, arrays map[string]*array) (sizes, bool) {
	s := sizes{}
	for _, role := range operands {
		x := arrays[role]
		if x == nil || role == "c" && x.elements() == 1 {
			continue
		}
		if !s.bind(l.letters(role), x.shape) {
			return nil, false
		}
	}
	if f.Scale != fp.None && arrays["sa"] != nil && s.of('j') != f.Blocks(s.of('k')) {
		return nil, false
	}
	return s, true
}

// letters are the dimensions of an operand.
func (l *layout) letters(role string) string {
	switch role {
	case "a":
		return l.a
	case "b":
		return l.b
	case "sa":
		return strings.Replace(l.a, "k", "j", 1)
	case "sb":
		return strings.Replace(l.b, "k", "j", 1)
	}
	return l.d
}

// fitting returns the layouts that the arrays fit: only the named one, if there is a name.
func fitting(name string, f mma.Formats, arrays map[string]*array) ([]*layout, error) {
	names := layouts
	if name != "" {
		names = []string{name}
	}
	flatten(arrays)
	var all []*layout
	for _, n := range names {
		l, err := parseLayout(n)
		if err != nil {
			return nil, hint.New("for example --layout mk,kn,mn or tk,tk,t", "--layout %.60s: %w", n, err)
		}
		if _, ok := l.fit(f, arrays); ok && (name != "" || l.a[0] == 't' || !arrays["a"].byRow) && (arrays["b"] != nil || l.b == "tk") {
			all = append(all, l)
		}
	}
	if all != nil {
		return all, nil
	}
	var shapes []string
	for _, role := range operands {
		if x := arrays[role]; x != nil {
			shapes = append(shapes, fmt.Sprintf("%s %v", strings.ToUpper(role), x.shape))
		}
	}
	return nil, hint.New("--layout says what the dimensions of A, B and D are: m rows and n columns of D, k products, t tiles; for example mk,nk,mn",
		"the shapes %s fit no layout of %s", strings.Join(shapes, ", "), strings.Join(names, "  "))
}

// flatten gives arrays of one dimension the two that they have where there is a result for every
// K elements. Without B every element of A has a result.
func flatten(arrays map[string]*array) {
	a, b, d := arrays["a"], arrays["b"], arrays["d"]
	n := d.elements()
	flat := func(x *array) bool { return len(x.shape) == 0 || x.elements() == x.shape[0] }
	switch {
	case b == nil && a.elements() == n:
		a.shape, d.shape, a.byRow = []int{n, 1}, []int{n}, true
	case b != nil && n > 0 && flat(a) && flat(b) && flat(d) && a.elements() == b.elements() && a.elements()%n == 0:
		a.shape, b.shape, d.shape, a.byRow = []int{n, a.elements() / n}, []int{n, a.elements() / n}, []int{n}, true
	}
}

// product is dot products with their results.
type product struct {
	batch   *mma.Batch
	d       []byte // results, as mma.Batch says
	depth   int    // elements of K before it was filled up with zeros
	uncoded []bool // results of which a code is not known, or that of an operand; nil: there are none
}

// mostBytes bounds a product in memory.
const mostBytes = 1 << 31

// product puts arrays into a batch for an instruction; nil: for one of any K.
func (l *layout) product(f mma.Formats, i *mma.Instruction, read map[string]*decoded) (*product, error) {
	arrays := map[string]*array{}
	for role, x := range read {
		arrays[role] = x.array
	}
	s, _ := l.fit(f, arrays)
	k := s.of('k')
	if i != nil {
		k = (k + i.K - 1) / i.K * i.K
	}
	shape := mma.Shape{M: s.of('m'), N: s.of('n'), K: k, Tiles: s.of('t')}
	if err := checkSize(shape); err != nil {
		return nil, err
	}
	if f.Scale != fp.None && (k != s.of('k') || read["sa"] == nil || read["sb"] == nil) {
		return nil, hint.New("name them, as in sa=FILE sb=FILE", "the instruction has K = %d and scales of A and B, each for %d products: arrays of both are needed, for whole blocks", i.K, f.Block)
	}
	p := &product{batch: mma.NewBatch(f, shape), depth: s.of('k')}
	p.d = make([]byte, p.batch.Dots()*f.D.Width())
	lostA := l.lines(read["a"], "a", s, 'm', s.of('k'), k, p.batch.A, f.A)
	lostB := l.lines(read["b"], "b", s, 'n', s.of('k'), k, p.batch.B, f.B)
	if f.Scale != fp.None {
		blocks := f.Blocks(k)
		l.lines(read["sa"], "sa", s, 'm', blocks, blocks, p.batch.SA, f.Scale)
		l.lines(read["sb"], "sb", s, 'n', blocks, blocks, p.batch.SB, f.Scale)
	}
	lost := make([]bool, p.batch.Dots())
	l.results(read["c"], s, shape, p.batch.C, f.C, lost)
	l.results(read["d"], s, shape, p.d, f.D, lost)
	for row := range shape.Tiles * shape.M {
		for n := range shape.N {
			at, column := row*shape.N+n, row/shape.M*shape.N+n
			if lost[at] = lost[at] || lostA[row] || lostB[column]; lost[at] {
				p.uncoded = lost
			}
		}
	}
	return p, nil
}

// checkSize returns an error if a recording cannot hold a product.
func checkSize(s mma.Shape) error {
	const mostK = 1 << 16
	switch bytes := 8 * float64(s.Tiles) * (float64(s.K)*float64(s.M+s.N) + 2*float64(s.M)*float64(s.N)); {
	case s.M < 1 || s.N < 1 || s.K < 1 || s.Tiles < 1:
		return fmt.Errorf("there are no dot products in the files")
	case s.K > mostK:
		return fmt.Errorf("the dot products have %d elements; a recording has %d at most", s.K, mostK)
	case bytes > mostBytes || float64(s.Tiles)*float64(s.M)*float64(s.N) > math.MaxInt32:
		return fmt.Errorf("%d tiles of %d x %d results with K = %d are too many: import parts of them", s.Tiles, s.M, s.N, s.K)
	}
	return nil
}

// lines stores the rows of A or the columns of B, of n elements each, at places of k elements. It
// returns those that have an unknown code.
func (l *layout) lines(x *decoded, role string, s sizes, line byte, n, k int, to []byte, id fp.ID) []bool {
	count := s.of('t') * s.of(line)
	lost := make([]bool, count)
	if x == nil {
		return lost
	}
	letters := l.letters(role)
	step := s.strides(letters)
	along := step['k'] + step['j'] // it has one of them
	for i := range count {
		from := i/s.of(line)*step['t'] + i%s.of(line)*step[line]
		for e := range n {
			at := from + e*along
			mma.Store(to, id.Width(), i*k+e, x.codes[at])
			lost[i] = lost[i] || x.uncoded[at]
		}
	}
	return lost
}

// results stores C or D, and marks those of unknown codes.
func (l *layout) results(x *decoded, s sizes, shape mma.Shape, to []byte, id fp.ID, lost []bool) {
	if x == nil || id == fp.None {
		return
	}
	step := s.strides(l.d)
	if len(x.codes) == 1 {
		step = sizes{'t': 0, 'm': 0, 'n': 0}
	}
	for i := range lost {
		at := i/(shape.M*shape.N)*step['t'] + i/shape.N%shape.M*step['m'] + i%shape.N*step['n']
		mma.Store(to, id.Width(), i, x.codes[at])
		lost[i] = lost[i] || x.uncoded[at]
	}
}
