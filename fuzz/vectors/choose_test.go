package vectors_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	choose "github.com/mmafuzz/mmafuzz/fuzz/vectors"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/prove"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

const published = "../../corpus/vectors/"

// find returns the catalogue's instruction with a name ARCH/INSTRUCTION.
func find(name string) (*mma.Instruction, error) {
	arch, inst, _ := strings.Cut(name, "/")
	return mma.Lookup(arch, inst)
}

// TestSets makes published sets again: not a byte differs. A set need not know new rows of
// the catalogue.
func TestSets(t *testing.T) {
	tier.SkipUnderRace(t)
	files, err := filepath.Glob(published + "sets/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no sets: %v", err)
	}
	for _, file := range files[len(files)-tier.Of(1, 1, min(3, len(files)), len(files)):] {
		s, err := vectors.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		i, err := find(s.Instruction)
		if err != nil {
			t.Fatal(err)
		}
		again, err := choose.Choose(t.Context(), i, mma.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		old := slices.DeleteFunc(slices.Clone(mma.Catalog()), func(o mma.Instruction) bool { return names(again, &o) && !names(s, &o) })
		if fresh := len(mma.Catalog()) - len(old); fresh > 0 {
			t.Logf("%s does not know %d new rows of the catalogue yet", file, fresh)
			if again, err = choose.Choose(t.Context(), i, old); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(s, again); d != "" {
			t.Errorf("%s is outdated: mmafuzz vectors --arch %s --inst %s --format json --out corpus/vectors/sets\n%s", file, i.Arch, i.Name, d)
		}
	}
}

// names reports whether a set names an instruction beside its own.
func names(s *vectors.Set, i *mma.Instruction) bool {
	name := i.FullName()
	return slices.Contains(s.Also, name) ||
		slices.ContainsFunc(s.Others, func(o vectors.Other) bool { return o.Kind == vectors.KindInstruction && o.Name == name })
}

// fails reports whether an arithmetic fails some test.
func fails(t *testing.T, s *vectors.Set, q *mma.Params) bool {
	t.Helper()
	cases, err := s.Cases()
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.New(s.Formats, s.K, *q)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(cases, func(c vectors.Case) bool { return !c.Right(s.Formats.D, m.Dot(c.Dot, nil)) })
}

// TestParameters checks what published sets say of other values of parameters: as many fail a
// test as they say, and those that they call open do not. No written argument holds for one that fails.
func TestParameters(t *testing.T) {
	tier.SkipUnderRace(t)
	files, err := filepath.Glob(published + "sets/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no sets: %v", err)
	}
	for _, file := range files[len(files)-tier.Of(1, 1, min(3, len(files)), len(files)):] {
		s, err := vectors.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		i, err := find(s.Instruction)
		if err != nil {
			t.Fatal(err)
		}
		space := change.Space{Formats: s.Formats, K: s.K}
		listed := map[string]bool{}
		all, silent := s.Values(), 0
		for _, row := range s.Parameters {
			listed[row.Path] = true
			values, failing := 0, 0
			for text, q := range others(t, space, &s.Params, row.Path) {
				values++
				switch {
				case !fails(t, s, &q):
				case slices.Contains(row.Open, text):
					t.Errorf("%s: %s %s is open, and fails a test", file, row.Path, text)
				default:
					if failing++; !strings.Contains(row.Path, "+") && argued.Equivalent(i, &q) != "" {
						t.Errorf("%s: %s %s fails a test, and yet %s", file, row.Path, text, argued.Text(argued.Equivalent(i, &q)))
					}
				}
			}
			silent += max(0, values-failing-row.Same-row.Undecided-len(row.Open))
			if values != row.Values || failing != row.Killed || row.Killed+row.Same+row.Undecided+len(row.Open) != values {
				t.Errorf("%s: %s has %d values, %d fail a test: the set says %+v", file, row.Path, values, failing, row)
			}
		}
		for _, f := range mma.Fields() {
			if len(others(t, space, &s.Params, f.Path)) > 0 && !listed[f.Path] {
				t.Errorf("%s: nothing is said of %s", file, f.Path)
			}
		}
		t.Logf("%s: of %d programs with other values %d fail a test, %d are proved to be the same, %d differ in what is not known, %d are named as open, %d are silent",
			s.Instruction, all.Changes, all.Killed, all.Same, all.Undecided, all.Open, silent)
	}
}

// others returns the valid programs with other values of a parameter, or of some with + between
// them, by these values.
func others(t *testing.T, space change.Space, p *mma.Params, path string) map[string]mma.Params {
	t.Helper()
	programs := map[string]mma.Params{"": *p}
	for _, path := range strings.Split(path, "+") {
		f, ok := mma.FindField(path)
		if !ok {
			t.Fatalf("no parameter %s", path)
		}
		more := map[string]mma.Params{}
		for text, p := range programs {
			for _, q := range space.Others(&p, f) {
				more[strings.TrimPrefix(text+"+"+f.Text(&q), "+")] = q
			}
		}
		programs = more
	}
	maps.DeleteFunc(programs, func(_ string, q mma.Params) bool { return !space.Valid(&q) })
	return programs
}

// handWritten are programs that somebody wrote who did not look at the changes of this project, nor at
// what the sets list, those of two parameters among them.
var handWritten = []struct{ instruction, programs string }{
	{"hopper/mma.m16n8k16.f32.f16.f16.f32", `
	join.align.bits=31 join.align.drop=25 join.cdrop=24 join.clost=-126 join.clost=-28 join.clost=-1 join.clost=1 join.clost=20
	acc.emax=20 join.post.emax=20 prod.round.emax=20 in.a.over=sat
	join.align.bits=30 join.align.bits=32 join.align.drop=26 join.align.drop=27 join.cdrop=25 join.clost=30 join.clost=31
	acc.emax=126 prod.round.emax=30 prod.round.emax=31 in.b.over=sat in.narrowc.over=sat prod.gate=skip prod.zeros=true
	join.cbeside=true join.cgrid=true join.apart=true acc.over=max acc.over=ieee in.naninf=true special.nan=of-c
	join.align.bits=31,join.align.saturate=true join.align.f=24,join.cf=25 join.cf=24,join.cmode=rne
	join.align.drop=26,join.cdrop=25 order=descending,join.align.floor=-200 join.align.sticky=last,join.align.mode=rd
	acc.emax=20,acc.over=max prod.round.emax=20,join.clost=20 join.post.frac=24,join.post.mode=rz
	join.align.f=24,join.align.mode=rne join.align.negate=frame,join.align.mode=ru l=8,join.align.f=24 order=even-odd,l=4
	in.sub=plus-zero,prod.zeros=true join.align.sticky=round,join.align.bits=40 join.align.sticky=below,acc.mode=ru
	acc.mode=rne,acc.flush=after prod.exp=normalised,join.align.f=26 prod.up=true,join.cf=24 stage0.sum=fused,stage0.group=8
	join.align.floor=-126,join.align.f=24 in.narrowc.frac=22,in.narrowc.mode=rto join.align.drop=30,join.align.bits=33
	join.clost=31,prod.round.emax=31 join.align.drop=24,join.cdrop=26 in.a.frac=9,in.a.mode=rne
	join.align.bits=34,join.align.saturate=true acc.emin=-125,acc.flush=before join.align.sticky=last,join.align.bits=33
	prod.shift=-1,acc.emax=126 in.c=zero,join.cnorm=true
	join.align.sticky=last,join.cdrop=49 join.align.sticky=last,join.cdrop=37 join.cmode=rd,join.cdrop=45
	join.align.f=26,join.align.bits=32 join.align.f=24,acc.mode=rne join.align.mode=rne,acc.mode=rne l=8,join.align.f=26
	join.align.sticky=round,acc.mode=rne l=4,order=split4 join.cnorm=true,join.align.floor=-126 in.c=zero,acc.flush=before
	stage0.sum=fused,stage0.group=8,stage0.align.f=25,stage0.align.mode=rz special.nan=quiet,special.negzero=true
	stage0.sum=pairwise,stage0.group=4,stage0.align.f=40,stage0.align.mode=rz join.align.drop=26,join.cdrop=26
	join.align.drop=27,join.cdrop=27 acc.over=max,join.post.frac=24,join.post.mode=rz join.align.negate=flip,join.align.f=26
	join.align.floor=-134,join.align.f=26 join.apart=true,join.align.f=26 join.cbeside=true,join.align.f=26
	join.clost=100,join.align.drop=30 prod.zeros=true,join.align.floor=-126 in.a.over=sat,in.b.over=sat
	acc.frac=24,out.frac=23,out.mode=rz,out.emin=-126,out.emax=127 acc.frac=25,out.frac=23,out.mode=rne,out.emin=-126,out.emax=127
	prod.round.frac=20,prod.round.mode=rne,prod.round.emin=-48,prod.round.emax=31 in.a.frac=9,in.a.mode=rz in.sub=zero,prod.zeros=true
	prod.round.frac=21,prod.round.mode=rne,prod.round.emin=-48,prod.round.emax=32,prod.exp=normalised
	join.cf=26,join.cmode=rz join.cf=26,join.cmode=rne`},
	{"volta/mma.m8n8k4.f32.f16.f16.f32", `
		join.align.f=24,join.align.bits=30 join.cf=22,join.align.f=24 acc.mode=rne,join.align.sticky=below join.cdrop=25,in.c=zero
		stage0.sum=fused,stage0.group=2,stage0.align.f=30,stage0.align.mode=rz`},
	{"cdna3/v_mfma_f32_16x16x16_f16", `
		join.post.frac=32,join.align.f=31 join.post.frac=29,join.post.mode=rto join.align.mode=rz,join.cmode=rz
		stage0.align.f=25,join.cf=23 stage0.align.mode=rd,acc.mode=rna stage0.align.sticky=last,stage0.align.f=23
		join.align.bits=34,join.align.mode=rz stage0.split=interleaved,stage0.group=4 join.align.floor=-127,join.cf=25
		join.cdrop=30,join.align.drop=34 acc.flush=after,join.post.emin=-140 join.post.frac=34,join.align.f=40
		stage0.align.bits=28,stage0.align.saturate=true stage0.align.drop=25,stage0.align.f=26
		special.tinysign=false,acc.flush=before join.cbeside=true,join.cf=32 stage0.round.frac=24,stage0.round.mode=rne
		prod.round.emax=126,join.clost=127 join.cnorm=true,join.align.floor=-149 join.cdrop=31,acc.mode=rto
		stage0.align.drop=24,stage0.align.mode=rna join.align.sticky=last,join.post.mode=rz
		stage0.align.bits=27,join.align.bits=33 stage0.align.floor=-28,stage0.align.f=25
		acc.mode=rz,join.align.f=30 join.cf=24,join.cmode=rz l=8,order=even-odd special.negzero=true,in.sub=zero
		join.align.drop=50,join.cdrop=50`},
	{"blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3", `
		join.align.f=26,join.cf=25 join.align.bits=31,join.align.drop=26 join.align.sticky=last,join.cdrop=30
		join.align.drop=27,join.cdrop=26 join.cmode=rne,join.cf=24 join.align.negate=flip,join.align.f=26
		prod.exp=normalised,join.align.f=24 join.align.floor=-149,join.cnorm=true l=16,join.align.f=26 order=even-odd,l=16
		stage0.sum=fused,stage0.group=8 stage0.sum=pairwise,stage0.group=4 join.post.frac=30,join.post.mode=rto
		acc.flush=before,acc.emin=-125
		join.cbeside=true,join.cf=30 join.clost=100,prod.zeros=true
		join.align.sticky=below,join.align.mode=ru join.cdrop=27,acc.mode=ru join.cf=26,join.cmode=rto
		join.align.drop=26,acc.over=max prod.up=true,join.align.floor=-132`},
}

// TestHandWritten checks that each of them fails a test or is proved to compute the same function.
func TestHandWritten(t *testing.T) {
	solver, _, err := prove.SolverWords(prove.DefaultSolver)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range handWritten {
		i, err := find(h.instruction)
		if err != nil {
			t.Fatal(err)
		}
		s, err := vectors.Open(published + "sets/" + h.instruction + ".json")
		if errors.Is(err, fs.ErrNotExist) && tier.Nightly() {
			s, err = choose.Choose(t.Context(), i, nil)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for n, text := range strings.Fields(h.programs) {
			if n%tier.Of(8, 4, 2, 1) != 0 {
				continue
			}
			q := i.Params
			for _, word := range strings.Split(text, ",") {
				path, to, _ := strings.Cut(word, "=")
				if err := q.Apply([]mma.Change{{Path: path, To: to}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := q.Validate(s.Formats, s.K); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if fails(t, s, &q) {
				continue
			}
			same := func(p, q mma.Params, limit time.Duration) bool {
				r, err := prove.Programs(t.Context(), s.Formats, s.K, p, q, prove.Options{Solver: solver, Time: limit})
				return err == nil && r.Verdict == prove.Proved
			}
			proved := slices.ContainsFunc(mma.Diff(&i.Params, &q), func(c mma.Change) bool { // one part after the other
				part := i.Params
				return part.Apply([]mma.Change{c}) == nil && argued.Equivalent(i, &part) != "" && same(part, q, 5*time.Second)
			})
			if !proved && !same(i.Params, q, time.Minute) {
				t.Errorf("%s: %s passes all tests, and is not proved to be the same", h.instruction, text)
			}
		}
	}
}

// TestCancelled ends a search.
func TestCancelled(t *testing.T) {
	i, err := find("volta/mma.m8n8k4.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := choose.Choose(ctx, i, mma.Catalog()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestPartialSums chooses tests for a sum of bytes: whatever adds groups of products in too few bits
// fails one, as a program whose pairs have 16 bits, like those of vpmaddubsw, and as a loop with a
// width that no program has.
func TestPartialSums(t *testing.T) {
	few := "rdna3/v_dot4_i32_iu8_s8_s8"
	i, err := find(tier.Of(few, few, "hopper/mma.m16n8k16.s32.s8.s8.s32"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := choose.Choose(t.Context(), i, nil)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := s.Cases()
	if err != nil {
		t.Fatal(err)
	}
	short := mma.Round{Frac: 15, Mode: fp.RZ, Emin: 15, Emax: 14}
	for _, over := range []mma.Over{mma.OverSat, mma.OverWrap} {
		for _, stage := range []mma.Stage{{Group: 2}, {Group: uint8(i.K) / 2, Split: mma.Interleaved}, {Group: 4}, {Group: uint8(i.K)}} {
			q := i.Params
			q.Stage0 = stage
			q.Stage0.Sum, q.Stage0.Round = mma.Fused, short
			if q.Stage0.Round.Over = over; !fails(t, s, &q) {
				t.Errorf("%+v passes", q.Stage0)
			}
		}
	}
	for size := 2; size <= i.K; size *= 2 {
		for width := 16; int64(size)<<14 >= 1<<(width-1); width++ {
			if !slices.ContainsFunc(cases, func(c vectors.Case) bool { return leaves(c.Dot, size, width) }) {
				t.Errorf("no test has %d neighbours whose sum needs more than %d bits", size, width)
			}
		}
	}
}

// leaves reports whether a group of neighbouring products of signed bytes has a sum that width bits do not hold.
func leaves(d *mma.Dot, size, width int) bool {
	for k := 0; k < len(d.A); k += size {
		sum := 0
		for j := k; j < k+size; j++ {
			sum += int(int8(d.A[j])) * int(int8(d.B[j]))
		}
		if sum < -1<<(width-1) || sum >= 1<<(width-1) {
			return true
		}
	}
	return false
}
