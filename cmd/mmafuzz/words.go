package main

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/triage"
)

// inWords writes a bucket's name with what its labels mean.
func inWords(bucket string) string {
	var docs []string
	seen := map[string]bool{}
	for _, name := range bucketLabels(bucket) {
		for _, l := range triage.Labels() {
			if string(l.Label) == name && !seen[name] {
				seen[name] = true
				docs = append(docs, l.Doc)
			}
		}
	}
	if docs == nil {
		return bucket
	}
	return bucket + ": " + strings.Join(docs, "; ")
}
