// # JSON
//
// In the table, a ? marks a field that is not always there, a * one that has any JSON
// below it; go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common.
//
// A result is an object, which mmafuzz compare --json writes, which is also in the file
// compare.json of its directory, and which --baseline reads. In a change, from is the
// first machine's value, to the second's; in models, from is that of the catalogue, to
// the machine's. finding is the event in go doc ./cmd/mmafuzz, summary the one in go doc
// ./fuzz/summary.
//
// compare:
//
//	versions.catalogue            string    digests of what results depend on, as mmafuzz version prints them
//	versions.generators           string
//	versions.formats              string
//	date                          string    for which entries expire
//	machines[].name               string    as it was recorded, else of the file or target
//	machines[].spec               string    as it was given
//	machines[].target             string    that was recorded, or that answers itself
//	machines[].recorded           bool      it is a recording
//	machines[].plan               string?   of the recording
//	machines[].date               string?   of the recording
//	machines[].complete           bool      the recording was made to its end
//	machines[].instructions       number?   that are recorded
//	machines[].dots               number?   dot products that are recorded
//	machines[].faults             number    of these, those on which the target failed
//	machines[].unstable[]         string?   sentence: an instruction whose unit changed its answers when it was recorded, and how often
//	machines[].equal_to           string?   holds the same as that machine, and was compared with no other
//	machines[].versions           object*?  the same of the program that recorded; absent if that did not keep them
//	machines[].environment        object*   what its results may depend on
//	models[].machine              string?   of a recorded instruction that was compared
//	models[].instruction          string?
//	models[].dots                 number?   dot products that are recorded
//	models[].mismatches           number?   of these, those that differ from base
//	models[].base                 string?   ARCH/NAME of the arithmetic of the catalogue that the search for the model began with; empty if there is none
//	models[].explained            bool?     base with the changes gives all that is recorded
//	models[].changes[].path       string?   parameter
//	models[].changes[].from       string?
//	models[].changes[].to         string?
//	models[].alike[]              string?   known targets that give all that is recorded, too
//	cells[].a                     string?   first machine
//	cells[].b                     string?   second machine
//	cells[].instruction           string?   its name, or NAME ~ NAME if the machines have one each
//	cells[].k                     number?   elements of a dot product
//	cells[].dots                  number?   dot products that were compared: those in common
//	cells[].recorded_a            number?   dot products in the recording; 0: it is none
//	cells[].recorded_b            number?
//	cells[].mismatches            number?   of dots, those that differ
//	cells[].classes               object?*  number of dots by class, as in summary
//	cells[].codes                 number?   of the same dots, those that differ in a class of by_class
//	cells[].by_class[]            string?   nan-code, zero-sign: such dots count as the same
//	cells[].explained             bool?     the changes below explain all that differ
//	cells[].changes[].path        string?
//	cells[].changes[].from        string?
//	cells[].changes[].to          string?
//	cells[].by_value[]            string?   FP8 of OCP and of FNUZ: what only one of the formats has; compared are inputs that both have
//	differences[].id              string?   the same every night
//	differences[].a               string?   first machine
//	differences[].b               string?   second machine; empty: the difference is about the first one alone
//	differences[].instruction     string?   as in cells
//	differences[].instruction_a   string?   of the first machine
//	differences[].instruction_b   string?   of the second machine
//	differences[].bucket          string?   as in finding, not-recorded, or unstable: a live target changes its answers
//	differences[].class           string?   as in summary
//	differences[].details[].name             string?   the kinds of cases in the bucket, as in finding
//	differences[].details[].cases            number?
//	differences[].details[].changes[].path   string?   behind them
//	differences[].details[].changes[].from   string?
//	differences[].details[].changes[].to     string?
//	differences[].changes[].path  string?   behind the bucket; none: it is not explained
//	differences[].changes[].from  string?
//	differences[].changes[].to    string?
//	differences[].equivalent[][]  object?   other changes that no input tells from these: path, from, to
//	differences[].cases           number?   differing dot products of the bucket
//	differences[].dots            number?   that were compared
//	differences[].max_ulp         number?   as in summary
//	differences[].digest          string?   of the cases and their results
//	differences[].marks           string?   some of the cases: hashes of their inputs and results
//	differences[].what            string?   why an instruction is not recorded, how often an unstable case gave the same results, or the rule of a defect or layout, by which it is recognised
//	differences[].state           string?   new, still (it was in the baseline), known, or expired (known until its entry expired)
//	differences[].known           string?   id of the entry that covers it, or a part of it
//	differences[].beyond[]        string?   if only a part: the kinds of cases that no entry covers
//	differences[].bundle          string?   directory of a case of the bucket
//	gone[].id                     string?   of a difference in the baseline that is no more
//	gone[].a                      string?
//	gone[].b                      string?
//	gone[].instruction            string?
//	gone[].bucket                 string?
//	gone[].cases                  number?   it had
//	gone[].codes[]                string?   nan-code, zero-sign: some of its cases were of such a class
//	gone[].state                  string?   that it had
//	gone[].compared               bool?     its cases were compared this time, too
//	gone[].there                  string?   still or unclear: it is, or may be, among differences that nothing explains
//	gone[].what                   string?   which, and what of it was found; or why its cases were not compared
//	gone[].marks                  string?   it had
//	changed[].machine             string?   of an instruction that has another model than in the baseline
//	changed[].instruction         string?
//	changed[].was                 object?*  base, explained and changes, as in models
//	changed[].now                 object?*
//	known[].id                    string?   of an entry of the list of known differences
//	known[].reason                string?
//	known[].expires               string?   its last day
//	known[].hits                  number?   differences that it covers
//	known[].state                 string?   used, unused, unclear (it may be among differences that nothing explains) or expired
//	known[].what                  string?   among which it is or may be, why it covers nothing that looks alike, or why nothing is known of it
//	left_out[].a                  string?   machines that were not compared
//	left_out[].b                  string?
//	left_out[].instruction        string?   only on this instruction
//	left_out[].why                string?
//	trouble[]                     string?   what could not be done; the exit status is 2
//	incomplete[]                  string?   what was not compared, or not to the end; the exit status is 75
//	counts.new                    number    differences by state
//	counts.still                  number
//	counts.known                  number
//	counts.expired                number
//	counts.gone                   number    in the baseline, compared, and no more
//	exit                          number    status
package compare
