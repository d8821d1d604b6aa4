package corpus

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
)

// Plan describes what to record of a target: which instructions, on which inputs. It is
// a JSON file:
//
//	{
//	  "v": 1,
//	  "name": "smoke",
//	  "about": "a few thousand dot products of every instruction",
//	  "seed": 1,
//	  "entries": [
//	    {
//	      "instructions": ["mma.*", "hopper/wgmma.*"],
//	      "k": 16,
//	      "inputs": [
//	        {"source": "raw@1", "count": 1024},
//	        {"source": "cut@1[24,25]", "count": 256},
//	        {"source": "tie@1[*]", "count": 256}
//	      ]
//	    }
//	  ]
//	}
//
// An instruction is recorded by the first entry that has a pattern for its NAME or
// ARCH/NAME; * in a pattern stands for anything. Its dot products have k elements, a
// multiple of the instruction's own K, or K elements if k is missing or 0. So
// instructions of different K can be compared, on dot products of a length that suits all.
//
// A source is a generator with its version, and arguments if it takes some: see
// package fuzz/gen. With [*] it aims at the decisions of every arithmetic that the
// catalogue has for the instruction's formats. With common before it, as in "common raw@1", it is
// for FP8 alone: its inputs are numbers that formats of OCP and of FNUZ both have, so that
// recordings of instructions for either can be compared by value. A count is a number of dot
// products; it is rounded up to a multiple of the generator's tile.
//
// Sources, seed, formats and k decide the inputs: two targets recorded with the same plan
// by the same version of mmafuzz get the same inputs wherever they share formats.
type Plan struct {
	Version int         `json:"v"`
	Name    string      `json:"name"`
	About   string      `json:"about,omitempty"`
	Seed    uint64      `json:"seed"`
	Entries []PlanEntry `json:"entries"`
}

// PlanEntry describes what is recorded of some instructions.
type PlanEntry struct {
	Instructions []string    `json:"instructions"`
	K            int         `json:"k,omitempty"`
	Inputs       []PlanInput `json:"inputs"`
}

// PlanInput is some inputs of one source.
type PlanInput struct {
	Source string `json:"source"`
	Count  uint64 `json:"count"`
}

// planVersion is the version of plans that this program reads.
const planVersion = 1

// Limits that no plan exceeds.
const (
	maxPlanFile  = 1 << 20 // bytes
	maxPlanCount = 1 << 32 // dot products of a source
	maxName      = 100     // bytes
)

//go:embed plans/*.json
var planFiles embed.FS

// Plans returns the plans that come with the program, in the order of their names.
func Plans() ([]*Plan, error) {
	files, err := fs.Glob(planFiles, "plans/*.json")
	if err != nil {
		return nil, err
	}
	var all []*Plan
	for _, name := range files {
		body, err := planFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p, err := ReadPlan(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(name), err)
		}
		all = append(all, p)
	}
	return all, nil
}

// OpenPlan returns the plan of a name, one that comes with the program, or reads a
// file. fs.ErrNotExist: there is neither.
func OpenPlan(name string) (*Plan, error) {
	all, err := Plans()
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
	}
	f, err := Open(name, "plan", maxPlanFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := ReadPlan(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// ReadPlan reads a plan. It does not know the generators: package record does.
func ReadPlan(r io.Reader) (*Plan, error) {
	p := &Plan{}
	if err := readStrict(r, "plan", maxPlanFile, planVersion, p); err != nil {
		return nil, err
	}
	return p, p.check()
}

// readStrict reads a JSON object with a version. Data after the object, and fields that
// this version does not know, are errors, so that nothing is silently ignored.
func readStrict(r io.Reader, what string, most int64, version int, v any) error {
	body, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return err
	}
	if int64(len(body)) > most {
		return fmt.Errorf("longer than %d KiB: this is no %s", most>>10, what)
	}
	var head struct {
		V *int `json:"v"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return fmt.Errorf("this is no %s: %w", what, strictjson.Error(body, err))
	}
	switch {
	case head.V == nil:
		return fmt.Errorf(`this is no %s: it has no "v", its version`, what)
	case *head.V != version:
		return fmt.Errorf("%s version %d, this program reads %d", what, *head.V, version)
	}
	if err := strictjson.UnmarshalKnown(body, v, "value"); err != nil {
		return err
	}
	printable.Strings(v)
	return nil
}

// check returns an error if something is wrong with a plan.
func (p *Plan) check() error {
	if err := checkName("the plan's name", p.Name); err != nil {
		return err
	}
	if len(p.Entries) == 0 {
		return errors.New("the plan has no entries")
	}
	for n, e := range p.Entries {
		if err := e.check(); err != nil {
			return fmt.Errorf("entry %d: %w", n+1, err)
		}
	}
	return nil
}

func (e *PlanEntry) check() error {
	switch {
	case len(e.Instructions) == 0:
		return errors.New("it names no instructions; [\"*\"] stands for all")
	case len(e.Inputs) == 0:
		return errors.New("it has no inputs")
	case e.K < 0 || e.K > maxK:
		return fmt.Errorf("k is %d; 0 is the instruction's own, %d the most", e.K, maxK)
	}
	for _, in := range e.Inputs {
		if in.Source == "" {
			return errors.New("an input without a source")
		}
		if in.Count < 1 || in.Count > maxPlanCount {
			return fmt.Errorf("%s: the count is %d, not 1 to %d", in.Source, in.Count, uint64(maxPlanCount))
		}
	}
	return nil
}

// checkName returns an error unless name can stand in a line of text and be matched by a
// pattern. what is the thing that is named, for the error.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%s is missing", what)
	case len(name) > maxName:
		return fmt.Errorf("%s is longer than %d bytes", what, maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return r == '*' || unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return fmt.Errorf("%s is %q: no blanks, no * and nothing that cannot be printed", what, name)
	}
	return nil
}

// CheckMachine returns an error unless name can be the name of a machine in comparisons.
func CheckMachine(name string) error { return checkName("the machine's name", name) }

// MachineName turns a target's name into a valid machine name.
func MachineName(target string) string {
	name := strings.Map(func(r rune) rune {
		if r == '*' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '-'
		}
		return r
	}, target)
	for len(name) > maxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}

// Entry returns the entry that records an instruction, nil if none does.
func (p *Plan) Entry(arch, instruction string) *PlanEntry {
	for i := range p.Entries {
		for _, pattern := range p.Entries[i].Instructions {
			if matches(pattern, instruction) || matches(pattern, arch+"/"+instruction) {
				return &p.Entries[i]
			}
		}
	}
	return nil
}

// matches reports whether a name matches a pattern, in which * stands for anything.
func matches(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	name, ok := strings.CutPrefix(name, head)
	if !star || !ok {
		return ok && name == ""
	}
	for {
		var part string
		part, rest, star = strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, part)
		}
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name = name[at+len(part):]
	}
}
