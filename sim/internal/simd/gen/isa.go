package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type (
	vec      = reg.VecVirtual
	register = reg.Register
)

// isa is a set of vector instructions, by the bits of a vector. Most instructions have
// the same name in both, but comparisons and selections differ: AVX-512 has masks in
// registers of their own, AVX2 has them in vectors.
type isa int

const (
	avx2   isa = 256
	avx512 isa = 512
)

var isas = []isa{avx2, avx512}

// suffix is the end of the names of routines.
func (i isa) suffix() string {
	if i == avx512 {
		return "AVX512"
	}
	return "AVX2"
}

// lanes is the number of float64 in a vector.
func (i isa) lanes() int { return int(i) / 64 }

// bytes is the size of a vector.
func (i isa) bytes() int { return int(i) / 8 }

// vec allocates a vector.
func (i isa) vec() vec {
	if i == avx512 {
		return ZMM()
	}
	return YMM()
}

// half is the lower half of a vector: as many elements of half the size.
func (i isa) half(v vec) register {
	if i == avx512 {
		return v.AsY()
	}
	return v.AsX()
}

// halves returns the lower half of a vector and the upper one, which it extracts.
func (i isa) halves(v vec) [2]register {
	upper := i.half(i.vec())
	if i == avx512 {
		VEXTRACTI64X4(U8(1), v, upper)
	} else {
		VEXTRACTI128(U8(1), v, upper)
	}
	return [2]register{i.half(v), upper}
}

// and makes the bitwise and of integers.
func (i isa) and(x, y, dst Op) {
	if i == avx512 {
		VPANDD(x, y, dst)
	} else {
		VPAND(x, y, dst)
	}
}

// moveWords loads or stores a vector of words.
func (i isa) moveWords(src, dst Op) {
	if i == avx512 {
		VMOVDQU16(src, dst)
	} else {
		VMOVDQU(src, dst)
	}
}

func (i isa) zero() vec {
	v := i.vec()
	VXORPD(v, v, v)
	return v
}

// The predicates of VCMPPD.
const (
	cmpEQ    = 0
	cmpLT    = 1
	cmpUnord = 3
	cmpNEQ   = 4
	cmpGE    = 13
)

// Classes of VFPCLASSPD and VFPCLASSPS.
const (
	infOrNaN  = 0x99
	subnormal = 0x20
)

// mask allocates a mask.
func (i isa) mask() register {
	if i == avx512 {
		return K()
	}
	return YMM()
}

// compare compares float64: x pred y.
func (i isa) compare(pred uint8, x, y Op) register {
	m := i.mask()
	VCMPPD(U8(pred), y, x, m)
	return m
}

// equal compares integers of 8 bytes.
func (i isa) equal(x, y Op) register {
	m := i.mask()
	VPCMPEQQ(y, x, m)
	return m
}

// greater compares signed integers of 8 bytes.
func (i isa) greater(x, y Op) register {
	m := i.mask()
	VPCMPGTQ(y, x, m)
	return m
}

// choose puts x into dst where the mask is set.
func (i isa) choose(mask register, x Op, dst vec) {
	if i == avx512 {
		VMOVUPD(x, mask, dst)
	} else {
		VBLENDVPD(mask, x, dst, dst)
	}
}

// only puts x into dst where the mask is set, and zero elsewhere.
func (i isa) only(mask register, x Op, dst vec) {
	if i == avx512 {
		VMOVUPD_Z(x, mask, dst)
	} else {
		VANDPD(x, mask, dst)
	}
}

// negative returns a mask of the signs of v.
func (i isa) negative(v vec) register {
	if i == avx512 {
		m := K()
		VPMOVQ2M(v, m)
		return m
	}
	return v
}

// special returns a mask of the lanes that are Inf or NaN.
func (i isa) special(x, expMask vec) register {
	if i == avx512 {
		m := K()
		VFPCLASSPDZ(U8(infOrNaN), x, m)
		return m
	}
	e := YMM()
	VANDPD(x, expMask, e)
	return i.equal(e, expMask)
}

// narrow converts float64 to FP32, half a vector.
func (i isa) narrow(from Op) register {
	h := i.half(i.vec())
	if i == avx512 {
		VCVTPD2PS(from, h)
	} else {
		VCVTPD2PSY(from, h)
	}
	return h
}

// setNaN replaces each NaN in a vector of FP32 by a code.
func (i isa) setNaN(code Op, v register) {
	if i == avx512 {
		m := K()
		VCMPPS(U8(cmpUnord), v, v, m)
		VMOVAPS(code, m, v)
		return
	}
	var m register = YMM()
	if v.Size() == 16 {
		m = XMM()
	}
	VCMPPS(U8(cmpUnord), v, v, m)
	VBLENDVPS(m, code, v, v)
}
