package fleet

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzReadPlan reads anything as the plan of a campaign: what is taken is written again as
// the same, and its units are all of its dot products, each once.
func FuzzReadPlan(f *testing.F) {
	plan, _ := newPlan(f, 1)
	body, err := plan.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(bytes.ReplaceAll(body, []byte(`"unit": `), []byte(`"unit": 1844674407370955161`)))
	file := filepath.Join(f.TempDir(), "campaign.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		if err := os.WriteFile(file, body, 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := ReadPlan(file)
		if err != nil {
			return
		}
		if again, err := p.Encode(); err != nil || !bytes.Equal(again, body) {
			t.Fatalf("%s\nis written as\n%s: %v", body, again, err)
		}
		want, got := uint64(0), uint64(0)
		for i := range p.Pairs {
			for _, s := range p.Pairs[i].Sources {
				want += s.Dots
			}
		}
		for n, u := range p.Units() {
			got += u.Dots
			if u.Number != n || u.Dots == 0 || u.Round >= p.Rounds {
				t.Fatalf("unit %d of %+v: %+v", n, p, u)
			}
		}
		if got != want {
			t.Fatalf("%d dot products in units, want %d", got, want)
		}
	})
}
