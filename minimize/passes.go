package minimize

// pass proposes candidates of one kind.
type pass struct {
	name    string
	propose func(p *proposals)
}

// passes lists the passes, those that simplify most first: a round asks about
// the first ones alone if they have enough to ask about.
//
// # Adding a pass
//
// Write a function that proposes whatever may be simpler, and add a row. The pool
// leaves out what is not simpler than the best, so that no pass can undo what
// another did. How much a pass proposes should not grow faster than the number of
// terms, except where these are few.
var passes = []pass{
	{"drop", dropTerms},
	{"pairs", keepPairs},
	{"samples", keepSamples},
	{"factors", zeroFactors},
	{"fold", foldIntoC},
	{"tidy", tidy},
	{"ones", setOnes},
	{"specials", simplifySpecials},
	{"powers", setPowers},
	{"unify", unify},
	{"jump among ones", jumpAmongOnes},
	{"shift", shiftAll},
	{"scales", simplifyScales},
	{"trade", tradeExponents},
	{"exponents", lowerExponents},
	{"bits", cutBits},
	{"signs", flipSigns},
	{"places", moveTerms},
	{"swap", swapFactors},
	{"single bits", clearBits},
	{"jump alone", jumpAlone},
	{"gather", gather},
	{"three powers", threePowers},
}

// passNames returns the names of the passes under which a minimum is 1-minimal.
func passNames() []string {
	var names []string
	for _, p := range passes {
		names = append(names, p.name)
	}
	return names
}
