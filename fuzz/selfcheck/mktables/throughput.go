package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// throughput has a row for each benchmark that counts dot products: the median
// over its runs, and how much of the time was spent outside the target. The data
// are what go test -bench prints of several packages.
func throughput(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var cpu, pkg string
	var names []string
	runs := map[string][]measured{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if s, ok := strings.CutPrefix(line, "cpu: "); ok {
			cpu = s
		}
		if s, ok := strings.CutPrefix(line, "pkg: github.com/mmafuzz/mmafuzz/"); ok {
			pkg = s
		}
		m, ok := measurement(line)
		if !ok || m.dots == 0 {
			continue
		}
		name := code(pkg) + "|" + code(m.name)
		if runs[name] == nil {
			names = append(names, name)
		}
		runs[name] = append(runs[name], m)
	}
	var body [][]string
	for _, n := range names {
		r := runs[n]
		slices.SortFunc(r, func(a, b measured) int { return int(a.dots - b.dots) })
		m := r[len(r)/2]
		where, what, _ := strings.Cut(n, "|")
		outside := ""
		if m.outside > 0 {
			outside = fmt.Sprintf("%.0f %%", m.outside)
		}
		body = append(body, []string{where, what, rate(m.dots), outside})
	}
	return "On two cores of " + cpu + ":\n\n" + markdown("llr", []string{"package", "benchmark", "dots/s", "outside the target"}, body), nil
}

// rate writes a rate with three digits.
func rate(v float64) string {
	for _, unit := range []string{"", "k", "M"} {
		if v < 1000 {
			return fmt.Sprintf("%.3g %s", v, unit)
		}
		v /= 1000
	}
	return fmt.Sprintf("%.3g G", v)
}
