package study

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// gemmKernel is a kernel that was named.
type gemmKernel struct {
	name    string
	kernel  *schedule.Kernel
	unit    *mma.Instruction // of all schedules that have none of their own
	target  devices.Unit     // that executes unit; nil: its model
	product *product
	box     map[int]devices.Unit // of a black box: by K
}

// options say how a kernel is computed.
func (k *gemmKernel) options(r *Request) gemm.Options {
	opt := gemm.Options{Workers: r.Workers}
	if k.target != nil {
		opt.Open = func(i *mma.Instruction) (gemm.Unit, error) {
			if i == k.unit {
				return k.target, nil
			}
			return nil, nil
		}
	}
	return opt
}

// splitKernel cuts TARGET/INSTRUCTION@SCHEDULE. target is "" for a schedule with its own unit.
func splitKernel(spec string) (target, schedule string) {
	if strings.HasSuffix(spec, ".json") && !strings.Contains(spec, "@") && !strings.Contains(spec, ":") || isNamed(spec) {
		return "", spec
	}
	if at := strings.LastIndex(spec, "@"); at > 0 && !strings.HasPrefix(spec, "exec:") {
		return spec[:at], spec[at+1:]
	}
	return spec, ""
}

func isNamed(name string) bool {
	_, err := schedule.Named(name)
	return err == nil
}

// scheduleOf returns the schedule of a name or file.
func scheduleOf(name string) (*schedule.Kernel, error) {
	if !strings.HasSuffix(name, ".json") {
		return schedule.Named(name)
	}
	text, err := corpus.ReadFile(name, "schedule", 1<<24)
	if err != nil {
		return nil, err
	}
	k, err := schedule.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return k, nil
}

// kernels opens the kernels that are named. done closes their targets.
func (g *gemmStudy) kernels(ctx context.Context, r *Request) (all []*gemmKernel, done func(), err error) {
	if len(r.Targets) == 0 {
		return nil, nil, errors.New("name the kernels, such as sim:hopper/mma.m16n8k16.f32.f16.f16.f32, ref:exact or deepgemm")
	}
	var opened []func()
	closeAll := func() {
		for _, d := range opened {
			d()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	var references []string
	for _, spec := range r.Targets {
		if strings.HasPrefix(spec, "ref:") { // they take the formats of the others
			references = append(references, spec)
			continue
		}
		ks, d, err := g.named(ctx, r, spec)
		if err != nil {
			return nil, nil, err
		}
		opened = append(opened, d)
		all = append(all, ks...)
	}
	for _, spec := range references {
		ks, d, err := g.reference(spec, all)
		if err != nil {
			return nil, nil, err
		}
		opened = append(opened, d)
		all = append(all, ks...)
	}
	return all, closeAll, nil
}

// named opens a kernel that is no reference.
func (g *gemmStudy) named(ctx context.Context, r *Request, spec string) ([]*gemmKernel, func(), error) {
	target, name := splitKernel(spec)
	if name == "" {
		name = g.schedule
	}
	k, err := scheduleOf(name)
	if err != nil {
		return nil, nil, err
	}
	if target == "" {
		if k.NeedsUnit() {
			return nil, nil, fmt.Errorf("the schedule %s has no unit: name one as TARGET/INSTRUCTION@%s", name, name)
		}
		_, u, err := unitOf(k)
		return []*gemmKernel{{name: spec, kernel: k, unit: u}}, func() {}, err
	}
	if strings.HasPrefix(target, "exec:") {
		t, err := devices.Open(target)
		if err != nil {
			return nil, nil, err
		}
		box, err := boxOf(t)
		if box != nil {
			return []*gemmKernel{box}, func() { t.Close() }, nil
		}
		t.Close()
		if err != nil {
			return nil, nil, err
		}
	}
	one := *r
	one.Targets = []string{target}
	units, done, err := one.askable(ctx, chains)
	if err != nil {
		return nil, nil, err
	}
	var all []*gemmKernel
	for _, u := range units {
		all = append(all, g.on(u, k, spec))
	}
	return all, done, nil
}

// unitOf returns the unit of a kernel's first schedule.
func unitOf(k *schedule.Kernel) (*schedule.Unit, *mma.Instruction, error) {
	u := k.Unit
	if own := k.Schedules[0].Unit; own != nil {
		u = own
	}
	i, err := u.Resolve()
	return u, i, err
}

// on makes a kernel of a target's unit and a schedule.
func (g *gemmStudy) on(u unit, k *schedule.Kernel, spec string) *gemmKernel {
	c := *k
	c.Unit = &schedule.Unit{Given: u.inst()}
	name := u.name
	if _, s, ok := strings.Cut(spec, "@"); ok {
		name += "@" + s
	}
	return &gemmKernel{name: name, kernel: &c, unit: u.inst(), target: u.Unit}
}

// reference opens a reference for the formats of other kernels.
func (g *gemmStudy) reference(spec string, others []*gemmKernel) ([]*gemmKernel, func(), error) {
	target, name := splitKernel(spec)
	if name == "" {
		name = g.schedule
	}
	k, err := scheduleOf(name)
	if err != nil {
		return nil, nil, err
	}
	if len(others) == 0 {
		return nil, nil, errors.New("reference arithmetic alone has no formats: name an instruction of another target beside it")
	}
	var like []unit
	for _, o := range others {
		u := o.target
		if u == nil {
			if u, err = simulated.Open(o.unit); err != nil {
				return nil, nil, err
			}
		}
		like = append(like, unit{Unit: u})
	}
	t, err := devices.Open(target)
	if err != nil {
		return nil, nil, err
	}
	var all []*gemmKernel
	for _, u := range unitsLike(t, like) {
		if chains(u.inst()) {
			all = append(all, g.on(u, k, spec))
		}
	}
	return all, func() { t.Close() }, nil
}
