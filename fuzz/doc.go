// Package fuzz compares units and explains where they differ.
//
// To compare a Go function of yours with the model of a tensor core:
//
//	core, err := devices.OpenUnit("sim:hopper", "mma.m16n8k16.f32.bf16.bf16.f32", "")
//	i := core.Instruction()
//	mine := devices.Func(&mma.Instruction{Name: "mine", Formats: i.Formats, K: i.K}, dot)
//	pair := devices.Pair{A: core, B: mine, TargetA: "sim:hopper", TargetB: "mine", K: i.K}
//	c, err := fuzz.New(fuzz.Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 100_000})
//	err = c.Run(ctx)
//	st := c.State().Pairs[0] // st.Dots compared, st.Mismatches(), st.Buckets by their causes
//	for _, f := range st.Findings { // f.Dot: the smallest input of its kind; f.A, f.B: results
//	}
//
// where dot is func(d *mma.Dot) uint64; the example of this package has one. Import
// devices/simulated for the models. With Config.Bundles every finding is a directory to
// look at and to run again; with Config.Journal a campaign that was interrupted goes on.
//
// # How a campaign works
//
// A campaign goes by epochs (schedule.go, epoch.go), an epoch by chunks of one source of
// package gen. A worker makes a chunk's inputs in a batch, runs both units on it, looks for
// results that differ, and takes features of a sample (worker.go, feature.go): inputs with
// new features are mutated later. EndToEnd is that loop alone. What chunks find is put
// together in the order of the plan (merge.go), so that findings do not depend on the number
// of workers. Every differing case is counted in the bucket of its primary cause: programs
// that have some of the changes between the two sides' programs run on batches too
// (triage.Attributor), so that no cause is too rare to be found.
//
// case.go takes a differing case from there to a finding; each step has its file: it is run
// again (recheck.go), extracted from its tile (extract.go), explained (explain.go), put into
// a bucket (bucket.go); some are chosen (choose.go), minimized (minimize.go) and bundled
// (bundle.go). TriageCase takes one case the same way, outside of a campaign.
//
// Engines that know nothing but bytes, such as go-fuzz and libFuzzer, take a Checker:
// check.go, package fuzz/harness.
//
// A campaign on many machines goes by units instead of chunks, and by rounds instead of
// epochs (unit.go, package fuzz/fleet); several processes can divide its triage (sharing.go).
//
// The journal records what is done (journal.go), as a snapshot once it is long (compact.go);
// the checkpoint records the epoch in progress (checkpoint.go).
package fuzz
