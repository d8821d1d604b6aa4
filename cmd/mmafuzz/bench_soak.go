package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/selfcheck/measure"
)

// look is the memory at some time of --soak.
type look struct {
	Seconds float64 `json:"seconds"`
	Tiles   uint64  `json:"tiles"` // done
	Heap    uint64  `json:"heap"`  // bytes in use after garbage collection
	RSS     uint64  `json:"rss"`   // bytes in memory, as the system says; 0: it does not
}

// runSoak runs the loop on all processors and watches the memory.
func (b *benchCmd) runSoak(ctx context.Context) error {
	b.here = measure.Here()
	if b.every <= 0 {
		b.every = b.soak / 100
	}
	crew, err := newCrew(&benchLoops[0])
	if err != nil {
		return err
	}
	if b.json {
		if err := b.writeJSON(map[string]*measure.Machine{"machine": b.here}); err != nil {
			return err
		}
	}
	curve, err := b.curve(ctx, crew)
	b.line.clear()
	interrupted := ctx.Err()
	if err != nil && !errors.Is(err, context.Canceled) || len(curve) == 0 {
		return err
	}
	if b.out != "" {
		if err := b.saveTable(b.out, curveTable(curve)); err != nil {
			return err
		}
	}
	err = b.verdict(curve)
	if interrupted != nil && (err == nil || errors.Is(err, errMismatch)) {
		last := time.Duration(curve[len(curve)-1].Seconds * float64(time.Second))
		err = incomplete(fmt.Errorf("interrupted after %s of %s: the verdict is about these", readable.Clock(last), b.soak))
	}
	return err
}

// curve looks at the memory now and then, while nobody works.
func (b *benchCmd) curve(ctx context.Context, c crew) ([]look, error) {
	tiles := tilesOf(c[0].Shape(), loopProducts)
	var curve []look
	began := time.Now()
	b.line.last = began
	for next := b.every; ; {
		if err := c.run(ctx, tiles); err != nil {
			return curve, err
		}
		t := time.Since(began)
		b.line.show(statusField{text: fmt.Sprintf("%6s of %s  %s tiles", readable.Clock(t), b.soak, readable.Count(c.tiles()))})
		if t < next && t < b.soak {
			continue
		}
		l := lookAt(t, c.tiles())
		curve = append(curve, l)
		if b.json {
			if err := b.writeJSON(map[string]look{"look": l}); err != nil {
				return curve, err
			}
		}
		if t >= b.soak {
			return curve, nil
		}
		next = max(next+b.every, t)
	}
}

func lookAt(t time.Duration, tiles uint64) look {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return look{t.Seconds(), tiles, m.HeapAlloc, resident()}
}

// resident returns the bytes that the process has in memory, 0 where that is not to
// be had.
func resident() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	var size, pages uint64
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

// curveTable writes a curve in columns.
func curveTable(curve []look) []byte {
	var t bytes.Buffer
	fmt.Fprintln(&t, "seconds\ttiles\theap\trss")
	for _, l := range curve {
		fmt.Fprintf(&t, "%.2f\t%d\t%d\t%d\n", l.Seconds, l.Tiles, l.Heap, l.RSS)
	}
	return t.Bytes()
}

// The growth that is none: what is above it is more than a twentieth, and more than
// these bytes.
const (
	heapSlack = 1 << 20
	rssSlack  = 8 << 20
	soakLeast = 6 // looks, below which there is no verdict
)

// grows says whether the least value of the last third is above the largest of the
// second third by more than a twentieth and the slack.
func grows(values []uint64, slack uint64) bool {
	n := len(values)
	before, after := slices.Max(values[n/3:2*n/3]), slices.Min(values[2*n/3:])
	return after > before+before/20 && after > before+slack
}

// verdict writes what the curve comes to.
func (b *benchCmd) verdict(curve []look) error {
	var heap, rss []uint64
	for _, l := range curve {
		heap, rss = append(heap, l.Heap), append(rss, l.RSS)
	}
	var growing []string
	word := "too short"
	if len(curve) >= soakLeast {
		if grows(heap, heapSlack) {
			growing = append(growing, "heap")
		}
		if grows(rss, rssSlack) {
			growing = append(growing, "resident memory")
		}
		word = "flat"
		if growing != nil {
			word = "growing"
		}
	}
	last := curve[len(curve)-1]
	if b.json {
		if err := b.writeJSON(map[string]any{"soak": map[string]any{"verdict": word, "looks": len(curve), "tiles": last.Tiles, "seconds": last.Seconds}}); err != nil {
			return err
		}
	} else {
		b.writeCurve(curve, strings.Join(append([]string{word}, growing...), ": "))
	}
	if growing != nil {
		return errMismatch
	}
	return nil
}

// writeCurve writes at most a dozen points of the curve, and the verdict.
func (b *benchCmd) writeCurve(curve []look, word string) {
	const most = 12
	g := readable.Table{Width: b.width, Head: true, Right: map[int]bool{0: true, 1: true, 2: true}}
	g.Add("TIME", "TILES", "HEAP", "RESIDENT")
	for i := range min(most, len(curve)) {
		l := curve[i*(len(curve)-1)/max(1, min(most, len(curve))-1)]
		g.Add(readable.Clock(time.Duration(l.Seconds*float64(time.Second))), readable.Count(l.Tiles), mib(l.Heap), mib(l.RSS))
	}
	g.Write(b.stdout, nil)
	last := curve[len(curve)-1]
	fmt.Fprintf(b.stdout, "\nmemory: %s (%s, %s tiles, %.0f ns a tile on each of %s)\n", word, readable.Plural(len(curve), "look"), readable.Count(last.Tiles),
		last.Seconds*1e9*float64(b.here.Processors)/float64(max(1, last.Tiles)), readable.Plural(b.here.Processors, "processor"))
}

func mib(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
