package selfcheck

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/infer"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// digest identifies plain data by 48 bits of a SHA-256: enough to notice that a row was made
// from other data.
func digest(parts ...any) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, p := range parts {
		if err := enc.Encode(p); err != nil {
			panic("selfcheck: " + err.Error()) // plain data always encodes
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// arithmeticDigest identifies an arithmetic.
func arithmeticDigest(i *mma.Instruction) string {
	return digest(i.Formats.String(), i.K, programText(&i.Params))
}

// programText writes only the parameters that are not zero, so that a new parameter changes
// no digest: it is zero in every program that does not use it.
func programText(p *mma.Params) string { return changeText(mma.Diff(&mma.Params{}, p)) }

// mutantsDigest identifies the mutants of an arithmetic, with the arguments that some of
// them compute the same function, and the limits of the search.
func mutantsDigest(i *mma.Instruction) string {
	parts := []any{arithmeticDigest(i), separateFirst, separateMost, separateChunk}
	for _, s := range change.SpaceOf(i).Mutants(&i.Params, change.Decisions) {
		parts = append(parts, s.Change, programText(&s.Params), argued.Equivalent(i, &s.Params))
	}
	return digest(parts...)
}

// pairDigest identifies two arithmetics that are to be told apart, and the limits of the
// search for inputs.
func pairDigest(i, o *mma.Instruction) string {
	return digest(arithmeticDigest(i), arithmeticDigest(o), separateFirst, separateMost, separateChunk)
}

// confusionDigest identifies the mutants of an arithmetic and the limits of their evidence.
// The labels of the mutants do not matter.
func confusionDigest(i *mma.Instruction) string {
	parts := []any{arithmeticDigest(i), sameMost, evidenceRounds, evidenceMost}
	for _, s := range change.SpaceOf(i).Mutants(&i.Params, change.Decisions) {
		parts = append(parts, s.Change, programText(&s.Params))
	}
	return digest(parts...)
}

// inferenceDigest identifies a unit that was inferred, and the limits of inference.
func inferenceDigest(i *mma.Instruction) string {
	return digest(arithmeticDigest(i), infer.DefaultChecks, infer.DefaultEffort)
}
