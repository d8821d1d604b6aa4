package fleet

import (
	"strings"
	"testing"
)

// TestSummaryAlone holds that a shard which did the work of others says so if it has seen nothing of
// them.
func TestSummaryAlone(t *testing.T) {
	for _, c := range []struct {
		here, others, done int
		alone              bool
	}{
		{10, 6, 10, true}, {10, 0, 10, false}, {10, 6, 12, false},
	} {
		var b strings.Builder
		(&ShardSummary{Shard: "0/4", Units: 12, Here: c.here, Others: c.others, Done: c.done, Seconds: 1}).Write(&b, 100)
		if got := strings.Contains(b.String(), "no other shard has written here"); got != c.alone {
			t.Errorf("%d here, %d of others, %d done: %s", c.here, c.others, c.done, &b)
		}
	}
}

// TestSummaryLeft holds that a shard whose own units are done says how many units it knows nothing of:
// shards with directories of their own may have done them.
func TestSummaryLeft(t *testing.T) {
	for _, c := range []struct {
		done     int
		complete bool
		want     string
	}{
		{8, true, "of other shards, without a result in this directory: 4 units"}, {12, true, ""}, {8, false, ""},
	} {
		var b strings.Builder
		(&ShardSummary{Shard: "0/4", Units: 12, Here: 3, Done: c.done, Complete: c.complete, Seconds: 1}).Write(&b, 100)
		if _, after, found := strings.Cut(b.String(), "\n"); !found || !strings.HasPrefix(after, c.want) || c.want == "" && after != "" {
			t.Errorf("%d done, complete: %v: %q", c.done, c.complete, &b)
		}
	}
}
