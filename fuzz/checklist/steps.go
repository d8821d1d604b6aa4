package checklist

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/cuda"
	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/fuzz/record"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// step is a part of the checklist.
type step struct {
	name  string
	title string
	share float64 // weight, among this step and those after it, by which the time left is divided
	parts func(r *run) []part
}

// steps are in the order in which they are run.
var steps = []step{
	{"loader", "Device and driver", 1, (*run).loader},
	{"kernels", "Kernels", 12, (*run).kernels},
	{"self-test", "Self-tests", 20, (*run).selfTests},
	{"questions", "Open questions", 6, (*run).questions},
	{"recordings", "Recordings", 8, (*run).recordings},
	{"differential", "Differential run", 35, (*run).differential},
	{"interface", "By another interface", 8, (*run).interfaces},
	{"inference", "Inference", 10, (*run).inference},
	{"speed", "Speed", 8, (*run).speed},
}

// loader notes the device, and whether the system knows it too.
func (r *run) loader() []part {
	return []part{{"environment", 1, func(time.Duration) (Row, error) {
		env := map[string]string{}
		maps.Copy(env, r.Environment)
		maps.Copy(env, r.Target.Environment())
		var words []string
		for _, k := range []string{"device", "chip", "driver-api", "driver", "uuid", "kind"} {
			if env[k] != "" {
				words = append(words, k+" "+env[k])
			}
		}
		return Row{Text: strings.Join(words, ", "), Data: env}, nil
	}}, {"discovery", 1, func(time.Duration) (Row, error) {
		found := discover.Devices()
		uuid := r.Target.Environment()["uuid"]
		if uuid == "" || strings.HasPrefix(r.Target.Name(), "vulkan:") { // its UUIDs are Vulkan's own
			return Row{State: Skipped, Text: fmt.Sprintf("%d GPUs on this machine; the target is not one that the system names", len(found)), Data: found}, nil
		}
		for _, d := range found {
			if d.UUID == uuid && d.Problem == "" {
				return Row{Text: fmt.Sprintf("the system knows it as %s, driver %s", d.Name, d.Driver), Data: found}, nil
			}
		}
		return Row{State: Differs, Text: "the system knows no usable GPU with this UUID", Data: found}, nil
	}}}
}

// kernels compiles every kernel: by the driver those of the target, by ptxas those of all
// chips.
func (r *run) kernels() []part {
	if r.checker == nil {
		return none("the target runs no kernels of ours")
	}
	kernels, err := r.checker()
	if err != nil {
		return []part{{"-", 1, func(time.Duration) (Row, error) { return Row{}, err }}}
	}
	var all []part
	for n := range r.rows {
		i := &r.rows[n]
		all = append(all, part{i.Name, 1, func(time.Duration) (Row, error) {
			text, err := kernels.Accept(i, filepath.Join(r.Dir, "code"))
			return Row{Text: text}, err
		}})
	}
	chips := cuda.Chips(r.ctx)
	for _, chip := range chips {
		all = append(all, part{"ptxas " + chip, 1, func(time.Duration) (Row, error) { return r.assemble(kernels, chip) }})
	}
	if len(chips) == 0 {
		absent := none("there is no ptxas on the path")
		absent[0].key = "ptxas"
		all = append(all, absent...)
	}
	return all
}

// assemble has ptxas assemble all kernels of a chip.
func (r *run) assemble(kernels *cuda.Checker, chip string) (Row, error) {
	a, err := kernels.Assemble(r.ctx, chip, filepath.Join(r.Dir, "listings"))
	if err != nil {
		return Row{Data: a.Refused}, err
	}
	row := Row{Text: fmt.Sprintf("%d kernels assembled", a.Assembled)}
	if a.Later > 0 {
		row.Text += fmt.Sprintf(", %d need a later ptxas", a.Later)
	}
	if len(a.Refused) > 0 {
		row.State, row.Data = Differs, a.Refused
		row.Text += fmt.Sprintf(", %d refused", len(a.Refused))
	}
	return row, nil
}

// selfTests opens every instruction, which tests it.
func (r *run) selfTests() []part {
	return r.each(func(_ *mma.Instruction, u devices.Unit, _ time.Duration) (Row, error) {
		row := Row{Text: "it answers"}
		p, ok := u.(devices.Provenance)
		if !ok {
			return row, nil
		}
		env := p.Environment()
		row.Data = env
		if env["self-test"] != "" {
			row.Text = env["self-test"]
		}
		if env["code"] != "" {
			row.Text += "; code: " + env["code"]
		}
		if strings.HasPrefix(env["self-test"], "FAILED") {
			row.State = Differs
		}
		return row, nil
	})
}

// recordings records every instruction by the plan. A recording that was begun before goes
// on where it was.
func (r *run) recordings() []part {
	return []part{{r.Plan, 1, func(limit time.Duration) (Row, error) {
		plan, err := corpus.OpenPlan(r.Plan)
		if err != nil {
			return Row{}, err
		}
		ctx, stop := context.WithTimeout(r.ctx, limit)
		defer stop()
		file := filepath.Base(r.Plan) + corpus.RecordingExt
		res, err := record.Run(ctx, record.Config{Target: &chosen{r.Target, r.rows}, Plan: plan, Name: r.Name, File: filepath.Join(r.Dir, file), Environment: r.Environment})
		switch {
		case errors.Is(err, corpus.ErrOtherRecording), errors.Is(err, corpus.ErrOtherVersion):
			return Row{}, fmt.Errorf("%w: remove %s to record again", err, file)
		case err != nil:
			return Row{}, err
		case !res.Complete:
			return Row{State: Skipped, Text: noTime, Data: res}, nil
		}
		row := Row{Data: res, Text: fmt.Sprintf("%d dot products of %s in %s, %d KiB", res.Done, readable.Plural(res.Instructions, "instruction"), file, res.Bytes>>10)}
		if res.GivenUp > 0 || res.Faults > 0 {
			row.State = Differs
			row.Text += fmt.Sprintf("; faults on %s, %s given up", readable.Plural(res.Faults, "output"), readable.Plural(res.GivenUp, "instruction"))
		}
		return row, nil
	}}}
}

// chosen is a target with some of its instructions.
type chosen struct {
	devices.Target
	rows []mma.Instruction
}

func (c *chosen) Instructions() []mma.Instruction { return c.rows }

// differential compares every instruction with what it should be equal to: on raw bits,
// then on the inputs of all other generators.
func (r *run) differential() []part {
	var directed []string
	for _, g := range gen.All() {
		if g.Name != "raw" {
			directed = append(directed, g.Name)
		}
	}
	var all []part
	for n := range r.rows {
		i := &r.rows[n]
		for _, p := range []struct {
			name       string
			generators []string
			weight     float64
		}{{"raw", []string{"raw"}, 0.6}, {"directed", directed, 0.4}} {
			all = append(all, r.about(i, i.Name+" "+p.name, p.weight, func(u devices.Unit, limit time.Duration) (Row, error) {
				pair, err := r.pair(i, u)
				if err != nil {
					return Row{State: Skipped, Text: err.Error()}, nil
				}
				return r.equal(pair, filepath.Join("differential", readable.Slug(i.Name), p.name), p.generators, limit)
			}))
		}
	}
	return all
}

// interfaces compares every instruction with the nearest one of the same device through
// another driver's interface.
func (r *run) interfaces() []part {
	if r.Same == nil {
		return none("no Vulkan driver shows this device")
	}
	return r.each(func(i *mma.Instruction, u devices.Unit, limit time.Duration) (Row, error) {
		ps, err := devices.Pairs(r.Target, r.Same, i.Name, "")
		if err != nil {
			return Row{State: Skipped, Text: err.Error()}, nil
		}
		p := ps[0]
		p.A = u
		other := p.TargetB + "/" + p.B.Instruction().Name
		row, err := r.equal(p, filepath.Join("interface", readable.Slug(i.Name)), nil, limit)
		if err != nil {
			return row, fmt.Errorf("%s: %w", other, err)
		}
		row.Text = other + ": " + row.Text
		return row, nil
	})
}
