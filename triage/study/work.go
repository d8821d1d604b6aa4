package study

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
)

// kept is what was made of each item, under its key, and the journal that has it.
type kept struct {
	mu   sync.Mutex
	log  *journal.Journal[record] // nil: nothing is kept, or nothing yet
	done map[string]json.RawMessage
	// open opens the journal. It is called when the first thing is kept, so that a study that is
	// refused leaves none. nil: nothing is kept.
	open func() (*journal.Journal[record], error)
}

// options are all that items depend on, besides the program.
type options struct {
	Study    string            `json:"study"`
	Program  string            `json:"program"`
	Targets  []string          `json:"targets,omitempty"`
	Seed     uint64            `json:"seed"`
	Count    int               `json:"count"`
	Settings map[string]string `json:"settings,omitempty"`
}

// record is what was made of an item.
type record struct {
	Key  string          `json:"key"`
	Made json.RawMessage `json:"made"`
}

func otherStudy(then, _ options) error {
	return fmt.Errorf("the directory holds a study %s of seed %d, count %d, targets %q and settings %v, made by version %s; name another directory with --out, or remove this one",
		then.Study, then.Seed, then.Count, then.Targets, then.Settings, then.Program)
}

// openJournal opens the journal of the request's directory, if it has one.
func (r *Request) openJournal(settings map[string]string) error {
	k := &kept{done: map[string]json.RawMessage{}}
	r.journal = k
	if r.Dir == "" {
		return nil
	}
	if err := journal.CheckWriter(r.Dir, journal.ByStudy); err != nil {
		return err
	}
	// The tables that there will be are not known yet, and a page has no other use.
	if err := journal.CheckUnlogged(r.Dir, journal.File, "study", resultFile, "tables.md", "*.csv", "D*.npy", "case*.npy"); err != nil {
		return hint.Add(err, "name another directory with --out")
	}
	file := filepath.Join(r.Dir, journal.File)
	k.open = func() (*journal.Journal[record], error) {
		kind := journal.Kind[options]{Of: "study", Version: 1, By: journal.ByStudy, Versions: versions.Current(), Differ: otherStudy}
		return journal.Open(file, kind, options{r.study, versions.Program(), r.Targets, r.Seed, r.Count, settings}, func(e *record) error {
			k.done[e.Key] = e.Made
			return nil
		})
	}
	if journal.HasRecords(file) {
		return k.begin()
	}
	return nil
}

// begin begins the journal, if there is to be one.
func (k *kept) begin() (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open == nil {
		return nil
	}
	if k.log == nil {
		if k.log, err = k.open(); err != nil {
			return err
		}
	}
	return k.log.Begin()
}

func (k *kept) close() {
	if k.log != nil {
		k.log.Close()
	}
}

// find returns what was made of an item earlier. Anybody may have made the journal: check returns
// what is impossible about it.
func (k *kept) find(key string, made any, check func() error) (ok bool, err error) {
	k.mu.Lock()
	body, ok := k.done[key]
	k.mu.Unlock()
	if !ok {
		return false, nil
	}
	if err = strictjson.UnmarshalKnown(body, made, "value"); err == nil {
		err = check()
	}
	if err != nil {
		return false, fmt.Errorf("the journal is damaged, %s: %w", key, err)
	}
	return true, nil
}

// keep appends what was made of an item.
func (k *kept) keep(key string, made any) error {
	if k.open == nil {
		return nil
	}
	body, err := json.Marshal(made)
	if err != nil {
		return err
	}
	if err := k.begin(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.log.Append(&record{key, body})
}

// each works through items and returns what was made of them, in their order. Items
// whose key the journal has are not made again, if check finds nothing impossible about what it
// has; keys are different from each other. The error is the first one, of an item or of the
// context.
func each[I, T any](ctx context.Context, r *Request, items []I, key func(*I) string, check func(*I, T) error, do func(context.Context, *I) (T, error)) ([]T, error) {
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
		found, err := r.journal.find(k, &made[n], func() error { return check(&items[n], made[n]) })
		if err != nil {
			return err
		}
		if !found {
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
