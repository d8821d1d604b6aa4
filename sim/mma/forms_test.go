package mma

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func TestForms(t *testing.T) {
	f32 := Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	for _, tc := range []struct {
		name, mnemonic, modes string
		k                     int
		f                     Formats
	}{
		{"vdpbf16ps", "vdpbf16ps", "", 2, Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}},
		{"vfmadd231ps", "vfmadd231ps", "", 1, f32},
		{"vfmadd231ps.ru.daz", "vfmadd231ps", "ru daz", 1, f32},
		{"dpps.rz.daz.ftz", "dpps", "rz daz ftz", 4, Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}},
	} {
		i, err := parseName(tc.name, true)
		if err != nil {
			t.Error(err)
			continue
		}
		if i.Mnemonic() != tc.mnemonic || strings.Join(i.Modes(), " ") != tc.modes || i.K != tc.k || i.M != one || i.N != one {
			t.Errorf("%s: %s %v K=%d M=%s N=%s", tc.name, i.Mnemonic(), i.Modes(), i.K, i.M, i.N)
		}
		if diff := cmp.Diff(tc.f, i.Formats); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
	for _, name := range []string{"vdpbf16ps.ftz", "dpps.ftz.daz", "dpps.rne", "dpps.", "DPPS", "dpps.daz.daz"} {
		if i, err := parseName(name, true); err == nil {
			t.Errorf("%s is %+v", name, i)
		}
	}
	gpu := Instruction{Name: "mma.m16n8k16.f32.f16.f16.f32"}
	if gpu.Mnemonic() != "" || gpu.Modes() != nil {
		t.Errorf("%s: %q %v", gpu.Name, gpu.Mnemonic(), gpu.Modes())
	}
}

// TestFormsUsed checks that every name of the table has a row in the catalogue, and
// that no name stands there twice.
func TestFormsUsed(t *testing.T) {
	rows := map[string]bool{}
	for _, i := range Catalog() {
		if i.Mnemonic() != "" {
			rows[i.Name] = true
		}
	}
	n := 0
	for _, table := range forms {
		for _, f := range table {
			for names := range strings.FieldsSeq(f.names) {
				n += len(expand(names + f.modes))
			}
		}
	}
	if n != len(formed()) {
		t.Errorf("%d names stand for %d instructions", n, len(formed()))
	}
	for name := range formed() {
		if !rows[name] {
			t.Errorf("%s has no row", name)
		}
	}
}

// TestMXCSR checks what each setting makes of the programs, by example.
func TestMXCSR(t *testing.T) {
	for name, want := range map[string]string{
		"vfmadd231ps":            "",
		"vfmadd231ps.rz":         "acc.mode rne→rz, acc.over inf→ieee",
		"vfmadd231ps.daz":        "in.sub keep→zero, in.c keep→zero",
		"vfmadd231ps.rd.daz.ftz": "in.sub keep→zero, in.c keep→zero, acc.mode rne→rd, acc.flush keep→after, acc.over inf→ieee",
		"dpps":                   "",
		"dpps.daz":               "in.sub keep→zero, in.c keep→zero, prod.round.flush keep→result, stage0.round.flush keep→result",
		"dpps.ftz":               "prod.round.flush keep→after, stage0.round.flush keep→after, acc.flush keep→after",
		"dpps.daz.ftz":           "in.sub keep→zero, in.c keep→zero, prod.round.flush keep→after, stage0.round.flush keep→after, acc.flush keep→after",
	} {
		i, err := Lookup("x86", name)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := Lookup("x86", i.Mnemonic())
		if err != nil {
			t.Fatal(err)
		}
		var changes []string
		for _, c := range Diff(&plain.Params, &i.Params) {
			changes = append(changes, c.Path+" "+c.From+"→"+c.To)
		}
		if got := strings.Join(changes, ", "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
