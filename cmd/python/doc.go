// Command python is the library that the Python package mmafuzz calls, and the package itself:
//
//	pip install ./cmd/python
//
// builds a wheel (backend.py, PEP 517) of the folder mmafuzz and of this package as a shared
// library, which needs Go and a C compiler; who installs the wheel needs neither.
//
//	opened.go   the units that C has opened
//	library.go  what C can call: open a unit, run it on batches, begin a task
//	jobs.go     runs that go on in the background, so that Python can interrupt them
//	batch.go    a batch in somebody else's memory, computed in parts by all processors; codes as others store them
//	gemm.go     whole products of a unit by a schedule
//	caller.go   a unit that a function of the caller computes
//	tasks.go    what is done with a unit or two
//	compare.go  a campaign of one against the other, and single cases minimized
//	infer.go    inference, and the questions of papers
//	inputs.go   inputs of the generators
//	units.go    the catalogue and the formats as JSON
//
// tests/speed.py measures the installed package beside the models in Go and MMA-Sim.
//
// Any language that calls C can use the library: go build -buildmode=c-shared writes its
// header beside it. mmafuzz_open and mmafuzz_compute are all that a simulator of an
// architecture needs in the place of its own matrix instruction: simulator/mfma.cc is one in
// C++. Texts are UTF-8; those that the library returns are freed by mmafuzz_free.
package main

func main() {}
