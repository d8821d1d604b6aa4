package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// completeTargets completes flags with names of targets.
func completeTargets(c *cobra.Command, flags ...string) {
	for _, f := range flags {
		_ = c.RegisterFlagCompletionFunc(f, func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if open.ByPath(prefix) {
				return nil, cobra.ShellCompDirectiveDefault // files
			}
			return open.Names(), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// completeInstructions completes a flag with the instructions of a target.
func completeInstructions(c *cobra.Command, flag string, target *string) {
	_ = c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		name, _ := devices.Split(*target)
		if *target == "" {
			name = demoA
		}
		if strings.HasPrefix(name, "exec:") || open.OnGPU(name) {
			return nil, cobra.ShellCompDirectiveNoFileComp // pressing a key shall not start a program
		}
		t, err := devices.Open(name)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer t.Close()
		var names []string
		for _, i := range t.Instructions() {
			if i.Refuse == "" {
				names = append(names, i.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// planNames lists the plans that come with the program.
func planNames() []string {
	var names []string
	plans, _ := corpus.Plans() // a test opens them all
	for _, p := range plans {
		names = append(names, p.Name)
	}
	return names
}

// completePlans completes a flag with plans and files.
func completePlans(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return planNames(), cobra.ShellCompDirectiveDefault
}

func completeGenerators(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, g := range gen.Current() {
		names = append(names, g.Name+"\t"+g.Doc)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
