package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/stability"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unit is a unit under study.
type unit struct {
	devices.Unit
	name string   // TARGET/INSTRUCTION; of the catalogue ARCH/INSTRUCTION
	like int      // other rows of the catalogue with the same arithmetic
	of   []string // architectures of these and its own, or its target
}

func (u *unit) inst() *mma.Instruction { return u.Instruction() }

// run runs the unit on dot products and returns the codes of D.
func (u *unit) run(ctx context.Context, in *mma.Batch) ([]uint64, error) {
	w, tile := in.D.Width(), in.M*in.N
	out := make([]byte, in.Dots()*w)
	at := 0
	err := inParts(in.Tiles, tile*in.K, func(part int) error {
		err := u.Run(ctx, in.Part(at, part), out[at*tile*w:(at+part)*tile*w])
		at += part
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.name, err)
	}
	codes := make([]uint64, in.Dots())
	for i := range codes {
		codes[i] = mma.Load(out, w, i)
	}
	return codes, nil
}

// canonical are formats whose values and codes are the same.
func canonical(f mma.Formats) mma.Formats {
	for _, id := range []*fp.ID{&f.A, &f.B} {
		if *id == fp.XF32 {
			*id = fp.TF32
		}
	}
	return f
}

// chains reports whether an instruction can take its own D as C.
func chains(i *mma.Instruction) bool { return i.C == i.D }

// catalogue returns a unit for each distinct arithmetic of the catalogue: rows that
// have formats and parameters in common and, in a longer dot product, take the
// products in the same steps, are one.
func catalogue(keep func(*mma.Instruction) bool) ([]unit, error) {
	type arithmetic struct {
		f mma.Formats
		p mma.Params
		k int
	}
	seen := map[arithmetic]int{}
	var all []unit
	for _, i := range mma.Catalog() {
		if i.Refuse != "" || i.Conversion() || keep != nil && !keep(&i) {
			continue
		}
		a := arithmetic{canonical(i.Formats), i.Params, i.K}
		if p := &i.Params; p.Start == mma.StartC && p.Order == mma.Ascending && p.Lanes <= 1 && chains(&i) && i.K%p.Step(i.K) == 0 && p.Out == (mma.Round{}) {
			a.k, a.p.L = 0, uint8(p.Step(i.K))
		}
		if n, ok := seen[a]; ok {
			all[n].like++
			if u := &all[n]; !slices.Contains(u.of, i.Arch) {
				u.of = append(u.of, i.Arch)
			}
			continue
		}
		u, err := simulated.Open(&i)
		if err != nil {
			return nil, err
		}
		seen[a] = len(all)
		all = append(all, unit{Unit: u, name: i.FullName(), of: []string{i.Arch}})
	}
	return all, nil
}

// units opens the targets of a request, each with the instruction that it names or
// with all of its instructions that keep accepts; reference arithmetic once for each of
// the formats of the others. Without targets it returns the distinct arithmetics of the
// catalogue. It notes which of them change their answers. done closes what was opened.
func (r *Request) units(ctx context.Context, keep func(*mma.Instruction) bool) (all []unit, done func(), err error) {
	if len(r.Targets) == 0 {
		all, err := catalogue(keep)
		return all, func() {}, err
	}
	var opened []devices.Target
	closeAll := func() {
		for _, t := range opened {
			t.Close()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	var references []devices.Target
	for _, spec := range r.Targets {
		name, inst := devices.Split(spec)
		t, err := devices.Open(name)
		if err != nil {
			return nil, nil, err
		}
		opened = append(opened, t)
		if t.Instructions() == nil {
			references = append(references, t)
			continue
		}
		us, err := unitsOf(t, inst, keep)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, us...)
	}
	if len(all) == 0 {
		return nil, nil, errors.New("reference arithmetic alone has no formats: name an instruction of another target beside it")
	}
	for _, t := range references {
		all = append(all, unitsLike(t, all)...)
	}
	return all, closeAll, r.checkStable(ctx, all)
}

// checkStable notes the units that change their answers.
func (r *Request) checkStable(ctx context.Context, all []unit) error {
	for _, u := range all {
		unstable, err := stability.Sample(ctx, u.name, u.Unit)
		if err != nil {
			return err
		}
		if unstable != nil {
			*r.unstable = append(*r.unstable, unstable.Error())
		}
	}
	return nil
}

// unitsOf opens the instruction of a name, or without one all that keep accepts, but for those
// of wmma, whose steps are those of others.
func unitsOf(t devices.Target, inst string, keep func(*mma.Instruction) bool) ([]unit, error) {
	var rows []mma.Instruction
	if inst != "" {
		i, err := devices.Find(t, inst)
		if err != nil {
			return nil, err
		}
		if keep != nil && !keep(i) {
			return nil, fmt.Errorf("%s/%s: this study cannot be made with its formats, %s", t.Name(), i.Name, i.Formats)
		}
		rows = append(rows, *i)
	} else {
		for _, i := range t.Instructions() {
			if i.Refuse == "" && !strings.HasPrefix(i.Name, "wmma.") && (keep == nil || keep(&i)) {
				rows = append(rows, i)
			}
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no instruction with which this study can be made", t.Name())
	}
	var all []unit
	for n := range rows {
		u, err := t.Open(&rows[n])
		if err != nil {
			return nil, err
		}
		all = append(all, unit{Unit: u, name: t.Name() + "/" + rows[n].Name, of: []string{t.Name()}})
	}
	return all, nil
}

// unitsLike opens a reference for each of the formats of other units that it supports.
func unitsLike(t devices.Target, others []unit) []unit {
	var all []unit
	var seen []mma.Formats
	for _, o := range others {
		f := canonical(o.inst().Formats)
		if slices.Contains(seen, f) {
			continue
		}
		seen = append(seen, f)
		if u, err := t.Open(o.inst()); err == nil {
			all = append(all, unit{Unit: u, name: fmt.Sprintf("%s/%s", t.Name(), f), of: []string{t.Name()}})
		}
	}
	return all
}

// group is units that take the same operands.
type group struct {
	formats mma.Formats
	k       int // the least common multiple of their K
	units   []unit
}

// groups sorts units by their formats, in the order in which they come. Units that cannot
// be chained are in one group only if they have the same K.
func groups(all []unit) []group {
	type key struct {
		f mma.Formats
		k int
	}
	var gs []group
	index := map[key]int{}
	for _, u := range all {
		i := u.inst()
		k := key{f: canonical(i.Formats)}
		if !chains(i) {
			k.k = i.K
		}
		n, ok := index[k]
		if !ok {
			n = len(gs)
			index[k] = n
			gs = append(gs, group{formats: i.Formats, k: 1})
		}
		gs[n].units = append(gs[n].units, u)
		gs[n].k = lcm(gs[n].k, i.K)
	}
	for n := range gs {
		g := &gs[n]
		for j, u := range g.units {
			g.units[j].Unit = devices.WithK(u.Unit, g.k)
		}
	}
	return gs
}

func lcm(a, b int) int {
	g, r := a, b
	for r != 0 {
		g, r = r, g%r
	}
	return a / g * b
}

// askable opens the units of a study that asks them questions of its own, which recordings
// cannot answer. Otherwise it is units.
func (r *Request) askable(ctx context.Context, fits func(*mma.Instruction) bool) ([]unit, func(), error) {
	all, done, err := r.units(ctx, fits)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range all {
		if devices.IsRecording(u.Unit) {
			done()
			return nil, nil, fmt.Errorf("%s is a recording: it answers what was recorded, and nothing that a study asks; the study discrepancy takes it", u.name)
		}
	}
	return all, done, nil
}
