// # JSON
//
// In the table, a ? marks a field that is not always there, a * one that has any JSON
// below it; go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common.
//
// A report is an object, which mmafuzz infer --json writes, and which is also in the file
// report.json of its directory.
//
// infer:
//
//	target                           string
//	instruction                      string
//	formats                          object*  a, b, c, d, scale, block and down, as in a model file
//	k                                number   products of a dot product
//	verdict                          string   found, unexplained, unstable, failing or exhausted
//	note                             string?  what ended it
//	seed                             number   of all questions
//	nan                              string   how NaNs were compared: bits or class
//	zero                             string   the same for zeros
//	arithmetic                       string   the program in the field's words; if none was found, that of the best
//	params                           object*  the program, as in a model file
//	alike[]                          string?  ARCH/NAME of the catalogue with the same results on all compared inputs, if NaNs and zeros are compared as nan and zero say
//	compared                         number   inputs on which these were compared
//	conforms[]                       string?  ARCH/NAME with CHOICE: its ISA leaves implementations a choice, and with this one it has the same results on these inputs
//	tree                             string?  the summation tree, as in order
//	parameters[].path                string?  parameter
//	parameters[].value               string?  that was found
//	parameters[].ruled_out[].change  string?  another value, or several that change as one
//	parameters[].ruled_out[].dot     string?  an input that rules it out, as eval reads it
//	parameters[].ruled_out[].terms   string?  the same, only what is not zero
//	parameters[].ruled_out[].got     string?  the unit's result
//	parameters[].ruled_out[].would   string?  what it would be with the other value
//	parameters[].open[].change       string?  another value that no input was found to rule out
//	parameters[].open[].tried        number?  inputs
//	parameters[].open[].by_class     bool?    on some of them it gives other bits, which count as the same when compared by class
//	parameters[].open[].proved       bool?    it is the same function, so that there is no such input
//	parameters[].untested            string?  why no value of it was tested
//	classes[].name                   string?  generator whose inputs the program passed
//	classes[].doc                    string?  what they are
//	classes[].asked                  number?  dot products
//	classes[].of                     number?  how many there are, if they are enumerated
//	classes[].failed                 number?  others on which the unit failed
//	classes[].independent            number?  of the dot products asked, those drawn independently (of a tile, those of a diagonal); 0: they are enumerated
//	classes[].one_in                 number?  with 95 % confidence no more than one in so many differs; 0: too few for a bound
//	tiles.sizes[]                    string?  sizes of tiles that were tried, rows x columns, if the unit offers several
//	tiles.asked                      number?  dot products in them that were compared: all agree
//	tiles.failed                     number?  others on which the unit failed
//	evidence                         number   cases from which the program was made
//	left                             number   of these, those that it does not explain
//	families[].name                  string?  kind of such cases: designed questions, generators, close-ups, refutations
//	families[].doc                   string?  what they are
//	families[].cases                 number?
//	families[].wrong                 number?  that the program does not explain
//	repairs                          number   programs that questions proved wrong on the way
//	effort                           number   millions of dot products that models might compute in search of a program
//	computed                         number   dot products that models have computed in all
//	witness.dot                      string?  the smallest input found on which the best program is wrong; the smallest of those asked if no queries or no time were left to look for a smaller one
//	witness.terms                    string?
//	witness.got                      string?
//	witness.would                    string?  the program's result
//	witness.kind                     string?  what is different about the two, in most of the cases that the program does not explain
//	witness.alike                    number?  cases of that kind
//	witness.wrong                    number?  all cases that it does not explain
//	unstable.dot                     string?  an input to which the unit has two answers
//	unstable.first                   string?
//	unstable.second                  string?
//	unstable.what                    string?  how many such inputs there were, and what was different about the second time
//	faults[].dot                     string?  an input on which the unit failed; the first ones
//	faults[].what                    string?
//	failed                           number?  inputs on which it failed
//	failures[].dot                   string?  the first input of a call that failed though none of its inputs does; the first ones
//	failures[].inputs                number?  how many it had
//	failures[].what                  string?
//	stats.queries                    number   dot products that were asked
//	stats.batches                    number   calls in which these were asked
//	stats.repeated                   number   of queries, those that were asked again
//	stats.resumed                    number   answers that came from the journal
//	stats.confirmed                  number   of these, those that were asked for again
//	stats.denied                     number?  of these, those that the unit did not give again: it changes its answers
//	stats.failures                   number   calls that failed though the unit then answered each of their inputs
//	seconds                          number   of this run
package infer
