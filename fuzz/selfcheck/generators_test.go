package selfcheck

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// measured has the versions of generators with which the tables were made, if these are not
// the current ones: a new version that only draws the same distribution faster, or the same
// cases in other lanes, does not make the tables wrong.
var measured = map[string]string{"pattern": "pattern@1", "cut": "cut@1", "raw": "raw@1", "normal": "normal@1", "uniform": "uniform@1", "dnn": "dnn@1"}

// Generators returns the generators that the tables are about, in the versions with which
// these were made.
func Generators() []gen.Generator {
	all := gen.All()
	for i := range all {
		source, old := measured[all[i].Name]
		if !old {
			continue
		}
		s, err := gen.ParseSource(source)
		if err != nil {
			panic("selfcheck: " + err.Error()) // the names in measured are right
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

// findGenerator returns the generator with a name.
func findGenerator(name string) (*gen.Generator, error) {
	for _, g := range Generators() {
		if g.Name == name {
			return &g, nil
		}
	}
	return gen.Find(name)
}
