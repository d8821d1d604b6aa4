package fp_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestIndependent compares the formats with two packages of Python that others have
// written, ml_dtypes and gfloat: every code decoded, and many numbers encoded by every
// rounding that they offer. MMAFUZZ_PYTHON names an interpreter that has them.
func TestIndependent(t *testing.T) {
	python := cmp.Or(os.Getenv("MMAFUZZ_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import ml_dtypes, gfloat").Run(); err != nil {
		t.Skipf("%s has no ml_dtypes and gfloat: the formats are NOT COMPARED with them (pip install ml_dtypes gfloat)", python)
	}
	values := manyValues(tier.Of(300, 3_000, 100_000, 1_000_000))
	file := filepath.Join(t.TempDir(), "values")
	if err := os.WriteFile(file, floats(values), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "formats.py"), file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	compared := independent(t, bufio.NewReader(out), values)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if compared < 90 {
		t.Errorf("%d comparisons, there should be 90 or more", compared)
	}
}

// independent reads what formats.py writes and returns how many arrays it compared.
func independent(t *testing.T, r *bufio.Reader, values []float64) (compared int) {
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			return compared
		}
		f := strings.Fields(line)
		size, sizeErr := strconv.Atoi(f[len(f)-1])
		data := make([]byte, size)
		if _, err := io.ReadFull(r, data); err != nil || sizeErr != nil {
			t.Fatalf("%q: %v, %v", line, err, sizeErr)
		}
		switch f[0] {
		case "version":
			t.Log(f[1], f[2])
			continue
		case "decode":
			decoded(t, f[1], f[2], data)
		case "encode":
			encoded(t, f[1], f[2], f[3], f[4], values, data)
		}
		compared++
	}
}

// decoded compares the values of all codes.
func decoded(t *testing.T, what, name string, data []byte) {
	f := parse(t, name)
	if len(data) != 8<<f.Bits() {
		t.Errorf("%s %s: %d bytes", what, name, len(data))
		return
	}
	for code := range uint64(1) << f.Bits() {
		got, want := f.Float64(code), math.Float64frombits(binary.LittleEndian.Uint64(data[8*code:]))
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s %s: code %x is %v here and %v there", what, name, code, got, want)
		}
	}
}

// encoded compares the codes of values.
func encoded(t *testing.T, pkg, name, mode, over string, values []float64, data []byte) {
	what := strings.Join([]string{pkg, name, mode, over}, " ")
	f := parse(t, name)
	m, err := fp.ParseMode(mode)
	if err != nil {
		t.Fatal(err)
	}
	overflow := map[string]fp.Overflow{"inf": fp.OverInf, "ieee": fp.OverIEEE, "max": fp.OverMax}[over]
	double := fp.FP64.Get()
	wrong := 0
	for n, v := range values {
		if single := float64(float32(v)); pkg == "ml_dtypes" && !math.IsInf(single, 0) {
			v = single // ml_dtypes converts by way of FP32, and rounds twice
		}
		if explained(pkg, f, m, v) {
			continue
		}
		got := f.Encode(double.Dyadic(double.Decode(math.Float64bits(v))), m, overflow)
		want := uint64(binary.LittleEndian.Uint16(data[2*n:]))
		if got == want || math.IsNaN(f.Float64(got)) && math.IsNaN(f.Float64(want)) {
			continue
		}
		if wrong++; wrong <= 3 {
			t.Errorf("%s: %x (%v) is %x (%v) here and %x (%v) there", what, math.Float64bits(v), v, got, f.Float64(got), want, f.Float64(want))
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d values differ", what, wrong, len(values))
	}
}

// explained reports whether it is known that a package gives a number another code. All of
// these are in E8M0, which has neither a zero nor a sign.
func explained(pkg string, f *fp.Format, m fp.Mode, v float64) bool {
	fraction, _ := math.Frexp(v)
	switch {
	case !f.NoZero:
		return false
	case v <= 0:
		return true // here the magnitude is encoded; there it is NaN, or no code at all
	case pkg == "gfloat":
		// It gives numbers below the smallest one no code of 8 bits, and takes ties to the
		// even code: ml_dtypes and IEEE 754 section 4.3.1 take them to the larger number.
		return v < math.Ldexp(1, -127) || m == fp.RNE && fraction == 0.75
	default:
		return v < math.Ldexp(1, -126) // ml_dtypes rounds FP32's subnormal numbers up
	}
}

func parse(t *testing.T, name string) *fp.Format {
	t.Helper()
	id, err := fp.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return id.Get()
}

// manyValues returns numbers at, beside and half way between numbers of every format of at
// most 16 bits, and some of any size.
func manyValues(count int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	var narrow []*fp.Format
	for _, id := range fp.All() {
		if f := id.Get(); f.Bits() <= 16 {
			narrow = append(narrow, f)
		}
	}
	all := []float64{0, math.Copysign(0, -1)}
	for len(all) < count {
		f := narrow[r.IntN(len(narrow))]
		x, y := f.Float64(r.Uint64()&f.CodeMask()), 0.0
		if y = x * 1.5; r.IntN(2) == 0 { // half way where the next number is twice as large
			y = x + math.Ldexp(1, int(math.Logb(x))-int(f.FracBits)-1)
		}
		v := [...]float64{x, y, math.Nextafter(y, 0), math.Nextafter(y, math.Inf(1)), x * (1 + r.Float64()), math.Ldexp(r.Float64(), r.IntN(400)-200)}[r.IntN(6)]
		if r.IntN(2) == 0 {
			v = -v
		}
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			all = append(all, v)
		}
	}
	return all
}

func floats(values []float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}
