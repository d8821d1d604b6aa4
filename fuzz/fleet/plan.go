package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// Plan is a campaign that is to be split. It has all that the results depend on.
type Plan struct {
	Version     int             `json:"v"`
	Versions    corpus.Versions `json:"versions"` // of the data that results depend on, not of the executable
	Seed        uint64          `json:"seed"`
	Count       uint64          `json:"count"` // dot products for each pair
	Rounds      int             `json:"rounds"`
	Generators  []string        `json:"generators,omitempty"` // as fuzz.Config has them
	NaN         string          `json:"nan,omitempty"`        // bits or class; "": the catalogue's
	Zero        string          `json:"zero,omitempty"`
	PerBucket   int             `json:"per_bucket"`
	MaxFindings int             `json:"max_findings"`
	Unit        uint64          `json:"unit,omitempty"` // Rule.Unit: what was asked for; the sources have what came of it
	Pairs       []Pair          `json:"pairs"`

	digest string
	units  []Unit
}

// Pair is two units that are compared, and the inputs that they are compared on.
type Pair struct {
	A       string   `json:"a"`
	InstA   string   `json:"inst_a"`
	DigestA string   `json:"digest_a,omitempty"` // of the target's files
	B       string   `json:"b"`
	InstB   string   `json:"inst_b"`
	DigestB string   `json:"digest_b,omitempty"`
	K       int      `json:"k"`
	Sources []Source `json:"sources"`
}

// Source is the inputs of one source, and how they are cut into units.
type Source struct {
	Source string `json:"source"`
	Dots   uint64 `json:"dots"`
	Unit   uint64 `json:"unit"`          // dot products of a unit
	Chunk  uint64 `json:"chunk"`         // how many of these are computed at once
	Fed    bool   `json:"fed,omitempty"` // its units need feedback: see Unit
}

// Unit is a unit of a plan.
type Unit struct {
	engine.Unit
	Number int
	Round  int
	Fed    bool // it needs the feedback of the rounds before its own
}

const (
	planVersion = 1
	firstRound  = 16      // the first round has one of so many units of each source, and at least one
	mostUnits   = 1 << 22 // of a plan
	mostRounds  = 16
	planBytes   = 1 << 28
)

// DefaultRounds is the usual number of rounds of a plan.
const DefaultRounds = 3

// UnitTime is about how long a unit takes; longer if there would be too many units.
const UnitTime = 30 * time.Second

// Rule says how a plan cuts a campaign into units.
type Rule struct {
	Rounds int
	Unit   uint64             // dot products of a unit; 0: as many as take UnitTime, by measuring
	Tell   func(done, of int) // called after the sources of a pair were measured; may be nil
}

// draft is a plan whose units may have no sizes yet.
type draft struct {
	*Plan
	c      *fuzz.Campaign
	rule   Rule
	shares [][]engine.Share // by pair; each has a source of the plan
}

// newDraft plans a campaign as far as nothing has to be measured.
func newDraft(cfg fuzz.Config, rule Rule) (*draft, error) {
	if cfg.Count == 0 {
		return nil, errors.New("a plan needs a number of dot products")
	}
	c, err := fuzz.New(cfg)
	if err == nil {
		err = c.Feed(nil)
	}
	if err != nil {
		return nil, err
	}
	d := &draft{c: c, rule: rule, Plan: &Plan{
		Version: planVersion, Versions: versions.Current(), Seed: cfg.Seed, Count: cfg.Count, Rounds: rule.Rounds, Generators: cfg.Generators,
		NaN: policyWord(cfg.NaN), Zero: policyWord(cfg.Zero), PerBucket: cfg.PerBucket, MaxFindings: cfg.MaxFindings, Unit: rule.Unit,
	}}
	for i := range cfg.Pairs {
		d.addPair(i, &cfg.Pairs[i])
	}
	return d, nil
}

func (d *draft) addPair(i int, pair *devices.Pair) {
	to := Pair{A: pair.TargetA, InstA: pair.A.Instruction().Name, DigestA: pair.DigestA,
		B: pair.TargetB, InstB: pair.B.Instruction().Name, DigestB: pair.DigestB, K: pair.K}
	shares := slices.DeleteFunc(d.c.Shares(i, d.Count, d.Rounds > 1), func(s engine.Share) bool { return s.Dots == 0 })
	for _, s := range shares {
		to.Sources = append(to.Sources, Source{Source: s.Source, Dots: s.Dots, Unit: d.rule.Unit, Chunk: s.Chunk, Fed: d.Rounds > 1 && d.c.Fed(i, s.Source)})
	}
	d.Pairs, d.shares = append(d.Pairs, to), append(d.shares, shares)
}

// finish gives the units their sizes, for which it may have to measure.
func (d *draft) finish(ctx context.Context) (*Plan, error) {
	for i := range d.Pairs {
		if err := d.size(ctx, i); err != nil {
			return nil, err
		}
		if d.rule.Tell != nil && d.rule.Unit == 0 {
			d.rule.Tell(i+1, len(d.Pairs))
		}
	}
	body, err := d.Encode()
	if err = errors.Join(err, d.check(d.c)); err != nil {
		return nil, err
	}
	d.seal(body)
	return d.Plan, nil
}

// size gives the units of a pair their sizes.
func (d *draft) size(ctx context.Context, pair int) (err error) {
	m := meter{d.c}
	sources := d.Pairs[pair].Sources
	for n, s := range d.shares[pair] {
		src := &sources[n]
		if d.rule.Unit == 0 {
			if src.Unit, err = m.unit(ctx, pair, s, sources); err != nil {
				return err
			}
			// Rounding may halve a unit.
			most := uint64(max(mostUnits/2/(len(d.Pairs)*len(sources)), 1))
			src.Unit = max(src.Unit, (src.Dots-1)/most+1)
		}
		src.round(s.Tile)
	}
	return nil
}

// round rounds the sizes so that a unit is an integral number of chunks, and a chunk an integral
// number of tiles.
func (s *Source) round(tile uint64) {
	s.Unit = max(s.Unit/tile, 1) * tile
	s.Chunk = max(min(s.Chunk, s.Unit)/tile, 1) * tile
	s.Unit = max(s.Unit/s.Chunk, 1) * s.Chunk
}

func policyWord(s *oracle.Strictness) string {
	switch {
	case s == nil:
		return ""
	case *s == oracle.ByClass:
		return "class"
	}
	return "bits"
}

func strictness(word string) (*oracle.Strictness, error) {
	s := oracle.Bits
	switch word {
	case "":
		return nil, nil
	case "bits":
	case "class":
		s = oracle.ByClass
	default:
		return nil, fmt.Errorf("%.20q is no way to compare: bits or class", word)
	}
	return &s, nil
}

// Dots returns the dot products of all pairs: Count for each, and what makes the last tile of each
// source a whole one.
func (p *Plan) Dots() (n uint64) {
	for i := range p.Pairs {
		for _, src := range p.Pairs[i].Sources {
			n += src.Dots
		}
	}
	return n
}

// meter measures how many dot products of a source take UnitTime.
type meter struct{ c *fuzz.Campaign }

// How often a source is measured, and how long each time at least.
const (
	meterTries = 3
	meterTime  = 4 * time.Millisecond
)

func (m *meter) unit(ctx context.Context, pair int, s engine.Share, others []Source) (uint64, error) {
	u := engine.Unit{Pair: pair, Source: s.Source, Chunk: s.Tile, Dots: s.Tile}
	if s.Source == engine.Mutated {
		u.Source = "mutate@1(" + others[0].Source + "#0)"
	}
	best := 0.0 // dot products a second; other work on this machine can only make a try slower
	for tries := 0; tries < meterTries; {
		began := time.Now()
		r, err := m.c.RunUnit(ctx, u)
		if err != nil {
			return 0, err
		}
		took := time.Since(began)
		best = max(best, float64(r.Dots)/max(took, 1).Seconds())
		if took >= meterTime || u.Dots >= s.Dots {
			tries++
			continue
		}
		u.Dots = min(2*u.Dots, s.Dots) // a recording has no more
		u.Chunk = min(u.Dots, s.Chunk)
	}
	return max(1, uint64(best*UnitTime.Seconds())), nil
}

// Encode returns the file of a plan.
func (p *Plan) Encode() ([]byte, error) {
	body, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return nil, err
	}
	return append(body, '\n'), nil
}

// seal sets the digest and the units of a plan whose file is body. After that a plan must
// not change: shards share it.
func (p *Plan) seal(body []byte) {
	sum := sha256.Sum256(body)
	p.digest, p.units = hex.EncodeToString(sum[:8]), p.arrange()
}

// ReadPlan reads the file of a plan.
func ReadPlan(file string) (*Plan, error) {
	body, err := corpus.ReadFile(file, "plan of a campaign", planBytes)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	const damaged = "it has been changed since mmafuzz campaign plan wrote it: copy it again from where that was, or make a new plan"
	if err := strictjson.Error(body, in.Decode(p)); err != nil {
		return nil, hint.Add(journal.Damaged(fmt.Errorf("%s: this is no plan of a campaign: %w", file, err)), damaged)
	}
	if p.Version != planVersion {
		return nil, fmt.Errorf("%s: a plan of version %d, this program reads version %d", file, p.Version, planVersion)
	}
	encoded, err := p.Encode()
	if err == nil && !bytes.Equal(encoded, body) {
		err = hint.Add(journal.Damaged(errors.New("this plan of a campaign is not as mmafuzz writes it")), damaged)
	}
	if err == nil {
		err = p.Versions.Check(versions.Current())
	}
	if err == nil {
		err = p.checkSizes()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p.seal(body)
	return p, nil
}

// Digest identifies the plan.
func (p *Plan) Digest() string { return p.digest }

// checkSizes returns what is impossible about the numbers of a plan.
func (p *Plan) checkSizes() error {
	if p.Rounds < 1 || p.Rounds > mostRounds {
		return fmt.Errorf("%d rounds; 1 to %d are possible", p.Rounds, mostRounds)
	}
	if len(p.Pairs) == 0 {
		return errors.New("it has no pairs")
	}
	n := uint64(0)
	for i := range p.Pairs {
		for _, s := range p.Pairs[i].Sources {
			if s.Unit == 0 || s.Chunk == 0 || s.Unit%s.Chunk != 0 || s.Dots == 0 || s.Dots > 1<<40 {
				return fmt.Errorf("pair %d: %.80s: %d dot products in units of %d and chunks of %d", i, s.Source, s.Dots, s.Unit, s.Chunk)
			}
			if n += (s.Dots-1)/s.Unit + 1; n > mostUnits {
				return fmt.Errorf("more than %d units: make them larger", mostUnits)
			}
		}
	}
	return nil
}

// check returns what is impossible about a plan of a campaign, nil if nothing is.
func (p *Plan) check(c *fuzz.Campaign) error {
	if err := p.checkSizes(); err != nil {
		return err
	}
	for i := range p.Pairs {
		for _, s := range p.Pairs[i].Sources {
			if err := c.Check(&engine.Unit{Pair: i, Source: s.Source, Dots: s.Dots, Chunk: s.Chunk}); err != nil {
				return fmt.Errorf("pair %d: %w", i, err)
			}
			if p.Rounds > 1 && s.Fed != c.Fed(i, s.Source) {
				return fmt.Errorf("pair %d: %s: whether it needs feedback is not as planned", i, s.Source)
			}
		}
	}
	return nil
}

// Units returns the units in the order of their numbers, in which they should be worked on:
// round by round, and within a round all sources proceed evenly.
func (p *Plan) Units() []Unit { return p.units }

// arrange numbers the units.
func (p *Plan) arrange() (units []Unit) {
	type placed struct {
		Unit
		at float64 // in the round
	}
	var all []placed
	for i := range p.Pairs {
		for _, s := range p.Pairs[i].Sources {
			n := int((s.Dots-1)/s.Unit) + 1
			for j := range n {
				u := engine.Unit{Pair: i, Source: s.Source, First: uint64(j) * s.Unit, Chunk: s.Chunk}
				u.Dots = min(s.Unit, s.Dots-u.First)
				round, at := p.roundOf(s.Source, j, n)
				all = append(all, placed{Unit{Unit: u, Round: round, Fed: s.Fed && round > 0}, at})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y placed) int { return cmp.Or(cmp.Compare(x.Round, y.Round), cmp.Compare(x.at, y.at)) })
	for n := range all {
		all[n].Number = n
		units = append(units, all[n].Unit)
	}
	return units
}

// roundOf returns the round of unit j of a source with n units, and the unit's place in the
// round, from 0 to 1.
func (p *Plan) roundOf(source string, j, n int) (round int, at float64) {
	first := (n + firstRound - 1) / firstRound
	switch {
	case p.Rounds == 1:
		return 0, (float64(j) + 0.5) / float64(n)
	case source == engine.Mutated:
		first = 0
	case j < first:
		return 0, (float64(j) + 0.5) / float64(first)
	}
	per := float64(n-first) / float64(p.Rounds-1)
	at = (float64(j-first) + 0.5) / per
	return 1 + int(at), at - float64(int(at))
}

// Config returns the configuration of the campaign, with pairs that Open has opened.
func (p *Plan) Config(pairs []devices.Pair) (cfg fuzz.Config, err error) {
	cfg = fuzz.Config{Pairs: pairs, Seed: p.Seed, Generators: p.Generators, Count: p.Count, PerBucket: p.PerBucket, MaxFindings: p.MaxFindings, Plan: p.digest}
	var zero error
	cfg.NaN, err = strictness(p.NaN)
	cfg.Zero, zero = strictness(p.Zero)
	return cfg, errors.Join(err, zero)
}

// Open opens the pairs of a plan. open must return the same target for the same name.
func (p *Plan) Open(open func(name string) (devices.Target, error)) ([]devices.Pair, error) {
	var pairs []devices.Pair
	for i := range p.Pairs {
		want := &p.Pairs[i]
		a, err := open(want.A)
		if err != nil {
			return nil, err
		}
		b, err := open(want.B)
		if err != nil {
			return nil, err
		}
		pair, err := want.find(a, b)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// find returns the planned pair of two targets.
func (p *Pair) find(a, b devices.Target) (devices.Pair, error) {
	instA, instB := p.InstA, p.InstB
	if a.Instructions() == nil {
		instA = ""
	}
	if b.Instructions() == nil {
		instB = ""
	}
	pairs, err := devices.Pairs(a, b, instA, instB)
	if err != nil {
		return devices.Pair{}, err
	}
	at := slices.IndexFunc(pairs, func(x devices.Pair) bool {
		return x.A.Instruction().Name == p.InstA && x.B.Instruction().Name == p.InstB && x.K == p.K
	})
	if at < 0 {
		return devices.Pair{}, fmt.Errorf("%s and %s no longer have the pair %s and %s with K = %d", p.A, p.B, p.InstA, p.InstB, p.K)
	}
	if x := &pairs[at]; x.DigestA != p.DigestA || x.DigestB != p.DigestB {
		return devices.Pair{}, fmt.Errorf("the files of %s or %s are others than when the plan was made: %s %s, now %s %s",
			p.A, p.B, p.DigestA, p.DigestB, x.DigestA, x.DigestB)
	}
	return pairs[at], nil
}
