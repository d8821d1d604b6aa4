package compare

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/triage"
)

// advice says how to find out more of a difference that nothing explains: a recorded unit can be asked
// for new inputs where it was recorded, which a recording cannot. No command is taken from a recording,
// which may be a stranger's. "" if there is nothing to ask.
func (r *Result) advice(d *Difference) (text, command string) {
	if r == nil || d.Bucket != string(triage.Unexplained) {
		return "", ""
	}
	type side struct{ machine, inst, other, otherInst string }
	sides := []side{{d.A, d.InstructionA, d.B, d.InstructionB}, {d.B, d.InstructionB, d.A, d.InstructionA}}
	if r.known(d.A, d.InstructionA) != "" {
		slices.Reverse(sides) // the one that is not known comes first
	}
	for _, s := range sides {
		target := r.askable(s.machine)
		if target == "" {
			continue
		}
		text = "ask " + s.machine + "'s unit, where it was recorded, for new inputs"
		if strings.HasPrefix(target, "exec:") {
			target, text = "exec:COMMAND", text+", COMMAND being the one that starts it"
		}
		if other := r.known(s.other, s.otherInst); other != "" {
			return text + ":", readable.ShellCommand("run", "--a", target, "--inst", s.inst, "--b", other)
		}
		return text + ":", readable.ShellCommand("infer", "--target", target, "--inst", s.inst)
	}
	return "", ""
}

// askable returns the target that a machine was recorded from, if it can be asked where that is.
func (r *Result) askable(machine string) string {
	i := slices.IndexFunc(r.Machines, func(m Machine) bool { return m.Name == machine && m.Recorded })
	if i < 0 {
		return ""
	}
	kind, _, _ := strings.Cut(r.Machines[i].Target, ":")
	if _, ok := devices.Kinds()[kind]; !ok || kind == "replay" || !finding.IsUnknown(r.Machines[i].Target) {
		return ""
	}
	return r.Machines[i].Target
}

// known returns a target anywhere that computes an instruction as a machine does; "" if there is none.
func (r *Result) known(machine, instruction string) string {
	for _, m := range r.Machines {
		if m.Name == machine && !m.Recorded {
			return m.Target
		}
	}
	for _, m := range r.Models {
		switch {
		case m.Machine != machine || m.Instruction != instruction || !m.Explained:
		case len(m.Changes) == 0:
			return m.baseOf(instruction)
		case len(m.Alike) > 0:
			return m.Alike[0]
		}
	}
	return ""
}
