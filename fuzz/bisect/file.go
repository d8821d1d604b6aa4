package bisect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// fileTarget makes a target of a file: a recording, a model file, the plan of a campaign, or a
// program. planned: a plan names the target. If template is more than Word, the name is
// inserted unchanged.
func fileTarget(word, template string) (target string, planned bool, err error) {
	info, err := os.Stat(word)
	if err != nil || info.IsDir() || template != Word {
		return word, false, nil
	}
	switch ext := filepath.Ext(word); {
	case ext == ".json":
		return jsonTarget(word)
	case ext == ".rec" || ext == ".gz":
		return "replay:" + word, false, nil
	case !filepath.IsAbs(word):
		return "exec:" + readable.ShellWord("./"+word), false, nil
	}
	return "exec:" + readable.ShellWord(word), false, nil
}

// jsonTarget makes a target of a model file, or of the plan of a campaign (planned), also of one
// that another version of this program has made.
func jsonTarget(file string) (target string, planned bool, err error) {
	body, err := corpus.ReadFile(file, "version", 1<<28)
	if err != nil {
		return "", false, err
	}
	var plan struct {
		Pairs   []struct{ B string }
		Entries []any
	}
	switch err := json.Unmarshal(body, &plan); {
	case err != nil || plan.Pairs == nil && plan.Entries == nil:
		return "model:" + file, false, nil // which tells what is wrong with it
	case plan.Entries != nil:
		return "", false, hint.New("mmafuzz record makes a recording with it, which is a version", "%s is a plan of recordings, which names no target", file)
	}
	for _, p := range plan.Pairs {
		if p.B != plan.Pairs[0].B {
			return "", false, hint.New("a version is one target", "%s is the plan of a campaign with several second targets, %s and %s", file, plan.Pairs[0].B, p.B)
		}
	}
	if len(plan.Pairs) == 0 || plan.Pairs[0].B == "" {
		return "", false, fmt.Errorf("%s: this is no plan of a campaign", file)
	}
	return plan.Pairs[0].B, true, nil
}
