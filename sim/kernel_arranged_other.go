//go:build !amd64 || purego

package sim

import "github.com/mmafuzz/mmafuzz/sim/mma"

// There are no vector instructions.

type (
	arrangedVectors     struct{}
	arrangedVectorState struct{}
)

func (t *arranged) setVectors(Path) {}

func (t *arranged) arrangeVectors(*arrangedState, *mma.Batch, *mma.Batch) bool { return false }

func (t *arranged) addVectors(_ *arrangedState, _, _, _ []byte) int { return 0 }
