package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// stages has the parts of the loop on raw bits in the order in which they run: the
// median run of BenchmarkStages.
func stages(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var cpu string
	var runs []measured
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if s, ok := strings.CutPrefix(line, "cpu: "); ok {
			cpu = s
		}
		if m, ok := measurement(line); ok && m.name == "Stages" {
			runs = append(runs, m)
		}
	}
	if len(runs) == 0 {
		return "", fmt.Errorf("there is no benchmark Stages")
	}
	slices.SortFunc(runs, func(a, b measured) int { return cmp.Compare(a.perTile, b.perTile) })
	m := runs[len(runs)/2]
	var body [][]string
	for _, name := range []string{"generate", "model-a", "model-b", "compare", "features", "rest"} {
		ns, ok := m.stages[name]
		if !ok {
			return "", fmt.Errorf("there is no stage %s", name)
		}
		body = append(body, []string{name, fmt.Sprintf("%.0f", ns), fmt.Sprintf("%.0f %%", 100*ns/m.perTile)})
	}
	body = append(body, []string{"all", fmt.Sprintf("%.0f", m.perTile), ""})
	return "On one core of " + cpu + ":\n\n" + markdown("lrr", []string{"stage", "ns/tile", "share"}, body), nil
}

// profiled is a line of go tool pprof -top: its own time, that with what it calls, and
// the function.
var profiled = regexp.MustCompile(`^\s*\S+\s+([0-9.]+%)\s+[0-9.]+%\s+\S+\s+([0-9.]+%)\s+(\S+)`)

// profile has the functions that pprof lists.
func profile(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var body [][]string
	for line := range strings.Lines(string(text)) {
		if f := profiled.FindStringSubmatch(line); f != nil {
			body = append(body, []string{code(strings.TrimPrefix(f[3], "github.com/mmafuzz/mmafuzz/")), f[1], f[2]})
		}
	}
	if len(body) == 0 {
		return "", fmt.Errorf("there are no functions")
	}
	return markdown("lrr", []string{"function", "its own", "with what it calls"}, body), nil
}
