package main

import (
	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// readBundle reads a bundle, and says if another version made it or files were added to it.
func (a *app) readBundle(dir string) (*corpus.Bundle, error) { return bundle.Read(dir, a.note) }

// directories completes an argument with directories.
func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
