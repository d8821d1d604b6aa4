package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// serve speaks the binary mode of an exec: child (go doc ./devices/exec) for one unit.
func serve(r io.Reader, w io.Writer, u *unit) error {
	if _, err := io.WriteString(w, header(u)); err != nil {
		return err
	}
	in, d := bufio.NewReader(r), newDot(u)
	for {
		var q [9]uint32 // magic, id, instruction, M, N, K, tiles, bytes, CRC
		head := make([]byte, 36)
		if _, err := io.ReadFull(in, head); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for i := range q {
			q[i] = binary.LittleEndian.Uint32(head[4*i:])
		}
		if string(head[:4]) != "mmaQ" || q[7] > 64<<20 {
			return fmt.Errorf("no request: %x", head)
		}
		payload := make([]byte, q[7])
		if _, err := io.ReadFull(in, payload); err != nil {
			return err
		}
		answer := []byte("mmaD")
		answer = binary.LittleEndian.AppendUint32(answer, q[1])
		answer = append(answer, make([]byte, 12)...)
		answer = u.tiles(answer, payload, int(q[3]), int(q[4]), int(q[6]), d)
		binary.LittleEndian.PutUint32(answer[12:], uint32(len(answer)-20))
		binary.LittleEndian.PutUint32(answer[16:], crc32.ChecksumIEEE(answer[20:]))
		if _, err := w.Write(answer); err != nil {
			return err
		}
	}
}

func header(u *unit) string {
	c := "none"
	if u.formats[2] != nil {
		c = u.formats[2].name
	}
	line := fmt.Sprintf("mmafuzz-exec 1 binary\ninstruction %s k=%d a=%s b=%s c=%s d=%s", u.name, u.k, u.formats[0].name, u.formats[1].name, c, u.formats[3].name)
	if u.scale != nil {
		line += fmt.Sprintf(" scale=%s block=%d", u.scale.name, u.block)
	}
	return line + "\nready\n"
}

// tiles appends D of tiles of M by N dot products.
func (u *unit) tiles(out, in []byte, m, n, tiles int, d *dot) []byte {
	matrix := func(f *format, count int) (part []byte, width int) {
		if f == nil || count == 0 {
			return nil, 0
		}
		part, in = in[:count*f.bytes], in[count*f.bytes:]
		return part, f.bytes
	}
	a, wa := matrix(u.formats[0], tiles*m*u.k)
	b, wb := matrix(u.formats[1], tiles*n*u.k)
	c, wc := matrix(u.formats[2], tiles*m*n)
	sa, ws := matrix(u.scale, tiles*m*len(d.sa))
	sb, _ := matrix(u.scale, tiles*n*len(d.sb))
	for t := range tiles {
		for i := range m {
			row(d.a, a, t*m+i, wa)
			row(d.sa, sa, t*m+i, ws)
			for j := range n {
				row(d.b, b, t*n+j, wb)
				row(d.sb, sb, t*n+j, ws)
				if c != nil {
					d.c = element(c, (t*m+i)*n+j, wc)
				}
				out = binary.LittleEndian.AppendUint64(out, u.dot(d))
				out = out[:len(out)-8+u.formats[3].bytes]
			}
		}
	}
	return out
}

// row reads the codes of row number i of a matrix.
func row(to []uint64, from []byte, i, width int) {
	for k := range to {
		to[k] = element(from, i*len(to)+k, width)
	}
}

func element(from []byte, i, width int) (code uint64) {
	for n := range width {
		code |= uint64(from[i*width+n]) << (8 * n)
	}
	return code
}
