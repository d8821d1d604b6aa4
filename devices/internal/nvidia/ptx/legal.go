package ptx

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// chip is a compute capability that PTX can be generated for.
type chip struct {
	name   string // sm_90
	number int    // 90
	ptx    int    // first PTX version that knows it, in tenths
	own    int    // first PTX version with its architecture-specific features (sm_90a); 0: none
}

// chips are from the PTX ISA, section "Release Notes" (PTX 9.0 renamed sm_101 to sm_110).
var chips = []chip{
	{"sm_70", 70, 60, 0}, {"sm_72", 72, 61, 0}, {"sm_75", 75, 63, 0},
	{"sm_80", 80, 70, 0}, {"sm_86", 86, 71, 0}, {"sm_87", 87, 74, 0}, {"sm_88", 88, 90, 0}, {"sm_89", 89, 78, 0},
	{"sm_90", 90, 78, 80},
	{"sm_100", 100, 86, 86}, {"sm_103", 103, 88, 88}, {"sm_110", 110, 90, 90},
	{"sm_120", 120, 87, 87}, {"sm_121", 121, 88, 88},
}

func findChip(name string) (*chip, error) {
	for i := range chips {
		if chips[i].name == strings.TrimSuffix(name, "a") {
			return &chips[i], nil
		}
	}
	return nil, fmt.Errorf("no PTX is known for chip %q", name)
}

// legal is a row of the PTX ISA's tables: instructions, and the first chip and PTX version
// that have them.
type legal struct {
	family string
	kind   string
	shapes string // m16n8k8 and so on; wgmma and tcgen05: only k8 and so on
	a      string // formats of A, and of B: if there are several, in any combination
	d      string // formats of D
	c      string // formats of C if it may differ from D's
	scale  string // NX.format: number of scales of a row, and their format
	ending string // what may follow the formats
	chip   int    // the first chip
	only   string // chips with the instructions as an architecture-specific feature; "": all from chip on
	ptx    int    // the first PTX version, in tenths
}

const (
	fp8    = "e4m3 e5m2"
	narrow = "e4m3 e5m2 e3m2 e2m3 e2m1"
	int8   = "s8 u8"
	int4   = "s4 u4"
	tc05   = "100 103 110"
	rtx    = "120 121"
)

// legals are the tables of the PTX ISA 9.1 (mma, mma.sp, wmma.mma,
// wgmma.mma_async, tcgen05.mma: "PTX ISA Notes" and "Target ISA Notes" of each).
var legals = []legal{
	{family: "mma", shapes: "m8n8k4", a: "fp16", d: "fp16", chip: 70, ptx: 64},
	{family: "mma", shapes: "m8n8k4", a: "fp16", d: "fp32", c: "fp16 fp32", chip: 70, ptx: 64},
	{family: "mma", shapes: "m16n8k8", a: "fp16", d: "fp16 fp32", chip: 75, ptx: 65},
	{family: "mma", shapes: "m16n8k16", a: "fp16", d: "fp16 fp32", chip: 80, ptx: 70},
	{family: "mma", shapes: "m16n8k8 m16n8k16", a: "bf16", d: "fp32", chip: 80, ptx: 70},
	{family: "mma", shapes: "m16n8k4 m16n8k8", a: "tf32", d: "fp32", chip: 80, ptx: 70},
	{family: "mma", shapes: "m8n8k4", a: "fp64", d: "fp64", ending: "rz rm rp", chip: 80, ptx: 70},
	{family: "mma", shapes: "m16n8k4 m16n8k8 m16n8k16", a: "fp64", d: "fp64", ending: "rz rm rp", chip: 90, ptx: 78},
	{family: "mma", shapes: "m8n8k16", a: int8, d: "s32", ending: "satfinite", chip: 75, ptx: 65},
	{family: "mma", shapes: "m8n8k32", a: int4, d: "s32", ending: "satfinite", chip: 75, ptx: 65},
	{family: "mma", shapes: "m16n8k16 m16n8k32", a: int8, d: "s32", ending: "satfinite", chip: 80, ptx: 70},
	{family: "mma", shapes: "m16n8k32 m16n8k64", a: int4, d: "s32", ending: "satfinite", chip: 80, ptx: 70},
	{family: "mma", shapes: "m8n8k128", a: "b1", d: "s32", ending: "xor.popc", chip: 75, ptx: 70},
	{family: "mma", shapes: "m16n8k128 m16n8k256", a: "b1", d: "s32", ending: "xor.popc", chip: 80, ptx: 70},
	{family: "mma", shapes: "m8n8k128 m16n8k128 m16n8k256", a: "b1", d: "s32", ending: "and.popc", chip: 80, ptx: 71},
	{family: "mma", shapes: "m16n8k32", a: fp8, d: "fp32", chip: 89, ptx: 84},
	{family: "mma", shapes: "m16n8k32", a: fp8, d: "fp16", chip: 89, ptx: 87},
	{family: "mma", shapes: "m16n8k16", a: fp8, d: "fp16 fp32", chip: 89, ptx: 87},
	{family: "mma", kind: "f8f6f4", shapes: "m16n8k32", a: narrow, d: "fp16 fp32", only: rtx, ptx: 87},
	{family: "mma", kind: "mxf8f6f4", shapes: "m16n8k32", a: narrow, d: "fp32", scale: "1X.ue8m0", only: rtx, ptx: 87},
	{family: "mma", kind: "mxf4", shapes: "m16n8k64", a: "e2m1", d: "fp32", scale: "2X.ue8m0", only: rtx, ptx: 87},
	{family: "mma", kind: "mxf4nvf4", shapes: "m16n8k64", a: "e2m1", d: "fp32", scale: "2X.ue8m0 4X.ue4m3", only: rtx, ptx: 87},
	{family: "mma", kind: "mxf4nvf4", shapes: "m16n8k64", a: "e2m1", d: "fp32", scale: "4X.ue8m0", only: rtx, ptx: 91},

	{family: "mma.sp", shapes: "m16n8k16 m16n8k32", a: "fp16", d: "fp16 fp32", chip: 80, ptx: 85},
	{family: "mma.sp", shapes: "m16n8k16 m16n8k32", a: "bf16", d: "fp32", chip: 80, ptx: 85},
	{family: "mma.sp", shapes: "m16n8k8 m16n8k16", a: "tf32", d: "fp32", chip: 80, ptx: 85},
	{family: "mma.sp", shapes: "m16n8k64", a: fp8, d: "fp32", chip: 89, ptx: 85},
	{family: "mma.sp", kind: "f8f6f4", shapes: "m16n8k64", a: narrow, d: "fp16 fp32", only: rtx, ptx: 87},
	{family: "mma.sp", kind: "mxf8f6f4", shapes: "m16n8k64", a: narrow, d: "fp32", scale: "1X.ue8m0", only: rtx, ptx: 87},
	{family: "mma.sp", kind: "mxf4", shapes: "m16n8k128", a: "e2m1", d: "fp32", scale: "2X.ue8m0", only: rtx, ptx: 87},
	{family: "mma.sp", kind: "mxf4nvf4", shapes: "m16n8k128", a: "e2m1", d: "fp32", scale: "2X.ue8m0 4X.ue4m3", only: rtx, ptx: 87},
	{family: "mma.sp", kind: "mxf4nvf4", shapes: "m16n8k128", a: "e2m1", d: "fp32", scale: "4X.ue8m0", only: rtx, ptx: 91},
	{family: "mma.sp", shapes: "m16n8k32 m16n8k64", a: int8, d: "s32", ending: "satfinite", chip: 80, ptx: 85},
	{family: "mma.sp", shapes: "m16n8k64 m16n8k128", a: int4, d: "s32", ending: "satfinite", chip: 80, ptx: 85},

	{family: "wmma", shapes: "m16n16k16 m32n8k16 m8n32k16", a: "fp16", d: "fp16 fp32", chip: 70, ptx: 63},
	{family: "wmma", shapes: "m16n16k16 m32n8k16 m8n32k16", a: int8, d: "s32", chip: 72, ptx: 63},
	{family: "wmma", shapes: "m16n16k16 m32n8k16 m8n32k16", a: "bf16", d: "fp32", chip: 80, ptx: 70},
	{family: "wmma", shapes: "m16n16k8", a: "tf32", d: "fp32", chip: 80, ptx: 70},
	{family: "wmma", shapes: "m8n8k4", a: "fp64", d: "fp64", chip: 80, ptx: 70},

	{family: "wgmma", shapes: "k16", a: "fp16", d: "fp16 fp32", only: "90", ptx: 80},
	{family: "wgmma", shapes: "k16", a: "bf16", d: "fp32", only: "90", ptx: 80},
	{family: "wgmma", shapes: "k8", a: "tf32", d: "fp32", only: "90", ptx: 80},
	{family: "wgmma", shapes: "k32", a: fp8, d: "fp16 fp32", only: "90", ptx: 80},
	{family: "wgmma", shapes: "k32", a: "s8", d: "s32", ending: "satfinite", only: "90", ptx: 80},
	{family: "wgmma", shapes: "k32", a: "u8", d: "s32", ending: "satfinite", only: "90", ptx: 80},
	{family: "wgmma", shapes: "k32", a: int8, d: "s32", ending: "satfinite", only: "90", ptx: 84},

	{family: "tcgen05", kind: "f16", shapes: "k16", a: "fp16", d: "fp16 fp32", only: tc05, ptx: 86},
	{family: "tcgen05", kind: "f16", shapes: "k16", a: "bf16", d: "fp32", only: tc05, ptx: 86},
	{family: "tcgen05", kind: "tf32", shapes: "k8", a: "tf32", d: "fp32", only: tc05, ptx: 86},
	{family: "tcgen05", kind: "f8f6f4", shapes: "k32", a: narrow, d: "fp16 fp32", only: tc05, ptx: 86},
	{family: "tcgen05", kind: "i8", shapes: "k32", a: int8, d: "s32", only: "100 110", ptx: 86},
	{family: "tcgen05", kind: "mxf8f6f4", shapes: "k32", a: narrow, d: "fp32", scale: "1X.ue8m0", only: tc05, ptx: 86},
	{family: "tcgen05", kind: "mxf4", shapes: "k64", a: "e2m1", d: "fp32", scale: "2X.ue8m0", only: tc05, ptx: 86},
	{family: "tcgen05", kind: "mxf4nvf4", shapes: "k64", a: "e2m1", d: "fp32", scale: "2X.ue8m0 4X.ue4m3 4X.ue8m0", only: tc05, ptx: 87},
}

// describes reports whether the form is one of the row's instructions.
func (l *legal) describes(f *form) bool {
	i := f.inst
	c := l.c
	if c == "" {
		c = i.D.String()
	}
	shape := f.shape()
	if f.family == "wgmma" || f.family == "tcgen05" {
		shape = fmt.Sprintf("k%d", f.k)
	}
	scale := ""
	if f.scaled() {
		scale = fmt.Sprintf("%dX.%s", f.vec(), i.Scale)
	}
	return l.family == f.family && l.kind == f.kind && has(l.shapes, shape) && has(l.a, i.A.String()) && has(l.a, i.B.String()) &&
		has(l.d, i.D.String()) && (i.C == fp.None || has(c, i.C.String())) && (scale == l.scale || has(l.scale, scale)) &&
		(f.ending == "" || has(l.ending, f.ending))
}

// has reports whether a word is one of a list separated by blanks.
func has(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// target is the chip and the PTX version at the beginning of a module.
type target struct {
	name    string // sm_90a
	version int    // of PTX, in tenths
}

// target returns the target and the lowest PTX version for a form on a chip, or
// why there is none.
func (f *form) target(name string) (*target, error) {
	c, err := findChip(name)
	if err != nil {
		return nil, err
	}
	var reason string
	for n := range legals {
		l := &legals[n]
		if !l.describes(f) {
			continue
		}
		switch {
		case l.only == "" && c.number >= l.chip:
			return &target{c.name, max(l.ptx, c.ptx)}, nil
		case l.only == "":
			reason = fmt.Sprintf("sm_%d and newer chips have it", l.chip)
		case has(l.only, strconv.Itoa(c.number)):
			return &target{c.name + "a", max(l.ptx, c.own)}, nil
		default:
			reason = "only sm_" + strings.ReplaceAll(l.only, " ", "a, sm_") + "a have it"
		}
	}
	if reason == "" {
		return nil, fmt.Errorf("PTX has no instruction %s", f.inst.Name)
	}
	return nil, fmt.Errorf("%s has no %s: %s", c.name, f.inst.Name, reason)
}

// drivers are the first drivers that take a PTX version, as cuDriverGetVersion
// counts (PTX ISA, section "Release Notes").
var drivers = map[int]int{
	60: 9000, 61: 9010, 63: 10000, 64: 10010, 65: 10020, 70: 11000, 71: 11010, 74: 11040, 78: 11080, 80: 12000,
	84: 12040, 85: 12050, 86: 12070, 87: 12080, 88: 12090, 90: 13000, 91: 13010,
}
