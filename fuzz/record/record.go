package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/stability"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// Config describes what to record.
type Config struct {
	Target devices.Target
	Plan   *corpus.Plan
	File   string
	Name   string // of the machine; "": made from the target's name
	Date   string // "": none
	// Environment is what results may depend on besides what the target says.
	Environment map[string]string
	Workers     int // 0: two more than processors; the recording does not depend on them
	// Observe, if not nil, is told of progress, from one goroutine.
	Observe func(Progress)
}

// Progress describes how far a recording has come.
type Progress struct {
	Instruction string // that is being recorded
	Done, Of    uint64 // dot products; those of an instruction that was given up count as done
	Resumed     uint64 // how many of Done were in the file before
	Faults      int    // outputs on which the target failed
	LeftOut     uint64 // dot products of Done that have no results, because their instruction was given up
	GivenUp     int    // instructions that are not, or not all, recorded
	Bytes       int64
}

// Result is the outcome of recording.
type Result struct {
	Progress
	Instructions int // that the plan asks for and the target has
	Problems     []corpus.Problem
	Unstable     []string // instructions to which the target changes its answers, and how often
	Work         string   // digest
	Complete     bool
}

// maxFaults is how many outputs of an instruction may fail before it is given up.
const maxFaults = 32

var tooManyFaults = fmt.Sprintf("given up: it failed on more than %d outputs", maxFaults)

// Run records, or goes on with a recording in the file. When ctx ends, it ends early without
// an error, and Complete is false. After an error, too, the same call goes on. The error is a
// *PlanError if the plan is not for the target, corpus.ErrOtherRecording if the file holds
// something else, and corpus.ErrInUse if another process writes it.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	w, err := newWork(cfg.Target, cfg.Plan)
	if err != nil {
		return nil, err
	}
	if err := journal.CheckWriter(cfg.File, journal.ByRecord); err != nil {
		return nil, err
	}
	f, err := corpus.OpenRecordingFile(cfg.File, cfg.header(w))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &recorder{cfg: &cfg, work: w, file: f, steps: f.Steps, workers: cfg.Workers}
	if r.workers <= 0 {
		r.workers = runtime.GOMAXPROCS(0) + 2 // as devices.Workers
	}
	r.result.Work, r.result.Instructions = w.digest, len(w.jobs)
	for i := range w.jobs {
		r.result.Of += w.jobs[i].dots(0, w.jobs[i].frames)
	}
	err = r.run(ctx)
	r.progress("")
	r.result.Complete = f.Complete
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	return &r.result, err
}

func (cfg *Config) header(w *work) corpus.Header {
	h := corpus.Header{Versions: versions.Current(), Name: cfg.Name, Target: cfg.Target.Name(), Date: cfg.Date, Plan: cfg.Plan, Work: w.digest,
		Environment: map[string]string{}}
	if h.Name == "" {
		h.Name = corpus.MachineName(h.Target)
	}
	maps.Copy(h.Environment, cfg.Environment)
	maps.Copy(h.Environment, cfg.Target.Environment())
	return h
}

// recorder is a recording in progress.
type recorder struct {
	cfg     *Config
	work    *work
	file    *corpus.RecordingFile
	steps   []corpus.Step // that the file had before and that are not yet accounted for
	workers int
	result  Result
}

func (r *recorder) run(ctx context.Context) error {
	for i := range r.work.jobs {
		if err := r.job(ctx, &r.work.jobs[i]); err != nil {
			return err
		}
	}
	if len(r.steps) > 0 {
		return r.notAsPlanned()
	}
	if r.file.Complete {
		return nil
	}
	return r.file.Finish()
}

// job records one instruction, or what is left of it if the file has a part.
func (r *recorder) job(ctx context.Context, j *job) error {
	var note *corpus.Note
	if len(r.steps) > 0 && r.steps[0].Note != nil && isOf(j, r.steps[0].Note.Arch, r.steps[0].Note.Instruction) {
		note, r.steps = r.steps[0].Note, r.steps[1:]
	}
	faults := 0
	next := 0 // frame
	for ; next < j.frames && len(r.steps) > 0 && r.steps[0].Problem == nil; next++ {
		f := j.frame(next)
		if !r.done(j, f) {
			return r.notAsPlanned()
		}
		faults += r.steps[0].Faults
		r.advance(uint64(f.dots()), r.steps[0].Faults, true)
		r.steps = r.steps[1:]
	}
	if len(r.steps) > 0 && r.steps[0].Problem != nil {
		p := r.steps[0].Problem
		if !isOf(j, p.Arch, p.Instruction) {
			return r.notAsPlanned()
		}
		r.steps = r.steps[1:]
		r.giveUp(*p, j, next)
		return nil
	}
	switch {
	case j.problem != "":
		return r.problem(j, next, j.problem)
	case faults > maxFaults:
		return r.problem(j, next, tooManyFaults)
	case next == j.frames:
		r.noteUnstable(note)
		return nil
	}
	u, err := r.cfg.Target.Open(j.inst)
	if err != nil {
		return r.problem(j, next, err.Error())
	}
	if err := r.note(ctx, j, u, note, next == 0); err != nil {
		return err
	}
	return r.rest(ctx, j, u, next, faults)
}

func isOf(j *job, arch, instruction string) bool {
	return j.inst.Arch == arch && j.inst.Name == instruction
}

// note writes what results of an instruction depend on, or checks that it is the same as in
// the note that the file has. If nothing is recorded yet, it also says so if the unit changes its
// answers.
func (r *recorder) note(ctx context.Context, j *job, u devices.Unit, have *corpus.Note, fresh bool) error {
	env := map[string]string{}
	if p, ok := u.(devices.Provenance); ok {
		maps.Copy(env, p.Environment())
	}
	if have != nil {
		was := maps.Clone(have.Environment)
		delete(was, corpus.UnstableKey) // it may look stable this time
		if d := corpus.EnvironmentDifferences(was, env); d != nil {
			return fmt.Errorf("%s: %w: of %s, %s", r.cfg.File, corpus.ErrOtherRecording, j.inst.Name, strings.Join(d, "; "))
		}
		r.noteUnstable(have)
		return nil
	}
	if fresh {
		unstable, err := stability.Check(ctx, j.inst.Name, u, r.work.sample(j), stability.SampleRuns)
		if err != nil {
			return fmt.Errorf("%s: %w", j.inst.Name, err)
		}
		if unstable != nil {
			env[corpus.UnstableKey] = unstable.Error()
		}
	}
	if len(env) == 0 {
		return nil
	}
	note := corpus.Note{Arch: j.inst.Arch, Instruction: j.inst.Name, Environment: env}
	r.noteUnstable(&note)
	return r.file.Note(note)
}

// noteUnstable keeps for the result what a note, which may be nil, says of changing answers.
func (r *recorder) noteUnstable(note *corpus.Note) {
	if note != nil && note.Environment[corpus.UnstableKey] != "" {
		r.result.Unstable = append(r.result.Unstable, note.Environment[corpus.UnstableKey])
	}
}

// done reports whether the next step that the file has is this frame.
func (r *recorder) done(j *job, f *frame) bool {
	s := r.steps[0]
	want := r.work.section(j, f)
	want.Formats, want.Shape = j.inst.Formats, f.shape(j)
	return s.Section == want && s.First == f.first
}

func (r *recorder) notAsPlanned() error {
	return fmt.Errorf("%s: what the file holds is not what its header says", r.cfg.File)
}

// rest records the frames of an instruction from a number on. faults is the number of
// outputs on which the target failed in the earlier frames.
func (r *recorder) rest(ctx context.Context, j *job, u devices.Unit, next, faults int) error {
	for next < j.frames {
		r.progress(j.inst.Name)
		n := min(j.frames-next, 4*r.workers)
		if faults > 0 {
			n = 1 // the next failure may cost a deadline, and may be one too many
		}
		packed, err := r.wave(ctx, u, j, next, n)
		for _, p := range packed {
			if err := r.file.Write(p); err != nil {
				return err
			}
			r.advance(uint64(j.frame(next).dots()), p.Faults(), false)
			next++
			if faults += p.Faults(); faults > maxFaults {
				return r.problem(j, next, tooManyFaults)
			}
		}
		if err != nil {
			return err
		}
		if err := r.file.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// wave runs n frames in parallel and returns their results, in order, up to the first
// error.
func (r *recorder) wave(ctx context.Context, u devices.Unit, j *job, first, n int) ([]*corpus.Packed, error) {
	results, errs := make([]*corpus.Packed, n), make([]error, n)
	parallel.For(r.workers, n, func(i int) { results[i], errs[i] = r.frame(ctx, u, j, j.frame(first+i)) })
	for i, err := range errs {
		if err != nil {
			return results[:i], err
		}
	}
	return results, nil
}

// frame runs the dot products of a frame.
func (r *recorder) frame(ctx context.Context, u devices.Unit, j *job, f *frame) (*corpus.Packed, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := mma.NewBatch(f.formats, f.shape(j))
	f.source.Fill(b, r.work.seed, f.first)
	b = byvalue.Own(b, j.inst.Formats)
	out := make([]byte, b.Dots()*j.inst.D.Width())
	var faults []corpus.Fault
	err := u.Run(ctx, b, out)
	if devices.IsFault(err) {
		faults, err = blame(ctx, u, b, out)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.inst.Name, err)
	}
	return corpus.Pack(r.work.section(j, f), b, out, faults)
}

func (f *frame) shape(j *job) mma.Shape {
	return mma.Shape{M: f.source.Generator.M, N: f.source.Generator.N, K: j.k, Tiles: f.tiles}
}

// problem records why an instruction gets no more data than the frames before next.
func (r *recorder) problem(j *job, next int, what string) error {
	p := corpus.Problem{Arch: j.inst.Arch, Instruction: j.inst.Name, What: what}
	if err := r.file.Problem(p); err != nil {
		return err
	}
	r.giveUp(p, j, next)
	return r.file.Sync()
}

// giveUp accounts for the frames from next on, which are not going to be recorded.
func (r *recorder) giveUp(p corpus.Problem, j *job, next int) {
	r.result.Problems = append(r.result.Problems, p)
	r.result.GivenUp++
	left := j.dots(next, j.frames)
	r.result.LeftOut += left
	r.advance(left, 0, false)
}

// advance accounts for dot products.
func (r *recorder) advance(dots uint64, faults int, resumed bool) {
	r.result.Done += dots
	r.result.Faults += faults
	if resumed {
		r.result.Resumed += dots
	}
}

func (r *recorder) progress(instruction string) {
	r.result.Instruction = instruction
	if n, err := r.file.Size(); err == nil {
		r.result.Bytes = n
	}
	if r.cfg.Observe != nil {
		r.cfg.Observe(r.result.Progress)
	}
}
