package finding

// EffortSpent reports whether the searches for what explains a pair may have ended because Effort did: with
// a larger one they would go on. After others it would change nothing.
func (t *Finder) EffortSpent(pair int, st *PairState) bool {
	x := &pairTriage{t: t, p: t.pairs[pair], st: st, d: &Gathered{}, verdict: st.Verdict}
	return x.left() < twoDefects
}
