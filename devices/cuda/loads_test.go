package cuda

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/toolkit"
)

// TestWays counts, for the addresses of each load, the words of the busiest bank of each of its
// transactions: a matrix of ldmatrix, a warp's words of 4 bytes, half a warp's of 8.
func TestWays(t *testing.T) {
	for _, l := range Loads {
		lanes, words := 32/l.least(), l.least() // of a transaction, and of each lane
		if l.matrix() {
			lanes, words = 8, 4
		}
		ways := 0
		for first := 0; first < lanes*l.least(); first += lanes {
			var banks [32]int
			busiest := 0
			for lane := first; lane < first+lanes; lane++ {
				for w := range words {
					bank := (lane*l.stride()/4 + w) % 32
					banks[bank]++
					busiest = max(busiest, banks[bank])
				}
			}
			ways += busiest
		}
		if ways != l.Ways {
			t.Errorf("%s: its addresses take %d words of a bank", l, ways)
		}
	}
}

// TestLoads has ptxas assemble the loops of all loads where it can be had, and counts the loads
// in their machine code by opcode: LDSM or LDS.
func TestLoads(t *testing.T) {
	tools := toolkit.Find(t.Context(), "ptxas")
	if len(tools) == 0 {
		t.Skip("SKIPPED: no ptxas, so no loop was assembled: python3 -m pip install 'nvidia-cuda-nvcc-cu12==12.9.*'")
	}
	for n, l := range Loads {
		if n > 0 && Loads[n-1].Name == l.Name { // one of each name is enough
			continue
		}
		s := issue{4, 2}
		code, err := tools[0].Assemble(t.Context(), t.TempDir(), "sm_80", l.source(s))
		if err != nil {
			t.Errorf("%s: %v\n%s", l, err, l.source(s))
			continue
		}
		opcode := uint16(0x984)
		if l.matrix() {
			opcode = 0x83b
		}
		// The opcode is the low 12 bits of 16 aligned bytes; other bytes of the file are
		// not looked at closely, so that there may be a few more.
		found := 0
		for at := 0; at+16 <= len(code); at += 16 {
			if binary.LittleEndian.Uint16(code[at:])&0xfff == opcode {
				found++
			}
		}
		if found < iterations*s.ilp || !bytes.Contains(code, []byte(l.entry(s))) {
			t.Errorf("%s: %d loads in a round of %d", l, found, iterations*s.ilp)
		}
	}
}
