// Package sass reads the machine code of NVIDIA's GPUs just far enough to say which
// instructions do the arithmetic of a kernel: whether a matrix instruction of PTX is one
// in machine code too, or is emulated by other instructions.
//
// An instruction takes 16 bytes. The low 12 bits of its first 8 bytes are the
// opcode with the kinds of its operands; some need a few bits more.
//
// # Adding an opcode
//
// Opcodes are rows of the table in opcode.go, confirmed by a disassembler: the test
// compares the table with NVIDIA's nvdisasm if it is installed.
package sass

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Counts is how often each mnemonic of the table occurs in a piece of code.
type Counts map[string]int

// Scan counts the instructions of arithmetic in all functions of an ELF file, as
// the driver's linker or ptxas writes it.
func Scan(file []byte) (Counts, error) {
	functions, err := Functions(file)
	if err != nil {
		return nil, err
	}
	all := Counts{}
	for _, f := range functions {
		for name, n := range f {
			all[name] += n
		}
	}
	return all, nil
}

// Functions counts the instructions of each function of a file. Functions that the compiler
// calls to emulate an instruction are part of the function that calls them.
func Functions(file []byte) (map[string]Counts, error) {
	f, err := elf.NewFile(bytes.NewReader(plain(file)))
	if err != nil {
		return nil, fmt.Errorf("machine code: %w", err)
	}
	if f.Machine != elf.EM_CUDA {
		return nil, fmt.Errorf("machine code: the file is for %s, not for a CUDA device", f.Machine)
	}
	functions := map[string]Counts{}
	for _, s := range f.Sections {
		name, ok := strings.CutPrefix(s.Name, ".text.")
		if !ok {
			continue
		}
		code, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("machine code: section %s: %w", s.Name, err)
		}
		functions[name] = Counts{}
		functions[name].add(code)
	}
	if len(functions) == 0 {
		return nil, errors.New("machine code: the file has no .text section")
	}
	return functions, nil
}

// plain returns a file with ELF's version in its header: up to Hopper the header has the
// toolkit's version, which package elf refuses.
func plain(file []byte) []byte {
	const at = 20 // e_version
	if len(file) < at+4 || file[elf.EI_VERSION] != byte(elf.EV_CURRENT) || elf.Data(file[elf.EI_DATA]) != elf.ELFDATA2LSB {
		return file
	}
	file = bytes.Clone(file)
	binary.LittleEndian.PutUint32(file[at:], uint32(elf.EV_CURRENT))
	return file
}

// add counts the instructions of a section.
func (c Counts) add(code []byte) {
	for ; len(code) >= 16; code = code[16:] {
		if name := mnemonic(binary.LittleEndian.Uint64(code), binary.LittleEndian.Uint64(code[8:])); name != "" {
			c[name]++
		}
	}
}

// String writes the mnemonics with their numbers, matrix instructions first.
func (c Counts) String() string {
	var words []string
	seen := map[string]bool{}
	for _, o := range opcodes {
		if c[o.name] > 0 && !seen[o.name] {
			words = append(words, fmt.Sprintf("%s %d", o.name, c[o.name]))
		}
		seen[o.name] = true
	}
	if words == nil {
		return "no instruction of arithmetic that is known"
	}
	return strings.Join(words, ", ")
}

// Native reports whether a mnemonic that matches the pattern (gpu.Kernel.Needs) is
// among those counted.
func (c Counts) Native(needs string) bool {
	re, err := regexp.Compile(needs)
	if err != nil || needs == "" {
		return false
	}
	for name := range c {
		if re.MatchString(name) {
			return true
		}
	}
	return false
}

// Verdict says on one line whether the code has the instruction that is needed, and what it
// consists of: "native (QGMMA 1)" or "emulated (HMMA 2, FADD 4, F2FP 12)".
func (c Counts) Verdict(needs string) string {
	if c.Native(needs) {
		return fmt.Sprintf("native (%s)", c)
	}
	return fmt.Sprintf("emulated (%s)", c)
}
