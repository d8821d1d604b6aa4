package corpus

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// hwvectorRule specifies which instructions the columns of a file of recorded GPU
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

// HWRow is one row of such a file as it is written there.
type HWRow struct {
	A, B  []uint64 // codes of the file's input format
	C     uint64   // FP32
	D32   uint64   // FP32
	D16   uint64   // FP32 code of the FP16 result, if Has16
	Has16 bool
	Line  int
}

// HWFile reads a file of recorded GPU dot products, compressed or not: text
// whose first line names GPU and format:
//
//	# gpu=A100 in=fp16 k=8 columns: a[k] b[k] c(binary32) d_f32(binary32) d_f16(binary32 value of the binary16 result)
//
// and calls visit for each row. It returns the GPU and the format.
func HWFile(r io.Reader, visit func(HWRow) error) (gpu, format string, err error) {
	in := bufio.NewReader(r)
	var text io.Reader = in
	if head, err := in.Peek(2); err == nil && head[0] == 0x1f && head[1] == 0x8b {
		if text, err = gzip.NewReader(in); err != nil {
			return "", "", lineError(1, err)
		}
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxHWLine)
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return "", "", lineError(1, err)
		}
		return "", "", errors.New("the file is empty")
	}
	if lines.Text()+"\n" == recordingMagic {
		return "", "", errCompressed
	}
	gpu, format = headerField(lines.Text(), "gpu"), headerField(lines.Text(), "in")
	if gpu == "" || format == "" {
		return "", "", fmt.Errorf("%w: %.60q", errNoHead, lines.Text())
	}
	n := 2
	for ; lines.Scan(); n++ {
		row, err := parseHWRow(lines.Text())
		if err == nil {
			row.Line = n
			err = visit(row)
		}
		if err != nil {
			return "", "", fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return "", "", lineError(n, err)
	}
	return gpu, format, nil
}

// errNoHead reports a file of text that is none of recorded GPU results.
var errNoHead = errors.New("the first line does not name a GPU and a format")

// Limits that no such file exceeds.
const (
	maxHWLine  = 1 << 20 // bytes
	maxHWCodes = 1 << 24 // codes of all rows, where these are kept in memory
)

// lineError explains in words why a line could not be read.
func lineError(n int, err error) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d: longer than %s: this is no row of recorded results", n, byteSize(maxHWLine))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("line %d: the compressed file is cut short", n)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, new(flate.CorruptInputError)):
		return fmt.Errorf("line %d: the compressed file is damaged", n)
	}
	return fmt.Errorf("line %d: %w", n, err)
}

func headerField(line, name string) string {
	for f := range strings.FieldsSeq(line) {
		if v, ok := strings.CutPrefix(f, name+"="); ok {
			return v
		}
	}
	return ""
}

func parseHWRow(text string) (row HWRow, err error) {
	f := strings.Fields(text)
	if len(f) != 5 {
		return row, fmt.Errorf("%d columns, not 5", len(f))
	}
	if row.A, err = parseHexList("a", f[0]); err != nil {
		return row, err
	}
	if row.B, err = parseHexList("b", f[1]); err != nil {
		return row, err
	}
	if len(row.A) != len(row.B) {
		return row, fmt.Errorf("%d elements of a, %d of b", len(row.A), len(row.B))
	}
	if row.C, err = parseHex("c", f[2]); err != nil {
		return row, err
	}
	if row.D32, err = parseHex("d_f32", f[3]); err != nil {
		return row, err
	}
	if row.Has16 = f[4] != "-"; row.Has16 {
		if row.D16, err = parseHex("d_f16", f[4]); err == nil && !isNaN(row.D16) && widen(narrow(row.D16)) != row.D16 {
			err = fmt.Errorf("d_f16: %s is not the value of an FP16 number", f[4])
		}
	}
	return row, err
}

func parseHexList(column, list string) ([]uint64, error) {
	var codes []uint64
	for s := range strings.SplitSeq(list, ",") {
		code, err := parseHex(column, s)
		if err != nil {
			return nil, err
		}
		codes = append(codes, code)
	}
	return codes, nil
}

func parseHex(column, s string) (uint64, error) {
	code, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a hexadecimal code of up to 32 bits", column, s)
	}
	return code, nil
}

// Dot returns the row's operands for an instruction: C rounded to nearest even
// if it is FP16 there, and left out if the instruction has none. More than K
// elements are an error unless chain is set.
func (row *HWRow) Dot(i *mma.Instruction, chain bool) (*mma.Dot, error) {
	n := max(len(row.A), len(row.B))
	if n > i.K && !chain {
		return nil, fmt.Errorf("%d elements, but %s has K = %d (--chain executes it repeatedly)", n, i.Name, i.K)
	}
	d := mma.NewDot(i.Formats, (n+i.K-1)/i.K*i.K)
	copy(d.A, row.A)
	copy(d.B, row.B)
	for _, o := range []struct {
		id    fp.ID
		codes []uint64
	}{{i.A, d.A}, {i.B, d.B}} {
		for _, code := range o.codes {
			if code > o.id.Get().CodeMask() {
				return nil, fmt.Errorf("%x is not a %s code: the file is of another format", code, o.id)
			}
		}
	}
	switch i.C {
	case fp.None:
	case fp.FP32:
		d.C = row.C
	case fp.FP16:
		d.C = narrow(row.C)
	default:
		return nil, fmt.Errorf("the file has no C for %s", i.C)
	}
	return d, nil
}

// hwVector is one case of such a file: one dot product on one instruction.
type hwVector struct {
	Inst *mma.Instruction
	Dot  *mma.Dot
	D    uint64
}

// hwVectors returns the cases of a file with the instructions that they come
// from. A row with both results is two cases. Rows of fewer elements than the
// instruction's K are filled up with zeros, as they were on the GPU.
func hwVectors(r io.Reader) ([]hwVector, error) {
	var rows []HWRow
	codes := 0
	gpu, format, err := HWFile(r, func(row HWRow) error {
		const others = 16 // besides its codes a row takes as much memory as these many
		if codes += len(row.A) + len(row.B) + others; codes > maxHWCodes {
			return fmt.Errorf("the file has more than %d codes: split it", maxHWCodes)
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	rule, err := findHWRule(gpu, format)
	if err != nil {
		return nil, err
	}
	d32, err := mma.Lookup(rule.arch, rule.d32)
	if err != nil {
		return nil, err
	}
	var d16 *mma.Instruction
	if rule.d16 != "" {
		if d16, err = mma.Lookup(rule.arch, rule.d16); err != nil {
			return nil, err
		}
	}
	var vs []hwVector
	for n := range rows {
		row := &rows[n]
		dot, err := row.Dot(d32, false)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", row.Line, err)
		}
		vs = append(vs, hwVector{d32, dot, row.D32})
		if d16 == nil || !row.Has16 {
			continue
		}
		if dot, err = row.Dot(d16, false); err != nil {
			return nil, fmt.Errorf("line %d: %w", row.Line, err)
		}
		vs = append(vs, hwVector{d16, dot, narrow(row.D16)})
	}
	return vs, nil
}

func findHWRule(gpu, format string) (hwvectorRule, error) {
	for _, r := range hwvectorRules {
		if r.gpu == gpu && r.in == format {
			return r, nil
		}
	}
	return hwvectorRule{}, fmt.Errorf("it is not known which instructions results of %s on %s come from", format, gpu)
}

// narrow rounds an FP32 code to FP16, to nearest even. A NaN becomes a quiet one
// with the top of its payload.
func narrow(code uint64) uint64 {
	from, to := fp.FP32.Get(), fp.FP16.Get()
	n := from.Decode(code)
	switch n.Class {
	case fp.Inf:
		return to.InfCode(n.Neg)
	case fp.NaN:
		return to.QuietNaN(n.Neg) | n.Sig>>(from.FracBits-to.FracBits)
	}
	return to.Encode(from.Dyadic(n), fp.RNE, fp.OverIEEE)
}

// widen returns the FP32 code of an FP16 number or infinity.
func widen(code uint64) uint64 {
	from, to := fp.FP16.Get(), fp.FP32.Get()
	n := from.Decode(code)
	if n.Class == fp.Inf {
		return to.InfCode(n.Neg)
	}
	return to.Encode(from.Dyadic(n), fp.RNE, fp.OverIEEE)
}

func isNaN(fp32 uint64) bool { return fp.FP32.Get().Decode(fp32).Class == fp.NaN }

// readHWVectors reads such a file as a recording with a section for each of its
// instructions.
func readHWVectors(r io.Reader) (*Recording, error) {
	rec := &Recording{Complete: true}
	bySection := map[string][]hwVector{}
	var order []string
	vs, err := hwVectors(r)
	if err != nil {
		return nil, err
	}
	for _, v := range vs {
		name := v.Inst.FullName()
		if bySection[name] == nil {
			order = append(order, name)
		}
		bySection[name] = append(bySection[name], v)
	}
	for _, name := range order {
		rec.Data = append(rec.Data, hwSection(bySection[name]))
	}
	rec.Header = Header{Version: recordingVersion, Target: "recorded GPU", Environment: map[string]string{
		"source": "Khattak and Mikaitis, arXiv:2512.07004, MATLAB-tensor-core/model_validation (BSD-2-Clause)",
	}}
	return rec, nil
}

func hwSection(vs []hwVector) Recorded {
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
	return Recorded{Section: s, Batch: b, D: d}
}
