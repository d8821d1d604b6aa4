//go:build gofuzz

package harness

import "sync"

// target is opened late: kinds of targets are registered when packages are initialized.
var target = sync.OnceValue(func() *Harness {
	h, err := FromEnvironment()
	if err != nil {
		panic(err)
	}
	return h
})

// FuzzPair is the function that go-fuzz calls.
func FuzzPair(data []byte) int {
	features, err := target().Check(data)
	switch {
	case err != nil:
		panic(err)
	case features > manyFeatures:
		return 1
	}
	return 0
}

// manyFeatures is the number of features above which an input is given priority: about a
// tenth of the generators' inputs have more.
const manyFeatures = 40
