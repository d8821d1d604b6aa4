package selfcheck

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
)

// benched is a line of mmafuzz bench --json: it describes the machine or one measurement.
type benched struct {
	Machine *measure.Machine
	Name    string
	Median  float64
	Cycles  float64 `json:"cycles_per_product"`
	Kernel  string
}

// lines reads a file of JSON objects, one a line.
func lines[T any](file string) ([]T, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []T
	for n, line := range slices.Collect(strings.Lines(string(text))) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s is empty", file)
	}
	return all, nil
}

// speed writes a row for each operation: for each path the time of the slower of the two
// kinds of inputs (raw bits, finite numbers), and the cycles per product on the last path.
func speed(file string) (string, error) {
	all, err := lines[benched](file)
	if err != nil {
		return "", err
	}
	here := all[0].Machine
	if here == nil {
		return "", fmt.Errorf("the first line does not describe the machine")
	}
	var names, paths []string
	slowest := map[string]benched{} // by operation and path
	for _, b := range all[1:] {
		words := strings.Split(b.Name, "/")
		n := len(words) - 2 // words[n] is the path, words[n+1] the inputs
		if words[0] != "models" {
			continue
		}
		if n < 2 {
			return "", fmt.Errorf("%q is not a model", b.Name)
		}
		name, path := strings.Join(words[1:n], "/"), words[n]
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
		if have := slowest[name+" "+path]; b.Median > have.Median {
			slowest[name+" "+path] = b
		}
	}
	var body [][]string
	for _, name := range names {
		row := []string{code(name)}
		for _, p := range paths {
			row = append(row, fmt.Sprintf("%.0f", slowest[name+" "+p].Median))
		}
		best := slowest[name+" "+paths[len(paths)-1]]
		body = append(body, append(row, fmt.Sprintf("%.2f", best.Cycles)))
	}
	head := append(append([]string{"operation/format/architecture"}, paths...), "cycles/product")
	return fmt.Sprintf("One core of %s, whose cycle takes %.2f ns:\n\n", here.Processor, here.CycleNs) + markdown("lr", head, body), nil
}

// loop has a row for each pair and source on which the loop of a campaign was measured, on
// one core.
func loop(file string) (string, error) {
	all, err := lines[benched](file)
	if err != nil {
		return "", err
	}
	var body [][]string
	for _, b := range all[1:] {
		words := strings.Split(b.Name, "/") // loop, A, its instruction, B, source, and how many cores
		if words[0] != "loop" {
			continue
		}
		if len(words) != 6 {
			return "", fmt.Errorf("%q is not a loop", b.Name)
		}
		if words[5] == "one" {
			body = append(body, []string{code(words[1] + "/" + words[2]), code(words[3]), code(words[4]), fmt.Sprintf("%.0f", b.Median), fmt.Sprintf("%.2f", b.Cycles)})
		}
	}
	head := []string{"A", "B", "source", "ns/tile", "cycles/product"}
	return markdown("lllr", head, body), nil
}
