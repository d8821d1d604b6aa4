package checklist

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestQuestions compares the tables with the simulators of their architectures: every
// question is about some instruction, and every code is what the model gives, if there
// is one.
func TestQuestions(t *testing.T) {
	for _, table := range questionTables {
		for _, q := range table.questions {
			asked, refused := 0, 0
			for _, i := range mma.Of(table.arch) {
				d, err := q.dot(&i)
				if err != nil {
					t.Errorf("%s of %s: %v", q.id, i.Name, err)
				}
				if d != nil && i.Refuse != "" {
					refused++
				}
				if d == nil || i.Refuse != "" || table.arch != "volta" && other(i.Name) {
					continue
				}
				u, err := simulated.Open(&i)
				if err != nil {
					t.Fatal(err)
				}
				got, err := results(t.Context(), u, []*mma.Dot{d})
				if err != nil {
					t.Fatal(err)
				}
				if asked++; got[0] != q.want {
					t.Errorf("%s of %s, %s: %s, want %s", q.id, i.FullName(), q.about, got[0], q.want)
				}
			}
			if asked == 0 && refused == 0 {
				t.Errorf("%s %s: nobody is asked", q.id, q.about)
			}
		}
	}
}

// other reports whether an instruction is none that the table's codes are for: it is
// asked anyway, and compared with its own model.
func other(name string) bool {
	for _, part := range []string{"m8n8k4.f16.", "m8n8k4.f32.f16.", ".rz", ".rm", ".rp"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
