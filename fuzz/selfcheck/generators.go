package selfcheck

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// measured are the versions of generators with which the tables were made, where
// those are not the current ones: a generator that only draws the same
// distribution faster does not make them wrong.
var measured = map[string]string{"raw": "raw@1", "normal": "normal@1", "uniform": "uniform@1", "dnn": "dnn@1"}

// Generators returns the generators that the tables are about.
func Generators() []gen.Generator {
	all := gen.All()
	for i := range all {
		source, old := measured[all[i].Name]
		if !old {
			continue
		}
		s, err := gen.ParseSource(source)
		if err != nil {
			panic("selfcheck: " + err.Error()) // its name is our own
		}
		all[i] = *s.Generator
	}
	return all
}

// Title names a generator in a table, with its version where there is a newer one.
func Title(g *gen.Generator) string {
	if _, old := measured[g.Name]; old {
		return fmt.Sprintf("%s@%d", g.Name, g.Version)
	}
	return g.Name
}

// findGenerator returns the generator of a name.
func findGenerator(name string) (*gen.Generator, error) {
	for _, g := range Generators() {
		if g.Name == name {
			return &g, nil
		}
	}
	return gen.Find(name)
}
