// Package finding takes the differing cases of a campaign to findings.
//
// A Finder gets what the units of an epoch have Gathered for each pair, as Samples. Explain
// rechecks a few of them (recheck.go; in an unstable pair all that nothing explains: confirm.go),
// extracts them from their tiles (extract.go), looks for a verdict that explains the
// pair (explain.go, refute.go) and puts all cases into buckets (bucket.go, kind.go). Of one whose place
// matters it looks for what is different there (spot.go), or after which questions (history.go), and of a
// unit that changes its answers for what it keeps of a question (kept.go, held.go). A rule of a defect
// (defect.go) must hold in whole tiles, too (tiles.go). Find chooses
// some (choose.go) and minimizes them (minimize.go); Report writes their bundles (bundle.go). On
// this way a case is a Case, which gains its parts step by step (case.go).
//
// The bucket of a finding is the primary label of its cause, which package triage chooses
// (labelOf, Attributor.cause); bucket.go writes it. Causes that are not of arithmetic are named where
// they are seen: unstable in recheck.go and stochastic.go, layout in extract.go and aside.go.
//
// Single takes one case the same way, outside of a campaign.
//
// The API of this package is not promised: it may change in any version.
package finding
