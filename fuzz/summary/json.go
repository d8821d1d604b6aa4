// # JSON
//
// In the table, a ? marks a field that is not always there, a * one that has any JSON
// below it; go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what
// start and finding are.
//
// The event summary comes last in run, also after an interrupt:
//
//	seconds                              number    since the start
//	dots                                 number    dot products of all pairs
//	mismatches                           number    of these, those that differ
//	causes                               number    primary causes
//	not_kept                             number    causes of an instruction, and details, that --max-bundles left no room for
//	interrupted                          bool      the run can be resumed
//	complete                             bool      the count, the time or the end of the recordings was reached; else the exit status is 75
//	incomplete.why                       string?   interrupted, what happened to a target, or that nothing was compared
//	incomplete.dots                      number?   dot products that were compared
//	incomplete.of                        number?   dot products that were to be compared, if there is a number
//	incomplete.pairs                     number?   pairs of which all were compared and examined
//	incomplete.of_pairs                  number?   pairs
//	incomplete.unexamined                number?   mismatches that are in no bucket yet
//	incomplete.instructions[]            string?   of the pairs of which not all were compared and examined
//	count                                number    the --count that gives the same findings: the last of count_sequence
//	count_sequence[]                     number?   the values of --count that give them, one after the other with the same --out
//	pairs[].a                            string    as in start
//	pairs[].b                            string    as in start
//	pairs[].instruction                  string    as in start
//	pairs[].dots                         number    dot products
//	pairs[].mismatches                   number    of these, those that differ
//	pairs[].classes                      object*   number of dot products by class: same, value, zero-sign, nan-code, nan, inf, fault
//	pairs[].rounded                      number?   of the mismatches, those by stochastic rounding alone: they are in no bucket
//	pairs[].codes                        number    of the same, those that differ in a NaN's code or a zero's sign, which were compared by class
//	pairs[].explained                    bool      the changes below explain all differing cases that were looked at; if not and there are some, they explain most and break none
//	pairs[].labels[]                     string?   what the changes earn: mmafuzz list labels
//	pairs[].changes[].path               string?   parameter: mmafuzz list parameters
//	pairs[].changes[].from               string?   its value in the arithmetic that is known
//	pairs[].changes[].to                 string?   its value in the other
//	pairs[].equivalent[][].path          string?   other changes that no input tells from these
//	pairs[].equivalent[][].from          string?
//	pairs[].equivalent[][].to            string?
//	pairs[].alike[]                      string?   known targets that compute what the other does
//	pairs[].defect                       object?*  an error of one side under a condition: go doc ./corpus Defect
//	pairs[].sums                         object?*  how both sides add, of two that multiply matrices: go doc ./corpus Sums
//	pairs[].nearest                      object?*  of a pair that nothing explains, the program that comes nearest: go doc ./corpus Nearest
//	pairs[].inferred[].target            string?   a side of which nothing was known, so that it was inferred
//	pairs[].inferred[].side              string?   a or b
//	pairs[].inferred[].verdict           string?   found, unexplained, unstable, failing or exhausted
//	pairs[].inferred[].arithmetic        string?   the program that was found
//	pairs[].inferred[].params            object?*  the same as in a model file
//	pairs[].inferred[].effort            number?   the most that the search might spend, in millions of dot products of models
//	pairs[].inferred[].brief             bool?     there was one attempt only
//	pairs[].inferred[].tested            number?   inputs on which the unit and the program were compared: none differs
//	pairs[].next[]                       string?   commands that look for what explains it
//	pairs[].buckets[].name               string?   primary cause; the largest bucket is first
//	pairs[].buckets[].class              string?   the most frequent one
//	pairs[].buckets[].classes            object?*  number of dot products by class, as above
//	pairs[].buckets[].cases              number?   differing dot products
//	pairs[].buckets[].max_ulp            number?   the largest distance of the results, in steps from one number of D's format to the next
//	pairs[].buckets[].bundle             string?   directory of its first finding
//	pairs[].buckets[].id                 string?   the same in every run that finds the same difference
//	pairs[].buckets[].state              string?   new, known or expired: with --known; else new
//	pairs[].buckets[].known              string?   id of the entry that covers it
//	pairs[].buckets[].rest               number?   cases of none of the details below, of which there are too many
//	pairs[].buckets[].details[].name     string?   as in finding; the largest is first
//	pairs[].buckets[].details[].cases    number?
//	pairs[].buckets[].details[].max_ulp  number?
//	pairs[].buckets[].details[].bundle   string?   directory of its first finding
//	pairs[].unstable.cases               number?   mismatches that do not repeat themselves: they are in no bucket
//	pairs[].unstable.repeated            number?   repetitions of one of them that gave the same results
//	pairs[].unstable.of                  number?   of so many
//	pairs[].unstable.bundle              string?   directory of that one
//	pairs[].unstable.changing[]          string?   targets that gave another result in these repetitions
//	pairs[].stochastic[].target          string?   a target that rounds stochastically
//	pairs[].stochastic[].inputs          number?   that it was asked many times
//	pairs[].stochastic[].answers         number?   to all of them
//	pairs[].stochastic[].away            number?   how much more often the neighbour farther from zero came than it should, as a share of the answers
//	pairs[].stochastic[].up              number?   the same of the upper neighbour
//	pairs[].stochastic[].found           number?   a bias of about this size would have been found
//	pairs[].stochastic[].defect          string?   third, bias or share, if it has one: go doc ./triage/stochastic Defect
//	pairs[].stochastic[].text            string?   the same in sentences, with the simplest input that shows a defect
//	pairs[].unjudged[]                   string?   a target whose results change, and why it is not known whether it rounds stochastically
//	pairs[].history[].target             string?   a target whose answers depend on what was asked before
//	pairs[].history[].every              number?   this many-th answer each is another one, or call: text says which
//	pairs[].history[].kept               string?   what is that of an earlier question, and where
//	pairs[].history[].text               string?   the same in sentences, with how many answers were looked at
//	pairs[].drift[].target               string?   a target that answers inputs otherwise than at the beginning, the same each time
//	pairs[].drift[].changed              number?   inputs that get another answer
//	pairs[].drift[].of                   number?   inputs that it was asked again
//	pairs[].drift[].dots                 number?   dot products that had been compared by then
//	pairs[].unexamined                   number    mismatches that are in no bucket yet: mismatches is their sum with those of buckets, unstable and rounded
//	known[].id                           string?   of an entry of the list of --known
//	known[].reason                       string?
//	known[].expires                      string?   its last day
//	known[].hits                         number?   buckets that it covers
//	known[].state                        string?   used, unused or expired
//	known[].what                         string?   why it covers nothing that looks alike, or why nothing is known of it
//	counts.new                           number?   buckets by state, with --known
//	counts.known                         number?
//	counts.expired                       number?
package summary
