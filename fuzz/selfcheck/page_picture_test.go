package selfcheck

import (
	"fmt"
	"os"
	"strings"
)

// picture returns the finding that mmafuzz run without flags shows, for the README. file
// is run_demo.txtar, whose screen.golden has it.
func picture(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	_, screen, _ := strings.Cut(string(text), "-- screen.golden --\n")
	_, rest, ok := strings.Cut(screen, "\nThe smallest input found on which")
	_, rest, _ = strings.Cut(rest, "\n\n")
	finding, _, closed := strings.Cut(rest, "\n\n CASES")
	if !ok || !closed {
		return "", fmt.Errorf("no finding in screen.golden")
	}
	return "```\n" + finding + "\n```\n", nil
}
