package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// soak has a row for every tenth look at the memory, and for the last.
func soak(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	var body [][]string
	for i := 0; i < len(lines); i++ {
		if i%10 != 0 && i != len(lines)-1 {
			continue
		}
		row, err := soakRow(lines[i])
		if err != nil {
			return "", fmt.Errorf("line %d: %w", i+2, err)
		}
		body = append(body, row)
	}
	return markdown("r", []string{"minutes", "million tiles", "heap, KiB", "resident, KiB"}, body), nil
}

func soakRow(line string) ([]string, error) {
	var seconds float64
	var tiles, heap, rss uint64
	if n, err := fmt.Sscanf(line, "%g\t%d\t%d\t%d", &seconds, &tiles, &heap, &rss); err != nil {
		return nil, fmt.Errorf("%d numbers: %w", n, err)
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 0, 64) }
	return []string{number(seconds / 60), number(float64(tiles) / 1e6), number(float64(heap) / 1024), number(float64(rss) / 1024)}, nil
}
