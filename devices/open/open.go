// Package open opens the targets, units and pairs that a user names. An error says what the
// user can do about it, in words of the command line: the targets and instructions that may
// have been meant, and where they are listed.
//
// The API of this package is not promised: it may change in any version.
package open

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// pathKinds are the kinds of targets that are named by a file or a command.
var pathKinds = map[string]bool{"replay": true, "model": true, "exec": true}

// gpuKinds are the kinds of targets that are devices of a driver.
var gpuKinds = map[string]bool{"cuda": true, "hip": true, "vulkan": true}

// ByPath reports whether a target, or a word that may become its name, names a file or a
// command.
func ByPath(name string) bool { return is(name, pathKinds) }

// OnGPU reports whether a target is a device of a GPU's driver.
func OnGPU(name string) bool { return is(name, gpuKinds) }

func is(name string, kinds map[string]bool) bool {
	kind, _, ok := strings.Cut(name, ":")
	return ok && kinds[kind]
}

// Names lists what can be opened without a file, and the kinds of the rest.
func Names() []string {
	var names []string
	for _, a := range mma.Archs {
		if len(mma.Of(a.Name)) > 0 {
			names = append(names, "sim:"+a.Name)
		}
	}
	for _, r := range oracle.References {
		names = append(names, "ref:"+r.Name)
	}
	return append(names, "cpu:0", "cuda:0", "replay:", "model:", "exec:")
}

// Target opens a target; the error of an unknown one has suggestions.
func Target(name string) (devices.Target, error) {
	t, err := devices.Open(name)
	return t, Explain(name, err)
}

// Explain adds a hint to the error of opening a target; a nil error stays nil.
func Explain(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case is(name, map[string]bool{"model": true}) && !errors.Is(err, fs.ErrNotExist):
		return hint.Add(err, "mmafuzz help model says what a model file has, mmafuzz list parameters what its parameters are")
	case ByPath(name):
		return err // about the file or command; suggestions of targets would not help
	case OnGPU(name):
		return hint.Add(err, "mmafuzz doctor says what this machine can run")
	}
	word, file := name, strings.TrimPrefix(name, "sim:")
	if strings.ContainsRune(file, ' ') && !strings.Contains(file, ":") {
		return hint.Add(err, "a command is a target with exec: before it: %s", readable.ShellWord("exec:"+file))
	}
	if info, missing := os.Stat(file); missing == nil && !info.IsDir() {
		return hint.Add(err, "it is a file: %s is a program, replay:FILE a recording, model:FILE a model; mmafuzz import makes a recording of .npy, .npz, CSV, JSON and others", program(file))
	} else if !strings.Contains(name, ":") {
		word = "sim:" + name
	}
	return hint.Add(err, "%smmafuzz list targets lists them", hint.DidYouMean(hint.Nearest(word, Names())))
}

// program names a file as the target that it is if it is a program.
func program(file string) string {
	if filepath.Base(file) == file {
		file = "./" + file
	}
	return "exec:" + file
}

// Unit opens the unit that --target, --inst and --like name. The caller closes the target.
func Unit(target, inst, like string) (devices.Target, devices.Unit, error) {
	if target == "" {
		return nil, nil, hint.New("for example --target sim:hopper; mmafuzz list targets lists them", "--target is missing")
	}
	spec, name := devices.Split(target)
	if name != "" {
		if inst != "" {
			return nil, nil, hint.New("leave one out", "--target %s and --inst %s both name the instruction", target, inst)
		}
		target, inst = spec, name
	}
	t, err := Target(target)
	if err != nil {
		return nil, nil, err
	}
	i, err := Instruction(t, inst, like)
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	u, err := t.Open(i)
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	return t, u, nil
}

// Live opens a unit as Unit does, to be asked questions: it must not be a recording.
func Live(target, inst, like string) (devices.Target, devices.Unit, error) {
	t, u, err := Unit(target, inst, like)
	if err != nil {
		return nil, nil, err
	}
	if devices.IsRecording(u) {
		defer t.Close()
		return nil, nil, hint.New("compare it: mmafuzz compare, or mmafuzz run --a "+t.Name()+" --b TARGET",
			"%s is a recording: it answers what was recorded, and nothing that is asked", t.Name())
	}
	return t, u, nil
}
