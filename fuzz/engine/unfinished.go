package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// Unfinished describes a campaign that ended before it was complete.
type Unfinished struct {
	Why          string   `json:"why"`
	Dots         uint64   `json:"dots"`         // compared
	Of           uint64   `json:"of,omitempty"` // 0: a time was asked for, no number
	Pairs        int      `json:"pairs"`        // pairs that are complete
	OfPairs      int      `json:"of_pairs"`
	Unexamined   uint64   `json:"unexamined"`   // mismatches that are in no bucket yet
	Instructions []string `json:"instructions"` // of incomplete pairs
}

// Reasons why a campaign is unfinished. Others are the text of a GoneError, and
// Config.Partial.
const (
	Interrupted     = "interrupted"
	NothingCompared = "no dot product was compared"
)

// Unfinished describes a campaign whose Run has returned err; nil if it is complete, or the
// error is not one after which it can go on.
func (c *Campaign) Unfinished(ctx context.Context, err error) *Unfinished {
	var gone *GoneError
	dots, _, _ := c.state.Totals()
	switch {
	case errors.As(err, &gone):
		return c.unfinished(gone.Error())
	case err != nil:
		return nil
	case !c.complete && ctx.Err() != nil:
		return c.unfinished(Interrupted)
	case dots == 0:
		return c.unfinished(NothingCompared)
	case c.cfg.Partial != "":
		return c.unfinished(c.cfg.Partial)
	}
	return nil
}

func (c *Campaign) unfinished(why string) *Unfinished {
	x := &Unfinished{Why: why, OfPairs: len(c.pairs), Instructions: []string{}}
	endless := c.cfg.Partial != "" // nobody knows how many there should be
	for i, st := range c.state.Pairs {
		wanted := c.cfg.Count
		if r := c.pairs[i].Recorder; r != nil {
			wanted = uint64(r.Recorded())
		} else if n := c.pairs[i].inputs(); n > 0 {
			wanted = min(cmp.Or(wanted, n), n)
		}
		x.Dots += st.Dots
		x.Of += wanted
		x.Unexamined += st.Unexamined
		if wanted > 0 && st.Dots >= wanted && st.Unexamined == 0 && c.cfg.Partial == "" {
			x.Pairs++
		} else {
			x.Instructions = append(x.Instructions, st.Name)
		}
		endless = endless || wanted == 0
	}
	if endless {
		x.Of = 0
	}
	return x
}

// String says in a sentence what was compared and what was not, with a few
// instructions.
func (x *Unfinished) String() string {
	const most = 4 // instructions
	what := readable.Thousands(x.Dots) + " dot products were compared"
	switch {
	case x.Of > 0 && x.Dots >= x.Of && x.Unexamined > 0:
		what = fmt.Sprintf("all %s dot products were compared, and %s not examined", readable.Thousands(x.Dots), readable.Mismatches(x.Unexamined))
	case x.Of > 0:
		what = fmt.Sprintf("%s of %s dot products were compared", readable.Thousands(x.Dots), readable.Thousands(x.Of))
	}
	text := fmt.Sprintf("incomplete: %s; %s", x.Why, what)
	if n := len(x.Instructions); x.OfPairs > 1 && x.Of > 0 {
		text += fmt.Sprintf("; %d of %d pairs are complete, not %s", x.Pairs, x.OfPairs, strings.Join(x.Instructions[:min(n, most)], ", "))
		if n > most {
			text += fmt.Sprintf(" and %d more", n-most)
		}
	}
	return text
}
