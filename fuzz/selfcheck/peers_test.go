package selfcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/exec"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// MMA-Sim, another simulator of matrix units, beside those of mmafuzz: on the same machine,
// in the same run, on the same inputs, one thread each. Its results are compared bit for bit,
// on raw bits, finite numbers and inputs of every generator; its speed on the first two, of
// which the smaller ratio counts. Times are processor times, medians of some runs, of one
// tile of the instruction's own shape and of many at once.

// peersFile has a line for the machine and MMA-Sim's versions, and one for each instruction.
const peersFile = "peers.json"

// peered is a line of the file.
type peered struct {
	Machine     *measure.Machine  `json:"machine,omitempty"` // of the first line
	Peer        map[string]string `json:"peer,omitempty"`    // of the first line: versions
	Operation   string            `json:"operation,omitempty"`
	Arch        string            `json:"arch,omitempty"`
	Instruction string            `json:"instruction,omitempty"`
	Lacks       string            `json:"lacks,omitempty"` // why MMA-Sim does not have it
	Tiles       int               `json:"tiles,omitempty"` // of a batch
	Single      *peerSpeed        `json:"single,omitempty"`
	Batched     *peerSpeed        `json:"batched,omitempty"`
	Dots        uint64            `json:"dots"`
	Differ      uint64            `json:"differ"`
	Unknown     uint64            `json:"unknown"` // differ only where the catalogue leaves the result open
	Witness     string            `json:"witness,omitempty"`
}

// peerSpeed is how long a tile takes on either side. Ratio is MMA-Sim's time by the own one.
type peerSpeed struct {
	Ratio      float64        `json:"ratio"`
	PeerNs     float64        `json:"peer_ns"`
	OwnNs      float64        `json:"own_ns"`
	PeerSpread float64        `json:"peer_spread"`
	OwnSpread  float64        `json:"own_spread"`
	Inputs     measure.Inputs `json:"inputs"`
}

// peerOperations are compared: those of every operation, and such as are known to be read in
// different ways.
func peerOperations() []measure.Operation {
	return append(slices.Clone(measure.Operations),
		measure.Operation{Name: "t-fdpa/fp16/volta", Arch: "volta", Inst: "mma.m8n8k4.f32.f16.f16.f32"},
		measure.Operation{Name: "t-fdpa/fp16/turing", Arch: "turing", Inst: "mma.m16n8k8.f32.f16.f16.f32"},
		measure.Operation{Name: "t-fdpa/e4m3/ada", Arch: "ada", Inst: "mma.m16n8k32.f32.e4m3.e4m3.f32"},
		measure.Operation{Name: "t-fdpa/e5m2-fp16/ada", Arch: "ada", Inst: "mma.m16n8k32.f16.e5m2.e5m2.f16"},
		measure.Operation{Name: "t-fdpa/fp16-fp16-wgmma/hopper", Arch: "hopper", Inst: "wgmma.m64n8k16.f16.f16.f16"},
		measure.Operation{Name: "t-fdpa/fp16-fp16/blackwell", Arch: "blackwell", Inst: "tcgen05.m128n8k16.kind::f16.f16.f16.f16"},
		measure.Operation{Name: "t-fdpa/e2m1/rtx-blackwell", Arch: "rtx-blackwell", Inst: "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32"},
		measure.Operation{Name: "gst-fdpa/e2m1-ue8m0/blackwell", Arch: "blackwell", Inst: "tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"},
		measure.Operation{Name: "fma/fp64/cdna3", Arch: "cdna3", Inst: "v_mfma_f64_16x16x4_f64"},
	)
}

// TestPeers compares results with MMA-Sim's: those that were equal still are. With -update it
// times both and writes the file. It takes minutes, and the interpreter MMAFUZZ_PYTHON with
// the package mmasim.
func TestPeers(t *testing.T) {
	python := os.Getenv("MMAFUZZ_PYTHON")
	if python == "" || !tier.Nightly() && !*update {
		t.Skip("only with MMAFUZZ_LONG=nightly or -update, and MMA-Sim: .ci/nightly peers")
	}
	b := &peerBench{t: t, python: python, runs: 1, each: time.Millisecond, times: filepath.Join(t.TempDir(), "times"), targets: map[string]devices.Target{}}
	if *update {
		b.runs, b.each = 5, 30*time.Millisecond
	}
	all := []*peered{{Machine: measure.Here()}}
	for _, op := range peerOperations() {
		p := b.compare(op)
		all = append(all, p)
		detail(t, []string{p.Operation, p.Lacks, fmt.Sprint(p.Differ), p.Witness})
	}
	about := b.target("hopper").Environment()
	all[0].Peer = map[string]string{"mmasim": about["mmasim"], "torch": about["torch"]}
	file := filepath.Join(*tables, peersFile)
	if *update {
		var text bytes.Buffer
		for _, p := range all {
			if err := json.NewEncoder(&text).Encode(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := corpus.ReplaceFile(file, text.Bytes()); err != nil {
			t.Fatal(err)
		}
		return
	}
	was, err := lines[peered](file)
	if err != nil {
		t.Fatal(err)
	}
	for n, p := range all {
		if n >= len(was) || p.Instruction != was[n].Instruction || (p.Lacks == "") != (was[n].Lacks == "") || p.Differ > 0 && was[n].Differ == 0 {
			t.Errorf("%s/%s: lacks %q, differs on %d of %d, first on %s: not as in %s", p.Arch, p.Instruction, p.Lacks, p.Differ, p.Dots, p.Witness, file)
		}
	}
}

// peerBench compares instructions with MMA-Sim's.
type peerBench struct {
	t       *testing.T
	python  string
	runs    int
	each    time.Duration
	times   string // file of the times of the last requests
	targets map[string]devices.Target
}

// target returns MMA-Sim's instructions of an architecture.
func (b *peerBench) target(arch string) devices.Target {
	b.t.Helper()
	if b.targets[arch] == nil {
		child := filepath.Join(root, "devices", "exec", "children", "mmasim_dpa.py")
		t, err := devices.Open(fmt.Sprintf("exec:%s %s %s --times %s --runs %d --seconds %g", b.python, child, arch, b.times, b.runs, b.each.Seconds()))
		if err != nil {
			if strings.Contains(err.Error(), "is not installed") {
				b.t.Skip(err)
			}
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { t.Close() })
		b.targets[arch] = t
	}
	return b.targets[arch]
}

// compare compares an instruction.
func (b *peerBench) compare(op measure.Operation) *peered {
	b.t.Helper()
	c := &peered{Operation: op.Name, Arch: op.Arch, Instruction: op.Inst}
	i, err := mma.Lookup(op.Arch, op.Inst)
	if err != nil {
		b.t.Fatal(err)
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		b.t.Fatal(err)
	}
	target := b.target(op.Arch)
	able := target.Instructions()
	at := slices.IndexFunc(able, func(p mma.Instruction) bool { return strings.HasSuffix(p.Name, op.Inst) })
	if at < 0 {
		c.Lacks = "MMA-Sim has no such instruction"
		return c
	}
	u, err := target.Open(&able[at])
	if err != nil {
		b.t.Fatal(err)
	}
	s := mma.Shape{M: i.M.Min, N: i.N.Min, K: i.K}
	s.Tiles = max(2, 4096/(s.M*s.N))
	c.Tiles = s.Tiles
	for _, inputs := range []measure.Inputs{measure.Raw, measure.Finite} {
		in := measure.Batch(i, s, 1, inputs)
		if err := os.WriteFile(b.times, nil, 0o666); err != nil {
			b.t.Fatal(err)
		}
		b.check(c, string(inputs), i, m, u, in)
		b.speeds(c, i, m, in, inputs)
	}
	for _, g := range gen.All() {
		in := mma.NewBatch(i.Formats, mma.Shape{M: g.M, N: g.N, K: i.K, Tiles: max(1, 2048/(g.M*g.N))})
		src := g.Aimed(gen.Spec{Formats: i.Formats, K: i.K}, &i.Params)
		src.Fill(in, 1, 0)
		b.check(c, g.Name, i, m, u, in)
	}
	return c
}

// check counts the results that differ.
func (b *peerBench) check(c *peered, source string, i *mma.Instruction, m *sim.Model, u devices.Unit, in *mma.Batch) {
	b.t.Helper()
	w := i.D.Width()
	own, got := make([]byte, in.Dots()*w), make([]byte, in.Dots()*w)
	m.Run(in, own)
	if err := u.Run(b.t.Context(), in, got); err != nil {
		b.t.Fatalf("%s: %v", c.Instruction, err)
	}
	policy := oracle.DefaultPolicy(i.Unknown, i.Unknown)
	d := mma.NewDot(i.Formats, in.K)
	for n := range in.Dots() {
		x, y := mma.Load(own, w, n), mma.Load(got, w, n)
		c.Dots++
		switch {
		case x == y:
		case oracle.Compare(i.D, policy, x, y) == oracle.Same:
			c.Unknown++
		default:
			if c.Differ++; c.Witness == "" {
				in.Get(n, d)
				c.Witness = fmt.Sprintf("%s %d: %s: %s, MMA-Sim %s", source, n, mma.FormatDot(i.Formats, d), mma.FormatCode(i.D, x), mma.FormatCode(i.D, y))
			}
		}
	}
}

// speeds compares the times of the last batch, which the child has written, with the
// model's, if their ratio is the smallest so far.
func (b *peerBench) speeds(c *peered, i *mma.Instruction, m *sim.Model, in *mma.Batch, inputs measure.Inputs) {
	b.t.Helper()
	took, err := lines[struct {
		Batched, Single measure.Series
		Equal           bool
	}](b.times)
	if err == nil && (len(took) != 1 || !took[0].Equal) {
		err = errors.New("one request was to be one call of MMA-Sim, and to compute one tile as many")
	}
	if err != nil {
		b.t.Fatalf("%s: %v", c.Instruction, err)
	}
	one := measure.Batch(i, mma.Shape{M: in.M, N: in.N, K: in.K, Tiles: 1}, 1, inputs)
	for _, s := range []struct {
		best **peerSpeed
		in   *mma.Batch
		took measure.Series
	}{{&c.Single, one, took[0].Single}, {&c.Batched, in, took[0].Batched}} {
		r := b.ratio(m, s.in, s.took, inputs)
		if *s.best == nil || r.Ratio < (*s.best).Ratio {
			*s.best = r
		}
	}
}

// ratio times the model on a batch; seconds are MMA-Sim's times for it.
func (b *peerBench) ratio(m *sim.Model, in *mma.Batch, seconds measure.Series, inputs measure.Inputs) *peerSpeed {
	defer measure.Lock()()
	out := make([]byte, in.Dots()*in.D.Width())
	own, _ := measure.Timing{Clock: measure.Thread, Runs: b.runs, Each: b.each}.Of(func() error { m.Run(in, out); return nil }) // the function returns none
	tiles := float64(in.Tiles)
	peer := seconds.Scaled(1e9 / tiles)
	own = own.Scaled(1 / tiles)
	return &peerSpeed{peer.Median() / own.Median(), peer.Median(), own.Median(), peer.Spread(), own.Spread(), inputs}
}
