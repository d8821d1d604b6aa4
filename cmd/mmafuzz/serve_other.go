//go:build !unix

package main

import (
	"io"
	"os"
)

// answersOnly returns standard output for answers alone. What this program prints there
// otherwise goes to standard error; what C libraries print does not.
func answersOnly() (io.Writer, error) {
	stdout := os.Stdout
	os.Stdout = os.Stderr
	return stdout, nil
}
