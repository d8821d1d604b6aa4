// Package defect finds local defects: a unit computes what a program says, but for inputs that meet
// a condition, where its result has a certain error. A rounding carry that is lost, a lane that is
// wired to its neighbour, one wrong entry of a table and a bit of the result that is stuck are of
// this kind; no change of a program explains them.
//
// A Rule is an effect and a condition: "the result is half of it where the significand is all ones
// before it is rounded up". It predicts the unit's result on every input, so it can be wrong, and
// it is looked for like a law of nature:
//
//	effect.go      what may be wrong: operations on the code of the result, of an operand, of a
//	               product; another program (tables)
//	shift.go       the same of the number of places by which terms are aligned
//	adder.go       the same of the terms of a sum, of sums and of their roundings
//	swap.go        operands that are exchanged
//	part.go        a sign, an exponent or a fraction that is another operand's
//	feature.go     what a condition may be about: numbers, codes and facts of a case, of each
//	               product, of pairs of products, of each sum of the computation (tables)
//	view.go        the features of a dot product, from a model's trace
//	condition.go   Condition: a feature has a value, is at least or at most that, has certain bits
//	propose.go     the effects that explain the differing cases
//	learn.go       the conditions, of at most three parts and the number of a product, that separate
//	               the cases in which an effect would be seen: those that differ from those that agree
//	separate.go    Separate: a condition alone
//	inputs.go      new inputs near those that differ
//	find.go        Find: asks the unit about inputs on which the rules that are left disagree, and
//	               about inputs on both sides of the condition of the simplest one
//	rival.go       rules that differ from the simplest one by a step, each of which an input has to
//	               refute if there is one that can
//	doubt.go       where a condition was not refuted: beyond its bounds a rule predicts nothing
//	order.go       what meets a condition where that depends on what was broken before
//	step.go        operations on the result of each of several sums
//	sums.go        the names of sums
//	two.go         two defects of one unit, one after the other: also a defect of the operands and
//	               another program behind it
//	budget.go      Budget: how much work a search may be
//	text.go        a rule in words
//
// Nothing is claimed with a contradiction: of all inputs that are asked, chosen ones and those of
// every generator, none may differ from what the rule predicts, and enough must confirm it on both
// sides of the condition. Special values of each operand are among them: exceptions are seldom
// others. What no rule predicts stays unexplained. A few thousand inputs cannot show an exception of
// any other code: a claim says how many were asked.
//
// The API of this package is not promised: it may change in any version.
package defect
