package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

//go:embed driver.py
var script string

// peer is MMA-Sim in a child process.
type peer struct {
	versions map[string]string
	dir      string // of the files of operands and results
	stdin    io.WriteCloser
	lines    *bufio.Reader
	cmd      *exec.Cmd
	stderr   strings.Builder // complete when wait has returned
	wait     func() error
}

// startPeer starts MMA-Sim in an interpreter that has it.
func startPeer(ctx context.Context, python, cache string) (*peer, error) {
	dir, err := os.MkdirTemp("", "peerbench")
	if err != nil {
		return nil, err
	}
	p := &peer{dir: dir, cmd: exec.CommandContext(ctx, python, "-c", script)}
	p.cmd.Dir = dir // Python looks for modules where it is started
	p.cmd.Stderr = &p.stderr
	// MMA-Sim compiles a part of itself with the tools of its environment.
	p.cmd.Env = append(os.Environ(), "TORCH_EXTENSIONS_DIR="+filepath.Join(cache, "extensions"),
		"PATH="+filepath.Dir(python)+string(os.PathListSeparator)+os.Getenv("PATH"))
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		p.stdin, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	p.lines, p.wait = bufio.NewReader(stdout), sync.OnceValue(p.cmd.Wait)
	if err := p.read(&p.versions); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// read reads an answer.
func (p *peer) read(answer any) error {
	line, err := p.lines.ReadBytes('\n')
	if err != nil {
		return p.ended()
	}
	if err := json.Unmarshal(line, answer); err != nil {
		return fmt.Errorf("MMA-Sim says %q: %w", line, err)
	}
	return nil
}

// ended explains why there are no more answers.
func (p *peer) ended() error {
	p.stdin.Close()
	p.wait() // its error says less than what it wrote
	return fmt.Errorf("MMA-Sim has ended: %s", lastLine(p.stderr.String()))
}

// lastLine is what Python says about an exception.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return "it says nothing"
}

// Close ends the process.
func (p *peer) Close() error {
	p.stdin.Close()
	err := p.wait()
	return errors.Join(err, os.RemoveAll(p.dir))
}

// request is a line for the script.
type request struct {
	peerName
	Tiles   int     `json:"tiles"`
	M       int     `json:"m"`
	N       int     `json:"n"`
	K       int     `json:"k"`
	A       string  `json:"a"`
	B       string  `json:"b"`
	C       string  `json:"c"`
	SA      string  `json:"sa,omitempty"`
	SB      string  `json:"sb,omitempty"`
	D       string  `json:"d"`
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds"` // of a run, at least
}

// answer is one of the script: seconds of runs, of one tile and of the whole batch.
type answer struct {
	Single      []float64 `json:"single"`
	Batched     []float64 `json:"batched"`
	SingleEqual bool      `json:"single_equal"`
	Lacks       string    `json:"lacks"`
	Error       string    `json:"error"`
}

// run computes a batch, with runs that are timed if there are to be some.
func (p *peer) run(name peerName, in *mma.Batch, runs int, seconds float64) (out []byte, a *answer, err error) {
	r := request{peerName: name, Tiles: in.Tiles, M: in.M, N: in.N, K: in.K, Runs: runs, Seconds: seconds, D: filepath.Join(p.dir, "d")}
	for _, o := range []struct {
		path *string
		name string
		buf  []byte
	}{{&r.A, "a", in.A}, {&r.B, "b", in.B}, {&r.C, "c", in.C}, {&r.SA, "sa", in.SA}, {&r.SB, "sb", in.SB}} {
		if len(o.buf) == 0 {
			continue
		}
		*o.path = filepath.Join(p.dir, o.name)
		if err := os.WriteFile(*o.path, o.buf, 0o666); err != nil {
			return nil, nil, err
		}
	}
	line, err := json.Marshal(&r)
	if err != nil {
		return nil, nil, err
	}
	if _, err := p.stdin.Write(append(line, '\n')); err != nil {
		return nil, nil, p.ended()
	}
	a = &answer{}
	if err := p.read(a); err != nil {
		return nil, nil, err
	}
	if a.Error != "" {
		return nil, nil, fmt.Errorf("MMA-Sim: %s", a.Error)
	}
	if a.Lacks != "" {
		return nil, a, nil
	}
	if out, err = os.ReadFile(r.D); err != nil {
		return nil, nil, err
	}
	if want := in.Dots() * in.Formats.D.Width(); len(out) != want {
		return nil, nil, fmt.Errorf("MMA-Sim gave %d bytes for %d", len(out), want)
	}
	return out, a, nil
}
