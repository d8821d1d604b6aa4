// Package dynamic loads the libraries of drivers while a program runs: the program starts
// on machines without them, and needs no C compiler to be built.
package dynamic

import (
	"os"
	"strings"
)

// Find loads the first of the candidates that can be loaded. If the environment variable is
// set, it names the only one to try. The error is the dynamic linker's about one of them,
// preferably one that exists but cannot be loaded.
func Find(variable string, candidates ...string) (handle uintptr, path string, err error) {
	if only := os.Getenv(variable); only != "" {
		candidates = []string{only}
	}
	for _, path := range candidates {
		h, wrong := Open(path)
		if wrong == nil {
			return h, path, nil
		}
		if err == nil || !strings.Contains(wrong.Error(), "No such file") {
			err = wrong
		}
	}
	return 0, "", err
}

// Function is a function of a library: its name, and the address of the Go variable of
// function type that BindAll sets.
type Function struct {
	Name string
	Fn   any
}

// BindAll sets variables to functions of a library, and returns the names of those that the
// library does not have.
func BindAll(handle uintptr, functions []Function) (missing []string) {
	for _, f := range functions {
		if bind(handle, f.Name, f.Fn) != nil {
			missing = append(missing, f.Name)
		}
	}
	return missing
}
