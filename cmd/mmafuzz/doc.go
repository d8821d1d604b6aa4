// Command mmafuzz is a differential-testing fuzzer for matrix
// multiply-accumulate units: it feeds the same bits to two of them, finds inputs
// on which they differ, shrinks each to a minimal one and says why.
//
//	mmafuzz run         compare units and explain where they differ
//	mmafuzz campaign    split a campaign over machines
//	mmafuzz merge       merge what the shards of a campaign have found
//	mmafuzz status      how far the shards of a campaign are
//	mmafuzz eval        compute dot products read from standard input
//	mmafuzz show        draw the picture of a bundle, which is what run finds
//	mmafuzz replay      run the case of a bundle again
//	mmafuzz minimize    shrink the case of a bundle again
//	mmafuzz triage      explain all bundles below a directory again
//	mmafuzz report      a page for a browser of whatever mmafuzz has written
//	mmafuzz atlas       a web site of everything that the catalogue knows
//	mmafuzz record      record a target's results on the inputs of a plan
//	mmafuzz compare     compare recordings with each other and with an earlier result
//	mmafuzz vectors     test vectors of an instruction, for others to load
//	mmafuzz corpus      inputs for other fuzzing engines, and bundles of what they found
//	mmafuzz bench       how fast models, targets and the whole loop are on this machine
//	mmafuzz diff        where the arithmetics of two targets differ
//	mmafuzz prove       whether the arithmetics of two targets are the same function
//	mmafuzz bisect      the first version of a unit whose results changed
//	mmafuzz list        targets, instructions, generators, plans, labels, formats, parameters
//	mmafuzz probe       ask a unit the questions of the literature
//	mmafuzz invariance  whether a result depends on batch size, place, neighbours, threads or the run
//	mmafuzz quantize    scale and codes of a block of numbers, and what two formats make differently
//	mmafuzz tolerance   error, rtol and atol of an instruction, also against K
//	mmafuzz infer       find the arithmetic of an unknown unit
//	mmafuzz study       the studies of the papers: differences, error bounds, bias
//	mmafuzz gemm        whole matrix products as kernels compute them, and why a product differs
//	mmafuzz serve       a target over standard input and output, for another mmafuzz
//	mmafuzz doctor      what this machine can run, and why not
//	mmafuzz completion  completion for a shell
//	mmafuzz version     the version, and digests of everything results depend on
//
// mmafuzz help COMMAND tells more about each, and mmafuzz help lists guides that begin with
// an example. Results go to standard output, all
// else to standard error. Exit status:
//
//	 0  the units agree
//	 1  mismatches were found
//	 2  trouble
//	75  incomplete, whatever was found: the command was interrupted, a target stopped
//	    answering, or nothing was compared
//
// A command whose standard output is a pipe that was closed ends by SIGPIPE (141 in a shell),
// as filters of Unix do; what nobody reads of standard error is dropped, and the command goes
// on. The first three are those of diff(1), 75 is EX_TEMPFAIL of sysexits(3), on which a
// scheduler can requeue: the same command goes on. A run that reaches --count or
// --time is complete. What was compared and what was not is in the text and in --json. A
// shard of a campaign ends with 0 when its units are done, whatever was found: merge
// reports the mismatches.
//
// The program reserves address space before any of its own code runs. Under a limit on it
// (ulimit -v) of less than 2,000,000 KiB that may fail, and the program then ends with Go's own
// words, such as "failed to reserve page summary memory", and 2. Memory itself can be
// limited further, by a container or by GOMEMLIMIT.
//
// # JSON
//
// The text for people may change with every version. With --json, commands write
// one JSON object a line instead, whose schema has a version: fields may be added
// under one version, none is removed or changes its meaning. Codes are strings
// in hexadecimal, padded with zeros to the full width of their format. In the tables
// below a ? marks a field that is not always there, a * one whose contents are described
// elsewhere.
//
// Every object has
//
//	v  number  the version of the schema: 1
//
// # Events of run and record
//
// Every event has
//
//	t      string  the time: RFC 3339, UTC
//	event  string  its name
//
// The event start comes first in run:
//
//	seed                 number  random seed of all inputs
//	count                number  dot products for each pair; 0: no limit
//	out                  string  directory of the journal and the bundles
//	resumed              number  dot products of all pairs in earlier parts of the run
//	pairs[].a            string  first target
//	pairs[].b            string  second target
//	pairs[].instruction  string  its name, or NAME ~ NAME if the targets have one each
//
// The event finding is a differing case, shrunk and explained, one of those for which
// --max-bundles and --per-bucket have room:
//
//	pair      number   index in the pairs of start and summary
//	bucket    string   primary cause: the first label of detail; mmafuzz list labels explains labels
//	detail    string   labels of the cause; A|B: either of them alone makes both sides agree; A+B: only all of them together do; then :CLASS, unless that is value or fault, or the bucket is layout
//	bundle    string   directory of the bundle
//	mismatch  object*  as in the bundle's mismatch.json: go doc ./corpus Mismatch
//
// The event progress comes once a second in run:
//
//	seconds     number  since the start
//	dots        number  dot products of all pairs
//	mismatches  number  of these, those that differ
//	buckets     number  primary causes so far
//	features    number  distinct decisions in the models' computations seen so far, such as cuts, carries and roundings
//
// A run of kernels writes one object: go doc ./triage/kernel has its table.
//
// The event summary comes last in run, also after an interrupt: go doc ./fuzz/summary has
// its table.
//
// The event shard comes last in run --campaign, also after an interrupt: go doc ./fuzz/fleet
// has its table.
//
// The event recording comes once a second in record:
//
//	seconds      number  since the start
//	instruction  string  instruction that is being recorded
//	dots         number  dot products so far
//	of           number  dot products of the plan
//	faults       number  of these, those on which the target failed
//	bytes        number  size of the file so far
//
// The event recorded comes last in record, also after an interrupt: go doc ./fuzz/record has
// its table.
//
// # Other commands
//
// campaign:
//
//	plan    string  digest of the plan
//	file    string  file that has the plan
//	pairs   number
//	count   number  dot products for each pair
//	units   number
//	rounds  number
//	there   bool    the same command has made the plan before, and it stays as it is
//
// report:
//
//	page  string  file that has it
//
// atlas writes the same of the first page of its site.
//
// show writes the bundle's mismatch.json, minimize the new one: go doc ./corpus Mismatch.
//
// Those of the other commands are documented with the packages that do the work:
//
//   - compare: go doc ./fuzz/compare
//   - status: go doc ./fuzz/fleet
//   - infer: go doc ./triage/infer; with --shape: go doc ./triage/infer/kernel
//   - study, gemm: go doc ./triage/study
//   - bisect: go doc ./fuzz/bisect
//   - vectors: go doc ./fuzz/vectors
//   - eval: go doc ./triage/eval
//   - diff: go doc ./triage/diff
//   - prove: go doc ./triage/prove
//   - replay: go doc ./triage/bundle
//   - minimize, triage, corpus: go doc ./fuzz/cases
//   - invariance: go doc ./triage/invariance
//   - quantize: go doc ./sim/quantize
//   - tolerance, and run --accept: go doc ./triage/tolerance
//   - probe: go doc ./triage/probe; with --profile its rows: go doc ./triage/study
//   - bench: go doc ./fuzz/bench
//   - doctor: go doc ./fuzz/doctor; with --checklist the report: go doc ./fuzz/checklist Report
//
// list writes an object for each row, with the heads of its columns as names and
// strings as values; version one with the name and the version of everything
// that results may depend on.
package main
