package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version and digests of everything results depend on",
		Long: `version prints the program's version, the platform, and digests of the data that
results depend on: the catalogue of instructions with their parameters, the
generators of inputs, and the number formats. Journals, recordings and bundles keep
these digests. Building the program again does not change them. A run, an inference
or a recording that was begun with other digests cannot be resumed.`,
		RunE: func(*cobra.Command, []string) error {
			env := versions.Environment()
			maps.Copy(env, versions.Current().Named())
			if a.json {
				return a.writeJSON(env)
			}
			for _, k := range slices.Sorted(maps.Keys(env)) {
				fmt.Fprintf(a.stdout, "%-10s %s\n", k, env[k])
			}
			return nil
		},
	}
}

// otherVersionHint is what to do where another version of the program has made a file, so
// that this one cannot continue it.
const otherVersionHint = "continue with the program that began it (its mmafuzz version prints the same digests), or start anew with another --out"

func (a *app) notes(texts []string) {
	for _, text := range texts {
		a.note(text)
	}
}

// note says that something was made by another version; "" is nothing to say.
func (a *app) note(text string) {
	if text != "" {
		a.say("%s", text)
	}
}
