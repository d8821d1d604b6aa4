// Package npy reads arrays in NumPy's format .npy, format versions 1 to 3, and reads and writes
// those that are matrices of floating-point numbers or of integers.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// The files may be anybody's: no more is allocated than there is to read, whatever size a
// header gives. Arrays of objects, which are Python programs, are refused.
//
// The API of this package is not promised: it may change in any version.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Array is an array as it lies in a file, but row after row (C order), its elements little-endian.
type Array struct {
	Shape []int
	Kind  byte // of elements, as NumPy calls it: f (IEEE 754), u and i (integers), V (others, such as bfloat16)
	Width int  // bytes of an element: 1, 2, 4 or 8
	Data  []byte
}

// Code returns the bits of an element, counted row after row.
func (a *Array) Code(i int) uint64 { return code(a.Data[i*a.Width:], a.Width) }

// Matrix is a matrix as it lies in a file, but row after row, its elements little-endian.
type Matrix struct {
	Rows, Columns int
	Kind          byte // of elements, as NumPy calls it: f (IEEE 754), u and i (integers)
	Width         int  // bytes of an element: 1 (of integers only), 2, 4 or 8
	Data          []byte
}

// numbers are the formats of elements that are numbers; other elements are codes of formats that NumPy does
// not have.
var numbers = map[string]fp.ID{"f2": fp.FP16, "f4": fp.FP32, "f8": fp.FP64, "i1": fp.S8, "i2": fp.S16, "i4": fp.S32}

// Format returns the format of elements that are numbers, None for codes.
func (m *Matrix) Format() (fp.ID, error) {
	kind := fmt.Sprintf("%c%d", m.Kind, m.Width)
	id := numbers[kind]
	if id == fp.None && m.Kind != 'u' {
		return id, fmt.Errorf("elements of type %s are numbers of no format: 32 bits are the most that integers have", kind)
	}
	return id, nil
}

// KindOf returns the kind of elements of a format.
func KindOf(id fp.ID) byte {
	for kind, of := range numbers {
		if of == id {
			return kind[0]
		}
	}
	return 'u'
}

// Float64 returns an element of a matrix of floating-point numbers.
func (m *Matrix) Float64(row, column int) float64 {
	code := m.Code(row, column)
	switch m.Width {
	case 2:
		return fp.FP16.Get().Float64(code)
	case 4:
		return float64(math.Float32frombits(uint32(code)))
	}
	return math.Float64frombits(code)
}

// Code returns the bits of an element.
func (m *Matrix) Code(row, column int) uint64 {
	return code(m.Data[(row*m.Columns+column)*m.Width:], m.Width)
}

// code returns the bits of the element that begins with p.
func code(p []byte, width int) uint64 {
	switch width {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(p))
	case 4:
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return binary.LittleEndian.Uint64(p)
}

const (
	magic     = "\x93NUMPY"
	maxHeader = 1 << 16 // bytes; that of a matrix takes less than 128
	maxSide   = 1 << 28 // elements along a dimension

	maxDimensions = 32
)

// Read reads a matrix of floating-point numbers or integers whose elements take at most
// limit bytes, and the end of the file after it.
func Read(r io.Reader, limit int64) (*Matrix, error) {
	a, err := read(r, limit, "fui", 2)
	if err != nil {
		return nil, err
	}
	return &Matrix{a.Shape[0], a.Shape[1], a.Kind, a.Width, a.Data}, nil
}

// ReadArray reads an array whose elements take at most limit bytes, and the end of the file
// after it.
func ReadArray(r io.Reader, limit int64) (*Array, error) { return read(r, limit, "fuiV", 0) }

// read reads an array of one of the kinds, with so many dimensions; 0: any number.
func read(r io.Reader, limit int64, kinds string, dimensions int) (*Array, error) {
	header, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	a, bigEndian, fortran, err := parseHeader(header, kinds, dimensions)
	if err != nil {
		return nil, err
	}
	want := int64(a.Width)
	for _, side := range a.Shape {
		if want *= int64(side); want > math.MaxInt64/maxSide {
			break // already more than any limit
		}
	}
	sides := a.Sides()
	if want > limit {
		return nil, fmt.Errorf("%s elements take %d bytes, more than %d", sides, want, limit)
	}
	if a.Data, err = readAll(r, want); err != nil {
		return nil, fmt.Errorf("%s elements of %d bytes take %d bytes, but %w", sides, a.Width, want, err)
	}
	if bigEndian {
		for i := 0; i < len(a.Data); i += a.Width {
			slices.Reverse(a.Data[i : i+a.Width])
		}
	}
	if fortran {
		a.Data = rowByRow(a.Data, a.Shape, a.Width)
	}
	return a, nil
}

// Sides writes the shape as in 2 x 3; a single number has none, and is 1.
func (a *Array) Sides() string {
	if len(a.Shape) == 0 {
		return "1"
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(a.Shape), "[]"), " ", " x ")
}

// readAll reads n bytes and the end. It allocates as much as it has read, at first 1 MiB,
// and at last n.
func readAll(r io.Reader, n int64) ([]byte, error) {
	var data []byte
	for int64(len(data)) < n {
		more := min(n-int64(len(data)), max(1<<20, int64(len(data))))
		grown := make([]byte, int64(len(data))+more)
		copy(grown, data)
		got, err := io.ReadFull(r, grown[len(data):])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("there are %d", len(data)+got)
		} else if err != nil {
			return nil, err
		}
		data = grown
	}
	switch got, err := io.ReadFull(r, make([]byte, 1)); {
	case got > 0:
		return nil, errors.New("there are more")
	case err != io.EOF: // archives have a checksum at the end
		return nil, err
	}
	return data, nil
}

// readHeader reads the part before the elements and returns its dictionary.
func readHeader(r io.Reader) (string, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:6]) != magic {
		return "", errors.New("this is not an .npy file")
	}
	size := 2
	switch head[6] {
	case 1:
	case 2, 3:
		size = 4
	default:
		return "", fmt.Errorf("version %d.%d of the format .npy is not known", head[6], head[7])
	}
	var length [4]byte
	if _, err := io.ReadFull(r, length[:size]); err != nil {
		return "", errors.New("the header is cut short")
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxHeader {
		return "", fmt.Errorf("the header has %d bytes; that of a matrix has less than %d", n, maxHeader)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(r, header); err != nil {
		return "", errors.New("the header is cut short")
	}
	return string(header), nil
}

// The entries of the dictionary, a literal of Python, in any order.
var (
	descrEntry   = regexp.MustCompile(`'descr'\s*:\s*('[^']*'|[^\s,}][^,}]*)`)
	fortranEntry = regexp.MustCompile(`'fortran_order'\s*:\s*(\w+)`)
	shapeEntry   = regexp.MustCompile(`'shape'\s*:\s*\(([^)]*)\)`)
	typeName     = regexp.MustCompile(`^'([<>=|])([fuiV])([1248])'$`)
)

// parseHeader reads the dictionary.
func parseHeader(header, kinds string, dimensions int) (a *Array, bigEndian, fortran bool, err error) {
	fail := func(format string, args ...any) (*Array, bool, bool, error) {
		return nil, false, false, fmt.Errorf(format, args...)
	}
	entry := func(pattern *regexp.Regexp) string {
		all := pattern.FindAllStringSubmatch(header, 2)
		if len(all) != 1 {
			return ""
		}
		return all[0][1]
	}
	descr, order, shape := entry(descrEntry), entry(fortranEntry), entry(shapeEntry)
	if descr == "" || order != "True" && order != "False" || !shapeEntry.MatchString(header) {
		return fail("the header %.100q has no descr, fortran_order and shape", header)
	}
	t := typeName.FindStringSubmatch(descr)
	if t == nil || t[2] == "f" && t[3] == "1" || !strings.Contains(kinds, t[2]) {
		return fail("elements of type %.40s: read are those of 1 to 8 bytes of the kinds %s, but for f1", descr, strings.Join(strings.Split(kinds, ""), ", "))
	}
	a = &Array{Kind: t[2][0], Width: int(t[3][0] - '0'), Shape: []int{}}
	for _, s := range strings.Split(shape, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > maxSide {
			return fail("the shape (%.60s) is none that is read", shape)
		}
		a.Shape = append(a.Shape, n)
	}
	if n := len(a.Shape); dimensions > 0 && n != dimensions || n > maxDimensions {
		return fail("the shape (%.60s) has %d dimensions; a matrix has 2", shape, n)
	}
	return a, t[1] == ">", order == "True", nil
}

// rowByRow returns the elements of an array in Fortran order in C order.
func rowByRow(data []byte, shape []int, width int) []byte {
	out := make([]byte, 0, len(data))
	steps, index := make([]int, len(shape)), make([]int, len(shape)) // steps: bytes from an element to the next one along each side
	step := width
	for i, side := range shape {
		steps[i] = step
		step *= side
	}
	for at := 0; len(out) < len(data); {
		out = append(out, data[at:at+width]...)
		for i := len(shape) - 1; i >= 0; i-- {
			index[i]++
			at += steps[i]
			if index[i] < shape[i] {
				break
			}
			at -= steps[i] * shape[i]
			index[i] = 0
		}
	}
	return out
}

// Write writes a matrix, in version 1.0.
func Write(w io.Writer, m *Matrix) error {
	order := "<"
	if m.Width == 1 {
		order = "|"
	}
	header := fmt.Sprintf("{'descr': '%s%c%d', 'fortran_order': False, 'shape': (%d, %d), }", order, m.Kind, m.Width, m.Rows, m.Columns)
	const align = 64 // of the elements
	pad := align - (len(magic)+4+len(header)+1)%align
	header += strings.Repeat(" ", pad%align) + "\n"
	head := append([]byte(magic), 1, 0)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(header)))
	if _, err := w.Write(append(head, header...)); err != nil {
		return err
	}
	_, err := w.Write(m.Data)
	return err
}
