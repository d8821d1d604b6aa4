package fp

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// A name of Parse can describe a format that the table does not have:
//
//	e5m3                5 exponent bits, 3 fraction bits, bias 2^(5-1)-1, Inf and NaN as IEEE 754 has them
//	e4m3-b11-fnuz       bias 11; the code of -0 is the only NaN, there is no Inf and no -0
//	e5m10-finite        neither Inf nor NaN (Arm's alternative half precision)
//	e6m9-fn             no Inf, the codes of all ones are NaN
//	e4m3-ieee           IEEE's Inf and NaN, where the plain name is a format of the table
//	ue5m10              no sign; the bits above the exponent are ignored
//	ue8m0-inverse       powers of two, of which a code is the reciprocal of that in ue8m0: a scale that divides
//	rbits13             the number 1 with 13 random bits, for stochastic rounding (RS); up to rbits32
//	ue8m0-rbits13       a scale with 13 random bits below it, also ue8m0-inverse-rbits13; up to 24
//
// All but the last three have subnormals, 2 to 8 exponent bits, a bias of 0 to 255, and at most 32 bits.
// That a unit takes subnormals as zeros is no matter of the format (mma.Input, mma.OutFlush).
var describedName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(u?)e([2-8])m([1-9]|1\d|2[0-3])(?:-b(\d{1,3}))?(?:-(ieee|fn|fnuz|finite))?$`)
})

var specialsWords = [...]string{AllFinite: "finite", IEEE: "ieee", OnesNaN: "fn", NegZeroNaN: "fnuz"}

var (
	declare  sync.Mutex
	declared atomic.Uint32 // formats, None included: IDs are below it
)

func init() { declared.Store(uint32(numFormats)) }

// described returns the format that a name describes, None if it describes none.
func described(name string) (ID, error) {
	if scale, n, ok := strings.Cut(name, randomPrefix); ok {
		return describedBits(scale, n)
	}
	if name == inverseScale {
		f := *E8M0.Get()
		f.Name, f.Inverse, f.Source = name, true, "described by its name"
		return f.declare(flagged{})
	}
	m := describedName().FindStringSubmatch(name)
	if m == nil {
		return parseFlags(name)
	}
	digits := func(s string) int {
		n, _ := strconv.Atoi(s) // the expression lets nothing else through
		return n
	}
	f := Format{ExpBits: uint8(digits(m[2])), FracBits: uint8(digits(m[3])), Signed: m[1] == "", Specials: IEEE, Source: "described by its name"}
	f.Bias = int16(f.usualBias())
	if m[4] != "" {
		f.Bias = int16(digits(m[4]))
	}
	for s, word := range specialsWords {
		if word == m[5] {
			f.Specials = Specials(s)
		}
	}
	f.Width = map[bool]uint8{true: 1, false: 2}[f.Bits() <= 8]
	switch {
	case f.Bits() > 32:
		return None, fmt.Errorf("format %q has %d bits, at most 32 are supported", name, f.Bits())
	case !f.Signed && f.Specials == NegZeroNaN:
		return None, fmt.Errorf("format %q: without a sign there is no code of -0", name)
	case f.Bias > 255:
		return None, fmt.Errorf("format %q: the bias is not in 0..255", name)
	case f.Bits() > 16:
		f.Width = 4
	}
	f.Name = f.fullName()
	return f.declare(flagged{})
}

const (
	randomPrefix = "rbits"
	inverseScale = "ue8m0-inverse"
)

// describedBits returns the format of n random bits, below the code of a scale if there is one. They
// stand where other formats have bits that are no part of the value, so that every code without a
// scale is the number 1, as those of One are.
func describedBits(scale, n string) (ID, error) {
	most := uint64(32)
	var f Format
	switch scale {
	case "":
		f.NoZero = true
	case E8M0.Get().Name + "-", inverseScale + "-":
		id, err := Parse(scale[:len(scale)-1])
		if err != nil {
			return None, err
		}
		f, most = *id.Get(), most-uint64(id.Get().ExpBits)
	default:
		return None, fmt.Errorf("format %q: random bits stand alone, or below ue8m0 or ue8m0-inverse", scale+randomPrefix+n)
	}
	bits, err := strconv.ParseUint(n, 10, 8)
	if err != nil || bits == 0 || bits > most {
		return None, fmt.Errorf("format %q: the random bits are not 1 to %d", scale+randomPrefix+n, most)
	}
	f.Name, f.Low, f.Width, f.Source = fmt.Sprintf("%s%s%d", scale, randomPrefix, bits), uint8(bits), 4, "described by its name"
	switch all := bits + uint64(f.ExpBits); {
	case all <= 8:
		f.Width = 1
	case all <= 16:
		f.Width = 2
	}
	return f.declare(flagged{})
}

// RandomBits returns how many random bits the codes of a format have, in which they are an operand
// of a stochastic rounding (RS), or a part of it; 0 if it is another format.
func (id ID) RandomBits() uint8 {
	if f := &formats[id]; f.NoZero {
		return f.Low
	}
	return 0
}

// IsOne reports whether every code of a format is the number 1: it is that of B in an operation of
// A alone, such as a conversion.
func (id ID) IsOne() bool { return id == One || id.RandomBits() != 0 && formats[id].ExpBits == 0 }

// fullName is the name that describes a format.
func (f *Format) fullName() string {
	name := fmt.Sprintf("e%dm%d", f.ExpBits, f.FracBits)
	if !f.Signed {
		name = "u" + name
	}
	inTable := slices.Contains([]string{E4M3.Get().Name, UE4M3.Get().Name, E3M2.Get().Name, E2M3.Get().Name, E2M1.Get().Name}, name)
	if int(f.Bias) != f.usualBias() {
		name += fmt.Sprintf("-b%d", f.Bias)
		inTable = false
	}
	if f.Specials != IEEE || inTable {
		name += "-" + specialsWords[f.Specials]
	}
	return name
}

func (f *Format) usualBias() int { return 1<<(f.ExpBits-1) - 1 }

// Unsigned returns the format with the same magnitudes and no sign.
func (id ID) Unsigned() (ID, error) {
	f := *id.Get()
	f.Signed = false
	return Parse(f.fullName())
}

// declare returns the ID of a format with these properties, a new one if there is none.
func (f Format) declare(flags flagged) (ID, error) {
	declare.Lock()
	defer declare.Unlock()
	n := declared.Load()
	for id := range ID(n) {
		g := formats[id]
		if id != None && flagFormats[id] == flags && g.Low == f.Low && g.Signed == f.Signed && g.NoZero == f.NoZero && g.Inverse == f.Inverse && !g.Integer() && g.ExpBits == f.ExpBits && g.FracBits == f.FracBits && g.Bias == f.Bias && g.Specials == f.Specials {
			return id, nil
		}
	}
	if int(n) == len(formats) {
		return None, fmt.Errorf("format %q: more than %d formats are described", f.Name, len(formats)-int(numFormats))
	}
	f.ID = ID(n)
	formats[n], flagFormats[n] = f, flags
	declared.Store(n + 1)
	return f.ID, nil
}

// Described reports whether a format is not one of the table.
func (id ID) Described() bool { return id >= numFormats }
