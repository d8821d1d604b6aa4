package checklist

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/record"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// recordings records every instruction by the plan. A recording that was begun before goes
// on where it was.
func (r *run) recordings() error {
	return r.do(r.Plan, func() Row {
		plan, err := corpus.OpenPlan(r.Plan)
		if err != nil {
			return Row{State: Failed, Text: err.Error()}
		}
		ctx, stop := context.WithDeadline(r.ctx, r.until)
		defer stop()
		file := r.Plan + ".rec"
		res, err := record.Run(ctx, record.Config{Target: &chosen{r.Target, r.rows}, Plan: plan, File: filepath.Join(r.Dir, file), Environment: r.Environment})
		switch {
		case errors.Is(err, corpus.ErrOtherRecording), errors.Is(err, corpus.ErrOtherVersion):
			return Row{State: Failed, Text: fmt.Sprintf("%v: remove %s to record again", err, file)}
		case err != nil:
			return Row{State: Failed, Text: err.Error()}
		case !res.Complete:
			return Row{State: Skipped, Text: noTime, Data: res}
		}
		row := Row{State: OK, Data: res, Text: fmt.Sprintf("%d dot products of %d instructions in %s, %d KiB", res.Done, res.Instructions, file, res.Bytes>>10)}
		if res.GivenUp > 0 || res.Faults > 0 {
			row.State = Differs
			row.Text += fmt.Sprintf("; faults on %d outputs, %d instructions given up", res.Faults, res.GivenUp)
		}
		return row
	})
}

// chosen is a target with some of its instructions.
type chosen struct {
	devices.Target
	rows []mma.Instruction
}

func (c *chosen) Instructions() []mma.Instruction { return c.rows }
