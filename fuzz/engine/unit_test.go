package engine

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// TestSamples writes cases as a file has them, and reads them and damaged ones.
func TestSamples(t *testing.T) {
	want := samples{
		{CaseRef: finding.CaseRef{Source: "raw@2", Index: 7}, A: 1, B: 2, Class: oracle.Value},
		{CaseRef: finding.CaseRef{Source: "cut@2", Index: 1 << 40}, A: 1<<64 - 1, Class: oracle.Fault},
		{CaseRef: finding.CaseRef{Source: "raw@2", Index: 8}, A: 3, B: 3},
	}
	body, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got samples
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("written and read (-want +got):\n" + diff)
	}
	for name, text := range map[string]string{
		"no source":      `{"sources":[],"cases":"AAABAQI="}`,
		"no such class":  `{"sources":["raw@2"],"cases":"AAD/AQEC"}`,
		"half a case":    `{"sources":["raw@2"],"cases":"AAAB"}`,
		"a strange name": `{"sources":["raw@2"],"cases":"","more":1}`,
	} {
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s: it is read as %v", name, got)
		}
	}
}
