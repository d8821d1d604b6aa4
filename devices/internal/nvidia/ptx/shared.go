package ptx

import "github.com/mmafuzz/mmafuzz/devices/gpu"

// Operands in shared memory, for wgmma and tcgen05 without swizzling, K-major: a row of A,
// or column of B, has 32 bytes, and 8 of them make two core matrices of 8 rows of 16
// bytes. Byte b of row r is at r/8*strideBytes + b/16*leadingBytes + r%8*16 + b%16
// (PTX ISA, "Canonical Layouts").
const (
	leadingBytes = 128 // from a core matrix to the next along K
	strideBytes  = 256 // from 8 rows to the next 8
	rowBytes     = 32
)

// descriptor is a matrix descriptor without its address: the two strides.
const descriptor = leadingBytes>>4<<16 | strideBytes>>4<<32

// matrix is an operand in shared memory.
type matrix struct {
	at, rows int // its first byte in the packed buffer, and its number of rows
}

// matrix makes room for an operand of rows rows of k elements. Elements of w bits
// are packed into runs of 16 bytes; if the 16 elements of a run take less, the rest of it
// is padding (kind::f8f6f4 with FP6 and FP4).
func (b *buffer) matrix(role gpu.Role, w, rows, k int) matrix {
	x := matrix{b.bytes, rows}
	b.bytes += rows * rowBytes
	run := k / 2 // elements in 16 bytes
	b.add(role, w, 0, rows, k, func(r, k int) int {
		return 8*(x.at+r/8*strideBytes+k/run*leadingBytes+r%8*16) + k%run*w
	})
	return x
}

// fill writes the copying of matrices, which follow one another from the beginning of the
// packed buffer on, to shared memory: 16 bytes for each thread at a time. The register base
// holds the address of the tile, %shared that of the shared memory, %lane the thread.
func (m *module) fill(base string, threads int, all ...matrix) {
	bytes := 0
	for _, x := range all {
		bytes += x.rows * rowBytes
	}
	m.op("mad.lo.u32 %%to, %%lane, 16, %%shared")
	m.op("mad.wide.u32 %%from, %%lane, 16, %s", base)
	for at := 0; at < bytes; at += 16 * threads {
		guard := ""
		if rest := (bytes - at) / 16; rest < threads {
			m.op("setp.lt.u32 %%some, %%lane, %d", rest)
			guard = "@%some "
		}
		m.op("%sld.global.v4.b32 {%%v0, %%v1, %%v2, %%v3}, [%%from+%d]", guard, at)
		m.op("%sst.shared.v4.b32 [%%to+%d], {%%v0, %%v1, %%v2, %%v3}", guard, at)
	}
	m.op("fence.proxy.async.shared::cta")
}

// describe puts the descriptor of a matrix into a register.
func (m *module) describe(reg string, x *matrix, flags uint64) {
	m.op("add.u32 %%to, %%shared, %d", x.at)
	m.op("shr.u32 %%to, %%to, 4")
	m.op("cvt.u64.u32 %s, %%to", reg)
	m.op("or.b64 %s, %s, 0x%x", reg, reg, descriptor|flags)
}
