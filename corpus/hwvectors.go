package corpus

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// hwvectorRule says which instructions the columns of a file of recorded GPU
// dot products come from (Khattak and Mikaitis, arXiv:2512.07004).
type hwvectorRule struct {
	gpu, in string
	arch    string
	d32     string // instruction of the column d_f32
	d16     string // of d_f16, for which C was rounded to FP16; "" if it was not recorded
}

// hwvectorRules has one row per file. The e4m3 and e5m2 FP32 results of the H100
// are from wgmma with scale-d = 0: C does not take part. Its FP16 results are
// from mma.sync, which that chip emulates.
var hwvectorRules = []hwvectorRule{
	{"V100", "fp16", "volta", "mma.m8n8k4.f32.f16.f16.f32", "mma.m8n8k4.f16.f16.f16.f16"},
	{"A100", "fp16", "ampere", "mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k8.f16.f16.f16.f16"},
	{"A100", "bf16", "ampere", "mma.m16n8k8.f32.bf16.bf16.f32", ""},
	{"A100", "tf32", "ampere", "mma.m16n8k4.f32.tf32.tf32.f32", ""},
	{"Ada", "fp16", "ada", "mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k8.f16.f16.f16.f16"},
	{"Ada", "bf16", "ada", "mma.m16n8k8.f32.bf16.bf16.f32", ""},
	{"Ada", "tf32", "ada", "mma.m16n8k4.f32.tf32.tf32.f32", ""},
	{"Ada", "e4m3", "ada", "mma.m16n8k32.f32.e4m3.e4m3.f32", "mma.m16n8k32.f16.e4m3.e4m3.f16"},
	{"Ada", "e5m2", "ada", "mma.m16n8k32.f32.e5m2.e5m2.f32", "mma.m16n8k32.f16.e5m2.e5m2.f16"},
	{"H100", "fp16", "hopper", "mma.m16n8k16.f32.f16.f16.f32", "mma.m16n8k16.f16.f16.f16.f16"},
	{"H100", "bf16", "hopper", "mma.m16n8k16.f32.bf16.bf16.f32", ""},
	{"H100", "tf32", "hopper", "mma.m16n8k8.f32.tf32.tf32.f32", ""},
	{"H100", "e4m3", "hopper", "wgmma.m64n8k32.f32.e4m3.e4m3.c0", "mma.m16n8k32.f16.e4m3.e4m3.f16"},
	{"H100", "e5m2", "hopper", "wgmma.m64n8k32.f32.e5m2.e5m2.c0", "mma.m16n8k32.f16.e5m2.e5m2.f16"},
}

// HWVector is one row of such a file: one dot product on one instruction.
type HWVector struct {
	Inst *mma.Instruction
	Dot  *mma.Dot
	D    uint64
	Line int
}

// HWVectors calls visit for each case of a file, a gzip text whose first line
// names GPU and format:
//
//	# gpu=A100 in=fp16 k=8 columns: a[k] b[k] c(binary32) d_f32(binary32) d_f16(binary32 value of the binary16 result)
//
// A line with both results is two cases. Rows of fewer elements than the
// instruction's K are filled up with zeros, as they were on the GPU.
func HWVectors(r io.Reader, visit func(HWVector) error) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(z)
	if !lines.Scan() {
		return errors.New("the file is empty")
	}
	p, err := parseHWHeader(lines.Text())
	if err != nil {
		return err
	}
	for n := 2; lines.Scan(); n++ {
		p.line = n
		if err := p.row(lines.Text(), visit); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

type hwParser struct {
	gpu      string
	d32, d16 *mma.Instruction // d16 may be nil
	line     int
}

func parseHWHeader(line string) (*hwParser, error) {
	field := func(name string) string {
		for f := range strings.FieldsSeq(line) {
			if v, ok := strings.CutPrefix(f, name+"="); ok {
				return v
			}
		}
		return ""
	}
	gpu, in := field("gpu"), field("in")
	for _, r := range hwvectorRules {
		if r.gpu != gpu || r.in != in {
			continue
		}
		p := &hwParser{gpu: gpu}
		var err error
		if p.d32, err = mma.Lookup(r.arch, r.d32); err != nil {
			return nil, err
		}
		if r.d16 != "" {
			p.d16, err = mma.Lookup(r.arch, r.d16)
		}
		return p, err
	}
	return nil, fmt.Errorf("the first line does not name a known GPU and format: %.60q", line)
}

func (p *hwParser) row(text string, visit func(HWVector) error) error {
	f := strings.Fields(text)
	if len(f) != 5 {
		return fmt.Errorf("%d columns, not 5", len(f))
	}
	c, err1 := strconv.ParseUint(f[2], 16, 32)
	d, err2 := strconv.ParseUint(f[3], 16, 32)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	v, err := p.vector(p.d32, f[0], f[1], c, d)
	if err != nil {
		return err
	}
	if err := visit(v); err != nil || f[4] == "-" || p.d16 == nil {
		return err
	}
	if d, err = strconv.ParseUint(f[4], 16, 32); err != nil {
		return err
	}
	if v, err = p.vector(p.d16, f[0], f[1], narrow(c), narrow(d)); err != nil {
		return err
	}
	return visit(v)
}

// narrow rounds an FP32 code to FP16, to nearest even.
func narrow(code uint64) uint64 {
	f := fp.FP32.Get()
	return fp.FP16.Get().Encode(f.Dyadic(f.Decode(code)), fp.RNE, fp.OverIEEE)
}

func (p *hwParser) vector(i *mma.Instruction, a, b string, c, d uint64) (HWVector, error) {
	v := HWVector{Inst: i, Dot: mma.NewDot(i.Formats, i.K), D: d, Line: p.line}
	if i.C != fp.None {
		v.Dot.C = c
	}
	for _, side := range []struct {
		dst  []uint64
		list string
	}{{v.Dot.A, a}, {v.Dot.B, b}} {
		n := 0
		for s := range strings.SplitSeq(side.list, ",") {
			code, err := strconv.ParseUint(s, 16, 32)
			if err != nil || n >= len(side.dst) {
				return v, fmt.Errorf("%q: bad code, or more than %d of them", s, i.K)
			}
			side.dst[n] = code
			n++
		}
	}
	return v, nil
}

// ReadHWVectors reads such a file as a recording with a section for each of its
// instructions.
func ReadHWVectors(r io.Reader) (*Recording, error) {
	rec := &Recording{Complete: true}
	bySection := map[string][]HWVector{}
	var order []string
	err := HWVectors(r, func(v HWVector) error {
		name := v.Inst.FullName()
		if bySection[name] == nil {
			order = append(order, name)
		}
		bySection[name] = append(bySection[name], v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range order {
		rec.Data = append(rec.Data, hwSection(bySection[name]))
	}
	rec.Header = Header{Version: 1, Target: "recorded GPU", Environment: map[string]string{
		"source": "Khattak and Mikaitis, arXiv:2512.07004, MATLAB-tensor-core/model_validation (BSD-2-Clause)",
	}}
	return rec, nil
}

func hwSection(vs []HWVector) Recorded {
	i := vs[0].Inst
	s := &Section{Arch: i.Arch, Instruction: i.Name, Formats: i.Formats, K: i.K, Generator: "recorded",
		Shape: mma.Shape{M: 1, N: 1, K: i.K, Tiles: len(vs)}}
	b := mma.NewBatch(i.Formats, s.Shape)
	w := i.D.Width()
	d := make([]byte, len(vs)*w)
	for n, v := range vs {
		b.Set(n, v.Dot)
		mma.Store(d, w, n, v.D)
	}
	return Recorded{s, b, d}
}
