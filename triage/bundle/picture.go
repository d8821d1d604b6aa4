package bundle

import (
	"cmp"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// Picture prepares the picture of a mismatch. A side whose arithmetic is not known is
// drawn by the program that explains it, and the picture says so. With the directory of
// the mismatch's bundle, if that is not "", it ends with how to run it again.
func Picture(m *corpus.Mismatch, dir string) (*report.Mismatch, error) {
	dot, err := m.Dot()
	if err != nil {
		return nil, err
	}
	pic := &report.Mismatch{
		Input:   report.Input{Title: m.A.Instruction, Formats: m.Formats, Dot: dot},
		Changes: Changes(m), Back: back(m),
		Instead: readable.Instead(instead(m)),
		Labels:  []string{readable.Converted(m.Formats, inWords(cmp.Or(m.Detail, m.Bucket), m.Formats))},
		Next:    next(m),
	}
	if m.A.Instruction != m.B.Instruction {
		pic.Title += " ~ " + m.B.Instruction
	}
	if dir != "" {
		pic.Rerun = Rerun(m, dir)
	}
	if m.Free != "" {
		pic.Free = strings.Split(readable.Converted(m.Formats, m.Free), "\n")
	}
	if m.Defect != nil {
		pic.Notes = []string{"defect  " + readable.Converted(m.Formats, DefectText(m.Defect))}
	}
	if m.Sums != nil {
		if m.Sums.Epilogue {
			pic.ExactOf = "of the sum alone, without what becomes of it"
		}
		pic.Notes = []string{"sums    " + SumsText(m.Sums)}
		if m.Sums.First != "" {
			pic.Notes = append(pic.Notes, "first   "+m.Sums.First)
		}
	}
	if m.Bucket == string(triage.NaNCode) {
		pic.Notes = []string{"codes   " + CodesText(m)}
	}
	if n := m.Nearest; n != nil {
		pic.Notes = []string{"nearest " + readable.Converted(m.Formats, NearestText(n)), "wrong   " + WitnessText(n)}
	}
	if m.Past != nil {
		pic.Notes = append(pic.Notes, "before  "+readable.Converted(m.Formats, DefectText(m.Past)))
	}
	if m.Before != "" {
		pic.Notes = append(pic.Notes, "ask     right after "+m.Before)
	}
	if pic.A, err = pictureSide(m, &m.A, "a", dot); err != nil {
		return nil, err
	}
	pic.B, err = pictureSide(m, &m.B, "b", dot)
	if m.Sums != nil {
		pic.A.Steps, pic.B.Steps = m.Sums.StepsA, m.Sums.StepsB
	}
	return pic, err
}

// instead returns what may be the cause of a mismatch as well as Changes, in the direction in which these are
// said, as no input tells it apart.
func instead(m *corpus.Mismatch) [][]mma.Change {
	return triage.Instead(ofBase(m), m.Changes, m.Equivalent[:m.Same], (m.Base == "b") != back(m))
}

// back reports whether Changes make no more than B's arithmetic, with them taken back, do what A's does.
func back(m *corpus.Mismatch) bool {
	return len(m.CaseChanges) > 0 && (m.Base == "b") != m.CaseBack
}

// ofBase returns the changes of the base that explain a mismatch: its own or, if these are not known apart,
// those of the pair. There are none where a side failed, which is no result that another arithmetic would
// give, and where nothing explains the case: those of the pair explain others.
func ofBase(m *corpus.Mismatch) []mma.Change {
	switch {
	case m.Class == oracle.Fault.String() || triage.Label(m.Bucket).Open():
		return nil
	case len(m.CaseChanges) > 0:
		return m.CaseChanges
	}
	return m.Changes
}

// Changes returns what makes A's arithmetic do what B's does, for a mismatch, as far as that is known.
func Changes(m *corpus.Mismatch) []mma.Change {
	changes := ofBase(m)
	if m.Base == "b" {
		return readable.Reversed(changes)
	}
	return changes
}

// pictureSide prepares one side, with the trace of its own program if that is known, else of
// the program that explains it. There is no trace if there is no program, if the program
// does not give the side's result, or if the side has none.
func pictureSide(m *corpus.Mismatch, s *corpus.SideRecord, which string, dot *mma.Dot) (report.Side, error) {
	side := report.Side{Name: s.Target + "/" + s.Instruction}
	if s.Result == corpus.NoResult {
		side.Failed, side.Fault = true, s.Environment["fault"]
		return side, nil
	}
	code, err := mma.ParseCode("result", m.Formats.D, s.Result)
	if err != nil {
		return side, err
	}
	side.Result = code
	side.Inferred = !s.Known
	programs := []program{{s.Params, s.K, ""}}
	if side.Inferred {
		programs = explainingPrograms(m, which)
	} else if s.Params == nil {
		return side, nil
	}
	for _, p := range programs {
		model, err := sim.New(m.Formats, p.k, *p.params)
		if err != nil {
			continue // a program of another version: no trace
		}
		tr := &sim.Trace{}
		if model.Dot(dot, tr) == side.Result {
			side.Trace, side.Params, side.Model = tr, p.params, p.name
			break
		}
	}
	return side, nil
}

// bothPrograms returns the two programs whose differences the changes of a mismatch are, nil if they
// are not known.
func bothPrograms(m *corpus.Mismatch) (base, changed *mma.Params) {
	side := &m.A
	if m.Base == "b" {
		side = &m.B
	}
	if side.Params == nil {
		return nil, nil
	}
	q := *side.Params
	if q.Apply(m.Changes) != nil {
		return nil, nil
	}
	return side.Params, &q
}

// program is a program with its K, and what it is of a side that it is not known to be of; "": inferred.
type program struct {
	params *mma.Params
	k      int
	name   string
}

// explainingPrograms returns programs for a side whose own is not known, the best first: if the
// other side's was inferred, which is one of many that compute the same, the listed one that computes
// as this side does; the program of the other side with the changes that explain this one; and what
// is assumed for this side.
func explainingPrograms(m *corpus.Mismatch, which string) []program {
	base, own, name := &m.A, &m.B, "A"
	if which == "a" {
		base, own, name = &m.B, &m.A, "B"
	}
	_, unlisted := mma.Lookup(own.Arch, own.Instruction)
	var all []program
	add := func(p *mma.Params, k int, name string) {
		if p != nil {
			all = append(all, program{p, k, name})
		}
	}
	if m.Base != which && base.Params != nil && len(m.Changes) > 0 {
		if !base.Known && len(m.Alike) > 0 {
			add(listedProgram(m.Alike[0], m.Formats), m.ProgramK, m.Alike[0])
		}
		if p := *base.Params; p.Apply(m.Changes) == nil {
			if name = "the changed arithmetic of " + name; own.Params != nil && unlisted != nil {
				name = "" // that of this side was inferred, and the two compared
			}
			add(&p, m.ProgramK, name)
		}
	}
	if name = ""; unlisted == nil {
		name = "the model of " + own.Arch
	}
	add(own.Params, own.K, name)
	return all
}

// listedProgram returns the program of a simulator or of a reference; nil if there is no such target.
func listedProgram(target string, f mma.Formats) *mma.Params {
	kind, name, _ := strings.Cut(target, ":")
	arch, instruction, _ := strings.Cut(name, "/")
	if i, err := mma.Lookup(arch, instruction); kind == "sim" && err == nil {
		return &i.Params
	}
	for i := range oracle.References {
		if r := &oracle.References[i]; kind == "ref" && r.Name == name {
			p := r.Program(f)
			return &p
		}
	}
	return nil
}
