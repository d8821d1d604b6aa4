package checklist

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Campaign is a function for Options.Compare: it runs a campaign whose findings are bundles
// below dir.
func (o *Options) Campaign(ctx context.Context, p devices.Pair, dir string, generators []string, count uint64, limit time.Duration) (*Comparison, error) {
	cfg := fuzz.Config{Pairs: []devices.Pair{p}, Seed: 1, Generators: generators, Count: count, Time: limit, Journal: filepath.Join(dir, fuzz.JournalFile), Bundles: dir}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	campaign, err := fuzz.New(cfg)
	if err != nil {
		return nil, err
	}
	if err := campaign.Run(ctx); err != nil {
		return nil, err
	}
	return o.comparison(campaign.State().Pairs[0])
}

// comparison sums up the state of a campaign's pair.
func (o *Options) comparison(st *fuzz.PairState) (*Comparison, error) {
	sum := &Comparison{Dots: st.Dots, Mismatches: st.Mismatches(), Classes: map[string]uint64{}}
	for class, n := range st.Classes {
		if n > 0 && oracle.Class(class) != oracle.Same {
			sum.Classes[oracle.Class(class).String()] = n
		}
	}
	if st.Verdict != nil && st.Verdict.Found() {
		sum.Explained = mma.Brief(st.Verdict.Changes)
	}
	for _, b := range st.Sorted() {
		bucket := Bucket{Name: b.Name, Cases: b.Cases}
		if dir := st.Bundle(b.Name, ""); dir != "" {
			rel, err := filepath.Rel(o.Dir, dir)
			if err != nil {
				return nil, err
			}
			bucket.Bundle = filepath.ToSlash(rel)
		}
		sum.Buckets = append(sum.Buckets, bucket)
	}
	return sum, nil
}
