package replay_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var half = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}

// part is a batch of single dot products for a recording: A B C = D.
type part struct {
	arch, inst string
	formats    mma.Formats
	k, length  int
	rows       []string
}

// record writes a recording to a file and returns the target's name.
func record(t testing.TB, parts ...part) string {
	t.Helper()
	var buf bytes.Buffer
	w, err := corpus.NewRecordingWriter(&buf, corpus.Header{Versions: corpus.Versions{Catalogue: "1", Generators: "2", Formats: "3"}, Target: "cuda:0", Environment: map[string]string{"driver": "570"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		b := mma.NewBatch(p.formats, mma.Shape{M: 1, N: 1, K: p.length, Tiles: len(p.rows)})
		out := make([]byte, len(p.rows)*p.formats.D.Width())
		for n, row := range p.rows {
			operands, result, _ := strings.Cut(row, " = ")
			d, err := mma.ParseDot(p.formats, p.length, false, strings.Fields(operands))
			if err != nil {
				t.Fatal(err)
			}
			code, err := mma.ParseCode("d", p.formats.D, result)
			if err != nil {
				t.Fatal(err)
			}
			b.Set(n, d)
			mma.Store(out, p.formats.D.Width(), n, code)
		}
		if err := w.Add(corpus.Section{Arch: p.arch, Instruction: p.inst, K: p.k}, b, out); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "recording")
	if err := os.WriteFile(file, buf.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return "replay:" + file
}

const inst = "mma.m16n8k8.f32.f16.f16.f32"

func open(t testing.TB, name string) devices.Target {
	t.Helper()
	target, err := devices.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// ask runs one dot product.
func ask(t testing.TB, u devices.Unit, length int, text string) (string, error) {
	t.Helper()
	f := u.Instruction().Formats
	d, err := mma.ParseDot(f, length, false, strings.Fields(text))
	if err != nil {
		t.Fatal(err)
	}
	b := mma.NewBatch(f, mma.Shape{M: 1, N: 1, K: length, Tiles: 1})
	b.Set(0, d)
	out := make([]byte, f.D.Width())
	err = u.Run(t.Context(), b, out)
	return mma.FormatCode(f.D, mma.Load(out, f.D.Width(), 0)), err
}

// TestReplay records two instructions, one in two frames, and asks for what is
// there and what is not.
func TestReplay(t *testing.T) {
	e4m3 := mma.Formats{A: fp.E4M3, B: fp.E4M3, D: fp.FP32}
	name := record(t,
		part{"ampere", inst, half, 8, 8, []string{"3c00 3c00 00000000 = 3f800001", "3c00 4000 00000000 = 40000001"}},
		part{"hopper", "wgmma.m64n256k32.f32.e4m3.e4m3.c0", e4m3, 32, 32, []string{"38 38 - = 3f800003"}},
		part{"ampere", inst, half, 8, 8, []string{"3c00 4200 00000000 = 40400001"}},
	)
	target := open(t, name)
	if target.Name() != name || len(target.Instructions()) != 2 {
		t.Errorf("%s with %d instructions", target.Name(), len(target.Instructions()))
	}
	want := map[string]string{"kind": "recording", "recorded from": "cuda:0", "recorded driver": "570",
		"recorded catalogue": "1", "recorded generators": "2", "recorded formats": "3"}
	if diff := cmp.Diff(want, target.Environment()); diff != "" {
		t.Error(diff)
	}
	i, err := devices.Find(target, inst)
	if err != nil {
		t.Fatal(err)
	}
	u, err := target.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	rec := u.(devices.Recorder)
	if rec.Recorded() != 3 || rec.Length() != 8 || rec.Model() != nil {
		t.Errorf("%d recorded of %d elements, known %v", rec.Recorded(), rec.Length(), rec.Model())
	}
	for text, want := range map[string]string{"3c00 3c00 00000000": "3f800001", "3c00 4000 00000000": "40000001", "3c00 4200 00000000": "40400001"} {
		if got, err := ask(t, u, 8, text); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"3c00 3c00 80000000", "3c00 3c01 00000000", "3c01 3c00 00000000", "4000 3c00 00000000", "0000,3c00 0000,3c00 00000000"} {
		if got, err := ask(t, u, 8, text); !errors.Is(err, devices.ErrNoRecording) {
			t.Errorf("%s is not recorded: %s, %v", text, got, err)
		}
	}
	if _, err := ask(t, u, 16, "3c00 3c00 00000000"); !errors.Is(err, devices.ErrNoRecording) {
		t.Errorf("longer than recorded: %v", err)
	}
	b := mma.NewBatch(half, mma.Shape{M: 1, N: 1, K: 8, Tiles: 2})
	out := make([]byte, 8)
	rec.Load(1, b, out)
	if x, y, p, q := mma.Load(b.B, 2, 0), mma.Load(b.B, 2, 8), mma.Load(out, 4, 0), mma.Load(out, 4, 1); x != 0x4000 || y != 0x4200 || p != 0x40000001 || q != 0x40400001 {
		t.Errorf("dots 1 and 2 begin with b = %x, %x and give %x, %x", x, y, p, q)
	}
	wgmma, err := target.Open(&target.Instructions()[1])
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ask(t, wgmma, 32, "38 38 -"); err != nil || got != "3f800003" || wgmma.Instruction().Name != "wgmma.m64n256k32.f32.e4m3.e4m3.c0" {
		t.Errorf("%s: %s, %v", wgmma.Instruction().Name, got, err)
	}
	if err := target.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnlisted replays what has no model or is in no catalogue.
func TestUnlisted(t *testing.T) {
	for _, p := range []part{
		{"rdna4", "v_wmma_f32_16x16x16_f16", half, 16, 16, []string{"3c00 3c00 00000000 = 3f800000"}},
		{"npu", "dot16", half, 16, 16, []string{"3c00 3c00 00000000 = 3f800000"}},
	} {
		target := open(t, record(t, p))
		u, err := target.Open(&target.Instructions()[0])
		if err != nil {
			t.Fatal(err)
		}
		i := u.Instruction()
		if got, err := ask(t, u, 16, "3c00 3c00 00000000"); err != nil || got != "3f800000" || i.Refuse != "" || i.FullName() != p.arch+"/"+p.inst {
			t.Errorf("%s: %s, %v, refused %q", i.FullName(), got, err, i.Refuse)
		}
		// It can be compared with a simulator of the same formats.
		ps, err := devices.Pairs(target, open(t, "sim:hopper"), "", "")
		if err != nil || len(ps) != 1 || ps[0].K != 16 || ps[0].B.Instruction().Name != "mma.m16n8k16.f32.f16.f16.f32" {
			t.Errorf("%s: pairs %v, %v", i.FullName(), ps, err)
		}
	}
}

// TestChained records dot products of two instructions: pairs get their length.
func TestChained(t *testing.T) {
	target := open(t, record(t, part{"ampere", inst, half, 8, 16, []string{"3c00 3c00 00000000 = 3f800000"}}))
	for _, sim := range []string{"sim:ampere", "sim:hopper", "ref:exact"} {
		ps, err := devices.Pairs(target, open(t, sim), inst, "")
		if err != nil {
			t.Fatalf("%s: %v", sim, err)
		}
		if ps[0].K != 16 {
			t.Errorf("%s: K = %d, want 16", sim, ps[0].K)
		}
		if n, bad := compare(t, ps[0]); n != 1 || bad != 0 {
			t.Errorf("%s: %d of %d differ", sim, bad, n)
		}
	}
	short := open(t, record(t, part{"volta", "mma.m8n8k4.f32.f16.f16.f32", half, 4, 4, []string{"3c00 3c00 00000000 = 3f800000"}}))
	_, err := devices.Pairs(short, open(t, "sim:ampere"), "", inst)
	want := "the recorded dot products of volta/mma.m8n8k4.f32.f16.f16.f32 have 4 elements, which cannot be cut into steps of 8"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestOpenErrors(t *testing.T) {
	row := []string{"3c00 3c00 00000000 = 3f800000"}
	for _, tc := range []struct {
		name  string
		parts []part
		want  string
	}{
		{"nothing", nil, "the recording holds no results"},
		{"other K", []part{{"ampere", inst, half, 4, 8, row}},
			"ampere/" + inst + " was recorded as fp32.fp16.fp16.fp32 with K = 4, but is fp32.fp16.fp16.fp32 with K = 8"},
		{"other formats", []part{{"ampere", "mma.m16n8k8.f32.bf16.bf16.f32", half, 8, 8, row}},
			"ampere/mma.m16n8k8.f32.bf16.bf16.f32 was recorded as fp32.fp16.fp16.fp32 with K = 8, but is fp32.bf16.bf16.fp32 with K = 8"},
		{"two lengths", []part{{"ampere", inst, half, 8, 8, row}, {"ampere", inst, half, 8, 16, row}},
			"ampere/" + inst + " was recorded with dot products of 8 and of 16 elements"},
	} {
		name := record(t, tc.parts...)
		_, err := devices.Open(name)
		file := strings.TrimPrefix(name, "replay:")
		if want := `target "` + name + `": ` + file + ": " + tc.want; err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", tc.name, err, want)
		}
	}
	target := open(t, record(t, part{"ampere", inst, half, 8, 8, row}))
	i, err := mma.Lookup("ampere", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := target.Open(i); err == nil || err.Error() != target.Name()+" holds no results of mma.m16n8k16.f32.f16.f16.f32" {
		t.Errorf("an instruction that was not recorded: %v", err)
	}
}
