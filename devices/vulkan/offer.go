package vulkan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// offer is a combination of shape, types and scope that a device executes:
// VkCooperativeMatrixPropertiesKHR, or for the scope of a workgroup
// VkCooperativeMatrixFlexibleDimensionsPropertiesNV.
type offer struct {
	m, n, k    int
	a, b, c, d *component
	saturating bool
	// workgroup is the number of invocations of a workgroup that share the matrices, 0 if
	// those of a subgroup share them.
	workgroup int
}

// prefix is how the names of all instructions begin.
const prefix = "coopmat"

// name returns the name of the instruction: coopmat.mMnNkK.D.A.B.C, as in mma.sync's names,
// then .sat if it is saturating and .wgN for workgroups of N invocations.
func (o *offer) name() string {
	s := fmt.Sprintf("%s.m%dn%dk%d.%s.%s.%s.%s", prefix, o.m, o.n, o.k, o.d.name, o.a.name, o.b.name, o.c.name)
	if o.saturating {
		s += ".sat"
	}
	if o.workgroup > 0 {
		s += fmt.Sprintf(".wg%d", o.workgroup)
	}
	return s
}

// parse reads a name.
func parse(name string) (*offer, error) {
	fields := strings.Split(name, ".")
	if len(fields) < 6 || fields[0] != prefix {
		return nil, fmt.Errorf("%q is not of the form %s.m16n16k16.f32.f16.f16.f32", name, prefix)
	}
	o := &offer{}
	if _, err := fmt.Sscanf(fields[1], "m%dn%dk%d", &o.m, &o.n, &o.k); err != nil || o.m < 1 || o.n < 1 || o.k < 1 || max(o.m, o.n, o.k) > maxSide {
		return nil, fmt.Errorf("%q: %q is not a shape", name, fields[1])
	}
	for i, at := range []**component{&o.d, &o.a, &o.b, &o.c} {
		if *at = componentNamed(fields[2+i]); *at == nil {
			return nil, fmt.Errorf("%q: unknown type %q", name, fields[2+i])
		}
	}
	rest := fields[6:]
	if len(rest) > 0 && rest[0] == "sat" {
		o.saturating, rest = true, rest[1:]
	}
	if len(rest) > 0 {
		if _, err := fmt.Sscanf(rest[0], "wg%d", &o.workgroup); err == nil && o.workgroup > 0 {
			rest = rest[1:]
		}
	}
	switch {
	case len(rest) > 0:
		return nil, fmt.Errorf("%q: %q is neither sat nor wg with a number of invocations", name, strings.Join(rest, "."))
	case o.name() != name:
		return nil, fmt.Errorf("%q is written %q", name, o.name())
	}
	return o, nil
}

// maxSide is the largest side of a matrix that is accepted. Real devices have sides of at
// most some hundred.
const maxSide = 4096

// unsupported explains why this project cannot run the instruction, "" if it can.
func (o *offer) unsupported() string {
	for _, c := range []*component{o.a, o.b, o.c, o.d} {
		if c.format == fp.None {
			return "no number format of this project is " + c.name
		}
	}
	if o.saturating {
		return "saturation is for integers"
	}
	return ""
}

// features returns the features that a device must have for the instruction.
func (o *offer) features() []string {
	f := []string{featureMatrix, featureMemoryModel}
	if o.workgroup > 0 {
		f = append(f, featureWorkgroup, featureFlexible)
	}
	for _, c := range []*component{o.a, o.b, o.c, o.d} {
		f = append(f, c.needs...)
	}
	slices.Sort(f)
	return slices.Compact(f)
}

// instruction returns the instruction. If the catalogue has it for the architecture, it is
// the catalogue's row, arithmetic included.
func (o *offer) instruction(arch string) mma.Instruction {
	i := mma.Instruction{
		Arch: arch, Name: o.name(), K: o.k,
		M: mma.Range{Min: o.m, Max: o.m, Step: 1}, N: mma.Range{Min: o.n, Max: o.n, Step: 1},
		Formats: mma.Formats{A: o.a.format, B: o.b.format, C: o.c.format, D: o.d.format},
		Source:  "the driver's list of cooperative matrices", Evidence: "none: it is a black box",
		Refuse: o.unsupported(),
	}
	if row, err := mma.Lookup(arch, i.Name); err == nil && row.Name == i.Name && i.Refuse == "" {
		return *row
	}
	return i
}
