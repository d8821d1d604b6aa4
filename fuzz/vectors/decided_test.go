package vectors

import (
	"cmp"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/prove"
	"github.com/mmafuzz/mmafuzz/triage/prove/decided"
)

var (
	update       = flag.Bool("update", false, "ask the questions that decided.tsv lacks")
	instructions = flag.String("instructions", "", "with -update: about these, ARCH/NAME with commas between them; empty: all that get a set")
	proofTime    = flag.Duration("prooftime", 20*time.Second, "with -update: how long to try for each answer")
)

const decidedFile = "../../triage/prove/decided/decided.tsv"

// TestMain lets the test be the solver that is built in, which is a child process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == prove.BuiltinCommand {
		if err := prove.Builtin(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// TestDecided checks the answers: an input shows a difference, to both interpreters, and some
// programs are proved again to be the same. With -update it first asks what is missing.
func TestDecided(t *testing.T) {
	rows := decided.Rows()
	if *update {
		rows = asked(t, rows)
	}
	outdated, tried := 0, 0
	for n, r := range rows {
		i, q := question(t, r)
		if i == nil || decided.Key(i.Formats, i.K, &i.Params, &q) != r.Key {
			outdated++
			continue
		}
		switch r.Verdict {
		case decided.Differs:
			d, err := mma.ParseDot(i.Formats, i.K, false, strings.Fields(r.Input))
			if err != nil {
				t.Errorf("%s: %v", r.Key, err)
			} else if oracle.Eval(&i.Params, i.Formats, i.K, d) == oracle.Eval(&q, i.Formats, i.K, d) {
				t.Errorf("%s: %s %s: %s shows no difference", r.Key, r.Instruction, r.Change, r.Input)
			}
		case decided.Same:
			if n%tier.Of(1000, 200, 20) != 0 {
				continue
			}
			tried++
			if got := answer(t, i, &q, time.Minute); got.Verdict == decided.Differs {
				t.Errorf("%s: %s %s is refuted: %s", r.Key, r.Instruction, r.Change, got.Input)
			}
		case decided.Open, decided.Argued:
		default:
			t.Errorf("%s: verdict %q", r.Key, r.Verdict)
		}
	}
	t.Logf("%d rows, %d outdated, %d proved again", len(rows), outdated, tried)
}

// TestDigest checks that the digest of a set is that of what it is chosen from, and not of what the
// search adds: else no directory would keep its sets.
func TestDigest(t *testing.T) {
	i, err := mma.Lookup("volta", "mma.m8n8k4.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	c, err := newChooser(i, mma.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	c.goals = append(c.goals, &goal{text: "found", other: &vectors.Other{Kind: vectors.KindValue, Name: "l"}})
	if want, err := digestOf(i); c.digest() != want || err != nil {
		t.Errorf("%s, and %s before the search: %v", c.digest(), want, err)
	}
}

// question returns the instruction and the program of a row; nil if there is none any more.
func question(t *testing.T, r decided.Row) (*mma.Instruction, mma.Params) {
	t.Helper()
	arch, name, _ := strings.Cut(r.Instruction, "/")
	i, err := mma.Lookup(arch, name)
	if err != nil {
		return nil, mma.Params{}
	}
	q := i.Params
	for _, word := range strings.Fields(r.Change) {
		path, to, _ := strings.Cut(word, "=")
		if err := q.Apply([]mma.Change{{Path: path, To: to}}); err != nil {
			return nil, q
		}
	}
	return i, q
}

// changeText writes the parameters of q that differ from those of p as a row does.
func changeText(p, q *mma.Params) string {
	var words []string
	for _, c := range mma.Diff(p, q) {
		words = append(words, c.Path+"="+c.To)
	}
	return strings.Join(words, " ")
}

// writeRows writes the table, under the title that it has.
func writeRows(t *testing.T, rows []decided.Row) {
	t.Helper()
	old, err := os.ReadFile(decidedFile)
	if err != nil {
		t.Fatal(err)
	}
	title, _, _ := strings.Cut(string(old), "\n# key")
	b := []byte(title + "\n# key\tinstruction\tchange\tverdict\tinput\n")
	for _, r := range rows {
		b = append(b, strings.Join([]string{r.Key, r.Instruction, r.Change, r.Verdict, r.Input}, "\t")+"\n"...)
	}
	if err := os.WriteFile(decidedFile, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// answer asks a solver.
func answer(t *testing.T, i *mma.Instruction, q *mma.Params, limit time.Duration) decided.Answer {
	t.Helper()
	solver, _, err := prove.SolverWords(prove.DefaultSolver)
	if err != nil {
		t.Fatal(err)
	}
	r, err := prove.Programs(t.Context(), i.Formats, i.K, i.Params, *q, prove.Options{Solver: solver, Time: limit, Searched: true})
	if err != nil {
		t.Fatalf("%s %s: %v", i.FullName(), changeText(&i.Params, q), err)
	}
	switch r.Verdict {
	case prove.Proved:
		return decided.Answer{Verdict: decided.Same}
	case prove.Refuted:
		return decided.Answer{Verdict: decided.Differs, Input: mma.FormatDot(i.Formats, r.Witness.Dot)}
	}
	return decided.Answer{Verdict: decided.Open}
}

// asked returns rows and the answers that they lack, about the values that pass all tests. What
// an input shows of one value it may show of others, which are not asked about then.
func asked(t *testing.T, rows []decided.Row) []decided.Row {
	t.Helper()
	for _, i := range Instructions() {
		if *instructions != "" && !slices.Contains(strings.Split(*instructions, ","), i.FullName()) {
			continue
		}
		c, err := newChooser(&i, mma.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.search(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, all, err := c.vary(t.Context(), c.cover())
		if err != nil {
			t.Fatal(err)
		}
		ask := func(q *mma.Params) decided.Answer {
			a := answer(t, &i, q, *proofTime)
			row := decided.Row{Key: decided.Key(i.Formats, i.K, &i.Params, q), Instruction: i.FullName(), Change: changeText(&i.Params, q), Answer: a}
			rows = append(slices.DeleteFunc(rows, func(r decided.Row) bool { return r.Key == row.Key }), row)
			t.Log(row)
			return a
		}
		hard := map[string]int{} // open answers by parameter: the next values are as hard
		for _, v := range all {
			if a, _ := decided.Of(i.Formats, i.K, &i.Params, &v.params); v.state != open || a.Equal() || hard[v.path] >= 2 {
				continue
			}
			switch a := ask(&v.params); a.Verdict {
			case decided.Open:
				hard[v.path]++
			case decided.Differs:
				d, err := mma.ParseDot(i.Formats, i.K, false, strings.Fields(a.Input))
				if err != nil {
					t.Fatal(err)
				}
				c.kill(all, c.answeredDot(d))
			}
		}
		slices.SortStableFunc(rows, func(a, b decided.Row) int { return cmp.Compare(a.Instruction, b.Instruction) })
		writeRows(t, rows)
	}
	return rows
}
