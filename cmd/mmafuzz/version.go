package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version and what results may depend on",
		RunE: func(*cobra.Command, []string) error {
			env := environment()
			if a.json {
				return a.writeJSON(env)
			}
			for _, k := range slices.Sorted(maps.Keys(env)) {
				fmt.Fprintf(a.stdout, "%-8s %s\n", k, env[k])
			}
			return nil
		},
	}
}
