package fuzz

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/triage"
)

// kind is differing cases of one cause and class.
type kind struct {
	kindKey
	cases  uint64
	maxUlp float64
	digest uint64
	first  Sample
}

// kindKey identifies a kind: the name of a detail is made of it.
type kindKey struct {
	cause *triage.Cause
	class oracle.Class
}

// name returns the name of the detail: the labels and, if it is neither Value nor Fault, the
// class. All cases that depend on their tiles share one name.
func (k kindKey) name() string {
	if k.class == oracle.Value || k.class == oracle.Fault || k.cause.Primary == triage.Layout {
		return k.cause.Detail
	}
	return k.cause.Detail + ":" + k.class.String()
}

// tally counts differing cases by kind, in the order in which the kinds appear.
type tally struct {
	kinds []kind
}

// reset empties t and keeps its memory.
func (t *tally) reset() { t.kinds = t.kinds[:0] }

// add adds a case.
func (t *tally) add(p *pairRun, cause *triage.Cause, s *Sample, digest uint64) {
	key := kindKey{cause, s.Class}
	i := slices.IndexFunc(t.kinds, func(k kind) bool { return k.kindKey == key })
	if i < 0 {
		i = len(t.kinds)
		t.kinds = append(t.kinds, kind{kindKey: key, first: *s})
	}
	k := &t.kinds[i]
	k.cases++
	if s.Class != oracle.Fault { // which has one result
		k.maxUlp = max(k.maxUlp, ulpDistance(p.spec.D, s.A, s.B))
	}
	k.digest += digest
}

// detailsMost is the number of details that are counted for a pair. Cases of further details
// are counted in their buckets only.
const detailsMost = 32

// detail returns a bucket's detail of a name; nil if it has none.
func (b *Bucket) detail(name string) *Detail {
	for i := range b.Details {
		if b.Details[i].Name == name {
			return &b.Details[i]
		}
	}
	return nil
}

// details counts the details of buckets.
func details(buckets map[string]*Bucket) int {
	n := 0
	for _, b := range buckets {
		n += len(b.Details)
	}
	return n
}

// Add adds the cases of a bucket of the same name.
func (b *Bucket) Add(o *Bucket) {
	b.Cases += o.Cases
	b.MaxUlp = max(b.MaxUlp, o.MaxUlp)
	b.Digest += o.Digest
	b.More += o.More
	for c, n := range o.Classes {
		b.Classes[c] += n
	}
	for _, d := range o.Details {
		if have := b.detail(d.Name); have != nil {
			have.Cases += d.Cases
			have.MaxUlp = max(have.MaxUlp, d.MaxUlp)
		} else {
			b.Details = append(b.Details, d)
		}
	}
}

// count adds cases of one kind to an epoch's buckets, and to its kinds if the bucket or the
// detail is new to the epoch. A detail for which the pair has no room is not kept.
func (p *pairDelta) count(st *PairState, k *kind) {
	one := &Bucket{Name: string(k.cause.Primary), Cases: k.cases, MaxUlp: k.maxUlp, Digest: k.digest, More: k.cases}
	one.Classes[k.class] = k.cases
	name, b := k.name(), p.Buckets[one.Name]
	known := b != nil && b.detail(name) != nil
	if b == nil && p.Buckets == nil {
		p.Buckets = map[string]*Bucket{}
	}
	if b == nil {
		p.Buckets[one.Name] = &Bucket{Name: one.Name}
	}
	if known || p.roomFor(st, one.Name, name) {
		one.Details, one.More = []Detail{{name, k.class, k.cases, k.maxUlp}}, 0
	}
	if b == nil || !known && one.More == 0 {
		p.kinds = append(p.kinds, *k)
	}
	p.Buckets[one.Name].Add(one)
}

// roomFor reports whether a detail that is new to the epoch is kept.
func (p *pairDelta) roomFor(st *PairState, bucket, name string) bool {
	if b := st.Buckets[bucket]; b != nil && b.detail(name) != nil {
		return true
	}
	fresh := 0
	for _, b := range p.Buckets {
		for i := range b.Details {
			if have := st.Buckets[b.Name]; have == nil || have.detail(b.Details[i].Name) == nil {
				fresh++
			}
		}
	}
	return details(st.Buckets)+fresh < detailsMost
}

// ulpDistance is by how many representable numbers two results are apart; 0 if one is a NaN.
func ulpDistance(id fp.ID, a, b uint64) float64 {
	f := id.Get()
	if f.Decode(a).Class == fp.NaN || f.Decode(b).Class == fp.NaN {
		return 0
	}
	return float64(f.Distance(a, b))
}
