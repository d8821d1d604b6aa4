package study

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
)

// journal keeps what was made of each item, under its key.
type journal struct {
	mu   sync.Mutex
	log  *corpus.Log // nil: nothing is kept, or nothing yet
	done map[string]json.RawMessage
	// open opens the log. It is called when the first thing is kept, so that a study that is
	// refused leaves none. nil: nothing is kept.
	open func() (*corpus.Log, error)
}

// heading is the first record of a journal: what its items depend on.
type heading struct {
	Study    string            `json:"study"`
	Program  string            `json:"program"`
	Targets  []string          `json:"targets,omitempty"`
	Seed     uint64            `json:"seed"`
	Count    int               `json:"count"`
	Settings map[string]string `json:"settings,omitempty"`
}

// record is any record after the heading.
type record struct {
	Key  string          `json:"key"`
	Made json.RawMessage `json:"made"`
}

// openJournal opens the journal of the request's directory, if it has one.
func (r *Request) openJournal(settings map[string]string) error {
	r.journal = &journal{done: map[string]json.RawMessage{}}
	if r.Dir == "" {
		return nil
	}
	if err := corpus.CheckWriter(r.Dir, corpus.ByStudy); err != nil {
		return err
	}
	// The tables that there will be are not known yet, and a page has no other use.
	if err := corpus.CheckUnlogged(r.Dir, "journal", "study", resultFile, "tables.md", "*.csv", "D*.npy"); err != nil {
		return hint.Add(err, "name another directory with --out")
	}
	now := heading{r.study, versions.Program(), r.Targets, r.Seed, r.Count, settings}
	file := filepath.Join(r.Dir, "journal")
	r.journal.open = func() (*corpus.Log, error) { return r.journal.read(file, now) }
	if corpus.HasRecords(file) {
		return r.journal.begin()
	}
	return nil
}

// read opens the log of a heading, and reads what an earlier part of the study has kept.
func (j *journal) read(file string, now heading) (*corpus.Log, error) {
	fresh := true
	log, err := corpus.OpenLog(file, func(n int, body []byte) error {
		if n == 0 {
			fresh = false
			var then heading
			if err := json.Unmarshal(body, &then); err != nil {
				return err
			}
			return sameHeading(then, now)
		}
		var e record
		if err := json.Unmarshal(body, &e); err != nil {
			return err
		}
		j.done[e.Key] = e.Made
		return nil
	})
	if err == nil && fresh {
		err = log.Append(now)
	}
	return log, err
}

// begin opens the log, if there is to be one and it is not open yet.
func (j *journal) begin() (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil && j.open != nil {
		j.log, err = j.open()
	}
	return err
}

// sameHeading returns an error if a journal is that of another study.
func sameHeading(then, now heading) error {
	if len(then.Targets)+len(now.Targets) == 0 {
		then.Targets = now.Targets
	}
	if len(then.Settings)+len(now.Settings) == 0 {
		then.Settings = now.Settings
	}
	if reflect.DeepEqual(then, now) {
		return nil
	}
	return fmt.Errorf("the directory holds a study %s of seed %d, count %d, targets %q and settings %v, made by version %s; name another directory with --out, or remove this one",
		then.Study, then.Seed, then.Count, then.Targets, then.Settings, then.Program)
}

func (j *journal) close() {
	if j.log != nil {
		j.log.Close()
	}
}

// find returns what was made of an item earlier.
func (j *journal) find(key string, made any) bool {
	j.mu.Lock()
	body, ok := j.done[key]
	j.mu.Unlock()
	return ok && json.Unmarshal(body, made) == nil
}

// keep appends what was made of an item.
func (j *journal) keep(key string, made any) error {
	if j.open == nil {
		return nil
	}
	body, err := json.Marshal(made)
	if err != nil {
		return err
	}
	if err := j.begin(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.log.Append(record{key, body})
}

// each works through items and returns what was made of them, in their order. Items
// whose key the journal has are not made again; keys are different from each other. The
// error is the first one, of an item or of the context.
func each[I, T any](ctx context.Context, r *Request, items []I, key func(*I) string, do func(context.Context, *I) (T, error)) ([]T, error) {
	workers := r.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	made := make([]T, len(items))
	work := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	done := 0
	one := func(n int) error {
		k := key(&items[n])
		if !r.journal.find(k, &made[n]) {
			var err error
			if made[n], err = do(ctx, &items[n]); err != nil {
				return err
			}
			if err := r.journal.keep(k, made[n]); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if done++; r.Progress != nil {
			r.Progress(done, len(items), k)
		}
		return nil
	}
	for range min(workers, max(1, len(items))) {
		wait.Go(func() {
			for n := range work {
				if ctx.Err() != nil {
					continue
				}
				if err := one(n); err != nil {
					cancel(err)
				}
			}
		})
	}
	for n := range items {
		work <- n
	}
	close(work)
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return made, nil
}

// partElements bounds the elements of the dot products that are kept in memory at a time,
// and with them the time until a study that is interrupted ends.
const partElements = 1 << 18

// inParts works through n dot products of k elements in parts, in order, so that memory does
// not grow with n. do is called with the size of each part, until it returns an error.
func inParts(n, k int, do func(part int) error) error {
	for most := max(1, partElements/k); n > 0; n -= most {
		if err := do(min(n, most)); err != nil {
			return err
		}
	}
	return nil
}
