package corpus

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// mostDifferences is how many differences of two documents are told.
const mostDifferences = 3

// Differences tells people in a few words where two documents of the same type differ, by the
// names of their JSON: "seed: 1 and 2; entries[0].inputs[1].count: 64 and 128". The types
// have only exported fields.
func Differences(a, b any) string {
	var r reporter
	cmp.Equal(a, b, cmp.Reporter(&r))
	if more := len(r.found) - mostDifferences; more > 0 {
		r.found = append(r.found[:mostDifferences], fmt.Sprintf("%d more", more))
	}
	return strings.Join(r.found, "; ")
}

// reporter collects what package cmp reports: where it is, and the differences that it finds.
type reporter struct {
	path  cmp.Path
	found []string
}

func (r *reporter) PushStep(s cmp.PathStep) { r.path = append(r.path, s) }
func (r *reporter) PopStep()                { r.path = r.path[:len(r.path)-1] }

func (r *reporter) Report(result cmp.Result) {
	if result.Equal() {
		return
	}
	a, b := r.path.Last().Values()
	r.found = append(r.found, fmt.Sprintf("%s: %s and %s", r.name(), valueText(a), valueText(b)))
}

// name returns the place that cmp is at, by the names of JSON.
func (r *reporter) name() string {
	var name strings.Builder
	for i, step := range r.path {
		switch s := step.(type) {
		case cmp.StructField:
			f := r.path[i-1].Type().Field(s.Index())
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name.Len() > 0 {
				name.WriteByte('.')
			}
			name.WriteString(tag)
		case cmp.SliceIndex:
			a, b := s.SplitKeys()
			fmt.Fprintf(&name, "[%d]", max(a, b))
		}
	}
	return name.String()
}

func valueText(v reflect.Value) string {
	if !v.IsValid() {
		return "none"
	}
	return printable.Line(fmt.Sprintf("%v", v))
}
