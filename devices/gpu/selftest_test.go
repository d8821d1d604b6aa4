package gpu_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/gpu/testdata/lanes"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestSelfTest passes units that are right.
func TestSelfTest(t *testing.T) {
	for _, name := range some() {
		s, err := gpu.Test(t.Context(), unitOf(t, kernelOf(t, name), nil))
		if err != nil {
			t.Fatal(err)
		}
		if s.Err() != nil || s.String() != "passed: layout, position independence, repeatability" {
			t.Errorf("%s: %s", name, s)
		}
	}
}

// failure returns what a test of a self-test has found, "" if it is passed.
func failure(s *gpu.SelfTest, test string) string {
	for _, f := range s.Failures {
		if f.Test == test {
			return f.What
		}
	}
	return ""
}

// wrongly returns the unit of a kernel whose tables are not what the device does:
// two elements of an operand are exchanged there.
func wrongly(t *testing.T, name string, r gpu.Role, x, y int) *gpu.Unit {
	k := kernelOf(t, name)
	other := *k
	other.In = slices.Clone(k.In)
	swap := func(o *gpu.Operand) {
		o.At = slices.Clone(o.At)
		o.At[x], o.At[y] = o.At[y], o.At[x]
	}
	for n := range other.In {
		if other.In[n].Role == r {
			swap(&other.In[n])
		}
	}
	if r == gpu.RoleD {
		swap(&other.Out)
	}
	loaded, err := lanes.Loader(model).Load(&other)
	if err != nil {
		t.Fatal(err)
	}
	u, err := gpu.NewUnit(k, loaded)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestSelfTestLayout exchanges two elements of each operand: the test names one of
// them and finds nothing else.
func TestSelfTestLayout(t *testing.T) {
	tier.LongOnly(t) // the lane simulator is slow
	const mx = "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"
	for _, tc := range []struct {
		name string
		role gpu.Role
		x, y int
		want string
	}{
		{"hopper/mma.m16n8k16.f32.bf16.bf16.f32", gpu.RoleA, 3*16 + 5, 3*16 + 6, "element [3][5] of A, alone, gives D[3][0] = 0, not 1"},
		{"hopper/mma.m16n8k16.f32.bf16.bf16.f32", gpu.RoleA, 3*16 + 5, 15*16 + 5, "element [3][5] of A, alone, gives D[3][0] = 0, not 1"},
		{"hopper/mma.m16n8k16.f32.bf16.bf16.f32", gpu.RoleB, 7*16 + 2, 1*16 + 2, "element [1][2] of B, alone, gives D[0][1] = 0, not 1"},
		{"hopper/mma.m16n8k16.f32.bf16.bf16.f32", gpu.RoleC, 1, 8, "element [0][1] of C, alone, gives D[0][1] = 0, not 1"},
		{"hopper/mma.m16n8k16.f32.bf16.bf16.f32", gpu.RoleD, 1, 8, "element [0][1] of C, alone, gives D[0][1] = 0, not 1"},
		{"hopper/mma.m8n8k4.f64.f64.f64.f64", gpu.RoleB, 0, 1, "element [0][0] of A, alone, gives D[0][0] = 0, not 1: it, or what it meets"},
		{mx, gpu.RoleSA, 3, 4, "element [0][3] of the scales of A, alone, gives D[0][0] = 1, not 2"},
		{mx, gpu.RoleSB, 0, 31, "element [0][0] of the scales of B, alone, gives D[0][0] = 1, not 2"},
	} {
		s, err := gpu.Test(t.Context(), wrongly(t, tc.name, tc.role, tc.x, tc.y))
		if err != nil {
			t.Fatal(err)
		}
		if got := failure(s, "layout"); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s, %s: %q, want %q", tc.name, tc.role, got, tc.want)
		}
		if failure(s, "repeatability") != "" || s.Err() == nil || !strings.HasPrefix(s.Err().Error(), "it fails its self-test: layout: ") {
			t.Errorf("%s, %s: %v", tc.name, tc.role, s.Err())
		}
	}
}

// TestSelfTestConstants gives a device another order of all elements of A and B at
// once, which no single element shows to be wrong if the rows stay.
func TestSelfTestConstants(t *testing.T) {
	k := kernelOf(t, "hopper/mma.m16n8k16.f32.bf16.bf16.f32")
	other := *k
	other.In = slices.Clone(k.In)
	for n := range 2 { // A and B: k is turned around in both, so that the products are the same
		o := &other.In[n]
		at := slices.Clone(o.At)
		for i := range at {
			at[i] = o.At[i/16*16+15-i%16]
		}
		o.At = at
	}
	loaded, err := lanes.Loader(model).Load(&other)
	if err != nil {
		t.Fatal(err)
	}
	u, err := gpu.NewUnit(k, loaded)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gpu.Test(t.Context(), u)
	if err != nil || s.Err() != nil {
		t.Errorf("an order of k that makes no difference: %v, %v", s, err)
	}
}

// faulty returns a unit whose packed results of m16n8k16 pass through a function,
// which gets the inputs too.
func faulty(t *testing.T, change func(launch int, in, out *mma.Batch, d []byte)) *gpu.Unit {
	k := kernelOf(t, "hopper/mma.m16n8k16.f32.bf16.bf16.f32")
	run, err := model(k.Instruction)
	if err != nil {
		t.Fatal(err)
	}
	launch := 0
	loader := lanes.Loader(func(*mma.Instruction) (func(in *mma.Batch, out []byte), error) {
		return func(in *mma.Batch, out []byte) {
			run(in, out)
			change(launch, in, nil, out)
			launch++
		}, nil
	})
	loaded, err := loader.Load(k)
	if err != nil {
		t.Fatal(err)
	}
	u, err := gpu.NewUnit(k, loaded)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// flip changes the last bit of a result that is no small integer.
func flip(d []byte, i int) {
	if c := mma.Load(d, 4, i); c&0xfff != 0 && c&0x7f800000 != 0x7f800000 {
		mma.Store(d, 4, i, c^1)
	}
}

// TestSelfTestFaults has units that multiply integers rightly and are wrong all
// the same.
func TestSelfTestFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		change   func(launch int, in, _ *mma.Batch, d []byte)
		position string
		repeat   string
	}{
		"a lane": {func(_ int, in, _ *mma.Batch, d []byte) {
			for tile := range in.Tiles {
				flip(d, tile*128+37)
			}
		}, "one dot product in all places of a tile: D[4][5] of tile ", ""},
		"company": {func(_ int, in, _ *mma.Batch, d []byte) {
			for tile := range in.Tiles {
				for i := range 128 {
					if mma.Load(in.A, 2, tile*256)&1 != mma.Load(in.A, 2, tile*256+(i/8)*16)&1 { // row 0 says something else
						flip(d, tile*128+i)
					}
				}
			}
		}, " among other dot products", ""},
		"a warp": {func(_ int, in, _ *mma.Batch, d []byte) {
			for tile := 1; tile < in.Tiles; tile += 2 {
				for i := range 128 {
					flip(d, tile*128+i)
				}
			}
		}, "", " when the tiles come in the opposite order"},
		"now and then": {func(launch int, in, _ *mma.Batch, d []byte) {
			if launch == 1 {
				for i := range 128 {
					flip(d, i+128)
				}
			}
		}, "", " when the same tiles come again"},
	} {
		s, err := gpu.Test(t.Context(), faulty(t, tc.change))
		if err != nil {
			t.Fatal(err)
		}
		position, repeat := failure(s, "position independence"), failure(s, "repeatability")
		if failure(s, "layout") != "" || (position == "") != (tc.position == "") || (repeat == "") != (tc.repeat == "") ||
			!strings.Contains(position, tc.position) || !strings.Contains(repeat, tc.repeat) {
			t.Errorf("%s: %s", name, s)
		}
	}
}

// TestSelfTestTrouble has launches that fail.
func TestSelfTestTrouble(t *testing.T) {
	k := kernelOf(t, "hopper/mma.m16n8k16.f32.bf16.bf16.f32")
	for at := range 5 {
		n := 0
		u := unitOf(t, k, func(l gpu.Loaded) gpu.Loaded {
			return &wrapped{l, func(ctx context.Context, in, out []byte, tiles int) error {
				if n++; n > at {
					return errors.New("the device is gone")
				}
				return l.Launch(ctx, in, out, tiles)
			}}
		})
		const want = "self-test: the device is gone"
		if _, err := gpu.Test(t.Context(), u); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
