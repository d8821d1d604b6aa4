package fleet

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// heart writes the last heartbeat of a process of shard 1/4.
func heart(t *testing.T, dir, name string, h heartbeat, ago time.Duration) {
	t.Helper()
	h.Version, h.Shard, h.Of, h.Host = heartbeatVersion, 1, 4, "host"
	body, err := json.Marshal(&h)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, shardsDir, name)
	if err := os.WriteFile(file, body, 0o666); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-ago)
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestRestartedShard looks at a shard that was killed and started again, twice, beside another
// process that is at work on the same shard all the time.
func TestRestartedShard(t *testing.T) {
	dir := t.TempDir()
	p, _ := newPlan(t, 1)
	if err := prepare(dir, "test", p); err != nil {
		t.Fatal(err)
	}
	heart(t, dir, "killed", heartbeat{Units: 3, Dots: 300, Seconds: 100}, 200*time.Second)
	heart(t, dir, "interrupted", heartbeat{Units: 2, Dots: 200, Seconds: 50, Ended: true}, 140*time.Second)
	heart(t, dir, "works", heartbeat{Units: 1, Dots: 100, Seconds: 50}, time.Second)
	heart(t, dir, "other", heartbeat{Units: 7, Dots: 700, Seconds: 400}, 2*time.Second)
	s := look(t, dir)
	got := map[string]ShardStatus{}
	for _, x := range s.Shards {
		got[x.Name] = x
	}
	if len(s.Shards) != 2 || got["works"].Units != 6 || got["works"].Dots != 600 || got["works"].Rate != 3 || got["works"].State != stateAlive || got["other"].Units != 7 {
		t.Errorf("%+v", s.Shards)
	}
}

// TestResumedShard interrupts a shard and starts it again: status lists it once, with all its
// units.
func TestResumedShard(t *testing.T) {
	dir := t.TempDir()
	p, pairs := newPlan(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	first := Shard{Plan: p, Pairs: pairs, Dir: dir, Of: 1, Workers: 1, Observe: func(p Progress) {
		if p.Here == 5 {
			cancel()
		}
	}}
	if err := first.Run(ctx); err == nil {
		t.Fatal("it was not interrupted")
	}
	shards(t, p, pairs, dir, 1)
	s := look(t, dir)
	if len(s.Shards) != 1 || s.Shards[0].Units != len(p.Units()) {
		t.Errorf("%d units: %+v", len(p.Units()), s.Shards)
	}
}
