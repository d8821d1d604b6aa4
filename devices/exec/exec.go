package exec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The target exec:COMMAND: opening it, and its instructions.

func init() {
	devices.Register("exec", open, "anybody's simulator in a child process: exec:COMMAND [ARGS] (mmafuzz help protocol)")
}

// Protocol is the version of the protocol that this package speaks.
const Protocol = wire.Version

// opened holds the targets in use by name. Opening one again gives the same target: a
// bundle asks for the environment of a target that is running, and must not start it
// anew.
var opened = struct {
	sync.Mutex
	targets map[string]*target
}{targets: map[string]*target{}}

type target struct {
	name   string
	users  int // how often it was opened; guarded by opened
	pool   *pool
	digest string            // of the files of the command
	own    map[string]string // what Environment has from this package
	prefix string            // of the keys that Environment has from the child
}

func open(command string) (devices.Target, error) {
	words, err := split(command)
	if err != nil {
		return nil, err
	}
	return share(&target{name: "exec:" + command, prefix: "child ", digest: digests(words)}, words)
}

// Isolate returns a target whose work is done by children of ours: words is the
// command that serves it (mmafuzz serve TARGET), name is the name under which
// devices.Open finds it. An input that makes a child die or hang is a finding and ends
// nothing else. The target's Environment is what the child says about itself.
func Isolate(name string, words ...string) (devices.Target, error) {
	return share(&target{name: name}, words)
}

// share returns a handle of the target that is open under t's name, or else of t, whose
// first child it starts.
func share(t *target, words []string) (devices.Target, error) {
	opened.Lock()
	defer opened.Unlock()
	if have := opened.targets[t.name]; have != nil {
		t = have
	} else {
		var err error
		if t.pool, err = newPool(t.name, words); err != nil {
			return nil, t.explain(err)
		}
		t.own = map[string]string{"isolation": "child process"}
		if t.prefix != "" {
			t.own = map[string]string{"kind": "child process", "protocol": fmt.Sprintf("%d %s", Protocol, t.pool.mode())}
		}
		opened.targets[t.name] = t
	}
	t.users++
	return &handle{target: t}, nil
}

// handle is one opening of a target.
type handle struct {
	*target
	once sync.Once
}

// Close ends the children when the last handle is closed.
func (h *handle) Close() error {
	h.once.Do(func() {
		opened.Lock()
		h.users--
		last := h.users == 0
		if last {
			delete(opened.targets, h.name)
		}
		opened.Unlock()
		if last {
			h.pool.close()
		}
	})
	return nil
}

func (t *target) Name() string                    { return t.name }
func (t *target) Instructions() []mma.Instruction { return t.pool.header.All() }

// Digest identifies the files of the command.
func (t *target) Digest() string { return t.digest }

func (t *target) Environment() map[string]string {
	env := maps.Clone(t.own)
	t.add(env, t.pool.header.About)
	return env
}

// add adds what a child says to an environment.
func (t *target) add(env, about map[string]string) {
	for k, v := range about {
		env[t.prefix+k] = clean(v, tailWidth)
	}
}

// explain says where the author of a child finds what it has to write, if it has failed.
func (t *target) explain(err error) error {
	failed := errors.As(err, new(*failure)) || errors.As(err, new(*devices.FaultError))
	if t.prefix == "" || !failed {
		return err // it is this program, or there is no child
	}
	return hint.Add(err, "mmafuzz help protocol describes what a child is asked, and what it has to write")
}

// Open returns the unit of an instruction after it has answered a first dot product, of
// zeros: a unit that cannot do that is not worth a campaign.
func (t *target) Open(i *mma.Instruction) (devices.Unit, error) {
	if i.Arch == wire.ArchExec {
		unknown := *i
		unknown.Unknown |= mma.FacetNaN // which NaNs a stranger's program gives, nobody has said
		i = &unknown
	}
	u := &unit{inst: i, target: t, pool: t.pool, number: t.number(i.Name), answer: answer{name: i.Name, d: i.D}}
	if u.number < 0 {
		return nil, fmt.Errorf("%s did not announce %s", t.name, i.Name)
	}
	u.carried(t.pool.header)
	zeros := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: i.K, Tiles: 1})
	if err := u.Run(devices.Opening(), zeros, make([]byte, i.D.Width())); err != nil {
		return nil, t.explain(fmt.Errorf("%s: a first dot product, of zeros: %w", i.Name, err))
	}
	return u, nil
}

// number returns the place of an instruction in the header, -1 if it is not there. A
// name may give another size for the instruction's free dimension than the name announced.
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
