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
// Package fuzz/engine plans and computes campaigns, package fuzz/finding takes what differs to
// findings, package fuzz/fleet splits a campaign over machines: shard.go writes the results of units,
// index.go reads them, merge.go merges. This is the way of a differing
// case, which has four types on it, Batch, Sample, Case and Mismatch:
//
//   - A generator of package gen fills a mma.Batch with a chunk of a unit of work. A worker runs
//     both sides on it and compares (engine/worker.go).
//   - What a unit has found is an engine.Result: all its counts, and a finding.Sample of some cases,
//     which names the input and has both results. The results of the units of an epoch are merged
//     in the order of the plan (engine/merge.go), whoever computed them: so findings depend neither
//     on the number of workers nor on that of machines. A case that repeats itself is counted in
//     the bucket of its primary cause, by the worker where a cause is known already: programs that
//     have some of the changes between the two sides' programs run on batches too
//     (triage.Attributor), so that no cause is too rare to be found. Config.Examine gives this up
//     for later cases.
//   - A finding.Case is made of a sample that is looked at more closely. It is run again, extracted
//     from its tile, explained and put into a bucket (finding/case.go has the order); some are
//     chosen and minimized. One that has all its parts is a finding. TriageCase takes one case the
//     same way, outside of a campaign.
//   - A corpus.Mismatch describes the finding (finding/bundle.go); package triage/bundle writes its
//     directory.
//
// Where two units differ and nothing is known of either, one is inferred (package infer), and
// changes of its program are tried; the other one, where no change explains it
// (finding/infer.go). What was found is in PairState.Inferred and in the journal.
//
// Engines that know nothing but bytes, such as go-fuzz and libFuzzer, take a Checker:
// check.go, package fuzz/harness.
package fuzz
