package main

import (
	"fmt"
	"os"
	"strings"
)

// minimizer has a row for each pair of which findings were shrunk.
func minimizer(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		c[0], c[1] = code(c[0]), code(c[1])
	}
	head := []string{"A", "B", "findings", "terms before", "after", "queries", "batches", "worst", "1-minimal"}
	return markdown("llr", head, cells), nil
}

// models has a row for each operation whose models were compared with the oracle.
func models(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		c[0] = code(c[0])
	}
	head := []string{"operation", "arithmetics", "dot products of raw bits", "of the other generators", "mismatches"}
	return markdown("lr", head, cells), nil
}

// silicon has a row for each recorded instruction of a GPU.
func silicon(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		c[1], c[2] = code("sim:"+c[1]), code(c[2])
	}
	return markdown("lllr", []string{"GPU", "model", "instruction", "recorded", "equal"}, cells), nil
}

// speed has a row for each benchmark of package sim: the medians over its runs
// on raw and on finite inputs. The data are what go test -bench prints.
func speed(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var cpu string
	var names []string
	runs := map[string][]measured{}
	for _, line := range strings.Split(string(text), "\n") {
		if s, ok := strings.CutPrefix(line, "cpu: "); ok {
			cpu = s
		}
		m, ok := measurement(line)
		if !ok || m.nsPerTile == 0 {
			continue
		}
		m.name = strings.TrimPrefix(m.name, "Tile/")
		if runs[m.name] == nil {
			names = append(names, m.name)
		}
		runs[m.name] = append(runs[m.name], m)
	}
	var body [][]string
	for _, n := range names {
		base, ok := strings.CutSuffix(n, "/raw")
		if !ok {
			continue
		}
		raw, finite := median(runs[n]), median(runs[base+"/finite"])
		body = append(body, []string{code(base), microseconds(raw), microseconds(finite), fmt.Sprintf("%.2f", raw.cycles), fmt.Sprintf("%.2f", finite.cycles)})
	}
	head := []string{"operation/format/architecture", "us/tile, raw", "finite", "cycles/product, raw", "finite"}
	return "One core of " + cpu + ":\n\n" + markdown("lr", head, body), nil
}

func microseconds(m measured) string { return fmt.Sprintf("%.1f", m.nsPerTile/1000) }
