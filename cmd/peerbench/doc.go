// Command peerbench runs other people's simulators of matrix units beside those of
// mmafuzz: on the same machine, in the same run, on the same inputs, one thread each.
// It compares the results bit for bit and the speeds.
//
//	peerbench                         all instructions that both have
//	peerbench --only 'fp16|cdna'      some of them
//	peerbench --json > peers.json     the data behind the table in the README
//	peerbench --python ./bin/python   a Python that has mmasim already
//
// The peer is MMA-Sim (package mmasim of Python), which computes with PyTorch. It is
// installed into a virtual environment below the user's cache directory (--cache names
// another), where a python3 with venv, a C++ compiler and a package index are at hand;
// PyTorch takes some gigabytes, and less where pip is told to look at PyTorch's own
// index of packages for processors (PIP_EXTRA_INDEX_URL). If something is missing
// peerbench describes what. What it installs, and what MMA-Sim compiles of itself, is in that
// directory alone: to remove the directory undoes it.
//
// What is compared: whole tiles of the instruction's own shape, one (its __call__) and
// many at once (its dpa with leading dimensions), the operands being in memory on
// either side. Times are of the processor, medians of some runs; a ratio is MMA-Sim's
// time by that of Model.Run, of the inputs, raw bits or finite numbers, for which it is
// smaller. The bits are compared on these and on inputs of every generator of package
// fuzz. Facets that the catalogue says nobody knows (codes of NaN) count apart.
//
// # JSON
//
// With --json one object a line: first
//
//	machine  object  go doc ./fuzz/selfcheck/measure Machine
//	peer     object  versions: mmasim, torch, python
//
// and then for each instruction
//
//	operation    string   operation/format/architecture
//	arch         string   of the catalogue
//	instruction  string
//	peer_arch    string   the peer's names
//	peer_type    string
//	lacks        string?  why the peer does not have it; nothing else follows
//	tiles        number   of a batch
//	shape        string   of a tile: MxNxK
//	single       object   ratio, peer_ns and own_ns of a tile, spread of either, inputs
//	batched      object   the same of a tile of a batch
//	dots         number   results that were compared
//	differ       number   of these, those that differ
//	unknown      number   those that differ in a facet that nobody knows
//	witness      string?  the first that differs: source, operands, results
//
// Exit status: 0 the same bits, 1 the peer computes something else, 2 trouble.
package main
