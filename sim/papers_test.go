package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/vectors"
)

// The published examples of the papers: each file says where its cases come
// from and where they deviate from the print. The numbers are those of the
// files, so that a truncated file cannot pass.

func TestFasi(t *testing.T)   { checkPaper(t, "fasi.txt", 292) }
func TestTable8(t *testing.T) { checkPaper(t, "table8.txt", 355) }
func TestFTTN(t *testing.T)   { checkPaper(t, "fttn.txt", 440) }
func TestSMT(t *testing.T)    { checkPaper(t, "smt.txt", 177) }

// TestB200 checks result words of a B200 that others have published.
func TestB200(t *testing.T) { checkPaper(t, "b200.txt", 51) }

// TestGeForce checks results of silicon that owners of cards have published.
func TestGeForce(t *testing.T) { checkPaper(t, "geforce.txt", 74) }

// checkPaper runs every vector of a file, which must have at least n of them.
func checkPaper(t *testing.T, file string, n int) {
	path := filepath.Join("testdata", file)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	vectors, err := vectors.Read(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(vectors) < n {
		t.Errorf("%s: %d vectors, want at least %d", path, len(vectors), n)
	}
	seen := map[string]bool{}
	for _, v := range vectors {
		if seen[v.ID] {
			t.Errorf("%s:%d: %s: the ID is used twice", path, v.Line, v.ID)
		}
		seen[v.ID] = true
		if err := checkPaperVector(&v); err != nil {
			t.Errorf("%s:%d: %s: %v", path, v.Line, v.ID, err)
		}
	}
}

func checkPaperVector(v *vectors.Vector) error {
	m, err := sim.New(v.Inst.Formats, v.Inst.K, v.Inst.Params)
	if err != nil {
		return err
	}
	d := v.Inst.D.Get()
	got := m.Dot(v.Dot, nil)
	switch {
	case v.AnyNaN && d.Decode(got).Class != fp.NaN:
		return fmt.Errorf("D = %0*X, want a NaN", d.Digits(), got)
	case !v.AnyNaN && got != v.Want:
		return fmt.Errorf("D = %0*X, want %0*X", d.Digits(), got, d.Digits(), v.Want)
	}
	return nil
}

// TestFTTNMatrixProduct runs the example of FTTN, section V: D = C - A*B with
// 2^13 terms. It is built here because a line of a data file would have 80 kB.
//
// The text gives the small elements without their sign; the formula above it
// subtracts them (A*B = 2^20 - 2^7 - 2^6 + 2^-6), and only so do the printed
// results come out. The products are accumulated from 0 and C - acc, which is
// exact here, is not part of the instruction.
func TestFTTNMatrixProduct(t *testing.T) {
	const c = 1 << 20
	for _, p := range []struct {
		arch, inst string
		d          float64
	}{
		// Printed results.
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", 0},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", 0},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", 191.875},
		{"cdna1", "v_mfma_f32_16x16x16f16", 255.875},
		// MI250X is printed as 0. The FP16 and BF16 units of CDNA2 cannot give that
		// (pairs of small products survive); its FP32 unit does.
		{"cdna2", "v_mfma_f32_16x16x4f32", 0},
		{"cdna2", "v_mfma_f32_16x16x16f16", 255.875},
		{"cdna2", "v_mfma_f32_16x16x16bf16_1k", 255.875},
		{"cdna2", "v_mfma_f32_16x16x8bf16", 255.9375},
		// Predictions: not in the paper.
		{"turing", "mma.m16n8k8.f32.f16.f16.f32", 0},
		{"cdna1", "v_mfma_f32_16x16x8bf16", 255.9375},
		{"cdna3", "v_mfma_f32_16x16x16_f16", 191.8125},
	} {
		i, err := mma.Lookup(p.arch, p.inst)
		if err != nil {
			t.Fatal(err)
		}
		m, err := sim.New(i.Formats, i.K, i.Params)
		if err != nil {
			t.Fatalf("%s: %v", i.FullName(), err)
		}
		acc := m.Dot(fttnProduct(i.Formats), nil)
		if d := c - i.D.Get().Float64(acc); d != p.d {
			t.Errorf("%s: D = %v, want %v", i.FullName(), d, p.d)
		}
	}
}

// fttnProduct returns a row of A, a column of B, and C = 0.
func fttnProduct(f mma.Formats) *mma.Dot {
	a, b := f.A.Get().FromFloat64, f.B.Get().FromFloat64
	dot := mma.NewDot(f, 1<<13)
	for j := range dot.A {
		dot.A[j], dot.B[j] = a(-0x1p-3), b(0x1p-3)
		if j%2 == 1 {
			dot.A[j] = a(-0x1p-2)
		}
	}
	dot.A[0], dot.B[0] = a(0x1p10), b(0x1p10)
	return dot
}
