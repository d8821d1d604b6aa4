package mma_test

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The elementary operations of the literature are programs; other units are these with some
// parameters changed.
func ExampleParams_String() {
	rz := mma.To(fp.FP32, fp.RZ)
	for _, p := range []mma.Params{
		mma.FMA(fp.FP64), mma.SIMDFMA(fp.FP32, 8, mma.MergeHalves(8)), mma.FTZAddMul(2), mma.EFDPA(4), mma.TFDPA(16, 25, rz, -133),
		mma.STFDPA(32, 25, rz, -133), mma.GSTFDPA(64, 16, 35, rz, -139), mma.TRFDPA(8, 24, 31), mma.GTRFDPA(16, 24, 31),
		mma.SplitHMMA(25, mma.To(fp.FP16, fp.RNE), -21, fp.FP16),
	} {
		fmt.Println(p)
	}
	// Output:
	// fma(rne-fp64)
	// simd-fma(lanes=8, merge=4-2-1, rne-fp32)
	// ftz-addmul(P=2)
	// e-fdpa(L=4, rne-fp32)
	// t-fdpa(L=16, F=25, rz-fp32, e_zero=-133)
	// t-fdpa(L=32, F=25, rz-fp32, e_zero=-133)
	// gst-fdpa(L=64, G=16, F=35, rz-fp32, e_zero=-139)
	// tr-fdpa(L=8, F=24, F2=31)
	// gtr-fdpa(L=16, F=24, F2=31)
	// split-hmma(F=25, rne-fp16)
}
