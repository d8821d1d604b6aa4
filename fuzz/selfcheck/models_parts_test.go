package selfcheck

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// ModelTable compares the models that the old table lacks with the oracle. done is called
// for each model that was compared.
func ModelTable(ctx context.Context, old *Table, raw, directed uint64, done func(*ModelCheck)) (*Table, error) {
	fresh := map[string][]string{}
	skip := func(i *mma.Instruction) bool {
		row := old.fresh(arithmeticDigest(i), i.FullName())
		if row != nil {
			fresh[i.FullName()] = row
		}
		return row != nil
	}
	measured := map[string]*ModelCheck{}
	err := checkModels(ctx, raw, directed, skip, func(c *ModelCheck) {
		measured[c.Base] = c
		done(c)
	})
	if err != nil {
		return nil, err
	}
	t := old.after("ModelsTable", []string{"digest", "base", "raw", "directed", "mismatches"})
	for _, i := range argued.Arithmetics() {
		row := fresh[i.FullName()]
		if c := measured[i.FullName()]; c != nil {
			row = []string{arithmeticDigest(&i), c.Base, fmt.Sprint(c.Raw), fmt.Sprint(c.Directed), fmt.Sprint(c.Mismatches)}
		}
		if err := t.add(row); err != nil {
			return nil, err
		}
	}
	return t, nil
}
