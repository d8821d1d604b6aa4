package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/fleet"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
)

// statusCmd is mmafuzz status.
type statusCmd struct {
	*app
	watch      bool
	every      time.Duration
	prometheus string
	html       string
}

func newStatus(a *app) *cobra.Command {
	s := &statusCmd{app: a}
	c := &cobra.Command{
		Use:   "status DIR...",
		Short: "how far the shards of a campaign are",
		Long: `status shows how many units of a campaign are done, which shards are alive, how fast they
are, when all will be done, and which causes have been found so far. A shard has ended, killed
perhaps, if its process on this machine has; one of another machine is silent if no result has
come for 20 times as long as its units take, one to five minutes. Shards that share no directory
are shown together if all of theirs are named.

  mmafuzz status DIR --watch
  mmafuzz status DIR --watch --html status.html
  mmafuzz status DIR --prometheus /var/lib/node_exporter/mmafuzz.prom

Exit status: 0 all units are done, 2 trouble, 75 some are not.`,
		Args:    takes("DIR..."),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return notNegative(cmd.Flags()) },
		RunE:    func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), args) },
	}
	c.Flags().BoolVar(&s.watch, "watch", false, "go on until all units are done")
	c.Flags().DurationVar(&s.every, "every", 5*time.Second, "with --watch, the `time` between two looks")
	c.Flags().StringVar(&s.prometheus, "prometheus", "", "`file`, named *.prom, for the textfile collector of node_exporter")
	c.Flags().StringVar(&s.html, "html", "", "`file` of a page, which with --watch is written at each look and loads itself again")
	return c
}

func (s *statusCmd) run(ctx context.Context, dirs []string) error {
	if s.prometheus != "" && filepath.Ext(s.prometheus) != ".prom" {
		return hint.New("the textfile collector reads files named *.prom only", "--prometheus is %s", s.prometheus)
	}
	if s.html != "" {
		if err := hint.Add(corpus.CheckForeign(s.html, "page", func() bool { return document.IsFile(s.html) }), "name another file with --html"); err != nil {
			return err
		}
	}
	w, err := fleet.NewWatcher(dirs...)
	if err != nil {
		return planError(err)
	}
	for {
		st, err := w.Look()
		if err != nil {
			return planError(err)
		}
		if s.prometheus != "" {
			if err := st.Prometheus(s.prometheus); err != nil {
				return hint.New("name a file with --prometheus that can be written", "cannot write %s: %w", s.prometheus, hint.Bare(err))
			}
		}
		if err := cmp.Or(s.page(st), s.show(st)); err != nil {
			return err
		}
		if st.Done == st.Units {
			return nil
		}
		if !s.watch {
			return incomplete(fmt.Errorf("%d of %s are not done", st.Units-st.Done, readable.Plural(st.Units, "unit")))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(s.every, time.Second)):
		}
	}
}

// page writes the page of --html.
func (s *statusCmd) page(st *fleet.Status) error {
	if s.html == "" {
		return nil
	}
	p := st.Document()
	p.Made = "mmafuzz " + versions.Program()
	if s.watch && st.Done < st.Units {
		p.Refresh = int(max(s.every, time.Second).Seconds())
	}
	var b bytes.Buffer
	if err := p.Write(&b, "html", document.Options{}); err != nil {
		return err
	}
	if err := corpus.ReplaceFile(s.html, b.Bytes()); err != nil {
		return hint.New("name a file with --html that can be written", "cannot write %s: %w", s.html, hint.Bare(err))
	}
	return nil
}

func (s *statusCmd) show(st *fleet.Status) error {
	if s.json {
		return s.writeJSON(st)
	}
	if s.watch && isTerminal(s.stdout) {
		fmt.Fprint(printable.Raw(s.stdout), "\x1b[H\x1b[J")
	}
	return s.writeDocument(st.Document(), "text", s.verbose)
}
