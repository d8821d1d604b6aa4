// Command peerbench runs another simulator of matrix units, MMA-Sim, beside those of
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
// another), which needs python3 with venv, a C++ compiler and a package index. PyTorch
// takes some gigabytes, less if pip is pointed to PyTorch's own index of packages for
// processors (PIP_EXTRA_INDEX_URL). If something is missing, the error says what. All that
// it installs and that MMA-Sim compiles is in that directory: remove it to uninstall.
//
// What is compared: whole tiles of the instruction's own shape, one (__call__ of MMA-Sim's
// object) and many at once (its method dpa, with leading dimensions), with the operands in
// memory on either side. Times are processor times, medians of some runs. A ratio is
// MMA-Sim's time divided by that of Model.Run. Both are timed on raw bits and on finite
// numbers; the smaller ratio is reported. The bits are compared on these and on inputs of
// every generator. Differences only in what the catalogue says nobody knows (codes of NaN)
// are counted separately.
//
// # JSON
//
// --json writes one object per line: first
//
//	v        number  version of the format: 1
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
//	lacks        string?  why the peer does not have it; then dots, differ and unknown are 0 and the rest is absent
//	tiles        number   of a batch
//	shape        string   of a tile: MxNxK
//	single       object   ratio, peer_ns and own_ns of a tile, spread of either, inputs
//	batched      object   the same of a tile of a batch
//	dots         number   results that were compared
//	differ       number   of these, those that differ, not counting unknown
//	unknown      number   those that differ in a facet that nobody knows
//	witness      string?  the first that differs: source, operands, results
//
// Exit status: 0 the same bits, 1 the peer computes something else, 2 trouble.
package main
