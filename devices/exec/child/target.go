package child

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Instructions returns instructions of a target that runs in this process, for
// Serve. Each is opened when the first request for it comes. A fault of the target
// ends the child (see Broken), because the device may be no longer usable;
// mmafuzz starts another. Any other error is no finding (see Other).
func Instructions(t devices.Target, rows []mma.Instruction) []Instruction {
	var is []Instruction
	for _, row := range rows {
		is = append(is, instruction(t, row))
	}
	return is
}

// About returns a target's environment in the form of Options.About.
func About(t devices.Target) map[string]string { return words(t.Environment()) }

// words turns the names of an environment into keys, which have no blanks.
func words(env map[string]string) map[string]string {
	about := map[string]string{}
	for k, v := range env {
		about[strings.ReplaceAll(k, " ", "-")] = strings.Join(strings.Fields(v), " ")
	}
	return about
}

// Cannot writes, in place of what Serve writes, why there is nothing to serve.
func Cannot(w io.Writer, why error) error { return wire.WriteCannot(w, why.Error()) }

// instruction turns an instruction of a target into one of a child.
func instruction(t devices.Target, row mma.Instruction) Instruction {
	open := sync.OnceValues(func() (devices.Unit, error) { return t.Open(&row) })
	var unit devices.Unit
	return Instruction{
		Name: row.FullName(), Formats: row.Formats, K: row.K,
		Run: func(in *mma.Batch, out []byte) error {
			u, err := open()
			if err == nil {
				unit = u
				err = u.Run(context.Background(), in, out)
			}
			switch {
			case err == nil:
				return nil
			case errors.As(err, new(*devices.FaultError)):
				return Broken(err)
			}
			return Other(err)
		},
		About: func() map[string]string {
			if p, ok := unit.(devices.Provenance); ok {
				return words(p.Environment())
			}
			return nil
		},
	}
}
