package exec

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register("exec", open, "anybody's simulator in a child process: exec:COMMAND [ARGS] (go doc ./devices/exec)")
}

// Protocol is the version of the protocol that this package speaks.
const Protocol = wire.Version

// opened are the targets in use by their command. Opening one again gives the
// same one: a bundle asks for the environment of a target that is running, and
// shall not start it anew.
var opened = struct {
	sync.Mutex
	targets map[string]*target
}{targets: map[string]*target{}}

type target struct {
	name    string
	command string
	users   int // how often it was opened; guarded by opened
	pool    *pool
}

func open(command string) (devices.Target, error) {
	words, err := split(command)
	if err != nil {
		return nil, err
	}
	opened.Lock()
	defer opened.Unlock()
	t := opened.targets[command]
	if t == nil {
		t = &target{name: "exec:" + command, command: command}
		if t.pool, err = newPool(t.name, words); err != nil {
			return nil, err
		}
		opened.targets[command] = t
	}
	t.users++
	return &handle{target: t}, nil
}

// handle is one opening of a target.
type handle struct {
	*target
	once sync.Once
}

// Close ends the children with the last handle.
func (h *handle) Close() error {
	h.once.Do(func() {
		opened.Lock()
		h.users--
		last := h.users == 0
		if last {
			delete(opened.targets, h.command)
		}
		opened.Unlock()
		if last {
			h.pool.close()
		}
	})
	return nil
}

func (t *target) Name() string                    { return t.name }
func (t *target) Instructions() []mma.Instruction { return t.pool.header.Instructions }

func (t *target) Environment() map[string]string {
	mode := "binary"
	if t.pool.header.Text {
		mode = "text"
	}
	env := map[string]string{"kind": "child process", "protocol": fmt.Sprintf("%d %s", Protocol, mode)}
	for k, v := range maps.All(t.pool.header.About) {
		env["child "+k] = clean(v, tailWidth)
	}
	return env
}

// Open returns the unit of an instruction, after it has answered a first dot
// product, of zeros: what cannot do that is not worth a campaign.
func (t *target) Open(i *mma.Instruction) (devices.Unit, error) {
	u := &unit{inst: i, pool: t.pool, number: t.number(i.Name)}
	if u.number < 0 {
		return nil, fmt.Errorf("%s did not announce %s", t.name, i.Name)
	}
	zeros := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: i.K, Tiles: 1})
	if err := u.Run(context.Background(), zeros, make([]byte, i.D.Width())); err != nil {
		return nil, fmt.Errorf("%s: a first dot product, of zeros: %w", i.Name, err)
	}
	return u, nil
}

// number returns the place of an instruction in the header, -1 if it is not
// there. A name may have another free dimension than the one announced.
func (t *target) number(name string) int {
	all := t.Instructions()
	if n := slices.IndexFunc(all, func(i mma.Instruction) bool { return i.Name == name }); n >= 0 {
		return n
	}
	for n := range all {
		if _, err := mma.Search(t.name, all[n:n+1], name); err == nil {
			return n
		}
	}
	return -1
}
