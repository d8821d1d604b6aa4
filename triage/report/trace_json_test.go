package report

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestSteps follows one sum by hand: 2^0 and 2^-24 * 1.5 at F = 24 of which c, an
// infinity in the second case, is the third term.
func TestSteps(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	p := mma.Params{L: 2, Join: mma.Join{Align: mma.Align{F: 24, Mode: fp.RZ}}, Acc: mma.To(fp.FP32, fp.RZ)}
	m, err := sim.New(f, 2, p)
	if err != nil {
		t.Fatal(err)
	}
	product := `{"k":0,"value":"0x1p+0","e":0},{"k":1,"subnormal":"b","value":"0x1.8p-24","e":-14}`
	acc := `{"frac":23,"mode":"rz","emin":-126,"emax":127}`
	for _, tc := range []struct {
		c    uint64
		d    string
		sums string
	}{
		{0, "3f800000", `{"place":"join","exec":0,"lane":0,"step":0,"group":0,"e":0,"terms":[` +
			`{"from":"product","k":0,"value":"0x1p+0","e":0,"cut":{"q":-24,"mode":"rz","value":"0x1p+0"}},` +
			`{"from":"product","k":1,"value":"0x1.8p-24","e":-14,"cut":{"q":-24,"mode":"rz","value":"0x1p-24"}},` +
			`{"from":"c","k":0,"value":"+0"}],"value":"0x1.000001p+0","rounds":[{"name":"acc","round":` + acc + `,"value":"0x1p+0"}]}`},
		{0xff800000, "ff800000", `{"place":"join","exec":0,"lane":0,"step":0,"group":0,"terms":[` +
			`{"from":"product","k":0,"value":"0x1p+0","e":0},` +
			`{"from":"product","k":1,"value":"0x1.8p-24","e":-14},` +
			`{"from":"c","k":0,"value":"-inf"}],"value":"-inf","rounds":[{"name":"acc","round":` + acc + `,"value":"-inf"}]}`},
	} {
		s := Side{Name: "here", Trace: &sim.Trace{}}
		s.Result = m.Dot(&mma.Dot{A: []uint64{0x3c00, 0x3e00}, B: []uint64{0x3c00, 0x0001}, C: tc.c}, s.Trace)
		got, err := json.Marshal(StepsOf(&s, f.D))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"name":"here","inferred":false,"params":null,"products":[` + product + `],"sums":[` + tc.sums + `],"d":"` + tc.d + `"}`
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("c = %08x (-want +got):\n%s", tc.c, diff)
		}
	}
}
