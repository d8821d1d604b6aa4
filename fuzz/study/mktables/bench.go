package main

import (
	"regexp"
	"strconv"
	"strings"
)

// measured is a line that go test -bench prints.
type measured struct {
	name          string
	dots, outside float64 // dots/s, and the share of the time outside the target in percent
	perTile       float64 // ns/tile, and of this each stage
	stages        map[string]float64
}

var benchLine = regexp.MustCompile(`^Benchmark(\S+?)(-\d+)?\s`)

// measurement reads a line that go test -bench prints.
func measurement(line string) (m measured, ok bool) {
	head := benchLine.FindStringSubmatch(line)
	if head == nil {
		return m, false
	}
	m.name, m.stages = head[1], map[string]float64{}
	fields := strings.Fields(line)
	for i := 2; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return m, false
		}
		if name, ok := strings.CutSuffix(fields[i+1], "-ns/tile"); ok {
			m.stages[name] = v
		}
		switch fields[i+1] {
		case "ns/tile":
			m.perTile = v
		case "dots/s":
			m.dots = v
		case "outside%":
			m.outside = v
		}
	}
	return m, true
}
