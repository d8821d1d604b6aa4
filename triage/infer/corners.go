package infer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// corners are the extremes by construction that package gen enumerates, and NaNs in all lanes. The
// unit is asked for all of them before any program is believed: a fault that only they show, such as
// an adder without its top bit, is seen whatever the seed.
type corners struct {
	dots []*mma.Dot
	want []uint64
}

const cornerName = "corner"

// askCorners asks for all corners, once. Every hypothesis is held against the answers.
func (l *loop) askCorners(ctx context.Context) error {
	if l.corners.dots != nil {
		return nil
	}
	g, err := gen.Find(cornerName)
	if err != nil {
		return err
	}
	dots := append(generate(l.spec(), g, l.seed, 0, smallSize(g, l.spec())), nanLanes(l.Formats, l.K)...)
	l.corners.dots, l.corners.want, err = l.unit.ask(ctx, dots)
	return err
}

// smallEnumeration is the size up to which an enumeration is always asked completely.
const smallEnumeration = 1 << 15

// smallSize returns the number of cases of a generator that enumerates not too many, else 0.
func smallSize(g *gen.Generator, sp gen.Spec) int {
	if g.Size == nil || g.Size(sp) > smallEnumeration {
		return 0
	}
	return int(g.Size(sp))
}

// covered says which corners were compared, and which not.
func (t *Report) covered() string {
	i := slices.IndexFunc(t.Classes, func(c Tested) bool { return c.Name == cornerName })
	if i < 0 {
		return "The combinations of extremes were not compared."
	}
	if t.Classes[i].Failed > 0 {
		return "The combinations of extremes were not all compared, since the unit fails on some."
	}
	return fmt.Sprintf("Among them are all %d combinations of extremes of these kinds: %s.", t.Classes[i].Of, names(gen.Corners(t.Formats)))
}

func names(kinds []gen.CornerKind) string {
	var s []string
	for _, k := range kinds {
		s = append(s, k.Name)
	}
	return strings.Join(s, ", ")
}
