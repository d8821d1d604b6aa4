package schedule

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
)

//go:embed literature.json
var literature []byte

// Literature returns the schedules of the literature, each with its source. They are shared:
// do not change them.
var Literature = sync.OnceValue(func() (all []*Kernel) {
	var files []json.RawMessage
	if err := json.Unmarshal(literature, &files); err != nil {
		panic(err)
	}
	for _, text := range files {
		k, err := Read(text)
		if err != nil {
			panic(fmt.Sprintf("%v in %s", err, text))
		}
		all = append(all, k)
	}
	return all
})

// Named returns the schedule of the literature that has a name.
func Named(name string) (*Kernel, error) {
	var names []string
	for _, k := range Literature() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return nil, hint.New("give the file of a schedule as FILE.json, or one of "+strings.Join(names, ", "), "there is no schedule %q", name)
}
