package fleet

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// heartbeat is the contents of a shard's file in the directory shards.
type heartbeat struct {
	Version int     `json:"v"`
	Shard   int     `json:"shard"`
	Of      int     `json:"of"`
	Host    string  `json:"host"`
	PID     int     `json:"pid"`
	Beat    int     `json:"beat"`
	Ended   bool    `json:"ended"` // it has ended by itself: its leases are free
	Units   int     `json:"units"` // that it has done
	Dots    uint64  `json:"dots"`
	Seconds float64 `json:"seconds"` // since it began, by its own clock
}

// heartbeatVersion is the version of a heartbeat's format.
const heartbeatVersion = 1

// presence is the heartbeat of this shard.
type presence struct {
	dir  string
	name string
	mu   sync.Mutex
	now  heartbeat
	from time.Time
	stop chan struct{}
	done sync.WaitGroup
}

// appear writes the first heartbeat of this shard, and goes on until leave.
func appear(dir string, shard, of int, every time.Duration) (*presence, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	p := &presence{dir: dir, from: time.Now(), stop: make(chan struct{}), now: heartbeat{Version: heartbeatVersion, Shard: shard, Of: of, Host: host, PID: os.Getpid()}}
	p.name = fmt.Sprintf("%d-of-%d.%s.%s", shard, of, strings.Map(plain, host), rand.Text()[:12])
	if err := p.beat(func(*heartbeat) {}); err != nil {
		return nil, err
	}
	p.done.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				_ = p.beat(func(*heartbeat) {}) // if it fails, other shards take over, and writing a unit says why
			}
		}
	})
	return p, nil
}

// plain replaces characters that a file name should not have.
func plain(r rune) rune {
	if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' {
		return r
	}
	return '-'
}

func (p *presence) beat(change func(*heartbeat)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.now)
	p.now.Beat++
	p.now.Seconds = time.Since(p.from).Seconds()
	body, err := json.Marshal(&p.now)
	if err != nil {
		return err
	}
	return write(filepath.Join(p.dir, shardsDir, p.name), p.name, append(body, '\n'))
}

// leave writes the last heartbeat, which says that this shard has ended.
func (p *presence) leave() error {
	close(p.stop)
	p.done.Wait()
	return p.beat(func(h *heartbeat) { h.Ended = true })
}

// readHeartbeats reads the heartbeats of all shards, by name.
func readHeartbeats(dir string) (map[string]*heartbeat, error) {
	entries, err := os.ReadDir(filepath.Join(dir, shardsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	all := map[string]*heartbeat{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		body, err := corpus.ReadFile(filepath.Join(dir, shardsDir, e.Name()), "heartbeat", 1<<16)
		h := &heartbeat{}
		if err == nil && json.Unmarshal(body, h) == nil && h.Version == heartbeatVersion && h.Of > 0 {
			all[e.Name()] = h
		}
	}
	return all, err
}

// gone reports whether the process of a heartbeat ran on this machine and has ended.
func (p *presence) gone(h *heartbeat) bool {
	if h.Host != p.now.Host {
		return false
	}
	if h.PID == p.now.PID {
		return true // this process has its number now: that one has ended
	}
	process, err := os.FindProcess(h.PID)
	if err != nil {
		return true
	}
	err = process.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}

// watch tells which holders of leases are dead: those whose heartbeats have not changed for
// some time, by the clock of this process.
type watch struct {
	me    *presence
	after time.Duration

	mu   sync.Mutex
	seen map[string]seen
}

type seen struct {
	beat  int
	since time.Time
}

// dead reports whether the shard with a name has stopped working. h is its heartbeat, nil if
// it has none.
func (w *watch) dead(name string, h *heartbeat) bool {
	beat := -1
	if h != nil {
		if h.Ended || w.me.gone(h) {
			return true
		}
		beat = h.Beat
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.seen[name]
	if !ok || s.beat != beat {
		s = seen{beat, time.Now()}
		w.seen[name] = s
	}
	return time.Since(s.since) >= w.after
}

// lease tries to take the lease of a unit or of a step, and reports whether it has. If not,
// holder is the shard that has it, "" if the file does not say.
func (p *presence) lease(what string) (taken bool, holder string, err error) {
	file := filepath.Join(p.dir, leasesDir, what)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		body, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // it has just been given back
		}
		return false, string(bytes.TrimSpace(body)), err
	}
	if err != nil {
		return false, "", err
	}
	_, err = f.WriteString(p.name + "\n")
	return true, "", errors.Join(err, f.Close())
}

// takeOver removes the lease of a dead shard, if that still holds it.
func (p *presence) takeOver(what, holder string) error {
	file := filepath.Join(p.dir, leasesDir, what)
	mine := filepath.Join(p.dir, leasesDir, "."+filepath.Base(file)+"."+p.name)
	if err := os.Rename(file, mine); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // another shard was faster
		}
		return err
	}
	if body, err := os.ReadFile(mine); err == nil && string(bytes.TrimSpace(body)) != holder {
		// Another shard was faster and has taken the lease. If a third shard has taken it
		// since the file was renamed, two work on the unit, which does no harm.
		return os.Rename(mine, file)
	}
	return os.Remove(mine)
}

// take takes a lease that is free or that a dead shard holds, and reports whether it has.
func (w *watch) take(what string, beats map[string]*heartbeat) (bool, error) {
	taken, holder, err := w.me.lease(what)
	if !taken && err == nil && holder != w.me.name && w.dead(holder, beats[holder]) {
		if err = w.me.takeOver(what, holder); err == nil {
			taken, _, err = w.me.lease(what)
		}
	}
	return taken && err == nil, err
}

// giveBack gives a lease back.
func (p *presence) giveBack(what string) error {
	err := os.Remove(filepath.Join(p.dir, leasesDir, what))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}
