// Command libfuzzer is the target of package fuzz/harness for libFuzzer, the fuzzer of clang.
// It needs clang with its runtime (Debian: clang, libclang-rt-14-dev) and no other tool;
// the script in its folder builds it:
//
//	fuzz/harness/libfuzzer/build [FILE]      default: ./pair.libfuzzer
//	export MMAFUZZ_PAIR="sim:hopper ref:exact mma.m16n8k16.f32.f16.f16.f32"
//	./pair.libfuzzer -max_total_time=60 corpus
//
// MMAFUZZ_PAIR is described in package fuzz/harness. A difference is printed and ends the
// program; its input is in a file crash-HASH, which mmafuzz corpus import reads.
//
// libFuzzer sees three things:
//
//   - the coverage of the Go code, and the values that it compares: gcflags=all=-d=libfuzzer;
//   - the features of each computation, as extra counters: how far every term is shifted,
//     what kind of bits it loses, how far the sum carries or cancels, how the result is rounded;
//   - a mutator of dot products, in Go: it changes codes and exponents, exchanges and negates
//     products, and sometimes takes a new input of a generator. With MMAFUZZ_MUTATOR=bytes
//     libFuzzer's own mutator of bytes takes its place.
//
// The recipe for OSS-Fuzz and ClusterFuzzLite is in .oss-fuzz.
package main

import (
	"fmt"
	"os"
)

// main is not called in the target: libFuzzer has its own main function.
func main() {
	fmt.Fprintln(os.Stderr, "this is a target of libFuzzer: fuzz/harness/libfuzzer/build makes it")
	os.Exit(2)
}
