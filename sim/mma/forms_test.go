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
		mnemonic, modes := i.Mnemonic()
		if mnemonic != tc.mnemonic || strings.Join(modes, " ") != tc.modes || i.K != tc.k || i.M != one || i.N != one {
			t.Errorf("%s: %s %v K=%d M=%s N=%s", tc.name, mnemonic, modes, i.K, i.M, i.N)
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
	if mnemonic, modes := gpu.Mnemonic(); mnemonic != "" || modes != nil {
		t.Errorf("%s: %q %v", gpu.Name, mnemonic, modes)
	}
}

// TestFormsUsed checks that every name of the table has a row in the catalogue, and
// that no name stands there twice.
func TestFormsUsed(t *testing.T) {
	rows := map[string]bool{}
	for _, i := range Catalog() {
		if mnemonic, _ := i.Mnemonic(); mnemonic != "" {
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

// TestTiles checks shapes, formats and LSCALE of what is not a vector of dot
// products, or depends on words of the name.
func TestTiles(t *testing.T) {
	for _, tc := range []struct {
		name    string
		m, n, k int
		formats string
	}{
		{"bfmmla.ebf1.rz.fz", 2, 2, 4, "fp32.bf16.bf16.fp32"},
		{"fdot.e5m2.e4m3", 1, 1, 4, "fp32.e5m2.e4m3.fp32"},
		{"fdot.e4m3.e4m3.lscale127.osm", 1, 1, 4, "fp32.e4m3.e4m3.fp32.down127"},
		{"fmmla.e4m3.e5m2.lscale7", 2, 2, 8, "fp32.e4m3.e5m2.fp32.down7"},
		{"xvf16ger2pp.rd", 4, 4, 2, "fp32.fp16.fp16.fp32"},
		{"xvf64gerpp", 4, 2, 1, "fp64.fp64.fp64.fp64"},
	} {
		i, err := parseName(tc.name, true)
		if err != nil || i.M.Min != tc.m || i.N.Max != tc.n || i.K != tc.k || i.Formats.String() != tc.formats {
			t.Errorf("%s: %sx%sx%d %s, %v", tc.name, i.M, i.N, i.K, i.Formats, err)
		}
	}
}

// TestControl checks what settings of FPCR, FPMR and FPSCR make of the programs.
func TestControl(t *testing.T) {
	for _, tc := range []struct{ arch, name, plain, want string }{
		{"arm", "bfmlalb.rd", "bfmlalb", "acc.mode rne→rd, acc.over inf→ieee"},
		{"arm", "bfmlalt.fz.dn", "bfmlalt", "in.sub keep→zero, in.c keep→zero, acc.flush keep→before, special.nan signal→quiet"},
		{"arm", "fmlal.fz", "fmlal", "in.c keep→zero, acc.flush keep→before"},
		{"arm", "fmla-8h.fz16", "fmla-8h", "in.sub keep→zero, in.c keep→zero, acc.flush keep→before"},
		{"arm", "bfdot.ebf1.ru.fz", "bfdot.ebf1", "in.sub keep→zero, in.c keep→zero, stage0.round.mode rne→ru, stage0.round.flush keep→before, stage0.round.over inf→ieee, acc.mode rne→ru, acc.flush keep→before, acc.over inf→ieee"},
		{"arm", "fdot.e4m3.e4m3.lscale7.osm", "fdot.e4m3.e4m3", "acc.over inf→max"},
		{"power10", "xvbf16ger2pp.rz", "xvbf16ger2pp", "stage0.round.mode rne→rz, stage0.round.over inf→ieee, acc.mode rne→rz, acc.over inf→ieee"},
	} {
		if got := modeChanges(t, tc.arch, tc.name, tc.plain); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// modeChanges writes the differences of one instruction's program from another's.
func modeChanges(t *testing.T, arch, name, plain string) string {
	t.Helper()
	i, err := Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Lookup(arch, plain)
	if err != nil {
		t.Fatal(err)
	}
	var changes []string
	for _, c := range Diff(&p.Params, &i.Params) {
		changes = append(changes, c.Path+" "+c.From+"→"+c.To)
	}
	return strings.Join(changes, ", ")
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
		mnemonic, _ := i.Mnemonic()
		plain, err := Lookup("x86", mnemonic)
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
