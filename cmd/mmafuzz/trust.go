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
	"github.com/mmafuzz/mmafuzz/fuzz/fleet"
)

// trust is what the user allows files from others to do. The target of a bundle or of a
// campaign's plan may be a command, such as exec:sh -c ..., that is not on the command line:
// it is run only if the user agrees, with --allow-exec or by answering a question on the
// terminal.
type trust struct {
	*app
	allow   bool
	answers map[string]bool // by command
}

// trusting adds --allow-exec to a command that reads files of a kind, such as bundles.
func trusting(a *app, c *cobra.Command, files string) *trust {
	t := &trust{app: a, answers: map[string]bool{}}
	c.Flags().BoolVar(&t.allow, "allow-exec", false, "run the commands that "+files+" have as targets, without asking")
	return t
}

// targetCommand returns the command that a target runs, and whether it runs one.
func targetCommand(target string) (command string, is bool) {
	return strings.CutPrefix(target, "exec:")
}

// bundle asks whether the commands of a bundle may be run, and returns an error if not.
func (t *trust) bundle(ctx context.Context, dir string, m *corpus.Mismatch) error {
	return hint.Add(t.targets(ctx, dir, m.A.Target, m.B.Target), allowHint+"; mmafuzz show draws a bundle without running anything")
}

// plan asks whether the commands of a campaign's plan may be run, and returns an error if not.
func (t *trust) plan(ctx context.Context, file string, p *fleet.Plan) error {
	for i := range p.Pairs {
		if err := t.targets(ctx, file, p.Pairs[i].A, p.Pairs[i].B); err != nil {
			return hint.Add(err, allowHint)
		}
	}
	return nil
}

// targets shows the commands among the targets that a file names, as far as the user has not
// seen them yet, and asks for permission. It returns an error if they must not be run.
func (t *trust) targets(ctx context.Context, file string, targets ...string) error {
	for _, target := range targets {
		command, is := targetCommand(target)
		if !is {
			continue
		}
		may, asked := t.answers[command]
		if !asked {
			var err error
			if may, err = t.ask(ctx, file, command); err != nil {
				return err
			}
			t.answers[command] = may
		}
		if !may {
			return fmt.Errorf("%s has a command as target, which was not run: %s", file, printable.Line(command))
		}
	}
	return nil
}

const allowHint = "add --allow-exec if you trust whoever made it"

// ask shows a command and reports whether it may be run.
func (t *trust) ask(ctx context.Context, file, command string) (bool, error) {
	shown := fmt.Sprintf("mmafuzz: %s runs the command: %s\n", printable.Line(file), printable.Line(command))
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
