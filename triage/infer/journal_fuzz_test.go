package infer

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// FuzzRecord reads anything as a record of an inference's journal: what passes is read
// as the same when it is written again, and it can be taken for the answers to the
// questions that come next.
func FuzzRecord(f *testing.F) {
	u, err := devices.OpenUnit("sim:ampere", "mma.m16n8k8.f32.f16.f16.f32", "")
	if err != nil {
		f.Fatal(err)
	}
	i := u.Instruction()
	h := &header{K: i.K, Formats: i.Formats}
	m, err := sim.ForInstruction(i)
	if err != nil {
		f.Fatal(err)
	}
	src, err := gen.ParseSource("raw")
	if err != nil {
		f.Fatal(err)
	}
	dots := []*mma.Dot{mma.NewDot(i.Formats, i.K), mma.NewDot(i.Formats, i.K)}
	f.Add([]byte(`{"ask":{"queries":2,"batches":1,"sum":1,"n":2,"codes":"AAAAAAAAAAA="}}`))
	f.Add([]byte(`{"ask":{"queries":2,"batches":1,"sum":1,"n":2,"codes":"AAAAAAAAAAA=","failed":[1],"why":["x"]}}`))
	f.Add([]byte(`{"ask":{"sum":1,"n":2,"codes":"","failed":[99],"why":[]}}`))
	f.Add([]byte(`{"check":{"queries":128,"batches":1,"sum":1,"wrong":[{"output":3,"code":1}]}}`))
	f.Add([]byte(`{"check":{"sum":1,"wrong":[{"output":-3,"code":1},{"output":99999999,"code":1}]}}`))
	f.Add([]byte(`{"search":{"step":0,"draws":1,"evals":1,"leaders":[],"left":0}}`))
	if body, err := json.Marshal(record{Search: &found{Draws: 3, Leaders: []mma.Params{i.Params}}}); err == nil {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r, again record
		if json.Unmarshal(body, &r) != nil || r.check(h) != nil {
			return
		}
		once, err := json.Marshal(r)
		if err == nil {
			err = json.Unmarshal(once, &again)
		}
		if err == nil {
			err = again.check(h)
		}
		if twice, _ := json.Marshal(again); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s\nis read again as\n%s, %v", once, twice, err)
		}
		s := &asker{Evidence: evidence.New(change.SpaceOf(i), oracle.Policy{}), unit: u, log: &transcript{records: []*record{&r}}}
		switch {
		case r.Ask != nil:
			r.Ask.Sum = sumOf(s.Pack(dots, nil).Batch)
			_, _, _ = s.ask(t.Context(), dots)
		case r.Check != nil:
			b := mma.NewBatch(i.Formats, mma.Shape{M: src.Generator.M, N: src.Generator.N, K: i.K, Tiles: 1})
			src.Fill(b, 1, 0)
			r.Check.Sum = sumOf(b)
			_, _, _, _ = s.check(t.Context(), m, src, 1, 0, b.Dots())
		}
	})
}
