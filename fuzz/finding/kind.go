package finding

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Kind is differing cases of one cause and class.
type Kind struct {
	Primary triage.Label `json:"primary"`
	Detail  string       `json:"detail"` // of the cause
	Class   oracle.Class `json:"class"`
	Cases   uint64       `json:"cases"`
	MaxUlp  float64      `json:"max_ulp"`
	Digest  uint64       `json:"digest"`
	Marks   corpus.Marks `json:"marks,omitempty"` // of recorded cases
	First   Sample       `json:"first"`
}

// name returns the name of the detail: the labels and, if it is neither Value nor Fault, the
// class. All cases that depend on their tiles share one name, and so do two NaNs of different codes.
func (k *Kind) name() string { return detailName(k.Primary, k.Detail, k.Class) }

func detailName(primary triage.Label, detail string, class oracle.Class) string {
	if class == oracle.Value || class == oracle.Fault || primary == triage.Layout || primary == triage.NaNCode {
		return detail
	}
	return detail + ":" + class.String()
}

// AddCase adds a differing case to its kind. Beyond most kinds there is one for each primary
// cause and class.
func (p *Pair) AddCase(kinds []Kind, cause *triage.Cause, s *Sample, digest uint64, mark *corpus.Mark, most int) []Kind {
	detail := cause.Detail
	of := func(k Kind) bool { return k.Class == s.Class && k.Detail == detail }
	i := slices.IndexFunc(kinds, of)
	if i < 0 && len(kinds) >= most {
		detail = string(cause.Primary)
		i = slices.IndexFunc(kinds, of)
	}
	if i < 0 {
		i = len(kinds)
		kinds = append(kinds, Kind{Primary: cause.Primary, Detail: detail, Class: s.Class, First: *s})
	}
	k := &kinds[i]
	k.Cases++
	if s.Class != oracle.Fault { // which has one result
		k.MaxUlp = max(k.MaxUlp, ulpDistance(p.Spec.D, s.A, s.B))
	}
	k.Digest += digest
	if mark != nil {
		k.Marks = k.Marks.Add(*mark)
	}
	return kinds
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
	b.Marks = b.Marks.Add(o.Marks...)
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

// Count adds cases of one kind to an epoch's buckets, and to its kinds if the bucket or the
// detail is new to the epoch. A detail for which the pair has no room is not kept.
func (g *Gathered) Count(k *Kind) {
	one := &Bucket{Name: string(k.Primary), Cases: k.Cases, MaxUlp: k.MaxUlp, Digest: k.Digest, Marks: k.Marks, More: k.Cases}
	one.Classes[k.Class] = k.Cases
	name, b := k.name(), g.Buckets[one.Name]
	known := b != nil && b.detail(name) != nil
	if known || g.roomFor(one.Name, name) {
		one.Details, one.More = []Detail{{name, k.Class, k.Cases, k.MaxUlp}}, 0
	}
	if b == nil || !known && one.More == 0 {
		g.Kinds = append(g.Kinds, *k)
	}
	g.bucket(one.Name).Add(one)
}

// roomFor reports whether a detail that is new to the epoch is kept.
func (g *Gathered) roomFor(bucket, name string) bool {
	if b := g.Before.Buckets[bucket]; b != nil && b.detail(name) != nil {
		return true
	}
	fresh := 0
	for _, b := range g.Buckets {
		for i := range b.Details {
			if have := g.Before.Buckets[b.Name]; have == nil || have.detail(b.Details[i].Name) == nil {
				fresh++
			}
		}
	}
	return details(g.Before.Buckets)+fresh < detailsMost
}

// ulpDistance is by how many representable numbers two results are apart; 0 if one is a NaN, or if
// they are flags.
func ulpDistance(id fp.ID, a, b uint64) float64 {
	f := id.Get()
	if id.Flags() != 0 || f.Decode(a).Class == fp.NaN || f.Decode(b).Class == fp.NaN {
		return 0
	}
	return float64(f.Distance(a, b))
}
