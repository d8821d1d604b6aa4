// Package repro writes programs that run a dot product on an NVIDIA GPU and need
// nothing but its driver: one in C, which is valid CUDA C++ too, and one in Python, which
// needs no package. They contain the kernel as PTX text and its packed operands as words.
package repro

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/ptx"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() { gpu.RegisterReproducer(reproduce) }

// The programs. The parts that differ from case to case are at their top.
var (
	//go:embed program.cu.tmpl
	programC string
	//go:embed program.py.tmpl
	programPython string

	functions = template.FuncMap{
		"quote":  strconv.QuoteToASCII,
		"words":  func(w []string) string { return lines(w, ", ") },
		"tuples": func(w []string) string { return strings.NewReplacer("{", "(", "}", ")").Replace(lines(w, ", ")) },
		"lines":  func(s string) []string { return strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n") },
	}
	templateC      = template.Must(template.New("program.cu").Funcs(functions).Parse(programC))
	templatePython = template.Must(template.New("program.py").Funcs(functions).Parse(programPython))
)

// lines joins words, four in a line.
func lines(words []string, separator string) string {
	var s strings.Builder
	for n, w := range words {
		switch {
		case n > 0 && n%4 == 0:
			s.WriteString(strings.TrimRight(separator, " ") + "\n    ")
		case n > 0:
			s.WriteString(separator)
		}
		s.WriteString(w)
	}
	return s.String()
}

// program is what the templates take.
type program struct {
	File, Name, Header string
	Kernel             *gpu.Kernel
	*gpu.Listing
	Case   *gpu.Case
	Target string // as one line
	Other  string
	Digits int // of a code of D
}

// reproduce returns repro_SIDE.cu and repro_SIDE.py for a case, nil if the instruction is
// not one of NVIDIA's.
func reproduce(c *gpu.Case) (map[string][]byte, error) {
	arch, ok := mma.FindArch(c.Instruction.Arch)
	if !ok || !strings.HasPrefix(arch.Chip, "sm_") || c.Instruction.Conversion() {
		return nil, nil // not NVIDIA's, or without a kernel
	}
	m, n := ptx.Tile(c.Instruction, 1, 1)
	k, err := ptx.Kernel(c.Instruction, arch.Chip, m, n)
	if err != nil {
		return nil, err
	}
	l, err := c.List(k)
	if err != nil {
		return nil, err
	}
	p := &program{
		Name: c.Instruction.FullName(), Kernel: k, Listing: l, Case: c,
		Target: gpu.OneLine(c.Target), Other: gpu.OneLine(c.Other), Digits: c.Instruction.D.Get().Digits(),
	}
	files := map[string][]byte{}
	for _, kind := range []struct {
		suffix, mark string
		text         *template.Template
	}{{"cu", "//", templateC}, {"py", "#", templatePython}} {
		p.File = fmt.Sprintf("repro_%s.%s", c.Side, kind.suffix)
		p.Header = c.Describe(kind.mark)
		var b bytes.Buffer
		if err := kind.text.Execute(&b, p); err != nil {
			return nil, err
		}
		files[p.File] = b.Bytes()
	}
	return files, nil
}
