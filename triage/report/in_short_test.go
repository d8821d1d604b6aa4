package report

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestInShort(t *testing.T) {
	for _, tc := range []struct{ arch, name, want string }{
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", "one sum of 16 products and c, terms truncated to 25 bits below the largest; result rounded toward zero"},
		{"hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", "one sum of 32 products and c, terms truncated to 13 bits below the largest; result rounded toward zero, to 13 fraction bits"},
		{"hopper", "mma.m16n8k32.f32.e4m3.e4m3.f32", "2 sums of 16 products, one after the other, terms truncated to 25 bits below the largest; result rounded toward zero; then c is added, rounded to nearest, ties to even"},
		{"hopper", "cvt.rn.f16.f32", "a conversion; result rounded to nearest, ties to even"},
		{"turing", "mma.m8n8k16.s32.s8.s8.s32", "one sum of 16 products and c; the result wraps around"},
		{"turing", "mma.m8n8k16.s32.s8.s8.s32.satfinite", "one sum of 16 products and c; the result saturates"},
		{"turing", "mma.m8n8k128.s32.b1.b1.s32.xor.popc", "one sum of 128 exclusive ors and c; the result wraps around"},
		{"x86", "vfmadd231ps.rz", "a fused multiply-add; result rounded toward zero"},
	} {
		i, err := mma.Lookup(tc.arch, tc.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := InShort(i.Formats, i.K, &i.Params); got != tc.want {
			t.Errorf("%s/%s: %s, want %s", tc.arch, tc.name, got, tc.want)
		}
	}
}
