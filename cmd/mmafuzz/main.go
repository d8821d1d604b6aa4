package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
)

func main() {
	gpu.Children = true
	ballast := collectLate()
	args, wait := kitArguments(os.Args)
	code := run(args, os.Stdin, os.Stdout, progressStream())
	runtime.KeepAlive(ballast)
	if wait {
		fmt.Print("Press Enter to close this window.")
		_, _ = fmt.Scanln()
	}
	os.Exit(code)
}

// collectLate lets the heap grow by 64 MB before garbage is collected, the first time and later,
// unless the variable GOGC of the environment has another rule. Most commands end before
// that, and collecting from 4 MB on, as is usual, takes a tenth of their processor time. Later
// collections are put off by what counts as memory in use: the ballast that it returns, which no
// page of memory stands behind because nothing is ever written to it.
func collectLate() []byte {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	usual := debug.SetGCPercent(2400)                                                         // of 4 MB
	runtime.AddCleanup(new([]byte), func(percent int) { debug.SetGCPercent(percent) }, usual) // after the first collection
	return make([]byte, 32<<20)
}

// run executes the program and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// Ctrl-C ends a command cleanly; a second one ends the program. TERM does the first, also when
	// it comes again: schedulers send it to a process and to its group. That holds to the very
	// end, so the signals are never given back.
	// HUP, of a terminal that has gone, is like TERM unless it is ignored, as under nohup.
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, _ := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	devices.Interrupt(ctx)
	out, errs := printable.NewOutput(stdout), printable.NewOutput(stderr)
	defer errs.Finish()
	stderr = errs
	app := &app{stdin: stdin, stdout: out, stderr: errs}
	root := newRoot(app)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(app.stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	out.Finish()
	if app.stdout.Err() != nil {
		err = app.stdout.Err() // results are lost, whatever the command thinks
		if ctx.Err() != nil {
			err = incomplete(err) // with its terminal the output may have gone
		}
	}
	switch {
	case err == nil:
		return exitAgree
	case errors.Is(err, errMismatch):
		return exitMismatch
	case errors.Is(err, syscall.EPIPE) && !isIncomplete(err):
		return exitTrouble // the reader of the output is gone: the user knows
	}
	remedy := hint.Of(err)
	if errors.Is(err, context.Canceled) {
		err = incomplete(errors.New(fuzz.Interrupted))
	}
	say(stderr, "%v", err)
	if remedy != "" {
		say(stderr, "hint: %s", remedy)
	}
	if isIncomplete(err) {
		return exitIncomplete
	}
	return exitTrouble
}

// newRoot builds the command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "mmafuzz",
		Short: "differential-testing fuzzer for matrix multiply-accumulate units",
		Long: `mmafuzz feeds the same bits to two matrix multiply-accumulate units - GPU
instructions, bit-accurate simulators, reference arithmetic, recordings - finds
inputs on which they differ, shrinks each to a minimal input and says why.

Without a GPU, try:
  mmafuzz run                                  two GPU generations differ; see where and why
  mmafuzz diff ampere hopper                   how their arithmetics differ
  mmafuzz run --a sim:hopper --b ref:exact --inst wgmma.m64n8k32.f32.e4m3.e4m3

Exit status: 0 the units agree, 1 mismatches were found, 2 trouble, 75 incomplete: it was
interrupted or a target stopped answering, and the same command goes on (whatever
was found so far).`,
		Version:       versions.Program(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			return cmp.Or(a.setUp(), a.checkForms(cmd.Flags()))
		},
	}
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "write results as JSON lines (schema: mmafuzz help json)")
	f.StringVar(&a.colorFlag, "color", "auto", "`when` to use colour: auto, always or never")
	f.StringVar(&a.logFormat, "log-format", "text", "`form` of what is logged: text, or json for collectors of logs")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "show all, and log what happens inside")
	f.IntVar(&a.widthFlag, "width", 0, "`columns` of tables and of pictures, which take at least 60 (0: the terminal's, or 100; lists and data in a pipe: no limit)")
	oneOf(root, "color", colors...)
	oneOf(root, "log-format", logFormats...)
	root.AddCommand(
		newRun(a),
		newCampaign(a), newMerge(a), newStatus(a),
		newEval(a),
		newReplay(a),
		newMinimize(a),
		newTriage(a),
		newShow(a), newReport(a), newAtlas(a),
		newRecord(a), newImport(a),
		newCompare(a),
		newVectors(a),
		newCorpus(a),
		newBench(a),
		newDiff(a), newProve(a), newSolve(a), newBisect(a),
		newProbe(a), newInvariance(a), newTolerance(a), newQuantize(a), newInfer(a), newStudy(a), newGEMM(a),
		newList(a),
		newServe(a),
		newDoctor(a), newKit(a),

		newVersion(a),
	)
	root.SetVersionTemplate("mmafuzz {{.Version}}\n")
	root.SetHelpCommand(newHelp())
	root.InitDefaultCompletionCmd()
	setGroups(root)
	setExamples(root)
	fillHelp(root)
	setErrors(root)
	group(root)
	return root
}
