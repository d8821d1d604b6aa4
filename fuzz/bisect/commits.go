package bisect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
)

// Commits are the commits of a range of a git repository, as versions to bisect. Errors name
// the flags: --git for Range, --repo for Repo, --build for Build.
type Commits struct {
	Repo  string // directory of the repository
	Range string // as in git log
	Build string // command that builds a checkout; "": none

	dir string // of checkouts
}

// list returns the versions in the range of commits, oldest first: each is the name of the
// commit and the first line of its message.
func (c *Commits) list(ctx context.Context) ([]string, error) {
	out, err := c.git(ctx, "log", "--reverse", "--first-parent", "--format=%h %s", c.Range, "--")
	if err != nil {
		return nil, hint.Add(err, "--git takes a range as git log does, such as v1.0..main, and --repo the directory of the repository")
	}
	var versions []string
	for line := range strings.Lines(out) {
		versions = append(versions, strings.TrimSpace(line))
	}
	if len(versions) == 0 {
		return nil, hint.New("the range is OLD..NEW", "there are no commits in %s", c.Range)
	}
	c.dir, err = os.MkdirTemp("", "mmafuzz-bisect-")
	return versions, err
}

// git returns the output of a command of git.
func (c *Commits) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", c.Repo}, args...)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %s", args[0], cmp.Or(lastLine(errs.String()), err.Error()))
	}
	return string(out), err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// checkout returns the directory of a commit, built.
func (c *Commits) checkout(ctx context.Context, commit string) (string, error) {
	dir := filepath.Join(c.dir, commit)
	failed := dir + ".failed"
	if text, err := os.ReadFile(failed); err == nil {
		return dir, errors.New(string(text))
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if _, err := c.git(ctx, "worktree", "add", "--detach", dir, commit); err != nil {
		return dir, err
	}
	if c.Build == "" {
		return dir, nil
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Build)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("--build failed: %s", cmp.Or(lastLine(string(out)), err.Error()))
		return dir, errors.Join(err, os.WriteFile(failed, []byte(err.Error()), 0o666))
	}
	return dir, err
}

// remove removes what checkout has made, also from git's list of worktrees.
func (c *Commits) remove() {
	if err := os.RemoveAll(c.dir); err != nil {
		slog.Warn("removing checkouts", "error", err)
	}
	if _, err := c.git(context.Background(), "worktree", "prune"); err != nil {
		slog.Warn("removing checkouts", "error", err)
	}
}
