package checklist

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// loader notes the device, and whether the system knows it too.
func (r *run) loader() error {
	err := r.do("environment", func() Row {
		env := maps.Clone(r.Environment)
		if env == nil {
			env = map[string]string{}
		}
		maps.Copy(env, r.Target.Environment())
		var words []string
		for _, k := range []string{"device", "chip", "driver-api", "driver", "uuid", "kind"} {
			if env[k] != "" {
				words = append(words, k+" "+env[k])
			}
		}
		return Row{State: OK, Text: strings.Join(words, ", "), Data: env}
	})
	if err != nil {
		return err
	}
	return r.do("discovery", func() Row {
		found := discover.Devices()
		uuid := r.Target.Environment()["uuid"]
		if uuid == "" {
			return Row{State: Skipped, Text: fmt.Sprintf("%d GPUs on this machine; the target is none of NVIDIA's", len(found)), Data: found}
		}
		for _, d := range found {
			if d.UUID == uuid && d.Problem == "" {
				return Row{State: OK, Text: fmt.Sprintf("the system knows it as %s, driver %s", d.Name, d.Driver), Data: found}
			}
		}
		return Row{State: Differs, Text: "the system knows no usable GPU with this UUID", Data: found}
	})
}

// Kernels is what the checklist does only with targets that run kernels.
type Kernels interface {
	// Accept has the driver compile and load every kernel of an instruction, and
	// writes their machine code to a directory. The text says which instructions it has.
	Accept(i *mma.Instruction, dir string) (text string, err error)
	// Chips returns the chips for which there is an assembler on this machine.
	Chips(ctx context.Context) []string
	// Assemble has the assembler assemble all kernels of a chip. If the chip is this
	// device's, it leaves listings of the machine code in a directory.
	Assemble(ctx context.Context, chip, dir string) (gpu.Assembly, error)
	// Time measures the parts of a launch of an instruction.
	Time(ctx context.Context, i *mma.Instruction) (*gpu.Timing, error)
}

// kernels compiles every kernel.
func (r *run) kernels() error {
	if r.checker == nil {
		return r.do("-", func() Row { return Row{State: Skipped, Text: "the target runs no kernels of ours"} })
	}
	kernels, err := r.checker()
	if err != nil {
		return r.do("-", func() Row { return Row{State: Failed, Text: err.Error()} })
	}
	for n := range r.rows {
		i := &r.rows[n]
		err := r.do(i.Name, func() Row {
			text, err := kernels.Accept(i, filepath.Join(r.Dir, "code"))
			if err != nil {
				return Row{State: Failed, Text: err.Error()}
			}
			return Row{State: OK, Text: text}
		})
		if err != nil {
			return err
		}
	}
	chips := kernels.Chips(r.ctx)
	if len(chips) == 0 {
		return r.do("ptxas", func() Row { return Row{State: Skipped, Text: "there is no ptxas on the path"} })
	}
	for _, chip := range chips {
		err := r.do("ptxas "+chip, func() Row {
			a, err := kernels.Assemble(r.ctx, chip, filepath.Join(r.Dir, "listings"))
			text := fmt.Sprintf("%d kernels assembled", a.Assembled)
			if a.Later > 0 {
				text += fmt.Sprintf(", %d need a later ptxas", a.Later)
			}
			switch {
			case err != nil:
				return Row{State: Failed, Text: err.Error(), Data: a.Refused}
			case len(a.Refused) > 0:
				return Row{State: Differs, Text: fmt.Sprintf("%s, %d refused", text, len(a.Refused)), Data: a.Refused}
			}
			return Row{State: OK, Text: text}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// selfTests opens every instruction, which tests it.
func (r *run) selfTests() error {
	return r.each(func(i *mma.Instruction, u devices.Unit) Row {
		row := Row{State: OK, Text: "it answers"}
		p, ok := u.(devices.Provenance)
		if !ok {
			return row
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
		return row
	})
}

// Comparison is the outcome of a campaign.
type Comparison struct {
	Dots       uint64            `json:"dots"`
	Mismatches uint64            `json:"mismatches"`
	Classes    map[string]uint64 `json:"classes"` // differing dot products by class
	Explained  string            `json:"explained,omitempty"`
	Buckets    []Bucket          `json:"buckets"`
}

// Bucket is a cause with its cases.
type Bucket struct {
	Name   string `json:"name"`
	Cases  uint64 `json:"cases"`
	Bundle string `json:"bundle,omitempty"` // directory, below the checklist's
}

// causes names the largest buckets.
func (c *Comparison) causes() string {
	const most = 4
	var names []string
	for _, b := range c.Buckets[:min(len(c.Buckets), most)] {
		names = append(names, b.Name)
	}
	if more := len(c.Buckets) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// differential compares every instruction with what it should be equal to: on raw bits,
// then on the inputs of all other generators.
func (r *run) differential() error {
	for n := range r.rows {
		i := &r.rows[n]
		slice := time.Until(r.until) / time.Duration(len(r.rows)-n)
		parts := []struct {
			name       string
			generators []string
			share      float64
		}{{"raw", []string{"raw"}, 0.6}, {"directed", directed(), 0.4}}
		for _, p := range parts {
			limit := time.Duration(float64(slice) * p.share)
			err := r.do(i.Name+" "+p.name, func() Row { return r.compare(i, p.name, p.generators, limit) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// directed returns the names of all generators but raw.
func directed() []string {
	var names []string
	for _, g := range gen.All() {
		if g.Name != "raw" {
			names = append(names, g.Name)
		}
	}
	return names
}

// compare runs one campaign.
func (r *run) compare(i *mma.Instruction, part string, generators []string, limit time.Duration) Row {
	u, err := r.unit(i)
	if err != nil {
		return Row{State: Failed, Text: err.Error()}
	}
	p, err := r.pair(i, u)
	if err != nil {
		return Row{State: Skipped, Text: err.Error()}
	}
	return r.campaign(p, filepath.Join("differential", readable.Slug(i.Name), part), generators, limit)
}

// campaign compares a pair, with its findings in a directory below the checklist's.
func (r *run) campaign(p devices.Pair, dir string, generators []string, limit time.Duration) Row {
	c, err := r.Compare(r.ctx, p, filepath.Join(r.Dir, dir), generators, r.Dots, max(limit, time.Second))
	if err != nil {
		return Row{State: Failed, Text: err.Error(), Data: c}
	}
	row := Row{State: OK, Text: fmt.Sprintf("equal in %d dot products", c.Dots), Data: c}
	if c.Mismatches > 0 {
		row.State = Differs
		row.Text = fmt.Sprintf("differs in %d of %d dot products: %s", c.Mismatches, c.Dots, c.causes())
		if c.Explained != "" {
			row.Text += "; " + c.Explained + " explains it"
		}
	}
	return row
}

// interfaces compares every instruction with the nearest one of the same device through
// another driver's interface.
func (r *run) interfaces() error {
	if r.Same == nil {
		return r.do("-", func() Row { return Row{State: Skipped, Text: "no Vulkan driver shows this device"} })
	}
	left := len(r.rows)
	return r.each(func(i *mma.Instruction, u devices.Unit) Row {
		limit := time.Until(r.until) / time.Duration(left)
		left--
		ps, err := devices.Pairs(r.Target, r.Same, i.Name, "")
		if err != nil {
			return Row{State: Skipped, Text: err.Error()}
		}
		p := ps[0]
		p.A = u
		row := r.campaign(p, filepath.Join("interface", readable.Slug(i.Name)), nil, limit)
		row.Text = p.TargetB + "/" + p.B.Instruction().Name + ": " + row.Text
		return row
	})
}

// pair pairs an instruction of the target with what it should be equal to.
func (r *run) pair(i *mma.Instruction, u devices.Unit) (devices.Pair, error) {
	if r.Against == nil {
		m, err := model(i)
		if err != nil {
			return devices.Pair{}, err
		}
		return devices.Pair{A: u, B: m, TargetA: r.Target.Name(), TargetB: "sim:" + i.Arch, K: i.K}, nil
	}
	ps, err := devices.Pairs(r.Target, r.Against, i.Name, "")
	if err != nil {
		return devices.Pair{}, err
	}
	ps[0].A = u
	return ps[0], nil
}

// model returns the simulator of an instruction.
func model(i *mma.Instruction) (devices.Unit, error) {
	if i.Params == (mma.Params{}) {
		return nil, fmt.Errorf("there is no simulator of %s", i.FullName())
	}
	return simulated.Open(i)
}

// partner returns the unit that an instruction should be equal to, if that has the same K;
// nil if there is none.
func (r *run) partner(i *mma.Instruction, u devices.Unit) devices.Unit {
	p, err := r.pair(i, u)
	if err != nil || p.B.Instruction().K != i.K {
		return nil
	}
	return p.B
}

// inference infers every instruction's arithmetic.
func (r *run) inference() error {
	if r.Infer == nil {
		return r.do("-", func() Row { return Row{State: Skipped, Text: "this program cannot infer arithmetics"} })
	}
	left := len(r.rows)
	return r.each(func(i *mma.Instruction, u devices.Unit) Row {
		limit := time.Until(r.until) / time.Duration(left)
		left--
		row, err := r.Infer(r.ctx, u, filepath.Join(r.Dir, "inference", readable.Slug(i.Name)), max(limit, time.Second))
		if err != nil {
			return Row{State: Failed, Text: err.Error(), Data: row.Data}
		}
		return row
	})
}
