package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// setErrors makes a command and its subcommands report wrong flags with a hint. Commands
// that only have subcommands become groups.
func setErrors(c *cobra.Command) {
	c.SetFlagErrorFunc(flagError)
	for _, sub := range c.Commands() {
		setErrors(sub)
		if sub.HasSubCommands() {
			group(sub)
		} else if sub.Args == nil {
			sub.Args = takes()
		}
	}
}

// flagError rewrites an error of the flag package.
func flagError(c *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return pflag.ErrHelp
	}
	if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 {
		return unknownCommand(c, words[0]) // the word is no known command, so the flag belongs to a misspelt one: report the word
	}
	remedy := fmt.Sprintf("%s --help lists the flags", c.CommandPath())
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		return hint.New(hint.DidYouMean(nearFlags(c, name))+remedy, "unknown flag %s", dashed(name, unknown.GetSpecifiedShortnames()))
	case errors.As(err, &missing):
		return hint.New(remedy, "%s needs a value", dashed(missing.GetSpecifiedName(), missing.GetSpecifiedShortnames()))
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return hint.New(remedy, "--%s is %q, not %s", f.Name, invalid.GetValue(), valueOf(f))
	}
	return hint.Add(err, "%s", remedy)
}

// dashed writes a flag as it was given. short is what followed a single dash; it is "" if
// there were two dashes, which also precede flags whose name is one letter.
func dashed(name, short string) string {
	if short != "" {
		return "-" + name
	}
	return "--" + name
}

// nearFlags returns the flags of a command that a name may have been meant for.
func nearFlags(c *cobra.Command, name string) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	near := hint.Nearest(name, names)
	for i := range near {
		near[i] = dashed(near[i], "")
	}
	return near
}

// valueOf says what values a flag takes.
func valueOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "uint64":
		return "a whole number from 0 on"
	case "int":
		return "a whole number"
	case "duration":
		return "a time such as 90s, 10m or 8h"
	case "bool":
		return "true or false"
	}
	return "a " + f.Value.Type()
}

// helpWidth is the columns of help.
const helpWidth = 80

// fillHelp makes the help of a command and its subcommands keep to helpWidth. Examples and
// lists, whose lines begin with blanks, stay as they are.
func fillHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("shortHelp", shortHelp)
	root.SetUsageTemplate(strings.NewReplacer(
		".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth),
		"{{.Short}}", "{{shortHelp .}}",
	).Replace(root.UsageTemplate()))
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		fillProse(c)
		help(c, args)
	})
}

// shortHelp writes what a command does beside its name in a list of commands.
func shortHelp(c *cobra.Command) string {
	indent := c.NamePadding() + len("   ")
	return strings.Join(readable.Wrap(c.Short, helpWidth-indent), "\n"+strings.Repeat(" ", indent))
}

// fillProse fills the lines of what the help of a command says before its usage.
func fillProse(c *cobra.Command) {
	paragraphs := strings.Split(cmp.Or(c.Long, c.Short), "\n\n")
	for i, text := range paragraphs {
		if !strings.Contains("\n"+text, "\n ") {
			paragraphs[i] = strings.Join(readable.Wrap(text, helpWidth), "\n")
		}
	}
	c.Long = strings.Join(paragraphs, "\n\n")
}

// takes checks the arguments of a command: it has one for each of the given names, and those
// in brackets may be left out.
func takes(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		usage := fmt.Sprintf("usage: %s; see %s --help", c.UseLine(), c.CommandPath())
		switch {
		case len(args) < len(names) && names[len(args)][0] != '[':
			return hint.New(usage, "%s is missing", strings.TrimSuffix(names[len(args)], "..."))
		case len(args) > len(names) && len(names) == 0:
			return hint.New(usage, "%s takes flags only, not %q", c.CommandPath(), args[0])
		case len(args) > len(names) && !strings.HasSuffix(names[len(names)-1], "..."):
			return hint.New(usage, "%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

// group makes a command one that only has subcommands. Without an argument the program
// itself shows its help, and any other group an error; an unknown word is an error with
// suggestions.
func group(c *cobra.Command) {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return unknownCommand(c, args[0])
		case c.HasParent():
			return hint.New(listsCommands(c), "%s what? %s", c.Name(), strings.Join(commandNames(c), ", "))
		}
		return c.Help()
	}
}

func unknownCommand(c *cobra.Command, word string) error {
	what := fmt.Sprintf("unknown command %q", word)
	if c.HasParent() {
		what += " of " + c.CommandPath()
	}
	return hint.New(hint.DidYouMean(hint.Nearest(word, commandNames(c)))+listsCommands(c), "%s", what)
}

func listsCommands(c *cobra.Command) string { return c.CommandPath() + " --help lists the commands" }

// commandNames lists the commands below a command.
func commandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(names, sub.Name())
		}
	}
	return names
}
