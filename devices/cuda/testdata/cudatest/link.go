//go:build linux && (amd64 || arm64)

package cudatest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"runtime"
	"strings"
	"unsafe"
)

// link turns PTX into machine code: an ELF file whose only code is the matrix
// instructions that a real one would have, with the PTX behind it for the fake driver.
func link(ptx *byte, code *unsafe.Pointer, size *uint64) uintptr {
	image := append(append(machineCode(text(ptx)), text(ptx)...), 0)
	*size = uint64(len(image))
	keep.Pin(&image[0]) // the driver's memory, for ever
	*code = unsafe.Pointer(&image[0])
	return 0
}

var keep runtime.Pinner

// opcodes are the low bits of instructions (package sass).
var opcodes = map[string]uint64{"HMMA": 0x23c, "DMMA": 0x23f, "QMMA": 0x27a, "HGMMA": 0x9f0, "QGMMA": 0x9f3, "FADD": 0x221}

// instructions returns the machine instructions that PTX becomes. Hopper has none for
// FP8 mma.sync.
func instructions(ptx string) []string {
	fp8 := strings.Contains(ptx, "e4m3") || strings.Contains(ptx, "e5m2")
	switch {
	case strings.Contains(ptx, "wgmma.mma_async") && fp8:
		return []string{"QGMMA"}
	case strings.Contains(ptx, "wgmma.mma_async"):
		return []string{"HGMMA"}
	case strings.Contains(ptx, ".f64.f64"):
		return []string{"DMMA"}
	case fp8 && strings.Contains(ptx, "sm_90"):
		return []string{"HMMA", "HMMA", "FADD", "FADD"}
	case fp8:
		return []string{"QMMA"}
	}
	return []string{"HMMA"}
}

// machineCode returns an ELF file for CUDA devices with one section of code. The file's
// length is in the padding of its identification, for fake_cuda.c.
func machineCode(ptx string) []byte {
	var code []byte
	for _, name := range instructions(ptx) {
		code = binary.LittleEndian.AppendUint64(code, opcodes[name])
		code = binary.LittleEndian.AppendUint64(code, 0)
	}
	const names = "\x00.text.kernel\x00.shstrtab\x00"
	const head, section = 64, 64
	at := uint64(head + len(code) + len(names))
	h := elf.Header64{Type: 2, Machine: uint16(elf.EM_CUDA), Version: 0x81, Shoff: at, Ehsize: head, Shentsize: section, Shnum: 3, Shstrndx: 2}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint32(h.Ident[8:], uint32(at)+3*section)
	var b bytes.Buffer
	for _, part := range []any{
		h, code, []byte(names), elf.Section64{},
		elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: 6, Off: head, Size: uint64(len(code)), Addralign: 16},
		elf.Section64{Name: uint32(strings.Index(names, ".shstrtab")), Type: uint32(elf.SHT_STRTAB), Off: head + uint64(len(code)), Size: uint64(len(names)), Addralign: 1},
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}
