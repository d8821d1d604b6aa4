package fleet

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// lastBeat is the heartbeat that a process has written last.
type lastBeat struct {
	*heartbeat
	name string
	at   time.Time // when its file was written
}

// coarse is more than the error of the times of files, which is milliseconds as a rule, and
// less than the time between two heartbeats, unless --lease is short.
const coarse = time.Second

// follows reports whether a process began after the last heartbeat of an earlier one.
func (b *lastBeat) follows(earlier *lastBeat) bool {
	began := b.at.Add(-time.Duration(b.Seconds * float64(time.Second)))
	return earlier.at.Before(began.Add(coarse))
}

// alive returns how many shards are.
func (s *Status) alive() int {
	n := 0
	for _, x := range s.Shards {
		if x.State == stateAlive {
			n++
		}
	}
	return n
}

// shards lists the shards.
func (w *Watcher) shards(s *Status) error {
	beats, err := readHeartbeats(w.dir)
	var all []lastBeat
	for name, h := range beats {
		if info, err := os.Stat(filepath.Join(w.dir, shardsDir, name)); err == nil {
			all = append(all, lastBeat{h, name, info.ModTime()})
		}
	}
	for _, processes := range restarts(all) {
		s.Shards = append(s.Shards, shardStatus(processes))
	}
	slices.SortFunc(s.Shards, func(x, y ShardStatus) int {
		return cmp.Or(cmp.Compare(x.Shard, y.Shard), cmp.Compare(x.Age, y.Age), cmp.Compare(x.Name, y.Name))
	})
	return err
}

// restarts puts the processes together that are one shard, which was started again after each
// had written its last heartbeat: it was killed, or has ended. Processes that are at work on the
// same shard at the same time stay apart, once the earlier one gives another sign of life.
func restarts(all []lastBeat) (shards [][]lastBeat) {
	slices.SortFunc(all, func(x, y lastBeat) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.name, y.name)) })
	for _, b := range all {
		i := slices.IndexFunc(shards, func(earlier []lastBeat) bool {
			last := &earlier[len(earlier)-1]
			return last.Shard == b.Shard && last.Of == b.Of && b.follows(last)
		})
		if i < 0 {
			shards = append(shards, []lastBeat{b})
		} else {
			shards[i] = append(shards[i], b)
		}
	}
	return shards
}

// shardStatus sums up what the processes of a shard have done. The last one says how it is now.
func shardStatus(processes []lastBeat) ShardStatus {
	b := &processes[len(processes)-1]
	s := ShardStatus{Name: b.name, Shard: b.Shard, Of: b.Of, Host: b.Host, State: stateAlive, Age: since(b.at)}
	seconds := 0.0
	for i := range processes {
		s.Units += processes[i].Units
		s.Dots += processes[i].Dots
		seconds += processes[i].Seconds
	}
	s.Rate = float64(s.Dots) / max(seconds, 1)
	switch {
	case b.Ended:
		s.State = stateEnded
	case s.Age > DefaultLease.Seconds():
		s.State = stateSilent
	}
	return s
}
