// Package dynamic loads the libraries of drivers when a program runs, not when it
// starts: it starts on machines without them, and needs no C compiler to be built.
package dynamic

import (
	"os"
	"strings"
)

// Find loads the first of some libraries that there is. If the environment variable is
// set, it names the only one to try. The error has what the dynamic linker says of one: of
// a file that is there and does not load, rather than of one that is not there.
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

// Function is a function of a library: its name, and the address of a variable of function
// type that is to call it.
type Function struct {
	Name string
	Fn   any
}

// BindAll makes variables call functions of a library, and returns the names of those
// that it does not have.
func BindAll(handle uintptr, functions []Function) (missing []string) {
	for _, f := range functions {
		if bind(handle, f.Name, f.Fn) != nil {
			missing = append(missing, f.Name)
		}
	}
	return missing
}
