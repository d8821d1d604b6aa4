package bundle

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// InferCommand returns the command that looks for the arithmetic of a unit and writes what it
// finds to a directory.
func InferCommand(target, instruction, out string) string {
	return readable.ShellCommand("mmafuzz", "infer", "--target", target, "--inst", instruction, "--out", out)
}

const inferDirs = "infer-" // names of directories of inference begin with it

// InferDir returns the name of a directory for what is inferred of an instruction. number
// distinguishes pairs of targets, and side the units of a pair, where there are several.
func InferDir(number, instruction, side string) string {
	return inferDirs + number + readable.Slug(instruction) + side
}

// next returns the commands of a mismatch by which more can be found out. mismatch.json has
// them, and may be a stranger's: only those are shown that this program would have written.
func next(m *corpus.Mismatch) []string {
	return slices.DeleteFunc(slices.Clone(m.Next), func(command string) bool {
		return !infers(&m.A, command) && !infers(&m.B, command)
	})
}

// infers reports whether a command is one that looks for the arithmetic of a side.
func infers(s *corpus.SideRecord, command string) bool {
	recorded := s.Environment["recorded from"]
	if RunsCommand(recorded) {
		recorded = ""
	}
	for _, target := range []string{s.Target, recorded} {
		word, ok := strings.CutPrefix(command, strings.TrimSuffix(InferCommand(target, s.Instruction, "x"), "x"))
		if !ok || target == "" {
			continue
		}
		out := word
		if len(word) > 1 && strings.HasPrefix(word, "'") {
			out = strings.ReplaceAll(word[1:len(word)-1], `'\''`, "'")
		}
		dir := filepath.Base(out)
		if readable.ShellWord(out) == word && !strings.HasPrefix(out, "-") && strings.Contains(dir, inferDirs) && strings.Contains(dir, readable.Slug(s.Instruction)) {
			return true
		}
	}
	return false
}
