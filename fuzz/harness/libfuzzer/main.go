//go:build libfuzzer

package main

/*
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { counters = 1 << 14 };
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t extra[counters];
static uint8_t *extra_counters(void) { return extra; }

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/fuzz/harness"
)

var (
	target   *harness.Harness
	ofBytes  = os.Getenv("MMAFUZZ_MUTATOR") == "bytes"
	features = unsafe.Slice((*byte)(C.extra_counters()), C.counters)
)

func init() {
	var err error
	if target, err = harness.FromEnvironment(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	target.Counters = features
}

//export LLVMFuzzerTestOneInput
func LLVMFuzzerTestOneInput(data *C.uint8_t, size C.size_t) C.int {
	if _, err := target.Check(unsafe.Slice((*byte)(data), size)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		C.abort()
	}
	return 0
}

//export LLVMFuzzerCustomMutator
func LLVMFuzzerCustomMutator(data *C.uint8_t, size, most C.size_t, seed C.uint) C.size_t {
	if ofBytes {
		return C.LLVMFuzzerMutate(data, size, most)
	}
	mutated := target.Mutate(unsafe.Slice((*byte)(data), size), uint64(seed))
	return C.size_t(copy(unsafe.Slice((*byte)(data), most), mutated))
}
