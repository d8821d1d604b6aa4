package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// gpus returns lines about each GPU of the machine: what it can run.
func gpus() []Line {
	found := discover.Devices()
	if len(found) == 0 {
		return []Line{{"gpu", Absent, "no NVIDIA or AMD GPU was found", "simulators, references and recordings need none"}}
	}
	var lines []Line
	for _, d := range found {
		lines = append(lines, oneGPU(&d)...)
	}
	return lines
}

// maxVulkan is how many Vulkan devices are looked at.
const maxVulkan = 8

// vulkan returns lines about each device of Vulkan's drivers: what it can run.
func vulkan() (lines []Line) {
	if _, imported := devices.Kinds()["vulkan"]; !imported {
		return nil
	}
	for n := range maxVulkan {
		d := &discover.Device{Kind: "vulkan", Target: fmt.Sprintf("vulkan:%d", n)}
		t, err := devices.Open(d.Target)
		if err == nil {
			env := t.Environment()
			d.Name, d.Driver = env["device"], env["driver"]
			lines = append(lines, oneGPU(d)...)
			t.Close() // after oneGPU, which opens the same child
			continue
		}
		ofDevice := strings.Contains(err.Error(), "its driver") // there may be others
		if ofDevice || n == 0 {
			lines = append(lines, Line{d.Target, Absent, err.Error(), simulatorsDo})
		}
		if !ofDevice {
			break
		}
	}
	return lines
}

// oneGPU opens a device as a target.
func oneGPU(d *discover.Device) []Line {
	detail := strings.Join(slices.DeleteFunc([]string{d.Name, d.Arch, d.Detail, d.Driver}, func(s string) bool { return s == "" }), ", ")
	switch {
	case d.Problem != "":
		return []Line{{d.Kind, Problem, d.Name + ": " + d.Problem, d.Remedy}}
	case d.Target == "":
		return []Line{{d.Kind, Absent, detail, "this version cannot run instructions on it"}}
	}
	t, err := devices.Open(d.Target)
	if err != nil {
		return []Line{{d.Target, Problem, detail + ": " + err.Error(), "look at the message; " + simulatorsDo}}
	}
	defer t.Close()
	rows := t.Instructions()
	able := slices.DeleteFunc(slices.Clone(rows), func(i mma.Instruction) bool { return i.Refuse != "" })
	lines := []Line{{d.Target, OK, fmt.Sprintf("%s: %s", detail, readable.Plural(len(able), "instruction")), ""}}
	if len(able) > 0 {
		if _, err := t.Open(&able[0]); err != nil {
			lines[0] = Line{d.Target, Problem, detail + ": " + err.Error(), "mmafuzz doctor --checklist DIR tries every instruction; " + simulatorsDo}
		}
	}
	if state := stateOf(d); state != "" {
		lines = append(lines, Line{d.Target, OK, state, ""})
	}
	if d.Kind == "amd" && lines[0].State == OK {
		lines = append(lines, Line{d.Target, Absent, "its kernels are compiled and inspected, and nobody has reported a run on hardware yet",
			"mmafuzz kit, and send its file"})
	}
	return append(lines, unable(d.Target, rows)...)
}

// stateOf says how a GPU is at the moment; "" if that is not known.
func stateOf(d *discover.Device) string {
	if d.Clocks == "" && d.ECC == "" && d.Throttle == "" {
		return ""
	}
	var parts []string
	for _, p := range []struct{ label, text string }{
		{"", d.UUID}, {"VBIOS ", d.VBIOS}, {"", d.Clocks}, {"ECC since the driver was loaded: ", d.ECC}, {"throttle reasons: ", d.Throttle},
	} {
		if p.text != "" {
			parts = append(parts, p.label+p.text)
		}
	}
	return strings.Join(parts, "; ")
}

const simulatorsDo = "simulators and recordings need no GPU"

// unable groups the instructions that a device does not run by the reason.
func unable(target string, rows []mma.Instruction) []Line {
	names := map[string][]string{}
	for _, i := range rows {
		if i.Refuse != "" {
			names[i.Refuse] = append(names[i.Refuse], i.Name)
		}
	}
	var lines []Line
	for _, why := range slices.Sorted(maps.Keys(names)) {
		some := names[why]
		text := some[0]
		if len(some) > 1 {
			text = fmt.Sprintf("%s and %d more", some[0], len(some)-1)
		}
		lines = append(lines, Line{target, Absent, text + ": " + why, ""})
	}
	return lines
}
