package fleet

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// startAgain is what helps if all shards have begun, and none lacks what others have found.
const startAgain = "start its shards again, with the --out that they had"

// advice says what helps a campaign with units that are not done and that nobody works on, whose
// shards have these directories.
func (x *index) advice(dirs []string) string {
	var paths []string
	for _, dir := range dirs {
		paths = append(paths, readable.ShellPath(dir))
	}
	if behind := x.behind(dirs); len(behind) > 0 {
		all := strings.Join(paths, " ")
		var merges []string
		for _, dir := range behind {
			merges = append(merges, fmt.Sprintf("mmafuzz merge %s --out %s%s", all, readable.ShellPath(dir), x.plan.Allow()))
		}
		return fmt.Sprintf("what is left learns from units that not every directory has: %s; then %s", strings.Join(merges, "; "), startAgain)
	}
	absent, begun, of := x.left()
	if len(absent) == 0 {
		return startAgain
	}
	who, number, them, where := fmt.Sprintf("shard %d/%d has", absent[0], of), fmt.Sprint(absent[0]), "its directory, too, or start it", paths[0]
	if len(absent) > 1 {
		who, number, them = fmt.Sprintf("shards %s of %d have", Ranges(absent), of), "I", "their directories, too, or start them"
	}
	if len(dirs) > 1 {
		where = "DIR"
		if x.plan.Rounds > 1 {
			where += " --own-units"
		}
	}
	text := fmt.Sprintf("%s no result here: name %s: mmafuzz run --campaign %s --shard %s/%d --out %s%s", who, them,
		readable.ShellPath(filepath.Join(dirs[0], planFile)), number, of, where, x.plan.Allow())
	if begun {
		text += "; then " + startAgain
	}
	return text
}

// behind returns the directories whose shards cannot go on with what is left, although all that it
// learns from is there: in other directories.
func (x *index) behind(dirs []string) (behind []string) {
	round := x.complete()
	for _, dir := range dirs {
		have, waits := times{}, false
		for path, l := range x.logs {
			if filepath.Dir(path) != filepath.Join(dir, unitsDir) {
				continue
			}
			maps.Copy(have, l.done)
			waits = waits || l.of > 0 && slices.ContainsFunc(x.missing(), func(n int) bool {
				u := x.plan.Units()[n]
				return n%l.of == l.shard && u.Fed && u.Round == round
			})
		}
		lacks := slices.ContainsFunc(x.plan.Units(), func(u Unit) bool {
			_, ok := have[u.Number]
			return u.Round < round && !ok
		})
		if waits && lacks && !slices.Contains(behind, dir) {
			behind = append(behind, dir)
		}
	}
	return behind
}

// left returns which of a number of shards have units that are not done, and no log, and reports
// whether others have such units. There are none if logs tell of different numbers of shards.
func (x *index) left() (absent []int, begun bool, of int) {
	logs := map[int]bool{}
	for _, l := range x.logs {
		switch {
		case l.of == 0:
			continue
		case of > 0 && of != l.of:
			return nil, true, 0
		}
		of, logs[l.shard] = l.of, true
	}
	if of == 0 {
		return nil, true, 0
	}
	shards := map[int]bool{}
	for _, n := range x.missing() {
		shards[n%of] = true
	}
	for _, s := range slices.Sorted(maps.Keys(shards)) {
		if begun = begun || logs[s]; !logs[s] {
			absent = append(absent, s)
		}
	}
	return absent, begun, of
}
