package compare

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// aDifference is one of two machines, with its id.
func aDifference() Difference {
	d := Difference{A: "a100", B: "h100", Instruction: "x ~ y", InstructionA: "x", InstructionB: "y", Bucket: "fusion-width+truncation-width:inf",
		Changes: []mma.Change{{Path: "l", From: "8", To: "16"}, {Path: "join.align.f", From: "24", To: "25"}}, Digest: "00000000000000aa"}
	d.identify()
	return d
}

// TestIdentity checks what a difference's id depends on, and that it is the same in
// every version.
func TestIdentity(t *testing.T) {
	d := aDifference()
	if d.ID != "c2f2605d" {
		t.Errorf("the id has become %s: baselines and lists of known differences name other ones", d.ID)
	}
	for name, change := range map[string]func(d *Difference){
		"machine":     func(d *Difference) { d.A = "a30" },
		"instruction": func(d *Difference) { d.Instruction = "x" },
		"bucket":      func(d *Difference) { d.Bucket = "fusion-width" },
		"changes":     func(d *Difference) { d.Changes = d.Changes[:1] },
		"value": func(d *Difference) {
			d.Changes = []mma.Change{d.Changes[0], {Path: "join.align.f", From: "24", To: "26"}}
		},
	} {
		o := aDifference()
		change(&o)
		if o.identify(); o.ID == d.ID {
			t.Errorf("another %s has the same id", name)
		}
	}
	same := aDifference()
	same.Cases, same.Digest, same.MaxUlp, same.Bundle = 7, "x", 2, "y"
	if same.identify(); same.ID != d.ID {
		t.Error("the number of cases changes the id of an explained difference")
	}
	x, y := aDifference(), aDifference()
	x.Changes, y.Changes, y.Digest = nil, nil, "00000000000000ab"
	x.identify()
	if y.identify(); x.ID == y.ID {
		t.Error("other cases of an unexplained difference have the same id")
	}
	x.Bucket, y.Bucket, x.What, y.What = "defect", "defect", "exec:u: b is a", "exec:u: b is a"
	x.identify()
	if y.identify(); x.ID != y.ID {
		t.Error("other cases of one defect have another id")
	}
	y.What = "exec:u: a is b"
	if y.identify(); x.ID == y.ID {
		t.Error("another defect has the same id")
	}
}

// TestStates judges a difference by a baseline and a list of known ones.
func TestStates(t *testing.T) {
	const day = "2026-06-30"
	entry := func(id, expires string) corpus.KnownEntry {
		return corpus.KnownEntry{ID: id, Reason: "x", Expires: expires, Bucket: "fusion-width*"}
	}
	valid, expired, other := entry("valid", "2026-06-30"), entry("expired", "2026-06-29"), corpus.KnownEntry{ID: "other", Bucket: "x"}
	for _, tc := range []struct {
		name  string
		last  string // state in the baseline; "": none
		list  []corpus.KnownEntry
		state string
		known string
		exit  int
		hits  []int
	}{
		{"alone", "", nil, StateNew, "", 1, nil},
		{"new last night", StateNew, nil, StateStill, "", 0, nil},
		{"still there last night", StateStill, nil, StateStill, "", 0, nil},
		{"expired last night", StateExpired, nil, StateStill, "", 0, nil},
		{"known last night, not now", StateKnown, nil, StateNew, "", 1, nil},
		{"known", "", []corpus.KnownEntry{other, valid}, StateKnown, "valid", 0, []int{0, 1}},
		{"known and of last night", StateNew, []corpus.KnownEntry{valid}, StateKnown, "valid", 0, []int{1}},
		{"expired", "", []corpus.KnownEntry{expired}, StateExpired, "expired", 1, []int{1}},
		{"expired, of last night", StateStill, []corpus.KnownEntry{expired}, StateExpired, "expired", 1, []int{1}},
		{"expired and valid", "", []corpus.KnownEntry{expired, valid}, StateKnown, "valid", 0, []int{1, 1}},
		{"valid and expired", "", []corpus.KnownEntry{valid, expired}, StateKnown, "valid", 0, []int{1, 1}},
		{"of others", "", []corpus.KnownEntry{other}, StateNew, "", 1, []int{0}},
	} {
		c := &Comparison{}
		c.Known.Day, _ = time.Parse(time.DateOnly, day)
		c.result.Differences = []Difference{aDifference()}
		if tc.list != nil {
			c.Known.List = &corpus.Known{Entries: tc.list}
		}
		if tc.last != "" {
			before := Result{Differences: []Difference{aDifference()}}
			before.Differences[0].State = tc.last
			c.Baseline = reread(t, &before)
		}
		c.judge()
		d := c.result.Differences[0]
		var hits []int
		for _, u := range c.result.Known {
			hits = append(hits, u.Hits)
		}
		if d.State != tc.state || d.Known != tc.known || c.result.Exit != tc.exit || cmp.Diff(tc.hits, hits) != "" {
			t.Errorf("%s: %s by %q, exit %d, hits %v", tc.name, d.State, d.Known, c.result.Exit, hits)
		}
	}
}

// TestKinds has a list that covers some kinds of a difference's cases: it is known when
// all are covered, by one entry or by several.
func TestKinds(t *testing.T) {
	width := mma.Change{Path: "join.align.f", From: "24", To: "25"}
	steps := mma.Change{Path: "l", From: "8", To: "16"}
	parts := []part{{label: "truncation-width", changes: []mma.Change{width}}, {label: "fusion-width", changes: []mma.Change{steps}}}
	p := &pair{a: &Side{Name: "a100"}, b: &Side{Name: "h100"}}
	p.A, p.B = aUnit{"x"}, aUnit{"x"}
	bucket := &fuzz.Bucket{Name: "truncation-width", Cases: 9, Details: []fuzz.Detail{
		{Name: "truncation-width", Cases: 5}, {Name: "truncation-width+fusion-width:inf", Class: oracle.Inf, Cases: 3}}}
	rest := *bucket
	rest.More = 1
	by := func(bucket string, changes ...string) corpus.KnownEntry {
		return corpus.KnownEntry{ID: "k", Reason: "x", Bucket: bucket, Changes: changes}
	}
	const f, l = "join.align.f 24→25", "l 8→16"
	for _, tc := range []struct {
		name   string
		bucket *fuzz.Bucket
		list   []corpus.KnownEntry
		state  string
		beyond []string
	}{
		{"the primary cause", bucket, []corpus.KnownEntry{by("truncation-width")}, StateKnown, nil},
		{"one kind of an earlier list", bucket, []corpus.KnownEntry{by("truncation-width+fusion-width:inf")}, StateNew, []string{"truncation-width"}},
		{"the changes of one kind", bucket, []corpus.KnownEntry{by("", f)}, StateNew, []string{"truncation-width+fusion-width:inf"}},
		{"the changes of all", bucket, []corpus.KnownEntry{by("", f, l)}, StateKnown, nil},
		{"each by its entry", bucket, []corpus.KnownEntry{by("", f), by("*:inf")}, StateKnown, nil},
		{"and not the rest", &rest, []corpus.KnownEntry{by("", f), by("*:inf")}, StateNew, []string{"truncation-width+fusion-width"}},
		{"with the rest", &rest, []corpus.KnownEntry{by("", f, l)}, StateKnown, nil},
		{"nothing", bucket, []corpus.KnownEntry{by("other")}, StateNew, nil},
	} {
		c := listed(&corpus.Known{Entries: tc.list})
		d := newDifference(p, tc.bucket, parts, "")
		if state, _, _ := c.Known.stateOf(&d, c.unlisted(&d)); state != tc.state {
			t.Errorf("%s: %s, want %s", tc.name, state, tc.state)
		}
		ds := []Difference{d}
		c.Known.SetStates(ds, func(*Difference) string { return StateNew })
		if diff := cmp.Diff(tc.beyond, ds[0].Beyond); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
		if len(d.Changes) != 1 || d.Changes[0] != width {
			t.Errorf("changes %v", d.Changes)
		}
	}
}

// listed is a comparison with a list of known differences.
func listed(list *corpus.Known) *Comparison {
	return &Comparison{Options: Options{Known: Known{List: list}}}
}

// aUnit is an instruction that computes nothing.
type aUnit struct{ name string }

func (u aUnit) Instruction() *mma.Instruction                 { return &mma.Instruction{Name: u.name} }
func (u aUnit) Model() *mma.Params                            { return nil }
func (u aUnit) Run(context.Context, *mma.Batch, []byte) error { return nil }

// reread writes a Result and reads it as a baseline.
func reread(t *testing.T, r *Result) *Result {
	t.Helper()
	r.V = resultVersion
	r.fill()
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	c, err := parse(body)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReadTwice reads a result with a key twice, or in capitals.
func TestReadTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"v":1,"cells":[],"differences":[],"differences":[]}`: `this is no result of compare: "differences" is there twice`,
		`{"v":1,"cells":[],"Differences":[]}`:                  `this is no result of compare: "Differences" is written "differences"`,
	} {
		if _, err := parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestAway takes a machine away for two nights: its difference is neither gone nor
// new when it comes back.
func TestAway(t *testing.T) {
	var last *Result
	for night, tc := range []struct {
		there bool
		state string
		gone  []bool // compared
	}{
		{true, StateNew, nil}, {false, "", []bool{false}}, {false, "", []bool{false}}, {true, StateStill, nil}, {true, StateStill, nil},
	} {
		c := &Comparison{Options: Options{Baseline: last}}
		if tc.there {
			c.result.Differences = []Difference{aDifference()}
		}
		c.judge()
		var gone []bool
		for _, g := range c.result.Gone {
			gone = append(gone, g.Compared)
		}
		if tc.there && c.result.Differences[0].State != tc.state || cmp.Diff(tc.gone, gone) != "" || c.result.Counts.Gone != 0 {
			t.Errorf("night %d: %+v", night, c.result)
		}
		last = reread(t, &c.result)
	}
	// Compared, and equal: gone, and new if it comes back.
	c := &Comparison{Options: Options{Baseline: last}}
	c.result.Cells = []Cell{{A: "a100", B: "h100", Instruction: "x ~ y"}}
	c.judge()
	if len(c.result.Gone) != 1 || !c.result.Gone[0].Compared || c.result.Counts.Gone != 1 {
		t.Errorf("%+v", c.result)
	}
	c = &Comparison{Options: Options{Baseline: reread(t, &c.result)}}
	c.result.Differences = []Difference{aDifference()}
	if c.judge(); c.result.Counts.New != 1 {
		t.Errorf("%+v", c.result)
	}
}

// TestWriteKnown makes a list of known differences: with it nothing is new.
func TestWriteKnown(t *testing.T) {
	plain, odd, alone := aDifference(), aDifference(), Difference{A: "h100", Instruction: "z", Bucket: notRecorded}
	odd.Bucket, odd.Changes = "unexplained", nil
	odd.identify()
	alone.identify()
	c := listed(&corpus.Known{Entries: []corpus.KnownEntry{{ID: "known-" + plain.ID, Reason: "x", Bucket: "none"}}})
	c.result.Differences = []Difference{plain, odd, alone}
	c.judge()
	list := c.Known.accept(c.result.Differences, "by design", c.Known.List)
	body, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if list, err = corpus.ReadKnown(strings.NewReader(string(body))); err != nil || len(list.Entries) != 4 {
		t.Fatalf("%v: %s", err, body)
	}
	again := listed(list)
	again.result.Differences = []Difference{plain, odd, alone}
	if again.judge(); again.result.Counts.Known != 3 || again.result.Exit != exitNoNews {
		t.Errorf("%+v", again.result)
	}
	for i, state := range []string{StateStill, StateExpired, StateNew} { // what is still there is not added
		again.result.Differences[i].State = state
	}
	if list := c.Known.accept(again.result.Differences, "x", nil); len(list.Entries) != 2 {
		t.Errorf("%+v", list)
	}
	for _, change := range []func(){func() { plain.Changes[1].To = "26" }, func() { odd.Digest = "x" }, func() { alone.Instruction = "w" }} {
		change()
		for _, d := range []*Difference{&plain, &odd, &alone} {
			d.identify()
		}
	}
	third := listed(list)
	third.result.Differences = []Difference{plain, odd, alone}
	if third.judge(); third.result.Counts.New != 3 {
		t.Errorf("%+v", third.result)
	}
}

// TestKnownRule: an entry is for the rule of a defect, in whatever order the machines are named, and one
// that names none is for no defect.
func TestKnownRule(t *testing.T) {
	for _, bucket := range []string{"defect", "layout", "schedule"} {
		testKnownRule(t, bucket)
	}
}

func testKnownRule(t *testing.T, bucket string) {
	defect := func(rule string) *Comparison {
		d := Difference{A: "exec:u", B: "model:m", Instruction: "x", Bucket: bucket, Details: []Kind{{Name: bucket}, {Name: bucket + ":nan"}}, What: "exec:u: " + rule, State: StateNew}
		d.identify()
		c := &Comparison{}
		c.result.Differences = []Difference{d}
		return c
	}
	made := defect("b is a")
	list := made.Known.accept(made.result.Differences, "x", nil)
	earlier := &corpus.Known{Entries: []corpus.KnownEntry{{ID: "k", Reason: "x", Bucket: bucket, Difference: "8c9d0e5f"}}}
	for _, tc := range []struct {
		rule  string
		list  *corpus.Known
		turn  bool
		state string
		what  bool
	}{
		{"b is a", list, false, StateKnown, false},
		{"b is a", list, true, StateKnown, false},
		{"a is b", list, false, StateNew, false},
		{"b is a", earlier, false, StateNew, true},
	} {
		c := defect(tc.rule)
		c.Known.List = tc.list
		if d := &c.result.Differences[0]; tc.turn {
			d.A, d.B = d.B, d.A
			d.identify()
		}
		c.judge()
		if d, u := c.result.Differences[0], c.result.Known[0]; d.State != tc.state || (u.What != "") != tc.what {
			t.Errorf("%s %q: %s, entry %+v", bucket, tc.rule, d.State, u)
		}
	}
}

// FuzzBaseline reads anything as a baseline: what is read judges without a panic, and
// is read again as the same.
func FuzzBaseline(f *testing.F) {
	r := Result{V: resultVersion, Differences: []Difference{aDifference()}, Gone: []Gone{{ID: "x", State: StateNew}}}
	r.fill()
	body, err := json.Marshal(&r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add([]byte(`{"v":1,"cells":[]}`))
	f.Add([]byte(`{"v":1,"cells":[],"Cells":[],"cells":[]}`))
	f.Add([]byte(`{"v":1,"cells":null,"models":[{"machine":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		last, err := parse(data)
		if err != nil {
			return
		}
		c := &Comparison{Options: Options{Baseline: last}}
		c.result.Differences = []Difference{aDifference()}
		c.result.Models = []Model{{Machine: "x"}}
		c.judge()
		c.Known.accept(c.result.Differences, "x", nil)
		again := reread(t, last)
		x, _ := json.Marshal(last)
		y, _ := json.Marshal(again)
		if string(x) != string(y) {
			t.Errorf("%s\nis read again as\n%s", x, y)
		}
	})
}

// TestKey: a comparison is resumed with the same baseline only, the states of its
// differences included.
func TestKey(t *testing.T) {
	key := func(open map[string]bool) string {
		return (&Comparison{Options: Options{Baseline: &Result{open: open}}}).key()
	}
	if known, still := key(map[string]bool{"12345678": false}), key(map[string]bool{"12345678": true}); known == still {
		t.Error("a difference that the baseline knew and one that is still there give the same key")
	}
	if one, again := key(map[string]bool{"a": true, "b": false}), key(map[string]bool{"b": false, "a": true}); one != again {
		t.Errorf("keys of the same baseline are %s and %s", one, again)
	}
}

// TestChanged holds that an instruction has changed if it computes something else, not if the same is
// said in other words.
func TestChanged(t *testing.T) {
	const name = "mma.m16n8k16.f32.f16.f16.f32"
	model := func(base string, changes ...mma.Change) Model {
		return Model{Machine: "a100", Instruction: name, Arithmetic: Arithmetic{Base: base + "/" + name, Explained: true, Changes: changes}}
	}
	step, wide := mma.Change{Path: "l", From: "8", To: "16"}, mma.Change{Path: "join.align.f", From: "24", To: "25"}
	for _, tc := range []struct {
		name     string
		was, now Model
		changed  int
	}{
		{"of another row", model("ampere"), model("ada"), 0},
		{"changes of another row", model("hopper"), model("ampere", step, wide), 0},
		{"another function", model("ampere"), model("ampere", wide), 1},
		{"unexplained", model("ampere"), Model{Machine: "a100", Instruction: name, Arithmetic: Arithmetic{Base: "ada/" + name}}, 1},
	} {
		c := &Comparison{Options: Options{Baseline: reread(t, &Result{Models: []Model{tc.was}})}}
		c.result.Models = []Model{tc.now}
		if c.judge(); len(c.result.Changed) != tc.changed {
			t.Errorf("%s: %+v", tc.name, c.result.Changed)
		}
	}
}

// TestInstead holds that a difference names what may be behind it as well.
func TestInstead(t *testing.T) {
	p := &pair{a: &Side{Name: "a100"}, b: &Side{Name: "h100"}}
	p.A, p.B = aUnit{"x"}, aUnit{"x"}
	parts := []part{{"input-ftz", []mma.Change{{Path: "in.c", From: "keep", To: "zero"}}, [][]mma.Change{{{Path: "acc.flush", From: "keep", To: "before"}}}}, {label: "overflow"}}
	d := newDifference(p, &fuzz.Bucket{Name: "input-ftz", Cases: 9}, parts, "")
	if want := "input-ftz: subnormal c keep→zero (or, which no input tells apart: flush to zero of the result keep→before)"; !strings.HasSuffix(d.text(), want) {
		t.Errorf("%s, want %s", d.text(), want)
	}
	if d = newDifference(p, &fuzz.Bucket{Name: "overflow", Cases: 9}, parts, ""); d.Equivalent != nil {
		t.Errorf("another cause: %v", d.Equivalent)
	}
}
