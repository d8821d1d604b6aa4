package kernel

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Line is a row of A or a column of B as codes.
type Line struct {
	Of     string   `json:"of"` // A or B
	Number int      `json:"number"`
	Codes  []string `json:"codes"`
	Scales []string `json:"scales,omitempty"`
}

func (l *Line) String() string {
	return fmt.Sprintf("%s %d of %s", map[string]string{"A": "row", "B": "column"}[l.Of], l.Number, l.Of)
}

// dependsError says that an element is no function of its row of A and its column of B.
type dependsError struct{ *Witness }

func (e *dependsError) Error() string {
	var names []string
	for i := range e.Others {
		names = append(names, e.Others[i].String())
	}
	const shown = 4
	if n := len(names) - shown; n > 0 {
		names = append(names[:shown], fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("element (%d,%d) depends on more than its row of A and its column of B: where all others are zeros it is %s, and with other numbers in %s it is %s", e.Row, e.Column, e.Alone, strings.Join(names, " and "), e.D)
}

// What stands in the other rows of A and columns of B beside those of an element.
const (
	besideDrawn = iota
	besideZeros
	besideSame // all are those of the element
	besides
)

const (
	othersPlaces = 6   // elements that are asked about
	othersAsked  = 500 // products by which their witness is made smaller, at most
)

// others looks for an element that depends on other rows of A and columns of B than its own, first one that
// is not explained.
func (l *loop) others(ctx context.Context, first *Witness) error {
	l.enter("asking whether elements depend on other rows and columns")
	places := l.places(first)
	n := len(kinds) * len(places) * besides
	codes := make([]uint64, n)
	of := func(t int) (kind, place, beside int) {
		return t / besides / len(places), places[t/besides%len(places)], t % besides
	}
	err := l.each(ctx, n, func(t int, m matrices) {
		kind, place, beside := of(t)
		l.draw(newDrawer(l.o.Seed+seedOthers, uint64(kind)), kind, m)
		l.beside(m, place, beside)
	}, func(t int, _ matrices, d []byte) {
		_, place, _ := of(t)
		codes[t] = mma.Load(d, l.D.Width(), place)
	})
	if err != nil {
		return err
	}
	for t, code := range codes {
		if kind, place, beside := of(t); beside != besideZeros && !l.equal(code, codes[t-beside+besideZeros]) {
			return l.depends(ctx, kind, place, beside)
		}
	}
	return nil
}

// places returns some positions: that of a witness, the corners, and any.
func (l *loop) places(first *Witness) (all []int) {
	add := func(row, column int) {
		if p := row*l.N + column; len(all) < othersPlaces && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	if first != nil {
		add(first.Row, first.Column)
	}
	add(0, l.N-1)
	add(l.M-1, 0)
	add(l.M-1, l.N-1)
	d := rand.New(rand.NewPCG(l.o.Seed, seedOthers))
	for range othersPlaces {
		add(d.IntN(l.M), d.IntN(l.N))
	}
	return all
}

func (l *loop) equal(x, y uint64) bool { return x == y || l.judge.same.Compare(x, y) == oracle.Same }

// beside changes the lines beside those of an element.
func (b *box) beside(m matrices, place, beside int) {
	for n, of := range m.all() {
		lines := *of
		count, own := b.M, place/b.N
		if n%2 == 1 {
			count, own = b.N, place%b.N
		}
		size := len(lines) / count
		for i := range count {
			switch {
			case i == own:
			case beside == besideZeros:
				clear(lines[i*size:][:size])
			case beside == besideSame:
				copy(lines[i*size:][:size], lines[own*size:][:size])
			}
		}
	}
}

// depends returns a dependsError with as few lines as were found; nil if the results change from one
// time to the next.
func (l *loop) depends(ctx context.Context, kind, place, beside int) error {
	var drawn matrices
	w := l.D.Width()
	ask := func(lines []int) (code uint64, err error) {
		err = l.each(ctx, 1, func(_ int, m matrices) {
			if drawn.a == nil {
				l.draw(newDrawer(l.o.Seed+seedOthers, uint64(kind)), kind, m)
				l.beside(m, place, beside)
				drawn = matrices{a: slices.Clone(m.a), b: slices.Clone(m.b), sa: slices.Clone(m.sa), sb: slices.Clone(m.sb)}
			}
			drawn.copyTo(m)
			l.beside(m, place, besideZeros)
			for _, i := range lines {
				copy(l.lineOf(m, i), l.lineOf(drawn, i))
				copy(l.scalesOf(m, i), l.scalesOf(drawn, i))
			}
		}, func(_ int, _ matrices, d []byte) { code = mma.Load(d, w, place) })
		return code, err
	}
	alone, err := ask(nil)
	if err != nil {
		return err
	}
	var lines []int
	for i := range l.M + l.N {
		if i != place/l.N && i != l.M+place%l.N {
			lines = append(lines, i)
		}
	}
	asked := 0
	for size := (len(lines) + 1) / 2; size > 0 && asked < othersAsked; size /= 2 {
		for from := 0; from < len(lines) && asked < othersAsked; asked++ {
			fewer := slices.Concat(lines[:from], lines[min(from+size, len(lines)):])
			if code, err := ask(fewer); err != nil {
				return err
			} else if l.equal(code, alone) {
				from += size
			} else {
				lines = fewer
			}
		}
	}
	code, err := ask(lines)
	for range 3 { // it is to be so each time
		for _, side := range []struct {
			lines []int
			want  uint64
		}{{nil, alone}, {lines, code}} {
			if again, other := ask(side.lines); err == nil {
				if err = other; err == nil && again != side.want {
					return nil
				}
			}
		}
	}
	if err != nil || l.equal(code, alone) {
		return err
	}
	text := func(code uint64) string { return fmt.Sprintf("%0*x", 2*w, code) }
	row, column := place/l.N, place%l.N
	e := &dependsError{&Witness{Row: row, Column: column, Kind: kinds[kind], D: text(code), Alone: text(alone)}}
	e.of(l.box, l.lines(drawn, row, column))
	for _, i := range lines {
		of, n := "A", i
		if i >= l.M {
			of, n = "B", i-l.M
		}
		e.Others = append(e.Others, Line{of, n, codesOf(l.lineOf(drawn, i), l.widthOf(i)), codesOf(l.scalesOf(drawn, i), l.Scale.Width())})
	}
	return e
}

// lineOf returns a row of A, or after these a column of B.
func (b *box) lineOf(m matrices, i int) []byte {
	if i < b.M {
		size := b.K * b.A.Width()
		return m.a[i*size:][:size]
	}
	size := b.K * b.B.Width()
	return m.b[(i-b.M)*size:][:size]
}

// scalesOf returns the scales of such a line.
func (b *box) scalesOf(m matrices, i int) []byte {
	size := b.lineSizes()[2]
	if i < b.M {
		return m.sa[i*size:][:size]
	}
	return m.sb[(i-b.M)*size:][:size]
}

// widthOf returns the bytes of a number of such a line.
func (b *box) widthOf(i int) int {
	if i < b.M {
		return b.A.Width()
	}
	return b.B.Width()
}

// codesOf writes the codes of a line, each of w bytes.
func codesOf(line []byte, w int) (all []string) {
	for k := range len(line) / max(w, 1) {
		all = append(all, fmt.Sprintf("%0*x", 2*w, mma.Load(line, w, k)))
	}
	return all
}
