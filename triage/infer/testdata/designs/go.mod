module github.com/mmafuzz/mmafuzz/triage/infer/testdata/designs

go 1.26.0
