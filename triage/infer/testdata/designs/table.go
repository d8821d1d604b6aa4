package main

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A table has the verdicts of units and seeds.
type table map[cell]string

type cell struct{ unit, seed string }

// readTable reads what write writes; a file that is not there is empty.
func readTable(file string) (table, error) {
	t := table{}
	body, err := os.ReadFile(file)
	if file == "" || os.IsNotExist(err) {
		return t, nil
	} else if err != nil {
		return nil, err
	}
	var seeds []string
	for n, line := range strings.Split(strings.TrimSuffix(string(body), "\n"), "\n") {
		f := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case seeds == nil:
			if len(f) < columns {
				return nil, fmt.Errorf("%s: line %d: %d columns", file, n+1, len(f))
			}
			seeds = f[columns:]
		case len(f) != columns+len(seeds):
			return nil, fmt.Errorf("%s: line %d has %d columns, not %d", file, n+1, len(f), columns+len(seeds))
		default:
			for i, seed := range seeds {
				if v := f[columns+i]; v != "" {
					t[cell{f[0], seed}] = v
				}
			}
		}
	}
	return t, nil
}

// columns is the number of columns before those of the seeds.
const columns = 5

const made = "# designs judge --seeds 1,2,3 --out triage/infer/testdata/designs/verdicts.tsv"

// seeds returns the seeds in the table.
func (t table) seeds() []string {
	all := map[string]bool{}
	for c := range t {
		all[c.seed] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// write writes a line for each unit, with the verdicts by seed. An empty name is no file.
func (t table) write(file string) error {
	if file == "" {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nunit\tk\tformats\tdefect\tdigest\t%s\n", made, strings.Join(t.seeds(), "\t"))
	for _, u := range units() {
		defect := ""
		if u.defect != "" {
			defect = "yes"
		}
		fmt.Fprintf(&b, "%s\t%d\t%s\t%s\t%s", u.name, u.k, u.signature(), defect, u.digest())
		for _, s := range t.seeds() {
			b.WriteString("\t" + t[cell{u.name, s}])
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(file+".new", []byte(b.String()), 0o666); err != nil {
		return err
	}
	return os.Rename(file+".new", filepath.Clean(file))
}

// digest returns a digest of what a unit answers: a test compares it with the table's, so
// that a unit cannot change while its verdicts stay.
func (u *unit) digest() string {
	if u.unstable {
		return "-"
	}
	if s, ok := digests[u]; ok {
		return s
	}
	hash, r, d := fnv.New32a(), rand.New(rand.NewPCG(1, 1)), newDot(u)
	for range 1000 {
		d.aimed(r)
		fmt.Fprintln(hash, d, d.result())
	}
	digests[u] = fmt.Sprintf("%08x", hash.Sum32())
	return digests[u]
}

var digests = map[*unit]string{}

// summary counts the verdicts.
func (t table) summary() string {
	count := map[string]int{}
	for _, v := range t {
		count[v]++
	}
	var s []string
	for _, v := range slices.Sorted(maps.Keys(count)) {
		s = append(s, fmt.Sprintf("%d %s", count[v], v))
	}
	return strings.Join(s, ", ")
}
