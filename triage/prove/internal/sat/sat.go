// Package sat asks SAT solvers: programs that read DIMACS from standard input and answer
// as in the SAT competitions, such as cadical.
package sat

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Answer is a solver's answer.
type Answer int

// The answers.
const (
	Unknown       Answer = iota // not decided within the time or the memory
	Satisfiable                 // with an assignment
	Unsatisfiable               // no assignment satisfies the clauses
)

// Limits of a solver and of what it may say.
const (
	maxMemory = 4 << 30  // bytes of address space, on Linux
	maxOutput = 64 << 20 // bytes
	maxShown  = 400      // bytes of what it says of an error
)

// Solve asks a solver, a command with its arguments, about a formula of variables 1 to
// vars, which write writes in DIMACS, until ctx ends. The assignment of a satisfiable one
// is true by variable. An error is one of the solver, or of what it says.
func Solve(ctx context.Context, command []string, vars int, write func(io.Writer) error) (Answer, []bool, error) {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.WaitDelay = time.Second
	c.SysProcAttr = attributes()
	in, err := c.StdinPipe()
	if err != nil {
		return Unknown, nil, err
	}
	out, complaint := &limited{max: maxOutput}, &limited{max: maxShown}
	c.Stdout, c.Stderr = out, complaint
	runtime.LockOSThread() // Linux ends the child with the thread that started it
	defer runtime.UnlockOSThread()
	if err := c.Start(); err != nil {
		if ctx.Err() != nil {
			return Unknown, nil, nil
		}
		return Unknown, nil, fmt.Errorf("solver %s: %w", command[0], err)
	}
	limitMemory(c.Process.Pid, maxMemory)
	wrote := write(in) // a solver that ends early answers or fails all the same
	_ = in.Close()
	err = c.Wait()
	if ctx.Err() != nil {
		return Unknown, nil, nil
	}
	a, model, parsed := parse(out.kept, vars)
	switch {
	case out.full:
		return Unknown, nil, fmt.Errorf("solver %s says more than %d bytes", command[0], maxOutput)
	case parsed != nil:
		return Unknown, nil, fmt.Errorf("solver %s: %w", command[0], parsed)
	case a != Unknown && wrote != nil:
		return Unknown, nil, fmt.Errorf("solver %s answered before it had read all clauses: %w", command[0], wrote)
	case a == Unknown:
		return Unknown, nil, failure(command[0], err, c, string(complaint.kept))
	}
	if code := c.ProcessState.ExitCode(); code != 0 && code != map[Answer]int{Satisfiable: 10, Unsatisfiable: 20}[a] {
		return Unknown, nil, fmt.Errorf("solver %s says one thing and ends with exit status %d, which says another", command[0], code)
	}
	return a, model, nil
}

// failure is why a solver did not answer: nil if it gave up.
func failure(name string, err error, c *exec.Cmd, said string) error {
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && (exit.ExitCode() < 0 || strings.Contains(said, "memory") || strings.Contains(said, "bad_alloc")) {
		return nil // out of time or memory
	}
	return fmt.Errorf("solver %s: %w: %q; try it on standard input: %q", name, err, said, c.Args)
}

// limited keeps the first bytes of what is written to it.
type limited struct {
	kept []byte
	max  int
	full bool
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.max-len(l.kept))
	l.full = l.full || n < len(b)
	l.kept = append(l.kept, b[:n]...)
	return len(b), nil
}

// parse reads a solver's answer: a line of s, and lines of v with literals up to 0.
func parse(text []byte, vars int) (Answer, []bool, error) {
	a, model, given := Unknown, make([]bool, vars+1), make([]bool, vars+1)
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxOutput)
	for lines.Scan() {
		kind, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		switch kind {
		case "s":
			said, ok := map[string]Answer{"SATISFIABLE": Satisfiable, "UNSATISFIABLE": Unsatisfiable, "UNKNOWN": Unknown}[strings.TrimSpace(rest)]
			if !ok || a != Unknown {
				return Unknown, nil, fmt.Errorf("its answer is %q", rest)
			}
			a = said
		case "v":
			for word := range strings.FieldsSeq(rest) {
				n, err := strconv.Atoi(word)
				if err != nil || n < -vars || n > vars {
					return Unknown, nil, fmt.Errorf("%q is no literal of %d variables", word, vars)
				}
				if v := max(n, -n); v != 0 {
					if given[v] && model[v] != (n > 0) {
						return Unknown, nil, fmt.Errorf("variable %d is both true and false", v)
					}
					given[v], model[v] = true, n > 0
				}
			}
		}
	}
	return a, model, lines.Err()
}
