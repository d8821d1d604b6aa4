package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// hintError is an error with a remedy.
type hintError struct {
	error
	hint string
}

func (e *hintError) Unwrap() error { return e.error }

// withHint adds a remedy to an error, nil to nil. An error that has one keeps it.
func withHint(err error, format string, args ...any) error {
	var have *hintError
	if err == nil || errors.As(err, &have) {
		return err
	}
	return &hintError{err, fmt.Sprintf(format, args...)}
}

// hinted is a new error with a remedy.
func hinted(hint, format string, args ...any) error {
	return &hintError{fmt.Errorf(format, args...), hint}
}

// setErrors makes a command and those below it say what is wrong with their
// flags and what to do about it.
func setErrors(c *cobra.Command) {
	c.SetFlagErrorFunc(flagError)
}

// flagError rewrites an error of the flag package.
func flagError(c *cobra.Command, err error) error {
	hint := fmt.Sprintf("%s --help lists the flags", c.CommandPath())
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if near := nearFlags(c, name); near != nil {
			hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
		}
		return hinted(hint, "unknown flag %s", dashed(name))
	case errors.As(err, &missing):
		return hinted(hint, "%s needs a value", dashed(missing.GetSpecifiedName()))
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return hinted(hint, "--%s is %q, not %s", f.Name, invalid.GetValue(), valueOf(f))
	}
	return withHint(err, "%s", hint)
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// nearFlags returns the flags of a command that a name may have been meant for.
func nearFlags(c *cobra.Command, name string) []string {
	var near []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Name, name) || len(name) > 2 && editDistance(f.Name, name) <= 2 {
			near = append(near, dashed(f.Name))
		}
	})
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

// editDistance is the number of insertions, deletions and replacements between
// two words.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// takes checks the arguments of a command that wants those of the given names.
func takes(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		hint := fmt.Sprintf("usage: %s; see %s --help", c.UseLine(), c.CommandPath())
		switch {
		case len(args) < len(names):
			return hinted(hint, "%s is missing", names[len(args)])
		case len(args) > len(names) && len(names) == 0:
			return hinted(hint, "%s takes flags only, not %q", c.CommandPath(), args[0])
		case len(args) > len(names):
			return hinted(hint, "%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

// group makes a command one that only has others below it: without an argument
// it is help or an error, with an unknown one an error with suggestions.
func group(c *cobra.Command, bare func(*cobra.Command) error) {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return bare(c)
		}
		hint := fmt.Sprintf("%s --help lists the commands", c.CommandPath())
		c.SuggestionsMinimumDistance = 2
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			hint = fmt.Sprintf("did you mean %s? ", strings.Join(near, " or ")) + hint
		}
		return hinted(hint, "%s has no command %q", c.CommandPath(), args[0])
	}
}

// oneOf completes a flag with the given words, and is the error of another one.
func oneOf(c *cobra.Command, flag string, words ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	})
}

// checkWord says that a flag has none of the values that it can have.
func checkWord(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	last := len(words) - 1
	return fmt.Errorf("--%s is %q, not %s or %s", flag, value, strings.Join(words[:last], ", "), words[last])
}
