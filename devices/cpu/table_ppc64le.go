//go:build !purego

package cpu

const arch = "power10"

var why = ""

// table has what POWER10 executes: rank-1 and rank-2 updates of an accumulator of
// 4 rows.
var table = []native{
	{"xvbf16ger2pp", 4, 4, 1, mma31, hasMMA, xvbf16ger2pp},
	{"xvf16ger2pp", 4, 4, 1, mma31, hasMMA, xvf16ger2pp},
	{"xvf32gerpp", 4, 4, 1, mma31, hasMMA, xvf32gerpp},
	{"xvf64gerpp", 4, 2, 1, mma31, hasMMA, xvf64gerpp},
}

const mma31 = "MMA of Power ISA 3.1"

// hasMMA looks for PPC_FEATURE2_MMA (Linux, asm/cputable.h).
func hasMMA() bool { return hwcap2()&0x20000 != 0 }

// control returns the value of FPSCR for the modes of a name: its last two bits are RN,
// the rounding mode (Power ISA 3.1, 4.2.2).
func control(modes []string) uint64 {
	bits := map[string]uint64{"rz": 1, "ru": 2, "rd": 3}
	c := uint64(0)
	for _, word := range modes {
		c |= bits[word]
	}
	return c
}

// The bodies, in power_ppc64le.s.

//go:noescape
func xvbf16ger2pp(d, a, b *byte, groups int, control uint64)

//go:noescape
func xvf16ger2pp(d, a, b *byte, groups int, control uint64)

//go:noescape
func xvf32gerpp(d, a, b *byte, groups int, control uint64)

//go:noescape
func xvf64gerpp(d, a, b *byte, groups int, control uint64)
