package main

// designs are other arithmetics of the units. Two of a unit, or one and what is right, are a pair.
var designs = map[string]func(*unit){
	"sum8 23":      func(u *unit) { u.width = 23 },
	"sum8 25":      func(u *unit) { u.width = 25 },
	"sum8 21":      func(u *unit) { u.width = 21 },
	"sum8 nearest": func(u *unit) { u.nearest = true },
	"sum8 late":    func(u *unit) { u.group, u.late = 8, true },
	"sum8 four":    func(u *unit) { u.group = 4 },
	"sum8 flush":   flushOperands,
	"sum8 flushc":  flushC,
	"sum8 flushed": flushResult,
	"sum8 max":     saturate,

	"fma zero":    func(u *unit) { u.nearest = false },
	"fma zeromax": both(cut, saturate),
	"fma away":    func(u *unit) { u.up = func(_ bool, _ uint64, half, _ bool, _ int) bool { return half } },
	"fma upward": func(u *unit) {
		u.up = func(neg bool, _ uint64, half, rest bool, _ int) bool { return !neg && (half || rest) }
	},
	"fma tf32":    func(u *unit) { operands(u, func(code uint64) uint64 { return code &^ (1<<13 - 1) }) },
	"fma tf32r":   func(u *unit) { operands(u, func(code uint64) uint64 { return (code + 1<<12) &^ (1<<13 - 1) }) },
	"fma flush":   flushOperands,
	"fma flushed": flushResult,
	"fma max":     saturate,
	"fma minus":   func(u *unit) { u.zero = func(bool) uint64 { return 1 << 31 } },
	"fma skip": func(u *unit) {
		u.product = func(_ int, x, y, p number) number {
			if x.isZero() || y.isZero() {
				p.nan, p.inf, p.sig = false, false, 0
			}
			return p
		}
	},

	"dot16 four":     func(u *unit) { u.lanes = 4 },
	"dot4 30":        func(u *unit) { u.width = 30 },
	"dot4 chain":     func(u *unit) { u.group = 1 },
	"dot4 late":      func(u *unit) { u.group, u.late = 1, true },
	"dot4 back":      func(u *unit) { u.group, u.reversed = 1, true },
	"dot4 pairs":     func(u *unit) { u.group = 2 },
	"dot4 chainz":    func(u *unit) { u.group, u.nearest = 1, false },
	"dot4 latepairs": func(u *unit) { u.group, u.late = 2, true },
	"dot4 flush":     flushOperands,
	"dot4 27":        func(u *unit) { u.width = 27 },
	"dot4 27z":       func(u *unit) { u.width, u.nearest = 27, false },
	"dot4 narrow": func(u *unit) {
		u.decodeC = func(_ uint64, n number) number {
			n.sig &^= 1<<16 - 1
			return n
		}
	},
}

// operands changes the codes of A and B, but for infinities and NaN.
func operands(u *unit, change func(code uint64) uint64) {
	of := func(_ int, code uint64, n number) number {
		if n.inf || n.nan {
			return n
		}
		return decode(change(code), u.eb, u.mb)
	}
	u.decodeA, u.decodeB = of, of
}

func flushOperands(u *unit) {
	of := func(_ int, _ uint64, n number) number {
		if n.sig>>u.mb == 0 {
			n.sig = 0
		}
		return n
	}
	u.decodeA, u.decodeB = of, of
}

func flushC(u *unit) { u.decodeC = func(_ uint64, n number) number { return flushed(n) } }

func flushed(n number) number {
	if n.sig>>23 == 0 {
		n.sig = 0
	}
	return n
}

func flushResult(u *unit) {
	u.finish = func(d uint64) uint64 {
		if d>>23&255 == 0 {
			return d &^ (1<<31 - 1)
		}
		return d
	}
}

func saturate(u *unit) {
	u.overflow = func(neg bool) uint64 {
		if neg {
			return 0xff7fffff
		}
		return 0x7f7fffff
	}
}
