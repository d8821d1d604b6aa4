package defect

import (
	"reflect"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
)

// TestShed checks that features are forgotten where there are many, and that they are the same when
// they are made again.
func TestShed(t *testing.T) {
	x := unseen[slices.IndexFunc(unseen, func(x planted) bool { return x.name == "lane-bit" })]
	u := x.open(t)
	m, err := sim.New(u.Formats, u.K, u.Program)
	if err != nil {
		t.Fatal(err)
	}
	s := &search{viewer: &viewer{f: u.Formats, m: m}, u: u, asked: map[string]bool{}}
	all := []Scope{OfCase, OfProduct, OfOperand, OfPair, OfSum}
	var before []map[Scope][][]int64
	for _, c := range u.Cases[:32] {
		v := s.learn(c.Dot, c.Want).view
		for _, scope := range all {
			s.add(v, scope)
		}
		before = append(before, v.of)
	}
	values := 0
	for _, of := range before {
		for _, scope := range all[1:] {
			for _, vs := range of[scope] {
				values += len(vs)
			}
		}
	}
	if s.held != values {
		t.Errorf("%d features are counted, %d are kept", s.held, values)
	}
	s.shed()
	if len(s.samples[0].of) != len(all) {
		t.Error("few features are forgotten")
	}
	s.held = mostHeld + 1
	s.shed()
	for i, c := range s.samples {
		if len(c.of) != 1 {
			t.Errorf("case %d has still features of %d scopes", i, len(c.of))
		}
		for _, scope := range all {
			s.add(c.view, scope)
		}
		if !reflect.DeepEqual(c.of, before[i]) {
			t.Errorf("case %d has other features than before", i)
		}
	}
	if s.held != values {
		t.Errorf("%d features are counted, %d are kept", s.held, values)
	}
}
