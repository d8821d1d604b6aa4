//go:build !unix

package child

import (
	"io"
	"os"
)

// Stdout returns standard output for answers alone. What the program prints there
// otherwise goes to standard error; what C libraries print does not.
func Stdout() (io.Writer, error) {
	stdout := os.Stdout
	os.Stdout = os.Stderr
	return stdout, nil
}
