package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fewFlags makes the help of a command show only some of its own flags, and adds --help-all,
// which shows all.
func fewFlags(c *cobra.Command, common string) {
	var all helpAll
	c.Flags().Var(&all, "help-all", "help with all flags")
	c.Flags().Lookup("help-all").NoOptDefVal = "true"
	shown := append(strings.Fields(common), "help", "help-all")
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		var hidden []*pflag.Flag
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !bool(all) && !f.Hidden && !slices.Contains(shown, f.Name) {
				f.Hidden = true
				hidden = append(hidden, f)
			}
		})
		defer func() {
			for _, f := range hidden {
				f.Hidden = false
			}
		}()
		c.Root().HelpFunc()(c, args)
	})
}

// helpAll is the value of --help-all, which ends the parsing of flags as --help does.
type helpAll bool

func (h *helpAll) String() string   { return "" }
func (h *helpAll) Type() string     { return "bool" }
func (h *helpAll) Set(string) error { *h = true; return pflag.ErrHelp }
