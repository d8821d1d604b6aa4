package fuzztest

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// columns is the width of pictures in a failure's message.
const columns = 100

// describe describes a finding: its cause, its smallest input, and the picture of that.
func (h *harness) describe(f *fuzz.Case) string {
	var s strings.Builder
	fmt.Fprintf(&s, "\n%s: %s\n", f.Bucket, f.Detail)
	pic, err := bundle.Picture(f.Mismatch, f.Dir)
	if err == nil {
		err = report.Text(&s, pic, report.TextOptions{Width: columns})
	}
	if err != nil {
		fmt.Fprintf(&s, "  %s\n  there is no picture: %v\n", f.Mismatch.Case, err)
	}
	fmt.Fprintf(&s, "bundle: %s\n", f.Dir)
	return s.String()
}
