package main

import (
	"encoding/json"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"

	// The kinds of targets.
	_ "github.com/mmafuzz/mmafuzz/devices/cpu"
	_ "github.com/mmafuzz/mmafuzz/devices/exec"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
)

// format describes a number format.
type format struct {
	Name  string `json:"name"`
	Width int    `json:"width"` // bytes of a code's container
	Bits  int    `json:"bits"`  // of a code
}

// unitInfo describes a unit.
type unitInfo struct {
	Target   string  `json:"target"`
	Name     string  `json:"name"`
	K        int     `json:"k"`
	A        format  `json:"a"`
	B        format  `json:"b"`
	C        *format `json:"c"`
	D        format  `json:"d"`
	Scale    *format `json:"scale"`
	Block    int     `json:"block"`
	Checked  bool    `json:"checked"` // its rule was compared with hardware
	Evidence string  `json:"evidence"`
	Source   string  `json:"source"`
}

func formatOf(id fp.ID) format {
	f := id.Get()
	return format{id.String(), int(f.Width), int(f.CodeBits())}
}

// optional is formatOf, nil for a format that an instruction does not have.
func optional(id fp.ID) *format {
	if id == fp.None {
		return nil
	}
	f := formatOf(id)
	return &f
}

func infoOf(target string, i *mma.Instruction) unitInfo {
	return unitInfo{
		Target: target, Name: i.Name, K: i.K, A: formatOf(i.A), B: formatOf(i.B), C: optional(i.C), D: formatOf(i.D),
		Scale: optional(i.Scale), Block: int(i.Block), Checked: i.Checked(), Evidence: i.Evidence, Source: i.Source,
	}
}

// listUnits describes the instructions of a target; of all simulators if target is "".
func listUnits(target string) ([]unitInfo, error) {
	var targets []string
	if target != "" {
		targets = []string{target}
	} else {
		for _, a := range mma.Archs {
			targets = append(targets, "sim:"+a.Name)
		}
	}
	all := []unitInfo{}
	for _, name := range targets {
		t, err := devices.Open(name)
		if err != nil {
			return nil, err
		}
		for _, i := range t.Instructions() {
			if i.Refuse == "" {
				all = append(all, infoOf(t.Name(), &i))
			}
		}
		if err := t.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// inJSON writes a value, which has nothing that JSON cannot hold.
func inJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
