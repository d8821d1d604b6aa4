package kernel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Sides is how the schedules of both sides differ where no change of one or two fields explains
// it. That of a black box is inferred from its answers, for one shape.
type Sides struct {
	Inferred string         `json:"inferred,omitempty"` // the side that was; "": both are known
	Shape    schedule.Shape `json:"shape,omitzero"`
	Checked  int            `json:"checked,omitempty"` // elements on which it has the side's bits
	Fields   []FieldChange  `json:"fields"`
}

// mostInferred is the K of a shape for which a black box is inferred, unless all are larger.
const mostInferred = 2048

// compareFields compares the schedules of both sides field by field. It leaves found as it is if
// the schedule of a black box is not found.
func (z *Fuzz) compareFields(ctx context.Context, found *Found, differ []*drawn) error {
	kernels := [2]*schedule.Kernel{z.A.Kernel, z.B.Kernel}
	var s Sides
	for i, side := range []*Side{z.A, z.B} {
		if side.Kernel != nil {
			continue
		}
		if z.Infer == nil || s.Inferred != "" {
			return nil
		}
		size := func(p *drawn) int { // the largest K that is not too large
			if p.a.K > mostInferred {
				return 1<<30 + p.a.K
			}
			return -p.a.K
		}
		s.Inferred, s.Shape = side.Name, slices.MinFunc(differ, func(x, y *drawn) int { return size(x) - size(y) }).a.Shape
		var err error
		if kernels[i], s.Checked, err = z.Infer(ctx, side.Box[s.Shape.K], s.Shape); err != nil || kernels[i] == nil {
			return err
		}
	}
	for i, k := range kernels {
		if kernels[i] = portable(k); kernels[i] == nil {
			return nil
		}
		k := *kernels[i]
		k.When = schedule.When{}
		kernels[i] = &k
	}
	if s.Fields = fieldsOf(kernels[0], kernels[1]); len(s.Fields) > 0 {
		found.Sides = &s
	}
	return nil
}

// Inference finds the kernel of a black box at a shape, and on how many elements it has its bits;
// nil: it finds none.
type Inference func(ctx context.Context, u devices.Unit, s schedule.Shape) (k *schedule.Kernel, checked int, err error)

// Label is the labels of all fields that differ.
func (s *Sides) Label() string {
	lanes := map[string]bool{} // levels that deal products out
	for _, f := range s.Fields {
		if level, ok := strings.CutSuffix(f.Path, ".cut.by"); ok && (f.A == "lanes" || f.B == "lanes") {
			lanes[level] = true
		}
	}
	var all []string
	for _, f := range s.Fields {
		level, _, _ := strings.Cut(f.Path, ".cut.")
		for _, of := range []struct{ part, label string }{
			{"epilogue", "epilogue"}, {"scale", "scale"}, {".tail.", "tail"}, {".merge.order", "k-order"}, {".merge.start", "k-order"},
			{".where", "k-order"}, {".merge.", "promotion"}, {".cut.", map[bool]string{true: "lanes", false: "split-k"}[lanes[level]]}, {".cast_", "cast"}, {"unit", "unit"},
		} {
			if strings.Contains(f.Path, of.part) {
				all = append(all, of.label)
				break
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "+")
}

// String says what was compared.
func (s *Sides) String() string {
	if s.Inferred == "" {
		return "The schedules of A and B differ in more than two fields, each of which may change bits."
	}
	return fmt.Sprintf("The schedule of %s was inferred for %d x %d elements of %s, and has its bits on %s fresh elements. It differs from the other's in these fields.",
		s.Inferred, s.Shape.M, s.Shape.N, readable.Plural(s.Shape.K, "product"), readable.Thousands(uint64(s.Checked)))
}

func fieldTable(all []FieldChange) *document.Table {
	t := &document.Table{Name: "fields", Columns: document.Columns("field", "A", "B")}
	for _, f := range all {
		t.Add(f.Path, f.A, f.B)
	}
	return t
}
