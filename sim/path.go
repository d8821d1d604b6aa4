package sim

import "github.com/mmafuzz/mmafuzz/sim/internal/simd"

// Path is a way in which a model computes. All give the same bits.
type Path int

// The paths. Each includes those before it: a program for which a path has no kernel
// takes the path before.
const (
	General  Path = iota // the general interpreter
	Portable             // kernels in Go
	AVX2                 // kernels in assembly for amd64
	AVX512               //
)

var pathNames = [...]string{"general", "portable", "avx2", "avx512"}

// String returns the path's name.
func (p Path) String() string { return pathNames[p] }

// Paths returns the paths that this processor and this build have. Models take
// the last one.
func Paths() []Path {
	best := Portable + Path(simd.Best()-simd.Portable)
	var all []Path
	for p := General; p <= best; p++ {
		all = append(all, p)
	}
	return all
}

// level is the vector instructions of a path.
func (p Path) level() simd.Level { return simd.Portable + simd.Level(max(p, Portable)-Portable) }

// On returns the same model on another path. It panics if the processor does not
// have it.
func (m *Model) On(p Path) *Model {
	if p.level() > simd.Best() {
		panic("sim: no " + p.String() + " here")
	}
	return newModel(m.formats, m.k, m.params, p)
}
