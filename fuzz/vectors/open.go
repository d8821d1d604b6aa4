package vectors

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Decide says to people how to find out whether a value that a set left open computes the same function:
// a proof takes longer than the search of a set has time for. nil if there is none.
func Decide(sets []*vectors.Set) []document.Block {
	for _, s := range sets {
		arch, name, _ := strings.Cut(s.Instruction, "/")
		if _, err := mma.Lookup(arch, name); err != nil {
			continue // a model file's, which has no base
		}
		for _, p := range s.Parameters {
			if len(p.Open) == 0 || strings.Contains(p.Path, "+") {
				continue
			}
			set, _ := json.Marshal(map[string]string{p.Path: p.Open[0]})
			return []document.Block{
				document.Text(fmt.Sprintf("Whether an open value computes the same function, a proof decides. Of %s those of %s, for example, are open (%s): with this as other.json",
					s.Instruction, p.Path, strings.Join(p.Open[:min(3, len(p.Open))], ", "))),
				document.Indent(2, document.Pre(fmt.Sprintf(`{"v": 1, "base": %q, "set": %s}`, s.Instruction, set))),
				document.Command(fmt.Sprintf("mmafuzz prove sim:%s model:other.json", s.Instruction)),
			}
		}
	}
	return nil
}
