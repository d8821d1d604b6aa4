package fuzz

import (
	"encoding/binary"
	"fmt"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/triage"
)

// partRecord is a part in a checkpoint. Cases are given by their numbers within the chunk,
// so that a record cannot name cases of other chunks.
type partRecord struct {
	Pair     int                      `json:"pair"`
	Chunk    int                      `json:"chunk"` // of the pair's plan
	Classes  [oracle.Fault + 1]uint64 `json:"classes"`
	Features []uint32                 `json:"features,omitempty"`
	Corpus   []int                    `json:"corpus,omitempty"`
	Differ   []byte                   `json:"differ,omitempty"` // see packSamples
	Agree    []byte                   `json:"agree,omitempty"`
	Unnamed  []byte                   `json:"unnamed,omitempty"`
	Kinds    []kindRecord             `json:"kinds,omitempty"`
	Ulps     []uint64                 `json:"ulps,omitempty"` // see Where
	Spread   []Tally                  `json:"spread,omitempty"`
}

// kindRecord is a kind of differing cases.
type kindRecord struct {
	Primary triage.Label `json:"primary"`
	Detail  string       `json:"detail"`
	Class   oracle.Class `json:"class"`
	Cases   uint64       `json:"cases"`
	MaxUlp  float64      `json:"max_ulp"`
	Digest  uint64       `json:"digest"`
	First   []byte       `json:"first"` // see packSamples
}

// kind reads a kind of cases of a chunk that has the given number of differing cases.
func (r *kindRecord) kind(of *pairRun, ch *chunk, differing uint64) (k kind, err error) {
	first, err := of.unpackSamples(ch, r.First, false)
	if err != nil || len(first) != 1 || first[0].Class != r.Class || r.Cases == 0 || r.Cases > differing || r.MaxUlp < 0 ||
		r.Primary != triage.PrimaryIn(r.Detail) {
		return k, fmt.Errorf("kind %.40q of cases is damaged", r.Detail)
	}
	cause := &triage.Cause{Primary: r.Primary, Detail: r.Detail}
	if *cause == *faulty {
		cause = faulty
	}
	k = kind{kindKey: kindKey{cause, r.Class}, cases: r.Cases, maxUlp: r.MaxUlp, digest: r.Digest, first: first[0]}
	return k, checkBucketName(r.Detail)
}

// size is an upper estimate of the bytes that a record takes.
func (r *partRecord) size() int {
	return 200 + 12*(len(r.Features)+len(r.Corpus)) + 2*(len(r.Differ)+len(r.Agree)+len(r.Unnamed)) + 400*len(r.Kinds) + 8*len(r.Ulps) + 32*len(r.Spread)
}

// record writes a part of a chunk.
func (p *part) record(pair, number int, ch *chunk) *partRecord {
	r := &partRecord{
		Pair: pair, Chunk: number, Classes: p.classes, Features: p.features,
		Differ: packSamples(ch, p.differ), Agree: packSamples(ch, p.agree), Unnamed: packSamples(ch, p.unnamed),
		Ulps: p.where.Ulps, Spread: p.where.Spread,
	}
	for _, ref := range p.corpus {
		r.Corpus = append(r.Corpus, int(ref.Index-ch.index))
	}
	for i := range p.kinds {
		k := &p.kinds[i]
		r.Kinds = append(r.Kinds, kindRecord{k.cause.Primary, k.cause.Detail, k.class, k.cases, k.maxUlp, k.digest, packSamples(ch, []Sample{k.first})})
	}
	return r
}

// part reads a part of a chunk of a pair.
func (r *partRecord) part(of *pairRun, ch *chunk) (p part, err error) {
	p = part{classes: r.Classes, features: r.Features, where: Where{Ulps: r.Ulps, Spread: r.Spread}}
	if err := p.where.check(uint64(ch.n)); err != nil {
		return p, err
	}
	total, differing := uint64(0), uint64(0)
	for class, n := range r.Classes {
		total += n
		if oracle.Class(class) != oracle.Same {
			differing += n
		}
	}
	if total != uint64(ch.n) {
		return p, fmt.Errorf("a chunk of %d dot products has results of %d", ch.n, total)
	}
	for _, i := range r.Corpus {
		if i < 0 || i >= ch.n {
			return p, fmt.Errorf("case %d is not in a chunk of %d", i, ch.n)
		}
		p.corpus = append(p.corpus, ch.ref(i))
	}
	for _, list := range []struct {
		from []byte
		to   *[]Sample
		same bool
	}{{r.Differ, &p.differ, false}, {r.Agree, &p.agree, true}, {r.Unnamed, &p.unnamed, false}} {
		if *list.to, err = of.unpackSamples(ch, list.from, list.same); err != nil {
			return p, err
		}
	}
	named := uint64(0)
	for i := range r.Kinds {
		k, err := r.Kinds[i].kind(of, ch, differing)
		if err != nil {
			return p, err
		}
		named += k.cases
		p.kinds = append(p.kinds, k)
	}
	if named+uint64(len(p.unnamed)) != differing {
		return p, fmt.Errorf("%d cases differ, %d are accounted for", differing, named+uint64(len(p.unnamed)))
	}
	return p, nil
}

// packSamples writes cases of a chunk, each as its number in the chunk, its class and
// both results.
func packSamples(ch *chunk, ss []Sample) []byte {
	var b []byte
	for i := range ss {
		s := &ss[i]
		b = binary.AppendUvarint(b, s.Index-ch.index)
		b = append(b, byte(s.Class))
		b = binary.AppendUvarint(b, s.A)
		b = binary.AppendUvarint(b, s.B)
	}
	return b
}

// unpackSamples reads what packSamples wrote; same: these are cases that agree.
func (p *pairRun) unpackSamples(ch *chunk, b []byte, same bool) ([]Sample, error) {
	var ss []Sample
	bad := fmt.Errorf("a case of a chunk of %d is damaged", ch.n)
	number := func() (x uint64, ok bool) {
		x, n := binary.Uvarint(b)
		if n > 0 {
			b = b[n:]
		}
		return x, n > 0
	}
	for len(b) > 0 {
		i, ok := number()
		if !ok || i >= uint64(ch.n) || len(b) == 0 {
			return nil, bad
		}
		class := oracle.Class(b[0])
		b = b[1:]
		x, okA := number()
		y, okB := number()
		if !okA || !okB || class > oracle.Fault || (class == oracle.Same) != same {
			return nil, bad
		}
		if err := p.checkResults(class, x, y); err != nil {
			return nil, err
		}
		ss = append(ss, Sample{ch.ref(int(i)), x, y, class})
	}
	return ss, nil
}
