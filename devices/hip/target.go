package hip

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

func init() {
	devices.Register(kind, open, "AMD GPU: hip:0; compiled and inspected, not yet run (go doc ./devices/hip)")
}

const kind = "hip"

// launchTime is the time for a launch, which takes milliseconds if it does not
// hang.
const launchTime = 5 * time.Second

// options are what stands in a target's name.
type options struct {
	ordinal   int
	inprocess bool
	force     bool
	deadline  time.Duration
}

// parse reads a target's name after the colon.
func parse(argument string) (*options, error) {
	words := strings.Split(argument, ",")
	o := &options{deadline: launchTime}
	var err error
	if o.ordinal, err = strconv.Atoi(words[0]); err != nil || o.ordinal < 0 {
		return nil, fmt.Errorf("%q is not the number of a device: hip:0 is the first", words[0])
	}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch {
		case w == "inprocess":
			o.inprocess = true
		case w == "force":
			o.force = true
		case name == "deadline":
			if o.deadline, err = time.ParseDuration(value); err != nil || o.deadline <= 0 {
				return nil, fmt.Errorf("deadline=%s is no time such as 500ms or 10s", value)
			}
		default:
			return nil, fmt.Errorf("unknown option %q (known: inprocess, force, deadline=TIME)", w)
		}
	}
	return o, nil
}

func open(argument string) (devices.Target, error) {
	o, err := parse(argument)
	if err != nil {
		return nil, err
	}
	if err := supported(); err != nil {
		return nil, err
	}
	if o.inprocess {
		return here(kind+":"+argument, o)
	}
	return isolated(argument)
}

// children is how many processes work on a device at a time: while the kernel of
// one runs, the other packs.
const children = 2

// requestTime is the time for a request to a child, with everything that the first
// one for an instruction needs: compiling and testing.
const requestTime = time.Minute

// factChip is the fact that the isolated form reads back.
const factChip = "chip"

// isolated returns the target whose work children do.
func isolated(argument string) (devices.Target, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program is needed as a child process: %w; hip:%s,inprocess does without", err, argument)
	}
	t, err := exec.Isolate(kind+":"+argument, self, "serve", "--children", strconv.Itoa(children), "--deadline", requestTime.String(),
		kind+":"+argument+",inprocess")
	if err != nil {
		return nil, err
	}
	return &served{t, Rows(t.Environment()[factChip])}, nil
}

// served is a target that a child process serves, with the rows of the catalogue in
// place of what went through the protocol.
type served struct {
	devices.Target
	rows []mma.Instruction
}

func (s *served) Instructions() []mma.Instruction { return s.rows }

// Rows returns the instructions of the catalogue for a chip, such as gfx942. That
// there is no model of an instruction is no reason not to run it.
func Rows(chip string) []mma.Instruction {
	arch, ok := mma.FindArch(chip)
	if !ok {
		return nil
	}
	rows := mma.Of(arch.Name)
	for n := range rows {
		rows[n].Refuse = ""
	}
	return rows
}
