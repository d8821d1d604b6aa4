// Package npy reads and writes matrices in NumPy's format .npy: format versions 1 to 3,
// arrays of two dimensions of floating-point numbers or of unsigned integers.
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
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Matrix is a matrix as it lies in a file, but row after row, its elements little-endian.
type Matrix struct {
	Rows, Columns int
	Float         bool // numbers of IEEE 754; else unsigned integers
	Width         int  // bytes of an element: 1 (of integers only), 2, 4 or 8
	Data          []byte
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
	p := m.Data[(row*m.Columns+column)*m.Width:]
	switch m.Width {
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
	maxSide   = 1 << 28 // rows and columns
)

// Read reads a matrix whose elements take at most limit bytes, and the end of the file
// after it.
func Read(r io.Reader, limit int64) (*Matrix, error) {
	header, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	m, bigEndian, fortran, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	want := int64(m.Rows) * int64(m.Columns) * int64(m.Width)
	if want > limit {
		return nil, fmt.Errorf("a matrix of %d x %d elements takes %d bytes, more than %d", m.Rows, m.Columns, want, limit)
	}
	if m.Data, err = readAll(r, want); err != nil {
		return nil, fmt.Errorf("%d x %d elements of %d bytes take %d bytes, but %w", m.Rows, m.Columns, m.Width, want, err)
	}
	if bigEndian {
		for i := 0; i < len(m.Data); i += m.Width {
			reverse(m.Data[i : i+m.Width])
		}
	}
	if fortran {
		m.Data = transposed(m.Data, m.Columns, m.Rows, m.Width)
	}
	return m, nil
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
	if got, _ := io.ReadFull(r, make([]byte, 1)); got > 0 {
		return nil, errors.New("there are more")
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
	typeName     = regexp.MustCompile(`^'([<>=|])([fu])([1248])'$`)
)

// parseHeader reads the dictionary.
func parseHeader(header string) (m *Matrix, bigEndian, fortran bool, err error) {
	fail := func(format string, args ...any) (*Matrix, bool, bool, error) {
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
	if t == nil || t[2] == "f" && t[3] == "1" {
		return fail("elements of type %.40s: only floating-point numbers (f2, f4, f8) and unsigned integers (u1, u2, u4, u8) are read", descr)
	}
	m = &Matrix{Float: t[2] == "f", Width: int(t[3][0] - '0')}
	var sides []int
	for _, s := range strings.Split(shape, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > maxSide {
			return fail("the shape (%.60s) is not that of a matrix", shape)
		}
		sides = append(sides, n)
	}
	if len(sides) != 2 {
		return fail("the shape (%.60s) has %d dimensions; a matrix has 2", shape, len(sides))
	}
	m.Rows, m.Columns = sides[0], sides[1]
	return m, t[1] == ">", order == "True", nil
}

func reverse(b []byte) {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
}

// transposed returns a matrix of rows x columns elements with rows and columns exchanged.
func transposed(data []byte, rows, columns, width int) []byte {
	out := make([]byte, len(data))
	for i := range rows {
		for j := range columns {
			copy(out[(j*rows+i)*width:][:width], data[(i*columns+j)*width:])
		}
	}
	return out
}

// Write writes a matrix, in version 1.0.
func Write(w io.Writer, m *Matrix) error {
	kind := "u"
	if m.Float {
		kind = "f"
	}
	order := "<"
	if m.Width == 1 {
		order = "|"
	}
	header := fmt.Sprintf("{'descr': '%s%s%d', 'fortran_order': False, 'shape': (%d, %d), }", order, kind, m.Width, m.Rows, m.Columns)
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
