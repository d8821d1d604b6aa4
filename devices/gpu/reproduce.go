package gpu

import (
	"fmt"
	"maps"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Case is a dot product with its results on both sides: what a standalone program can show
// to somebody who has the hardware and nothing of this project.
type Case struct {
	Side        string // of a finding, "a" or "b": part of the names of the files
	Target      string // the target that gave Result, such as cuda:0 or sim:hopper
	Instruction *mma.Instruction
	Dot         *mma.Dot
	K           int    // elements of Dot, a multiple of the instruction's K
	Result      uint64 // code of D
	Other       string // target and instruction of the other side
	OtherResult uint64 // the other side's code of D
}

// Reproducer returns programs that run a case on the hardware of one vendor: the contents
// of each file by its name, nil if there is no kernel for the instruction.
type Reproducer func(*Case) (map[string][]byte, error)

var reproducers []Reproducer

// RegisterReproducer adds a kind of programs. It is for init functions.
func RegisterReproducer(r Reproducer) { reproducers = append(reproducers, r) }

// Reproduce returns the programs of all kinds for a case. The map is empty if no known
// hardware executes the instruction.
func Reproduce(c *Case) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, r := range reproducers {
		files, err := r(c)
		if err != nil {
			return nil, fmt.Errorf("program that reproduces %s: %w", c.Instruction.FullName(), err)
		}
		maps.Copy(all, files)
	}
	return all, nil
}
