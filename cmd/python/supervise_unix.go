//go:build unix

package main

import "C"

import (
	"encoding/json"

	"github.com/mmafuzz/mmafuzz/devices/exec"
)

func init() { exec.Supervisor = []string{} } // until somebody names one: the program is not ours

// mmafuzz_supervisor names the command, a JSON array of words, that runs mmafuzz_supervise of a
// JSON array of the words that follow it. With it no child of an exec: target outlives the caller.
//
//export mmafuzz_supervisor
func mmafuzz_supervisor(command *C.char, failure **C.char) {
	fail(failure, guarded(func() error { return json.Unmarshal([]byte(C.GoString(command)), &exec.Supervisor) }))
}

// mmafuzz_supervise runs a program, its path and words being a JSON array, and ends the process.
//
//export mmafuzz_supervise
func mmafuzz_supervise(command *C.char) {
	var words []string
	if json.Unmarshal([]byte(C.GoString(command)), &words) == nil && len(words) > 1 {
		exec.Supervise(words[0], words[1:])
	}
}
