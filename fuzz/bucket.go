package fuzz

import (
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// labeller finds the labels of differing cases, many at a time: what triage calls
// their cause. It is for one goroutine at a time.
type labeller struct {
	names  triage.Names
	cases  mma.Batch
	want   []uint64
	class  []oracle.Class
	labels []string
	dot    *mma.Dot
}

// take makes room for n cases of a pair. Their operands go into the batch of tiles
// of 1 x 1 that it returns, their results to set.
func (l *labeller) take(p *pairRun, n int) *mma.Batch {
	l.cases.Reset(p.spec.Formats, mma.Shape{M: 1, N: 1, K: p.K, Tiles: n})
	l.want, l.class = slices.Grow(l.want[:0], n)[:n], slices.Grow(l.class[:0], n)[:n]
	return &l.cases
}

// set takes the results of case j.
func (l *labeller) set(p *pairRun, j int, s *Sample) {
	l.want[j], _ = p.want(s)
	l.class[j] = s.Class
}

// of returns the labels of the cases after a verdict's namer; nil: there is none.
// They are good until the next call.
func (l *labeller) of(namer *triage.Namer) []string {
	l.labels = l.labels[:0]
	if namer != nil {
		l.labels = append(l.labels, l.names.Name(namer, &l.cases, l.want)...)
	}
	for i, class := range l.class {
		if namer == nil {
			l.labels = append(l.labels, string(triage.Unexplained))
		}
		if class == oracle.Fault {
			l.labels[i] = class.String()
		}
	}
	return l.labels
}

// digest is case j of those that were taken, with its results, in 64 bits. Only
// buckets that nothing else tells apart have one: recorded cases and unexplained
// ones.
func (l *labeller) digest(p *pairRun, label string, j int, s *Sample) uint64 {
	if p.recorder == nil && s.Class != oracle.Fault && !strings.HasPrefix(label, string(triage.Unexplained)) {
		return 0
	}
	if l.dot == nil || len(l.dot.A) != p.K || len(l.dot.SA) != p.spec.Blocks(p.K) {
		l.dot = mma.NewDot(p.spec.Formats, p.K)
	}
	l.cases.Get(j, l.dot)
	return digest(l.dot, s)
}

// digest is a differing case in 64 bits.
func digest(d *mma.Dot, s *Sample) uint64 {
	h := mix(s.A ^ mix(s.B^mix(uint64(s.Class))))
	for _, codes := range [][]uint64{d.A, d.B, {d.C}, d.SA, d.SB} {
		for _, code := range codes {
			h = mix(h + code + 0x9e3779b97f4a7c15)
		}
	}
	return h
}

// tally counts differing cases by label and class.
type tally struct{ buckets []namedBucket }

// namedBucket is a bucket with the label that its name is made of, and its first
// case.
type namedBucket struct {
	Bucket
	label string
	first Sample
}

// add adds a case.
func (t *tally) add(p *pairRun, label string, s *Sample, digest uint64) {
	one := Bucket{"", s.Class, 1, ulpDistance(p.spec.D, s.A, s.B), digest}
	for i := range t.buckets {
		if b := &t.buckets[i]; b.Class == s.Class && b.label == label {
			b.add(&one)
			return
		}
	}
	one.Name = bucketName(label, s.Class)
	t.buckets = append(t.buckets, namedBucket{one, label, *s})
}

// bucketName names the bucket of a label and a class: the labels, and the class
// where that is not value.
func bucketName(label string, c oracle.Class) string {
	if c == oracle.Value || c == oracle.Fault {
		return label
	}
	return label + ":" + c.String()
}

// ulpDistance is how far two results are apart, in steps between neighbouring
// codes; 0 if one is a NaN.
func ulpDistance(id fp.ID, a, b uint64) float64 {
	f := id.Get()
	if f.Decode(a).Class == fp.NaN || f.Decode(b).Class == fp.NaN {
		return 0
	}
	return math.Abs(ordered(f, a) - ordered(f, b))
}

// ordered maps the codes of an IEEE format to numbers of the same order.
func ordered(f *fp.Format, code uint64) float64 {
	if code&f.SignBit() != 0 {
		return -float64(code &^ f.SignBit())
	}
	return float64(code)
}
