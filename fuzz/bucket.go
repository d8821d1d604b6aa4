package fuzz

import (
	"math"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// labeller finds the labels of differing cases, many at a time: what triage calls
// their cause. It is for one goroutine at a time.
type labeller struct {
	names  triage.Names
	labels []string
	dot    *mma.Dot
}

// of returns the labels of cases after a verdict's namer; nil: there is none. Their
// operands are the outputs at of a batch; want are the results of the side to be
// explained, class is how the two differ. The labels are good until the next call.
func (l *labeller) of(namer *triage.Namer, b *mma.Batch, at []int32, want []uint64, class []oracle.Class) []string {
	l.labels = l.labels[:0]
	if namer != nil {
		l.labels = append(l.labels, l.names.Name(namer, b, at, want)...)
	}
	for i, c := range class {
		if namer == nil {
			l.labels = append(l.labels, string(triage.Unexplained))
		}
		if c == oracle.Fault {
			l.labels[i] = c.String()
		}
	}
	return l.labels
}

// unexplained says whether a label is that of no cause.
func unexplained(label string) bool { return strings.HasPrefix(label, string(triage.Unexplained)) }

// digest is the case whose operands are output i of a batch, with its results, in 64
// bits. Only buckets that nothing else tells apart have one: recorded cases and
// unexplained ones.
func (l *labeller) digest(p *pairRun, label string, b *mma.Batch, i int32, s *Sample) uint64 {
	if p.recorder == nil && s.Class != oracle.Fault && !unexplained(label) {
		return 0
	}
	l.dot = p.fitting(l.dot)
	b.Get(int(i), l.dot)
	return digest(l.dot, s)
}

// digest is a differing case in 64 bits.
func digest(d *mma.Dot, s *Sample) uint64 {
	h := gen.Mix(s.A ^ gen.Mix(s.B^gen.Mix(uint64(s.Class))))
	for _, codes := range [][]uint64{d.A, d.B, {d.C}, d.SA, d.SB} {
		for _, code := range codes {
			h = gen.Mix(h + code + 0x9e3779b97f4a7c15)
		}
	}
	return h
}

// tally counts differing cases by label and class.
type tally struct {
	buckets []namedBucket
	names   map[bucketKey]string
}

// bucketKey is what the name of a bucket says.
type bucketKey struct {
	label string
	class oracle.Class
}

// reset empties t and keeps its memory.
func (t *tally) reset() { t.buckets = t.buckets[:0] }

// namedBucket is a bucket with the label that its name is made of, and its first
// case.
type namedBucket struct {
	Bucket
	label string
	first Sample
}

// add adds a case.
func (t *tally) add(p *pairRun, label string, s *Sample, digest uint64) {
	one := Bucket{Class: s.Class, Cases: 1, MaxUlp: ulpDistance(p.spec.D, s.A, s.B), Digest: digest}
	for i := range t.buckets {
		if b := &t.buckets[i]; b.Class == s.Class && b.label == label {
			b.add(&one)
			return
		}
	}
	one.Name = t.name(label, s.Class)
	t.buckets = append(t.buckets, namedBucket{one, label, *s})
}

// name is bucketName, from the second time on without new memory.
func (t *tally) name(label string, c oracle.Class) string {
	name, ok := t.names[bucketKey{label, c}]
	if !ok {
		if t.names == nil {
			t.names = map[bucketKey]string{}
		}
		name = bucketName(label, c)
		t.names[bucketKey{label, c}] = name
	}
	return name
}

// bucketName names the bucket of a label and a class: the labels, and the class
// where that is not value. What depends on its tile is one bucket.
func bucketName(label string, c oracle.Class) string {
	if c == oracle.Value || c == oracle.Fault || label == string(triage.Layout) {
		return label
	}
	return label + ":" + c.String()
}

// ulpDistance is how far two results are apart, in steps between neighbouring
// codes; 0 if one is a NaN.
func ulpDistance(id fp.ID, a, b uint64) float64 {
	f := id.Get()
	if inf := f.InfCode(false); a&^f.SignBit() > inf || b&^f.SignBit() > inf {
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
