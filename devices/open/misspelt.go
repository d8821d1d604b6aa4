package open

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices"
)

// OrMisspelt returns the error of a misspelt target or instruction, or err if both are
// right: the user should hear of the misspelling before what is missing beside it. It looks
// only at targets that cost nothing to open.
func OrMisspelt(name, inst string, err error) error {
	target, own := devices.Split(name)
	if own != "" {
		inst = own
	}
	kind, _, _ := strings.Cut(target, ":")
	if _, known := devices.Kinds()[kind]; name == "" || known && kind != "sim" && kind != "ref" {
		return err
	}
	t, wrong := Target(target)
	if wrong != nil {
		return wrong
	}
	defer t.Close()
	if inst != "" && t.Instructions() != nil {
		if _, wrong := devices.Find(t, inst); wrong != nil {
			return hint.Add(wrong, "%s", InstructionHint(t, inst))
		}
	}
	return err
}
