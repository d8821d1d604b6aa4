//go:build gofuzz

package fuzz

import "github.com/mmafuzz/mmafuzz/sim/mma"

var (
	gofuzzChecker  = NewChecker(mma.Arithmetics())
	plantedChecker = newPlantedChecker()
)

// FuzzPair is the entry of go-fuzz:
//
//	go tool go-fuzz-build -func FuzzPair -o /tmp/pair.zip ./fuzz
//	go tool go-fuzz -bin /tmp/pair.zip -workdir /tmp/pair
//
// The corpus in the work directory is the encoding of Decode, which go test
// -fuzz shares. An input whose computation has many features is preferred.
func FuzzPair(data []byte) int { return gofuzzCheck(gofuzzChecker, data) }

// FuzzPlanted is FuzzPair with a mistake planted in one model, to try whether
// go-fuzz finds it (go-fuzz -func FuzzPlanted, with the same archive).
func FuzzPlanted(data []byte) int { return gofuzzCheck(plantedChecker, data) }

func gofuzzCheck(c *Checker, data []byte) int {
	features, err := c.Check(data)
	if err != nil {
		panic(err)
	}
	if features > gofuzzInteresting {
		return 1
	}
	return 0
}

// gofuzzInteresting is the number of features above which an input is given
// priority: about the upper tenth of what generators make.
const gofuzzInteresting = 40
