// Package record makes recordings: the results of a target on the inputs of a
// plan, for machines that never meet.
//
//	mmafuzz record --target cuda:0 --name h100 --plan nightly --out h100.rec
//	mmafuzz record --target hip:0 --name mi300 --plan nightly --out mi300.rec
//	mmafuzz compare h100.rec mi300.rec
//
// # Formats
//
// A plan is a corpus.Plan; corpus/plans has the plans that come with the program. Package
// corpus describes a recording at Recording, and a list of known differences at Known.
// Package compare describes the JSON of mmafuzz compare.
//
// # From a plan to a recording
//
// The instructions of the target for which the plan has an entry are recorded one after the
// other, in the target's order, each on the inputs of its entry in their order, cut
// into frames of 1024 dot products. That list, with [*] in sources replaced by arguments (see
// corpus.Plan), is the work; its digest is in the header of the recording.
//
// A recording depends on target, plan, program and environment, and on the name and date
// that are given for it: with all of these equal it is the same in every byte, whatever the
// number of workers, and whether or not it was interrupted.
//
// # Interruptions
//
// The file is valid at any moment, so that a recording which was killed goes on where it
// was when it is started again. The header must be the same then: name, target, date, environment,
// plan, work, version of the program and digests of its catalogue, generators and formats
// (corpus.Versions). A file with another header is left alone.
//
// # Faults
//
// If a target fails on a frame, it is run on each tile alone, and on each output of a tile
// on which it fails. The outputs on which it fails alone are recorded as faults; if there are
// none, the whole tile is recorded as one. A frame on which it fails, but on none of its tiles
// alone, is recorded as one fault as a whole. After 33 faulty outputs of a frame the rest of
// it is not tried, and is recorded as a fault that says so. An instruction that fails on more
// than 32 outputs is given up, and one that cannot be opened is not begun: the recording says
// so and goes on with the other instructions.
//
// # Units that change their answers
//
// Before an instruction is recorded, a few of its inputs are asked three times. If an answer
// changes, the instruction's note in the recording says so under "unstable", and so does the
// summary. The recording of such a unit is not the same twice.
//
// # Every night
//
// .github/workflows/nightly.yml records on every machine and compares in one place;
// corpus/plans/nightly.sbatch does the same on a cluster with Slurm.
//
// The API of this package is not promised: it may change in any version.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// The event recorded comes last in record, also after an interrupt:
//
//	file                    string   the recording
//	name                    string   name of the machine
//	target                  string
//	plan                    string   as it was given
//	work                    string   digest of the instructions and inputs that the plan comes to on this target
//	instructions            number
//	dots                    number   dot products that are recorded or given up
//	of                      number   dot products of the plan
//	resumed                 number   dot products with results in earlier parts
//	left_out                number   dot products of these that have no results, because their instruction was given up
//	faults                  number   dot products on which the target failed
//	bytes                   number   size of the file
//	seconds                 number   since the start
//	complete                bool     nothing is missing; else the same command goes on
//	problems[].arch         string?  architecture of an instruction that was not recorded, or only in part
//	problems[].instruction  string?  name of the instruction
//	problems[].what         string?  why
//	unstable[]              string?  instruction for which the target changes its answers, and how often
package record
