package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/document"
)

// TestRate looks at two units, the second of 100 dot products: there is a rate while a shard is
// alive, unless they were written at almost the same time.
func TestRate(t *testing.T) {
	for _, c := range []struct {
		state string
		span  time.Duration
		rate  float64
		text  string
	}{
		{stateAlive, 10 * time.Second, 10, "\n200 of 1,200 dot products, 10/s, about 1:40 left\n"},
		{stateAlive, time.Millisecond, 0, "\n200 of 1,200 dot products\n"},
		{stateSilent, 10 * time.Second, 0, "\n200 of 1,200 dot products; nobody seems to work on the rest: wait\n"},
	} {
		now := time.Now()
		w := Watcher{units: map[int]seenUnit{0: {dots: 100}, 1: {dots: 100}}}
		s := Status{Count: 1200, Units: 12, Done: 2, Shards: []ShardStatus{{State: c.state}}, advice: "wait"}
		w.progress(&s, times{0: now.Add(-c.span), 1: now})
		var b strings.Builder
		if err := s.Document().Write(&b, "text", document.Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		if s.Rate != c.rate || !strings.Contains(b.String(), c.text) {
			t.Errorf("%+v: %g per second:\n%s", c, s.Rate, &b)
		}
	}
}
