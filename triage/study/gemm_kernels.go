package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
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

// nearSchedules returns the schedules of the literature that a name may have been meant for which no
// target has.
func nearSchedules(name string) (near []string) {
	if _, known := mma.FindArch(name); known {
		return nil
	}
	var names []string
	for _, k := range schedule.Literature() {
		names = append(names, k.Name)
	}
	return hint.Nearest(name, names)
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
		return nil, hint.Add(fmt.Errorf("%s: %w", name, err), "a model file is named as model:%s (mmafuzz help model); what a schedule has, mmafuzz help schedules says", name)
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
	if near := nearSchedules(spec); err != nil && near != nil {
		err = hint.New(hint.DidYouMean(near)+"mmafuzz gemm --list lists the schedules", "there is no target and no schedule %q", spec)
	}
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
	u := k.FirstUnit()
	i, err := u.Resolve()
	if err != nil {
		return nil, nil, err
	}
	return u, k.Operands(i), nil
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

// result is the format of the elements of D, which is the same for all shapes.
func (k *gemmKernel) result() fp.ID {
	if k.kernel == nil {
		return k.unit.D
	}
	c := *k.kernel
	c.When = schedule.When{}
	plans, err := c.PlansAt(schedule.Shape{M: 1, N: 1, K: 1}, schedule.Given{}, [][2]int{{0, 0}})
	if err != nil {
		return k.unit.D
	}
	return plans[0].D
}

// side makes a kernel a side of a comparison.
func (k *gemmKernel) side(r *Request) *kernel.Side {
	s := &kernel.Side{Name: k.name, Unit: k.unit, Kernel: k.kernel, Options: k.options(r), Box: k.box}
	s.Options.Workers = 1 // products are computed at the same time
	_, model := k.target.(interface{ Simulator() *sim.Model })
	s.Modelled = k.kernel != nil && (k.target == nil || model)
	return s
}

// boxOf makes a black box of the instructions of a target that have no C: each is a product
// of one K.
func boxOf(t devices.Target) (*gemmKernel, error) {
	k := &gemmKernel{name: t.Name(), box: map[int]devices.Unit{}}
	rows := t.Instructions()
	for n := range rows {
		i := &rows[n]
		if i.C != fp.None || i.Refuse != "" {
			continue
		}
		if k.unit != nil && (!sameOperands(k.unit, i) || k.unit.D != i.D) {
			return nil, fmt.Errorf("%s has products of %s and of %s: leave one of them to it", t.Name(), k.unit.Formats, i.Formats)
		}
		u, err := t.Open(i)
		if err != nil {
			return nil, err
		}
		k.unit, k.box[i.K] = i, u
	}
	if k.unit == nil {
		return nil, nil
	}
	return k, nil
}

// IsKernel reports whether a word names a kernel: a schedule, or an instruction and a schedule.
func IsKernel(word string) bool {
	_, schedule := splitKernel(word)
	return schedule != ""
}

// AreProducts reports whether two targets are black boxes with products of matrices alone, which are too
// long for programs: only a schedule says how they are summed.
func AreProducts(a, b string) bool {
	return isProduct(a) && isProduct(b)
}

func isProduct(spec string) bool {
	if !strings.HasPrefix(spec, "exec:") {
		return false
	}
	t, err := devices.Open(spec)
	if err != nil {
		return false // whoever uses it says why
	}
	defer t.Close()
	rows := t.Instructions()
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(i mma.Instruction) bool { return i.C != fp.None || i.K <= mma.MaxK || i.Refuse != "" })
}

// Sides opens two kernels or black boxes to compare them. A kernel comes first: what differs can be
// explained by its schedule. done closes their targets.
func Sides(ctx context.Context, a, b string) (sides [2]*kernel.Side, done func(), err error) {
	g := &gemmStudy{schedule: "plain"}
	r := &Request{Targets: []string{a, b}, unstable: new([]string)}
	all, done, err := g.kernels(ctx, r)
	if err != nil {
		return sides, nil, err
	}
	if all[0].box != nil && len(all) == 2 && all[1].box == nil {
		slices.Reverse(all)
	}
	switch x := all[0]; {
	case len(all) != 2:
		err = fmt.Errorf("%s and %s are %d kernels: name one instruction of each", a, b, len(all))
	case x.unit.A != all[1].unit.A || x.unit.B != all[1].unit.B: // scales are looked at where they are drawn
		err = fmt.Errorf("%s takes %s, and %s takes %s: they cannot be compared", x.name, x.unit.Formats, all[1].name, all[1].unit.Formats)
	case x.result() != all[1].result():
		err = fmt.Errorf("%s gives %s, and %s gives %s: they cannot be compared", x.name, x.result(), all[1].name, all[1].result())
	}
	if err != nil {
		done()
		return sides, nil, err
	}
	return [2]*kernel.Side{all[0].side(r), all[1].side(r)}, done, nil
}
