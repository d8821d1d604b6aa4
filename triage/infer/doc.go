// Package infer finds the arithmetic of an unknown unit: the parameter program of
// package mma that reproduces it bit for bit, or an honest statement of what the best
// program found does not explain. It automates the step that the published methods leave
// to a person: to look at a failing case and change the model (arXiv:2512.07004,
// Algorithm 1).
//
// Inference is told the operand formats, K, and how to ask the unit; nothing else.
// In particular it does not look at the catalogue: a known arithmetic is found like
// an unknown one.
//
// # The loop
//
//	gather    ask the first questions: families of dot products that each show few
//	          parameters, from a single term to many (families.go), and the
//	          generators of package fuzz/gen
//	reveal    ask for the summation tree, as mmafuzz probe does, and make programs of
//	          the shapes that it allows (tree.go)
//	explain   search for a program that explains all answers (package
//	          triage/internal/search): start
//	          from one of these programs, or from a skeleton where there is no tree or
//	          it leads nowhere; fit it to the simplest families first, then to more
//	          and more; every step tries all mutants of the best program so far
//	          (package change) and keeps the best of them
//	close up  where few cases are left, ask about inputs near these
//	          (near_failures.go), and search on
//	challenge ask new questions of all kinds, aimed at what the program decides;
//	          where it is wrong, the answers become evidence: back to explain
//	rule out  take away what no input tried shows (search.Simplest); for every
//	          mutant of the program find an input on which it would give another
//	          result, and ask the unit (rule_out.go)
//	validate  compare the unit and the program on many inputs of every generator,
//	          in whole tiles (validate.go)
//
// If explain fails, all of this is tried with other first questions of the same kinds
// (attempts.go).
//
// A hypothesis that a later test finds wrong goes back to explain with the cases
// that show it. Since a program runs in microseconds, a search can afford to try
// every change at every step; the questions are what must be chosen well.
//
// The course of the loop follows from the seed and the answers alone, whatever the
// number of workers. A journal keeps the answers and what the searches found; see
// journal.go.
//
// # The files
//
//	infer.go            Infer, its options and its result
//	attempts.go         the loop, and the next attempts with other questions
//	loop.go             its first questions and its searches
//	families.go         the families of questions; designer.go builds their dot products
//	tree.go             the summation tree and the first hypotheses; shapes.go: those that fit it
//	reshape.go          the last resort: all shapes, with what was found of everything else
//	corners.go          the enumerated extremes, of which the unit is asked all
//	asker.go            everything that is asked of the unit; failed_calls.go: calls that fail
//	near_failures.go    inputs near those on which the hypothesis fails
//	ties.go             exact ties, for the families of the validation
//	rule_out.go         ruling out the mutants of the program found
//	validate.go         the comparison on many inputs; confidence.go: what follows from it
//	witness.go          the smallest input on which the best program is wrong;
//	                    mismatch_kind.go: what is different about its results
//	by_class.go         what is not tested because NaNs or zeros are compared by class
//	journal.go          the journal; journal_records.go checks its records
//	progress.go         how far an inference is
//	report.go           the result as JSON, which json.go documents; document.go: for people, in
//	                    the sentences of report_text.go; report_file.go reads it
//	directory.go        the files of a result
//
// Triage uses packages triage/internal/evidence and triage/internal/search as well.
//
// # Honesty
//
// A program counts as found only after it has passed every test. The report gives for
// each parameter an input that rules out its other values, or says that none of so many
// inputs tells them apart. A unit that gives different answers to the same question, or
// fails, is reported as such. For any other the report has the program that comes nearest,
// which is right on the most inputs that were not chosen because some program was wrong on
// them, new ones among them that no search has seen, and the smallest input on which it is
// wrong.
//
// What no test has met is not known: a unit that computes one input in 2^40 differently
// is reported as found, with the number of inputs of every kind on which it was right.
//
// # Adding to it
//
// A new field of mma.Params needs changes that set it: see package change. If a unit is
// found wrongly, or not at all, look for the input that shows it: is it in no family?
// Then a family is missing: a function of a designer in families.go, and a row in the
// table there, after those whose parameters it needs. Is it in one, but nothing explains
// it? Then a change is missing. The tables of fuzz/selfcheck measure both.
//
// The API of this package is not promised: it may change in any version.
package infer
