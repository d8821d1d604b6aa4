package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// request is the options of tasks; each uses some of them.
type request struct {
	Count   uint64  // dot products, at least 1 for compare
	Seed    uint64  //
	Bits    bool    // NaNs of different codes differ
	Workers int     // 0: all processors
	Examine uint64  // as in fuzz.Config
	Bundles string  // directory of bundles, "" for none
	Input   string  // a dot product as mmafuzz eval reads it
	Checks  int     // as in infer.Options, and so the following
	Effort  int     // in compare and minimize as in fuzz.Config, but 0: no search
	Seconds float64 //

	say func(doing string)
}

// tasks are what is done with a unit or two, in the background, by name.
var tasks = map[string]struct {
	units int
	run   func(ctx context.Context, units []opened, r *request) (any, error)
}{
	"compare":  {2, compare},
	"minimize": {2, shrink},
	"infer":    {1, inferUnit},
	"probe":    {1, probeUnit},
}

// startTask begins a task, whose options are in JSON. The job's text is the result in JSON.
func startTask(name string, handles []int64, options []byte) (int64, error) {
	t, ok := tasks[name]
	if !ok {
		return 0, fmt.Errorf("there is no task %q", name)
	}
	var r request
	d := json.NewDecoder(bytes.NewReader(options))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return 0, err
	}
	all := make([]opened, t.units)
	for n := range all {
		var err error
		if all[n], err = units.get(handles[n]); err != nil {
			return 0, err
		}
	}
	asks := make(chan *ask)
	return start(asks, func(ctx context.Context, say func(string)) (string, error) {
		for n, o := range all {
			if c, ok := o.unit.(*caller); ok {
				all[n].unit = &caller{c.inst, n, asks, ctx.Done()}
			}
		}
		r.say = say
		result, err := t.run(ctx, all, &r)
		if err != nil {
			return "", err
		}
		return inJSON(result), nil
	}), nil
}
