package evidence

import (
	"context"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Shrink returns the smallest dot product found for which a test holds, as it does for
// start, with limits from o. Errors are those of minimize.Dot.
func Shrink(ctx context.Context, f mma.Formats, start *mma.Dot, test func(ctx context.Context, dots []*mma.Dot) ([]bool, error), o minimize.Options) (*mma.Dot, error) {
	o.Bucket, o.SkipMask = "holds", true
	res, err := minimize.Dot(ctx, f, start, func(ctx context.Context, dots []*mma.Dot) ([]string, error) {
		out := make([]string, len(dots))
		holds, err := test(ctx, dots)
		for i, yes := range holds {
			if yes {
				out[i] = o.Bucket
			}
		}
		return out, err
	}, o)
	if res == nil {
		return nil, err
	}
	return res.Dot, err
}

// OneByOne makes a test of dot products for Shrink from one of a single dot product.
func OneByOne(holds func(d *mma.Dot) bool) func(context.Context, []*mma.Dot) ([]bool, error) {
	return func(_ context.Context, dots []*mma.Dot) ([]bool, error) {
		all := make([]bool, len(dots))
		for i, d := range dots {
			all[i] = holds(d)
		}
		return all, nil
	}
}
