package record

import (
	"crypto/sha256"
	"fmt"
	"sort"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// frameDots is the largest number of dot products in a data frame, except for generators
// with larger tiles.
const frameDots = 1024

// frameBytes is the largest size of a frame's operands and results, except for generators
// with larger tiles: several frames are in memory at a time. It lowers the number of dot
// products only if they have a thousand elements or more.
const frameBytes = 16 << 20

// work is what a plan asks of a target.
type work struct {
	seed   uint64
	jobs   []job
	digest string
	bytes  int64 // of all operands and results

	known map[mma.Formats][]*mma.Params // results of arithmetics
}

// job is the work on one instruction. Its frames are not kept in memory: there may be
// millions of them.
type job struct {
	inst    *mma.Instruction
	k       int // elements of its dot products
	runs    []run
	frames  int    // of all runs
	problem string // why it cannot be recorded
}

// run is the consecutive frames of one source.
type run struct {
	source  gen.Source
	formats mma.Formats // in which inputs are generated
	before  int         // frames of the job's earlier runs
	tiles   uint64      // of all its frames
	most    uint64      // tiles of a frame
}

// frame is a data frame that is to be recorded.
type frame struct {
	source  gen.Source
	formats mma.Formats
	first   uint64 // index of the first dot product
	tiles   int
	begins  uint64 // first of its section, which has consecutive frames of one size
}

// PlanError reports that a plan cannot be recorded from a target.
type PlanError struct{ error }

// newWork returns the work that a plan asks of a target. Its errors are *PlanError.
func newWork(t devices.Target, p *corpus.Plan) (*work, error) {
	if err := checkSources(p); err != nil {
		return nil, &PlanError{fmt.Errorf("plan %s: %w", p.Name, err)}
	}
	if t.Instructions() == nil {
		return nil, &PlanError{fmt.Errorf("%s works on any formats: there are no instructions of its own to record", t.Name())}
	}
	w := &work{seed: p.Seed, known: map[mma.Formats][]*mma.Params{}}
	h := sha256.New()
	fmt.Fprintf(h, "frames of %d, seed %d\n", frameDots, p.Seed)
	for _, i := range t.Instructions() {
		e := p.Entry(i.Arch, i.Name)
		if e == nil || i.Refuse != "" {
			continue
		}
		j, inputs, err := w.newJob(&i, e)
		if err != nil {
			return nil, &PlanError{fmt.Errorf("plan %s: %w", p.Name, err)}
		}
		w.jobs = append(w.jobs, *j)
		fmt.Fprintf(h, "%s %s %d of %d %s%s\n", i.FullName(), i.Formats, j.k, i.K, inputs, j.problem)
	}
	if len(w.jobs) == 0 {
		return nil, &PlanError{fmt.Errorf("plan %s has no pattern for any instruction of %s", p.Name, t.Name())}
	}
	w.digest = fmt.Sprintf("%x", h.Sum(nil)[:8])
	return w, nil
}

// checkSources parses all sources of a plan, also those that the target does not
// need: a plan is right or wrong on every machine.
func checkSources(p *corpus.Plan) error {
	for n, e := range p.Entries {
		for _, in := range e.Inputs {
			if _, err := parseSource(in.Source); err != nil {
				return fmt.Errorf("entry %d: %w", n+1, err)
			}
		}
	}
	return nil
}

// anyAim, at the end of a source, stands for all aims of the catalogue.
const anyAim = "[*]"

// common, before a source, stands for inputs that FP8 of OCP and of FNUZ both have.
const common = "common "

// planSource is a source of a plan.
type planSource struct {
	gen.Source
	aimed  bool // it ends in anyAim
	common bool // it begins with common
}

// parseSource reads a source of a plan.
func parseSource(text string) (s planSource, err error) {
	name, aimed := strings.CutSuffix(text, anyAim)
	name, common := strings.CutPrefix(name, common)
	src, err := gen.ParseSource(name)
	switch {
	case err != nil:
		return s, err
	case !strings.Contains(name, "@"):
		return s, fmt.Errorf("%q: name a version, such as %s: plans outlive generators", text, src)
	case aimed && (src.Generator.Aims == nil || len(src.Args) > 0 || src.Base != nil):
		return s, fmt.Errorf("%q: %s is for a generator that takes arguments, in their place", text, anyAim)
	}
	return planSource{src, aimed, common}, nil
}

// newJob returns the job that an entry asks of an instruction; inputs describes its inputs
// for the digest.
func (w *work) newJob(i *mma.Instruction, e *corpus.PlanEntry) (j *job, inputs string, err error) {
	j = &job{inst: i, k: i.K}
	if e.K != 0 {
		j.k = e.K
	}
	switch chains := i.C != fp.None && i.C == i.D; {
	case j.k%i.K != 0:
		j.problem = fmt.Sprintf("its K is %d: the plan's dot products of %d elements cannot be made of it", i.K, j.k)
	case j.k != i.K && !chains:
		j.problem = fmt.Sprintf("its D cannot be C: it cannot be repeated for the plan's dot products of %d elements", j.k)
	}
	if j.problem != "" {
		return j, "", nil
	}
	var text strings.Builder
	for _, in := range e.Inputs {
		src, err := parseSource(in.Source)
		if err != nil {
			return nil, "", err
		}
		f := i.Formats
		if src.common {
			shared, err := byvalue.Instruction(i)
			if err != nil {
				continue // there are no others to share with
			}
			f = shared.Formats
			text.WriteString(common)
		}
		if src.aimed {
			src.Source = src.Generator.Aimed(gen.Spec{Formats: f, K: j.k}, w.arithmetics(f)...)
		}
		if w.bytes += j.add(src.Source, f, in.Count); w.bytes > corpus.MaxRecording {
			return nil, "", fmt.Errorf("with %d dot products of %s for %s, the recording would have more than %d GiB of operands and results: "+
				"lower the counts, or record in parts", in.Count, in.Source, i.FullName(), corpus.MaxRecording>>30)
		}
		fmt.Fprintf(&text, "%s*%d ", src.Source, in.Count)
	}
	return j, text.String(), nil
}

// arithmetics returns the different arithmetics in the catalogue for the formats of an
// instruction, or for formats that are comparable with them.
func (w *work) arithmetics(f mma.Formats) []*mma.Params {
	if ps, ok := w.known[f]; ok {
		return ps
	}
	seen := map[mma.Params]bool{}
	var ps []*mma.Params
	all := mma.Catalog()
	for i := range all {
		row := &all[i]
		if f.Common {
			var err error
			if row, err = byvalue.Instruction(row); err != nil {
				continue
			}
		}
		if row.Refuse == "" && devices.Comparable(f, row.Formats) == nil && !seen[row.Params] {
			seen[row.Params] = true
			ps = append(ps, &row.Params)
		}
	}
	w.known[f] = ps
	return ps
}

// add adds count dot products of a source to the job, in frames of whole tiles, and returns
// the size of their operands and results.
func (j *job) add(src gen.Source, formats mma.Formats, count uint64) int64 {
	g := src.Generator
	tile := corpus.Section{Formats: j.inst.Formats, Shape: mma.Shape{M: g.M, N: g.N, K: j.k, Tiles: 1}}
	per := uint64(g.M * g.N)
	r := run{source: src, formats: formats, before: j.frames, tiles: (count + per - 1) / per,
		most: max(1, min(frameDots/per, frameBytes/uint64(tile.Bytes())))}
	j.runs = append(j.runs, r)
	j.frames += int((r.tiles + r.most - 1) / r.most)
	return int64(r.tiles) * tile.Bytes()
}

// frame returns the frame of a number.
func (j *job) frame(n int) *frame {
	r := &j.runs[sort.Search(len(j.runs), func(i int) bool { return j.runs[i].before > n })-1]
	at := uint64(n-r.before) * r.most
	f := &frame{source: r.source, formats: r.formats, tiles: int(min(r.most, r.tiles-at))}
	f.first = at * uint64(r.source.Generator.M*r.source.Generator.N)
	if uint64(f.tiles) < r.most {
		f.begins = f.first
	}
	return f
}

// dots returns the number of dot products of the frames from..to-1.
func (j *job) dots(from, to int) (n uint64) {
	for ; from < to; from++ {
		n += uint64(j.frame(from).dots())
	}
	return n
}

// dots returns the number of dot products of a frame.
func (f *frame) dots() int { return f.tiles * f.source.Generator.M * f.source.Generator.N }

// section returns the section of a frame, except for the fields that the batch determines.
func (w *work) section(j *job, f *frame) corpus.Section {
	generator := f.source.String()
	if f.formats.Common {
		generator = common + generator
	}
	return corpus.Section{Arch: j.inst.Arch, Instruction: j.inst.Name, K: j.inst.K,
		Generator: generator, Seed: w.seed, First: f.begins}
}

// A few inputs of a job are asked again.
const (
	leastSample = 128
	mostSample  = 256
	sampleShare = 64 // one of so many, within these limits
)

// sample returns inputs of a job from all of its runs.
func (w *work) sample(j *job) []*mma.Dot {
	all := j.dots(0, j.frames)
	n := min(all, max(leastSample, min(mostSample, all/sampleShare)))
	var dots []*mma.Dot
	before := uint64(0) // dot products of earlier runs
	for i := range j.runs {
		r := &j.runs[i]
		end := before + r.tiles*uint64(r.source.Generator.M*r.source.Generator.N)
		for uint64(len(dots)) < n && uint64(len(dots))*all/n < end {
			b := mma.NewBatch(r.formats, mma.Shape{M: 1, N: 1, K: j.k, Tiles: 1})
			b.Set(0, r.source.Dot(gen.Spec{Formats: r.formats, K: j.k}, w.seed, uint64(len(dots))*all/n-before))
			d := mma.NewDot(j.inst.Formats, j.k)
			byvalue.Own(b, j.inst.Formats).Get(0, d)
			dots = append(dots, d)
		}
		before = end
	}
	return dots
}
