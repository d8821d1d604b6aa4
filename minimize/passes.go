package minimize

// pass makes candidates of one kind.
type pass struct {
	name    string
	propose func(p *proposals)
}

// passes lists the passes, those that simplify most first: a round asks for the
// candidates of all of them, in this order, but once it has a batch's worth and
// one of these is in the bucket the rest must wait (see search.round).
//
// Adding a pass: write a function that proposes whatever may be simpler. What is
// not simpler is left out, so that no pass can undo another's work or go round in
// circles.
var passes = []pass{
	{"drop", dropTerms},
	{"pairs", keepPairs},
	{"samples", keepSamples},
	{"factors", zeroFactors},
	{"fold", foldIntoC},
	{"ones", setOnes},
	{"specials", simplifySpecials},
	{"powers", setPowers},
	{"unify", unify},
	{"jump among ones", jumpAmongOnes},
	{"shift", shiftExponents},
	{"scales", simplifyScales},
	{"opposite", shiftOpposite},
	{"exponents", lowerExponents},
	{"bits", cutBits},
	{"signs", flipSigns},
	{"places", moveTerms},
	{"swap", swapFactors},
	{"single bits", clearBits},
	{"jump alone", jumpAlone},
}
