package mma

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Instruction is one row of the catalogue: what an instruction of one
// architecture is and how it computes.
type Instruction struct {
	Arch  string // name of the architecture, as in Archs
	Name  string // ISA spelling, with the smallest N (and M = 128 for tcgen05) where they are free
	Alias string // another spelling that people use, or ""
	M, N  Range  // rows and columns that the ISA allows; they do not influence a dot product
	K     int    // products per output; for sparse A only kept elements count
	Formats
	Params   Params
	Unknown  Facets // what nobody has shown; compared by class, not by bits
	Refuse   string // why there is no model; "" if there is one
	Source   string // where the rule is published
	Evidence string // what it was checked against; begins with "none" if it was not
}

// CheckName returns an error if a name from a file cannot be that of an instruction: one that
// cannot be printed, or that has the slash that stands between a target and its instruction.
func CheckName(name string) error {
	switch {
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%q, which cannot be printed", name)
	case strings.Contains(name, "/"):
		return fmt.Errorf("%q: no instruction has a slash in its name", name)
	}
	return nil
}

// Range is the values min, min+step, ..., max that the ISA allows.
type Range struct{ Min, Max, Step int }

// Contains reports whether v is one of the values.
func (r Range) Contains(v int) bool {
	return v >= r.Min && v <= r.Max && (v-r.Min)%max(r.Step, 1) == 0
}

// String writes one value, or the range.
func (r Range) String() string {
	if r.Min == r.Max {
		return fmt.Sprint(r.Min)
	}
	return fmt.Sprintf("%d..%d step %d", r.Min, r.Max, r.Step)
}

// Facets is a set of details of a result.
type Facets uint8

// The facets that a row can leave open.
const (
	FacetNaN  Facets = 1 << iota // the code of a NaN result
	FacetZero                    // the sign of a zero result
)

// String names the facets, or "-".
func (f Facets) String() string {
	var s []string
	if f&FacetNaN != 0 {
		s = append(s, "nan code")
	}
	if f&FacetZero != 0 {
		s = append(s, "zero sign")
	}
	if s == nil {
		return "-"
	}
	return strings.Join(s, ", ")
}

// Checked reports whether the row's rule was compared with results of hardware, or of
// something that stands in for it. A row without a rule was not.
func (i *Instruction) Checked() bool {
	return i.Refuse == "" && !strings.HasPrefix(i.Evidence, "none")
}

// FullName returns ARCH/NAME.
func (i *Instruction) FullName() string { return i.Arch + "/" + i.Name }

// decl is a line of a catalogue file: a pattern of names and what they share.
// Braces in a pattern expand as in a shell: {a,b}x is ax and bx. Formats, shape
// and K are read off the name (parseName), so that they cannot disagree with it.
type decl struct {
	archs    string // names, separated by blanks
	names    string // patterns, separated by blanks
	params   Params
	unknown  Facets
	refuse   string
	source   string
	evidence string
	alias    func(name string) string // nil: no alias
	ocp      bool                     // AMD's fp8 and bf8 are the OCP formats
	// mode changes the parameters as a mode in the name asks (Instruction.Mnemonic). It
	// is called for each mode in turn. nil: the names have none.
	mode func(p *Params, word string)
	// complete gives a row the parameters that depend on its name and formats; nil: none do.
	complete func(i *Instruction)
}

// allNames returns the names that the patterns of a declaration stand for.
func (d *decl) allNames() (names []string) {
	for pattern := range strings.FieldsSeq(d.names) {
		names = append(names, expand(pattern)...)
	}
	return names
}

// addRows adds the rows of a declaration, whose names are given, to those of each of its
// architectures.
func (d *decl) addRows(rows map[string][]Instruction, names []string) {
	archs := strings.Fields(d.archs)
	for _, name := range names {
		i, err := parseName(name, d.ocp)
		if err != nil {
			panic(fmt.Sprintf("mma: catalogue: %v", err))
		}
		for _, a := range archs {
			rows[a] = append(rows[a], d.row(i, a))
		}
	}
}

// row returns the row of an architecture with what its name says.
func (d *decl) row(i Instruction, arch string) Instruction {
	i.Arch, i.Params, i.Unknown, i.Refuse = arch, d.params, d.unknown, d.refuse
	i.Source, i.Evidence = d.source, d.evidence
	if d.alias != nil {
		i.Alias = d.alias(i.Name)
	}
	if d.complete != nil {
		d.complete(&i)
	}
	if d.mode != nil {
		_, modes := i.Mnemonic()
		for _, word := range modes {
			d.mode(&i.Params, word)
		}
	}
	return i
}

// expand returns the names that a pattern with braces stands for. Braces do not
// nest.
func expand(pattern string) []string {
	before, rest, ok := strings.Cut(pattern, "{")
	if !ok {
		return []string{pattern}
	}
	alternatives, after, _ := strings.Cut(rest, "}")
	var names []string
	for alt := range strings.SplitSeq(alternatives, ",") {
		names = append(names, expand(before+alt+after)...)
	}
	return names
}

// parseName reads shape and formats off an ISA name, or, if the name does not have
// them, takes them from the table of forms.
func parseName(name string, ocp bool) (Instruction, error) {
	if f, ok := formed()[name]; ok {
		return f.Instruction, nil
	}
	if strings.HasPrefix(name, "cvt.") || strings.HasPrefix(name, "v_cvt_") {
		return parseConversion(name, ocp)
	}
	if strings.HasPrefix(name, "v_") {
		return parseAMD(name, ocp)
	}
	return parsePTX(name)
}

// parsePTX reads names such as
//
//	mma.m16n8k16.f32.f16.f16.f32                        D A B C
//	mma.m8n8k4.f64.f64.f64.f64[.rz|.rm|.rp]             the rounding, unless to nearest even
//	mma.sp.m16n8k32.f32.f16.f16.f32                     sparse A: K is half of the name's
//	mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0
//	mma.m16n8k32.s32.s8.u8.s32[.satfinite]               sums that saturate
//	mma.m16n8k128.s32.b1.b1.s32.and.popc                 the operation on bits
//	wmma.m16n16k16.f32.f16.f16.f32                      D A B C
//	wgmma.m64n8k16.f32.f16.f16[.c0]                     D A B, C as D or none
//	tcgen05.m128n8k16.kind::f16.f32.f16.f16[.c0]
//
// and those of package devices/vulkan, which are made alike:
//
//	coopmat.m8n8k8.f32.f16.f16.f32                      D A B C
func parsePTX(name string) (Instruction, error) {
	i := Instruction{Name: name}
	fields := strings.Split(name, ".")
	sparse := len(fields) > 1 && fields[1] == "sp"
	if sparse {
		fields = slices.Delete(fields, 1, 2)
	}
	if last := len(fields) - 1; slices.Contains(ptxRounds, fields[last]) && fields[last-1] == "f64" {
		fields = fields[:last]
	}
	for _, suffix := range [][]string{{"satfinite"}, {"and", "popc"}, {"xor", "popc"}} {
		if n := len(fields) - len(suffix); n > 0 && slices.Equal(fields[n:], suffix) {
			fields = fields[:n]
		}
	}
	if len(fields) < 5 {
		return i, fmt.Errorf("%q is not an instruction name", name)
	}
	dims, ok := parseShape(fields[1])
	if !ok {
		return i, fmt.Errorf("%q: %q is not a shape", name, fields[1])
	}
	i.K = dims[2]
	if sparse {
		i.K /= 2
	}
	i.M, i.N = ptxRanges(fields[0], dims[0], dims[1])
	fields, form := fields[2:], fields[0]
	if strings.HasPrefix(fields[0], "kind::") {
		fields = fields[1:]
	}
	if block, ok := strings.CutPrefix(fields[0], "block"); ok {
		size, err := strconv.ParseUint(block, 10, 8)
		if err != nil {
			return i, fmt.Errorf("%q: %q is not a block", name, fields[0])
		}
		i.Block, fields = uint16(size), fields[1:]
		if i.Scale, err = fp.Parse(fields[len(fields)-1]); err != nil {
			return i, fmt.Errorf("%q: %w", name, err)
		}
		fields = fields[:len(fields)-1]
	}
	noC := fields[len(fields)-1] == "c0"
	if noC {
		fields = fields[:len(fields)-1]
	}
	ids, err := parseFormats(fields)
	if err != nil {
		return i, fmt.Errorf("%q: %w", name, err)
	}
	namesC := slices.Contains([]string{"mma", "wmma", "coopmat"}, form)
	switch {
	case namesC && len(ids) == 4 && !noC:
		i.D, i.A, i.B, i.C = ids[0], ids[1], ids[2], ids[3]
	case !namesC && len(ids) == 3:
		i.D, i.A, i.B, i.C = ids[0], ids[1], ids[2], ids[0]
		if noC {
			i.C = fp.None
		}
	default:
		return i, fmt.Errorf("%q: %d formats", name, len(ids))
	}
	return i, nil
}

// parseShape reads a shape such as m16n8k16.
func parseShape(s string) (dims [3]int, ok bool) {
	for i, letter := range []string{"m", "n", "k"} {
		rest, ok := strings.CutPrefix(s, letter)
		s = strings.TrimLeft(rest, "0123456789")
		d, err := strconv.Atoi(strings.TrimSuffix(rest, s))
		if !ok || err != nil {
			return dims, false
		}
		dims[i] = d
	}
	return dims, s == ""
}

// ptxRounds are the roundings that a name of an FP64 instruction can end with; rn is the
// one that need not be named.
var ptxRounds = []string{"rn", "rz", "rm", "rp"}

func parseFormats(names []string) ([]fp.ID, error) {
	ids := make([]fp.ID, len(names))
	for i, n := range names {
		id, err := fp.Parse(n)
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	return ids, nil
}

// ptxRanges returns the shapes that a PTX form allows besides K.
func ptxRanges(form string, m, n int) (Range, Range) {
	switch form {
	case "wgmma":
		return Range{64, 64, 1}, Range{8, 256, 8}
	case "tcgen05":
		return Range{64, 256, 64}, Range{8, 256, 8}
	}
	return Range{m, m, 1}, Range{n, n, 1}
}
