package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// Soak runs the loop on all processors and looks at the memory now and then, while nothing
// is computed.
type Soak struct {
	Time  time.Duration
	Every time.Duration // between looks; 0: a hundredth of Time
	// Progress, if not nil, is called with the time since the start and the number of tiles
	// done.
	Progress func(t time.Duration, tiles uint64)
	// Look, if not nil, is called with each look.
	Look func(Look) error
}

// Look is how much memory was in use at a time.
type Look struct {
	Seconds float64 `json:"seconds"`
	Tiles   uint64  `json:"tiles"` // done
	Heap    uint64  `json:"heap"`  // bytes in use after garbage collection
	RSS     uint64  `json:"rss"`   // bytes in memory, as the system says; 0: it does not
}

// Curve is a series of looks, in the order of time.
type Curve []Look

// Run runs the loop and returns the looks; after an error, such as the end of ctx, those
// until then.
func (s Soak) Run(ctx context.Context) (Curve, error) {
	if s.Every <= 0 {
		s.Every = s.Time / 100
	}
	c, err := newCrew(&loopPairs[0])
	if err != nil {
		return nil, err
	}
	tiles := tilesOf(c[0].Shape(), loopProducts)
	var curve Curve
	began := time.Now()
	for next := s.Every; ; {
		if err := c.run(ctx, tiles); err != nil {
			return curve, err
		}
		t := time.Since(began)
		if s.Progress != nil {
			s.Progress(t, c.tiles())
		}
		if t < next && t < s.Time {
			continue
		}
		l := lookAt(t, c.tiles())
		curve = append(curve, l)
		if s.Look != nil {
			if err := s.Look(l); err != nil {
				return curve, err
			}
		}
		if t >= s.Time {
			return curve, nil
		}
		next = max(next+s.Every, t)
	}
}

func lookAt(t time.Duration, tiles uint64) Look {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Look{t.Seconds(), tiles, m.HeapAlloc, resident()}
}

// resident returns how many bytes of the process are in memory, 0 if the system does not
// say.
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

// Table writes a curve in columns.
func (c Curve) Table() []byte {
	var t bytes.Buffer
	fmt.Fprintln(&t, "seconds\ttiles\theap\trss")
	for _, l := range c {
		fmt.Fprintf(&t, "%.2f\t%d\t%d\t%d\n", l.Seconds, l.Tiles, l.Heap, l.RSS)
	}
	return t.Bytes()
}

// Growth of a twentieth or less does not count, nor growth of so many bytes or less.
const (
	heapSlack = 1 << 20
	rssSlack  = 8 << 20
	leastLook = 6 // with fewer looks there is no verdict
)

// grows reports whether the least value of the last third is above the largest of the
// second third by more than a twentieth and the slack.
func grows(values []uint64, slack uint64) bool {
	n := len(values)
	before, after := slices.Max(values[n/3:2*n/3]), slices.Min(values[2*n/3:])
	return after > before+before/20 && after > before+slack
}

// Verdict returns flat, growing or too short, and what grows.
func (c Curve) Verdict() (word string, growing []string) {
	if len(c) < leastLook {
		return "too short", nil
	}
	var heap, rss []uint64
	for _, l := range c {
		heap, rss = append(heap, l.Heap), append(rss, l.RSS)
	}
	if grows(heap, heapSlack) {
		growing = append(growing, "heap")
	}
	if grows(rss, rssSlack) {
		growing = append(growing, "resident memory")
	}
	if growing != nil {
		return "growing", growing
	}
	return "flat", nil
}

// Document is at most a dozen looks of a curve that is not empty, and the verdict, for people.
// processors is the number of processors that computed.
func (c Curve) Document(processors int) *document.Document {
	const most = 12
	g := &document.Table{Columns: document.Columns("#time", "#tiles", "#heap", "resident")}
	for i := range min(most, len(c)) {
		l := c[i*(len(c)-1)/max(1, min(most, len(c))-1)]
		g.Add(readable.Clock(time.Duration(l.Seconds*float64(time.Second))), readable.Count(l.Tiles), mib(l.Heap), mib(l.RSS))
	}
	word, growing := c.Verdict()
	last := c[len(c)-1]
	d := document.New("Memory", "")
	d.Add("", g)
	d.Overview = []document.Block{document.Text(fmt.Sprintf("memory: %s (%s, %s tiles, %.0f ns a tile on each of %s)", strings.Join(append([]string{word}, growing...), ": "),
		readable.Plural(len(c), "look"), readable.Count(last.Tiles), last.Seconds*1e9*float64(processors)/float64(max(1, last.Tiles)), readable.Plural(processors, "processor")))}
	return d
}

func mib(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
