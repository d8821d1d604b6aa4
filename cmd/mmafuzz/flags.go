package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// Flags that several commands have.

// unitFlags are those of commands that work on one unit.
type unitFlags struct{ target, inst, like string }

// add adds them to a command; example is what a target may be.
func (u *unitFlags) add(c *cobra.Command, example string) {
	f := c.Flags()
	f.StringVar(&u.target, "target", "", "`target`, such as "+example+" (required)")
	f.StringVar(&u.inst, "inst", "", "`instruction` (required, unless the target has only one)")
	f.StringVar(&u.like, "like", "", "for reference arithmetic: a `target` whose instruction gives the formats, such as sim:hopper")
	completeTargets(c, "target", "like")
	completeInstructions(c, "inst", &u.target)
}

// open opens the unit. The caller closes the target.
func (u *unitFlags) open() (devices.Target, devices.Unit, error) {
	return open.Unit(u.target, u.inst, u.like)
}

// openLive opens the unit, which must not be a recording. The caller closes the target.
func (u *unitFlags) openLive() (devices.Target, devices.Unit, error) {
	return open.Live(u.target, u.inst, u.like)
}

// addNoInfer adds the flag of commands that look for the arithmetic of targets.
func addNoInfer(c *cobra.Command, noInfer *bool) {
	c.Flags().BoolVar(noInfer, "no-infer", false, "do not look for the arithmetic of a target of which nothing is known")
}

// instructionsFlag is the value of a flag that selects instructions (devices.Select) and may be
// given several times.
type instructionsFlag struct{ selection *string }

func (f instructionsFlag) String() string { return *f.selection }
func (f instructionsFlag) Type() string   { return "string" }

func (f instructionsFlag) Set(value string) error {
	if *f.selection != "" {
		value = *f.selection + "," + value
	}
	*f.selection = value
	return nil
}

// selecting adds the flag --inst to a command: names, patterns or formats.
func selecting(f *pflag.FlagSet, to *string, usage string) {
	f.Var(instructionsFlag{to}, "inst", "`instructions`: a name, a pattern such as '*e4m3*', or a format such as fp8; several times, or with commas "+usage)
}

// policyFlags say how results are compared.
type policyFlags struct{ nan, zero string }

// add adds them to a command; unset is what they are by default.
func (p *policyFlags) add(c *cobra.Command, unset, nan, zero string) {
	c.Flags().StringVar(&p.nan, "nan", unset, nan)
	c.Flags().StringVar(&p.zero, "zero", unset, zero)
	oneOf(c, "nan", comparisons...)
	oneOf(c, "zero", comparisons...)
}

func (p *policyFlags) check(f *pflag.FlagSet) error {
	for _, flag := range []string{"nan", "zero"} {
		if f.Changed(flag) {
			if err := checkWord(flag, f.Lookup(flag).Value.String(), comparisons...); err != nil {
				return err
			}
		}
	}
	return nil
}

// strictness is what they mean; nil: the catalogue's.
func (p *policyFlags) strictness() (nan, zero *oracle.Strictness) {
	return strictness(p.nan), strictness(p.zero)
}

func strictness(value string) *oracle.Strictness {
	s := oracle.Bits
	switch value {
	case "":
		return nil
	case "class":
		s = oracle.ByClass
	}
	return &s
}

// checkWorkers returns an error for a number of goroutines that makes no sense. Each has
// batches of its own and, on units that compute elsewhere, waits for a call of its own:
// beyond the limit they cost memory and gain nothing.
func checkWorkers(n int) error {
	const atLeast = 256
	most := max(atLeast, 4*runtime.NumCPU())
	switch {
	case n < 0:
		return fmt.Errorf("--workers is %d; 0 is the default", n)
	case n > most:
		return hint.New("leave --workers out for as many as this machine is good for", "--workers is %d, and there are %d at most", n, most)
	}
	return nil
}

// atLeastOne returns an error for a number of a flag that is less.
func atLeastOne(flag string, n int) error {
	if n < 1 {
		return fmt.Errorf("--%s is %d, at least 1 is needed", flag, n)
	}
	return nil
}

// upTo returns an error for a number of a flag that is less than 1, or more than fits into
// memory or makes sense.
func upTo(most int, flag string, n int) error {
	if n > most {
		return fmt.Errorf("--%s is %d, and there are %d at most", flag, n, most)
	}
	return atLeastOne(flag, n)
}

// notNegative returns an error if a number or a time of a flag is negative: none means
// anything then.
func notNegative(f *pflag.FlagSet) (err error) {
	f.Visit(func(x *pflag.Flag) {
		if t := x.Value.Type(); (t == "int" || t == "duration") && strings.HasPrefix(x.Value.String(), "-") && err == nil {
			err = fmt.Errorf("--%s is %s, it must not be negative", x.Name, x.Value)
		}
	})
	return err
}

// excluded returns an error if a flag is given together with one of some others.
func excluded(f *pflag.FlagSet, flag string, others ...string) error {
	if !f.Changed(flag) {
		return nil
	}
	for _, o := range others {
		if f.Changed(o) {
			return fmt.Errorf("--%s and --%s exclude each other", flag, o)
		}
	}
	return nil
}

func envOr(name, other string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return other
}

// words are the values that a flag can have.
var (
	colors      = []string{"auto", "always", "never"}
	logFormats  = []string{"text", "json"}
	comparisons = []string{"bits", "class"}
)

// oneOf completes a flag with the given words.
func oneOf(c *cobra.Command, flag string, words ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	})
}

// checkWord returns an error if a flag has none of the values that it can have.
func checkWord(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	last := len(words) - 1
	return fmt.Errorf("--%s is %q, not %s or %s", flag, value, strings.Join(words[:last], ", "), words[last])
}
