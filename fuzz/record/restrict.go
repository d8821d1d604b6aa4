package record

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
)

// Restrict returns the part of a plan that records the instructions of a target that a selection
// stands for (devices.Select): each on the inputs that the whole plan has for it.
func Restrict(p *corpus.Plan, t devices.Target, selection string) (*corpus.Plan, error) {
	some, err := devices.Select(t, selection)
	if err != nil {
		return nil, err
	}
	part := *p
	part.Entries = nil
	for _, i := range some {
		if e := p.Entry(i.Arch, i.Name); e != nil {
			one := *e
			one.Instructions = []string{i.Name}
			part.Entries = append(part.Entries, one)
		}
	}
	if part.Entries == nil {
		return nil, fmt.Errorf("the plan %s has no inputs for %s", p.Name, selection)
	}
	return &part, nil
}
