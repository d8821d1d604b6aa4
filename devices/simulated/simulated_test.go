package simulated_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/internal/testdata/devicetest"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// eq10 is the example of arXiv:2511.10909 that tells most units apart:
// -2^23, -1/2, -1/4, -1/8 and c = 2^23.
const eq10 = "f000,b800,b400,b000 6400,3c00,3c00,3c00 4b000000"

func TestArchitectures(t *testing.T) {
	for _, tc := range []struct{ target, inst, dot, want string }{
		{"sim:volta", "mma.m8n8k4.f32.f16.f16.f32", eq10, "00000000"},
		{"sim:ampere", "mma.m16n8k16.f32.f16.f16.f32", eq10, "bf000000"},
		{"sim:h200", "mma.m16n8k16.f32.f16.f16.f32", eq10, "bf400000"},
		{"sim:cdna1", "v_mfma_f32_32x32x8f16", eq10, "bf600000"},
		{"sim:gfx90a", "v_mfma_f32_32x32x8f16", eq10, "00000000"},
		{"sim:cdna3", "v_mfma_f32_32x32x8_f16", eq10, "bf000000"},
		// two instructions: the second gets the first one's D
		{"sim:volta", "mma.m8n8k4.f32.f16.f16.f32", "3c00,0000,0000,0000,3c00 3c00,0000,0000,0000,3c00 4b800000", "4b800000"},
	} {
		u, err := devices.OpenUnit(tc.target, tc.inst, "")
		if err != nil {
			t.Fatal(err)
		}
		if u.Model() == nil || *u.Model() != u.Instruction().Params {
			t.Errorf("%s: known arithmetic %v", tc.target, u.Model())
		}
		if got := devicetest.One(t, u, tc.dot); got != tc.want {
			t.Errorf("%s %s: %s, want %s", tc.target, tc.inst, got, tc.want)
		}
	}
}

// TestModelFiles opens hypothetical units.
func TestModelFiles(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "unit.json")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := file(`{"v": 1, "base": "volta/mma.m8n8k4.f32.f16.f16.f32", "set": {"join.align.f": 25}}`)
	target, err := devices.Open("model:" + path)
	if err != nil {
		t.Fatal(err)
	}
	if target.Name() != "model:"+path || len(target.Instructions()) != 1 || target.Environment()["kind"] != "simulator" {
		t.Errorf("%s with %d instructions, %v", target.Name(), len(target.Instructions()), target.Environment())
	}
	u, err := target.Open(&target.Instructions()[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := devicetest.One(t, u, eq10); got != "bf400000" { // Volta with Hopper's window
		t.Errorf("%s, want bf400000", got)
	}
	if err := target.Close(); err != nil {
		t.Error(err)
	}
	for _, tc := range []struct{ text, want string }{
		{"", "it is empty"},
		{`{"v": 1, "base": "volta/x"}`, `volta has no instruction "x"; nearest: mma.m8n8k4.f32.f16.f16.f32, mma.m8n8k4.f16.f16.f16.f16, mma.m8n8k4.f32.f16.f16.f16`},
		{`{"v": 1, "k": 4, "formats": {"a": "fp16", "b": "fp16", "d": "fp32"}, "params": {}}`, "acc: frac must be 1..63, every step ends in a rounding"},
		{`{"v": 1, "k": 4, "formats": {"a": "fp16", "b": "fp16"}, "params": {}}`, "format of d is not given"},
	} {
		path := file(tc.text)
		_, err := devices.Open("model:" + path)
		if want := `target "model:` + path + `": ` + path + ": " + tc.want; err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", tc.text, err, want)
		}
	}
}

// TestTile runs tiles of several rows and columns, chained: every output is what
// its dot product alone gives.
func TestTile(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	u, err := simulated.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	b := mma.NewBatch(i.Formats, mma.Shape{M: 3, N: 2, K: 16, Tiles: 2})
	for n := range len(b.A) / 2 {
		mma.Store(b.A, 2, n, uint64(0x2c00+n*977%0x2000))
	}
	for n := range len(b.B) / 2 {
		mma.Store(b.B, 2, n, uint64(0xac00+n*577%0x2000))
	}
	for n := range b.Dots() {
		mma.Store(b.C, 4, n, uint64(0x3f800001+n))
	}
	out := make([]byte, 4*b.Dots())
	if err := u.Run(t.Context(), b, out); err != nil {
		t.Fatal(err)
	}
	d := mma.NewDot(i.Formats, 16)
	results := map[string]bool{}
	for n := range b.Dots() {
		b.Get(n, d)
		got := mma.FormatCode(i.D, mma.Load(out, 4, n))
		results[got] = true
		if diff := cmp.Diff(devicetest.One(t, u, mma.FormatDot(i.Formats, d)), got); diff != "" {
			t.Errorf("output %d:\n%s", n, diff)
		}
	}
	if len(results) < 6 {
		t.Errorf("only %d different results: this shows nothing", len(results))
	}
}

func TestRefused(t *testing.T) {
	target, err := devices.Open("sim:rdna4")
	if err != nil {
		t.Fatal(err)
	}
	const want = "rdna4/v_wmma_f32_16x16x16_f16 cannot be simulated: the arithmetic of RDNA4 is unknown"
	if _, err := target.Open(&target.Instructions()[0]); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
