package fp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func TestParse(t *testing.T) {
	names := map[string]fp.ID{
		"": fp.None, "none": fp.None, "NONE": fp.None,
		"f64": fp.FP64, "f32": fp.FP32, "f16": fp.FP16, "half": fp.FP16, "bfloat16": fp.BF16,
		"bf8": fp.E5M2FNUZ, "fp8": fp.E4M3FNUZ, "e8m0": fp.E8M0, "fp4": fp.E2M1,
	}
	for _, g := range golden {
		names[g.name] = g.id
		if g.id.String() != g.name {
			t.Errorf("%s is written %s", g.name, g.id)
		}
	}
	for name, want := range names {
		for _, spelling := range []string{name, strings.ToUpper(name)} {
			if id, err := fp.Parse(spelling); id != want || err != nil {
				t.Errorf("Parse(%q) = %v, %v, want %v", spelling, id, err, want)
			}
		}
	}
	if s := fp.None.String(); s != "none" {
		t.Errorf("None is written %q", s)
	}
	for _, name := range []string{"fp", "fp32 ", "e4m3fn", "int7", fp.ID(255).String()} {
		if id, err := fp.Parse(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Parse(%q) = %v, %v, want an error that names it", name, id, err)
		}
	}
}

func TestParseMode(t *testing.T) {
	names := []string{"rne", "rz", "rd", "ru", "rna", "rto"}
	modes := fp.Modes()
	if len(modes) != len(names) {
		t.Fatalf("%d modes, want %d", len(modes), len(names))
	}
	for i, m := range modes {
		if m == 0 || m.String() != names[i] {
			t.Errorf("mode %d is written %q, want %q", m, m, names[i])
		}
		if p, err := fp.ParseMode(names[i]); p != m || err != nil {
			t.Errorf("ParseMode(%q) = %v, %v", names[i], p, err)
		}
	}
	if m, err := fp.ParseMode(""); m != 0 || err != nil || m.String() != "" {
		t.Errorf(`ParseMode("") = %v, %v, want the zero mode`, m, err)
	}
	for _, name := range []string{"rn", "rne ", "nearest", fp.Mode(200).String()} {
		if m, err := fp.ParseMode(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("ParseMode(%q) = %v, %v, want an error that names it", name, m, err)
		}
	}
}

// TestJSON: formats and modes are written as names, as values and as map keys.
func TestJSON(t *testing.T) {
	type pair struct {
		F fp.ID
		M fp.Mode
		K map[fp.ID]int
	}
	for _, id := range append(fp.All(), fp.None) {
		for _, m := range append(fp.Modes(), 0) {
			text, err := json.Marshal(pair{id, m, map[fp.ID]int{id: 1}})
			want := `{"F":"` + id.String() + `","M":"` + m.String() + `","K":{"` + id.String() + `":1}}`
			if err != nil || string(text) != want {
				t.Fatalf("%s, %v, want %s", text, err, want)
			}
			var p pair
			if err := json.Unmarshal(text, &p); err != nil || p.F != id || p.M != m || p.K[id] != 1 {
				t.Errorf("%s is read as %v, %v", text, p, err)
			}
		}
	}
	for _, text := range []string{`{"F":"fp33"}`, `{"M":"up"}`, `{"F":1}`, `{"M":1}`, `{"K":{"fp33":1}}`} {
		if err := json.Unmarshal([]byte(text), &pair{}); err == nil {
			t.Errorf("%s is read without an error", text)
		}
	}
}
