//go:build (linux || windows) && (amd64 || arm64) && !nogpu

package hip

import (
	goruntime "runtime"
	"unsafe"
)

// cStrings is an array of C strings, held in place while C reads it.
type cStrings struct {
	pointers []unsafe.Pointer
	pin      goruntime.Pinner
}

func newCStrings(words ...string) *cStrings {
	s := &cStrings{pointers: make([]unsafe.Pointer, len(words))}
	for i, w := range words {
		text := append([]byte(w), 0)
		s.pin.Pin(&text[0])
		s.pointers[i] = unsafe.Pointer(&text[0])
	}
	s.pin.Pin(&s.pointers[0])
	return s
}

func (s *cStrings) count() int              { return len(s.pointers) }
func (s *cStrings) pointer() unsafe.Pointer { return unsafe.Pointer(&s.pointers[0]) }
func (s *cStrings) free()                   { s.pin.Unpin() }
