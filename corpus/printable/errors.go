package printable

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

// Error returns the text of an error, in which the names of files and programs are Lines.
func Error(err error) string {
	text := err.Error()
	for _, name := range names(err) {
		text = strings.ReplaceAll(text, name, Line(name))
	}
	return text
}

// names returns the names of files and programs in an error that are not Lines.
func names(err error) (list []string) {
	var own []string
	switch e := err.(type) {
	case *fs.PathError:
		own = []string{e.Path}
	case *os.LinkError:
		own = []string{e.Old, e.New}
	case *exec.Error:
		own = []string{e.Name}
	}
	for _, name := range own {
		if Line(name) != name {
			list = append(list, name)
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			list = append(list, names(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			list = append(list, names(inner)...)
		}
	}
	return list
}
