package engine

import (
	"sync"
	"time"
)

// A long call is divided into pieces that take about pieceTime. If a call has a high fixed
// cost, as a child has that starts a simulator for each request, its dot products take about
// as long as that cost, but at most pieceMost.
const (
	pieceTime = 500 * time.Millisecond
	pieceMost = 5 * time.Second
)

// pace learns from the pieces of calls how many dot products the next one should have. The
// zero pace is ready for use.
type pace struct {
	mu      sync.Mutex
	fixed   time.Duration // the shortest time of any piece: about the fixed cost of a call
	each    time.Duration // what a dot product takes beyond that, by the last piece
	largest int           // dot products of the largest piece so far
}

// next returns the number of dot products of the next piece. Until it is known what a dot
// product takes, pieces grow from one to the next, the less the longer the first one took.
func (p *pace) next() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.largest == 0 {
		return 1
	}
	growth := min(max(pieceTime/max(p.fixed, 1), 2), 8)
	n := p.largest * int(growth)
	if p.each > 0 {
		n = min(n, int(max(pieceTime-p.fixed, min(p.fixed, pieceMost))/p.each))
	}
	return max(n, 1)
}

// learn takes note of a piece of n dot products.
func (p *pace) learn(n int, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.largest == 0 || took < p.fixed {
		p.fixed = took
	}
	p.largest = max(p.largest, n)
	if n > 1 {
		p.each = (took - p.fixed) / time.Duration(n)
	} else if took < p.each { // one dot product does not show what part of its time is fixed
		p.each = took
	}
}
