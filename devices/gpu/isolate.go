package gpu

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Options are what follows the colon in the name of a target on a GPU: a device,
// and separated by commas
//
//	inprocess    the instructions run in this process, not in children: somewhat
//	             faster, but the first fault ends the campaign
//	force        instructions are used even if their self-test fails; bundles say what
//	             is wrong
//	deadline=2s  the time for a launch, 5s unless given
type Options struct {
	Device    string
	InProcess bool
	Force     bool
	Deadline  time.Duration
}

// Children is set at the start by programs that can be their own child: called with the
// arguments "serve TARGET" they do what mmafuzz serve does. In other programs, such as the
// Go test of a bundle, targets run in the process itself, whatever their name says.
var Children bool

// Isolated reports whether the work is to be done by children.
func (o *Options) Isolated() bool { return Children && !o.InProcess }

// launchTime is the time for a launch, which takes milliseconds if it does not
// hang.
const launchTime = 5 * time.Second

// ParseOptions reads the argument of a target's name.
func ParseOptions(argument string) (*Options, error) {
	words := strings.Split(argument, ",")
	o := &Options{Device: words[0], Deadline: launchTime}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		var err error
		switch {
		case w == "inprocess":
			o.InProcess = true
		case w == "force":
			o.Force = true
		case name == "deadline":
			if o.Deadline, err = time.ParseDuration(value); err != nil || o.Deadline <= 0 {
				return nil, fmt.Errorf("deadline=%s is no time such as 500ms or 10s", value)
			}
		default:
			return nil, fmt.Errorf("unknown option %q (known: inprocess, force, deadline=TIME)", w)
		}
	}
	return o, nil
}

// children is how many processes work on a device at a time: while the kernel of one
// runs, the other packs. Each has a context of its own, which takes some hundred MiB.
const children = 2

// requestTime is the time for a request to a child, with everything that the first
// one for an instruction needs: compiling and testing.
const requestTime = time.Minute

// Isolate returns a target whose work is done by children: this program, run as mmafuzz
// serve NAME,inprocess. rows returns its instructions from the catalogue, by what the child
// says about itself: the protocol carries less than the catalogue has.
func Isolate(name string, rows func(child devices.Target) ([]mma.Instruction, error)) (devices.Target, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program cannot start itself as a child process: %w; %s,inprocess needs no child", err, name)
	}
	t, err := exec.Isolate(name, self, "serve", "--children", strconv.Itoa(children), "--deadline", requestTime.String(), name+",inprocess")
	if err != nil {
		return nil, err
	}
	all, err := rows(t)
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("the child process says: %w", err)
	}
	return &isolated{t, all}, nil
}

// isolated is a target that a child process serves.
type isolated struct {
	devices.Target
	rows []mma.Instruction
}

func (s *isolated) Instructions() []mma.Instruction { return s.rows }

// Open returns a unit of the child that asks for batches of a GPU's size.
func (s *isolated) Open(i *mma.Instruction) (devices.Unit, error) {
	if err := refused(s.Name(), i); err != nil {
		return nil, err
	}
	u, err := s.Target.Open(i)
	if err != nil {
		return nil, err
	}
	return &isolatedUnit{u}, nil
}

// isolatedUnit is a unit of a child.
type isolatedUnit struct{ devices.Unit }

func (*isolatedUnit) BatchSize() int { return worthwhile }

func (u *isolatedUnit) Environment() map[string]string {
	if p, ok := u.Unit.(devices.Provenance); ok {
		return p.Environment()
	}
	return nil
}
