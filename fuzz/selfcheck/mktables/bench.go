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
}

var benchLine = regexp.MustCompile(`^Benchmark(\S+?)(-\d+)?\s`)

// measurement reads a line that go test -bench prints.
func measurement(line string) (m measured, ok bool) {
	head := benchLine.FindStringSubmatch(line)
	if head == nil {
		return m, false
	}
	m.name = head[1]
	fields := strings.Fields(line)
	for i := 2; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return m, false
		}
		switch fields[i+1] {
		case "dots/s":
			m.dots = v
		case "outside%":
			m.outside = v
		}
	}
	return m, true
}
