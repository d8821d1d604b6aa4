package infer

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ReportFile is the report of an inference in its directory, for programs.
const ReportFile = "report.json"

// ReadReport reads the report of an inference from a file, with its summation tree.
func ReadReport(ctx context.Context, file string) (*Report, error) {
	body, err := corpus.ReadFile(file, "report of an inference", maxInferenceReport)
	if err != nil {
		return nil, err
	}
	t := &Report{}
	if err := strictjson.Unmarshal(body, t); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if t.V != 1 || t.Formats.Validate() != nil {
		return nil, fmt.Errorf("%s: this is no report of an inference", file)
	}
	printable.Strings(t)
	if t.Verdict == Found && t.Params.Validate(t.Formats, t.K) == nil {
		if err := t.draw(ctx, &mma.Instruction{Arch: "model", Name: "inferred", K: t.K, Formats: t.Formats, Params: t.Params}); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return t, nil
}
