package corpus

import (
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// place is where a data frame lies in a file.
type place struct {
	file   string
	offset int64
}

// Sum identifies the operands and results of a data frame.
type Sum [sha256.Size]byte

// Sum returns the sum of a data frame.
func (r *Recorded) Sum() Sum {
	if r.sum == (Sum{}) {
		return r.summed()
	}
	return r.sum
}

// summed computes the sum from what is in memory.
func (r *Recorded) summed() (s Sum) {
	h := sha256.New()
	head := struct {
		Formats mma.Formats
		Shape   mma.Shape
	}{r.Section.Formats, r.Section.Shape}
	if err := json.NewEncoder(h).Encode(head); err != nil {
		panic("corpus: " + err.Error()) // plain data always encodes
	}
	for _, part := range [][]byte{r.Batch.A, r.Batch.B, r.Batch.C, r.Batch.SA, r.Batch.SB, r.D} {
		h.Write(part)
	}
	h.Sum(s[:0])
	return s
}

// Load returns the operands and results of a data frame, which are not to be changed. Those
// that were read last are kept in memory, up to 64 MiB of all recordings together.
func (r *Recorded) Load() (*mma.Batch, []byte, error) {
	if r.Batch != nil {
		return r.Batch, r.D, nil
	}
	if l := loads.find(r); l != nil {
		return l.batch, l.d, nil
	}
	l, err := r.read()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.place.file, err)
	}
	loads.keep(l)
	return l.batch, l.d, nil
}

// read reads the frame from its file again.
func (r *Recorded) read() (*loaded, error) {
	f, err := os.Open(r.place.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	kind, payload, err := readFrame(io.NewSectionReader(f, r.place.offset, frameHead+maxFrame))
	var d Recorded
	if err == nil && kind == frameData {
		d, err = r.Section.data(payload)
	}
	if err != nil || kind != frameData || d.summed() != r.sum {
		return nil, errors.New("the file has changed since it was opened")
	}
	return &loaded{r, d.Batch, d.D}, nil
}

// loaded is a data frame in memory.
type loaded struct {
	of    *Recorded
	batch *mma.Batch
	d     []byte
}

func (l *loaded) bytes() int64 { return l.of.Section.Bytes() }

// loads are the data frames that were read last.
var loads = recent{entries: map[*Recorded]*list.Element{}, most: 64 << 20}

// recent keeps loaded frames, the latest first, until they take more than most bytes.
type recent struct {
	mu      sync.Mutex
	order   list.List
	entries map[*Recorded]*list.Element
	size    int64
	most    int64
}

func (c *recent) find(r *Recorded) *loaded {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[r]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*loaded)
}

func (c *recent) keep(l *loaded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[l.of] != nil {
		return // somebody else has read it at the same time
	}
	c.entries[l.of] = c.order.PushFront(l)
	for c.size += l.bytes(); c.size > c.most && c.order.Len() > 1; {
		last := c.order.Remove(c.order.Back()).(*loaded)
		delete(c.entries, last.of)
		c.size -= last.bytes()
	}
}
