package harness

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// needles are dot products that show faults which generators do not aim at.
var needles = map[string]string{
	"higher-carry": ones("7bff") + " " + ones("7bff") + " 4effffff",
	"table-20":     "0000,0000,0000,3ea5 0000,0000,0000,3dc7 00000000",
	"needle-32":    "0000,0000,0000,0000,0000,0000,0000,4a5c 0000,0000,0000,0000,0000,0000,0000,b1e7 00000000",
}

func ones(code string) string { return strings.Repeat(code+",", 15) + code }

// TestFaults checks that every fault shows, and that the others do not make the right unit
// look wrong.
func TestFaults(t *testing.T) {
	for i := range Faults {
		f := &Faults[i]
		pair, err := OpenPair(FaultPair(f))
		if err != nil {
			t.Fatal(err)
		}
		c := fuzz.NewPairChecker(pair)
		if !shows(t, c, &pair, f.Name) {
			t.Errorf("fault:%s shows nowhere", f.Name)
		}
		if _, err := c.Check(nil); err != nil {
			t.Errorf("fault:%s: a dot product of zeros: %v", f.Name, err)
		}
	}
}

// shows reports whether one of some inputs shows a fault.
func shows(t *testing.T, c *fuzz.Checker, pair *devices.Pair, fault string) bool {
	t.Helper()
	sp := gen.Spec{Formats: pair.Formats(), K: pair.K}
	differs := func(d *mma.Dot) bool {
		_, err := c.Check(c.Encode(d))
		return err != nil
	}
	if text, ok := needles[fault]; ok {
		d, err := mma.ParseDot(sp.Formats, sp.K, false, strings.Fields(text))
		if err != nil {
			t.Fatal(err)
		}
		return differs(d)
	}
	const inputs = 2000
	for index := range uint64(inputs) {
		for _, g := range gen.All() {
			if differs(g.Aimed(sp, &pair.A.Instruction().Params).Dot(sp, 1, index)) {
				return true
			}
		}
	}
	return false
}

func TestOpen(t *testing.T) {
	for name, want := range map[string]string{
		"sim:hopper": "not of the form TARGET TARGET INSTRUCTION",
		"sim:hopper fault:none mma.m16n8k16.f32.f16.f16.f32":    `there is no fault "none" (known: zero-exponent, width, `,
		"sim:hopper fault:width mma.m16n8k16.f32.bf16.bf16.f32": "no instruction",
	} {
		if _, err := OpenPair(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
