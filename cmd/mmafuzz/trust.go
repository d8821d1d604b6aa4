package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// trust is what the user allows files from others to do. The target of a bundle may be a
// command, such as exec:sh -c ..., that is not on the command line: it is run only if the
// user agrees, with --allow-exec or by answering a question on the terminal.
type trust struct {
	*app
	allow   bool
	answers map[string]bool // by command
}

// trusting adds --allow-exec to a command.
func trusting(a *app, c *cobra.Command) *trust {
	t := &trust{app: a, answers: map[string]bool{}}
	c.Flags().BoolVar(&t.allow, "allow-exec", false, "run the commands that bundles have as targets, without asking")
	return t
}

// targetCommand returns the command that a target runs, and whether it runs one.
func targetCommand(target string) (command string, is bool) {
	return strings.CutPrefix(target, "exec:")
}

// bundle shows the commands of a bundle that the user has not seen yet and asks for
// permission. It returns an error if they must not be run.
func (t *trust) bundle(ctx context.Context, dir string, m *corpus.Mismatch) error {
	for _, target := range []string{m.A.Target, m.B.Target} {
		command, is := targetCommand(target)
		if !is {
			continue
		}
		may, asked := t.answers[command]
		if !asked {
			var err error
			if may, err = t.ask(ctx, dir, command); err != nil {
				return err
			}
			t.answers[command] = may
		}
		if !may {
			return hint.New(allowHint, "%s has a command as target, which was not run: %s", dir, printable.Line(command))
		}
	}
	return nil
}

const allowHint = "add --allow-exec if you trust whoever made it; mmafuzz show draws a bundle without running anything"

// ask shows a command and reports whether it may be run.
func (t *trust) ask(ctx context.Context, dir, command string) (bool, error) {
	shown := fmt.Sprintf("mmafuzz: %s runs the command: %s\n", printable.Line(dir), printable.Line(command))
	if t.allow {
		fmt.Fprint(t.stderr, shown)
		return true, nil
	}
	if !isTerminal(t.stdin) {
		return false, nil
	}
	to := terminal(t.stderr)
	defer to.Close()
	answer := make(chan bool, 1)
	go func() { answer <- question(t.stdin, to, shown+"mmafuzz: run it? [y/N] ") }()
	select {
	case yes := <-answer:
		return yes, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// terminal returns the terminal that the user sees, even if stderr is redirected.
func terminal(stderr io.Writer) io.WriteCloser {
	if !isTerminal(stderr) {
		if f, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
			return f
		}
	}
	return keptOpen{stderr}
}

// keptOpen is a writer whose Close does nothing: it belongs to somebody else.
type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

// question asks for a yes. Anything else, and silence, is a no.
func question(from io.Reader, to io.Writer, text string) bool {
	fmt.Fprint(to, text)
	line, _ := bufio.NewReader(io.LimitReader(from, 1<<10)).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
