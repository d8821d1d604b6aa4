package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/record"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// field is a row of a table of schemaFiles.
type field struct {
	kind     string // string, number, bool or object
	any      bool   // anything may be below it
	optional bool
	seen     bool
}

// schema is a table: fields by path.
type schema map[string]*field

// headings are the sentences that begin tables.
var headings = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`^Every object has$`), "object"},
	{regexp.MustCompile(`^Every event has$`), "event"},
	{regexp.MustCompile(`^The event (\w+) `), "event $1"},
	{regexp.MustCompile(`^minimize, .*and (triage), `), "$1"},
	{regexp.MustCompile(`^probe, .* summation tree `), "order"},
	{regexp.MustCompile(`^probe --profile, `), "profile"},
	{regexp.MustCompile(`^prove --property, `), "property"},
	{regexp.MustCompile(`^vectors --check, `), "failed"},
	{regexp.MustCompile(`^vectors --score:$`), "score"},
	{regexp.MustCompile(`^vectors --screen, `), "screen"},
	{regexp.MustCompile(`^vectors --screen --time, then `), "screen wrong"},
	{regexp.MustCompile(`^vectors --screen --time, at the end:$`), "screened"},
	{regexp.MustCompile(`^infer --shape, `), "kernel"},
	{regexp.MustCompile(`^tolerance with several --k:$`), "lengths"},
	{regexp.MustCompile(`^(run|diff) of kernels\b`), "$1 kernels"},
	{regexp.MustCompile(`^corpus (\w+), `), "$1"},
	{regexp.MustCompile(`^(\w+)(, an object for each .*)?:$`), "$1"},
}

// schemaFiles are the files with tables.
var schemaFiles = []string{"doc.go", "../../fuzz/compare/json.go", "../../fuzz/summary/json.go", "../../triage/infer/json.go", "../../triage/infer/kernel/doc.go", "../../triage/kernel/report.go", "../../triage/study/study.go", "../../fuzz/bench/json.go", "../../fuzz/doctor/doctor.go", "../../fuzz/fleet/doc.go", "../../fuzz/bisect/bisect.go", "../../fuzz/vectors/choose.go",
	"../../triage/eval/eval.go", "../../triage/diff/diff.go", "../../triage/prove/prove.go", "../../triage/bundle/bundle.go", "../../fuzz/cases/cases.go", "../../triage/probe/probe.go", "../../triage/invariance/invariance.go", "../../triage/tolerance/hunt.go", "../../fuzz/record/doc.go", "../../corpus/imports/imports.go"}

// readSchemas reads the tables of all files.
func readSchemas(t *testing.T) map[string]schema {
	t.Helper()
	schemas := map[string]schema{}
	for _, file := range schemaFiles {
		readTables(t, file, schemas)
	}
	return schemas
}

// readTables adds the tables of a file.
func readTables(t *testing.T, file string, schemas map[string]schema) {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(doc), "// # JSON\n")
	if !ok {
		t.Fatalf("%s has no section JSON", file)
	}
	text, _, _ = strings.Cut(text, "\npackage ")
	current := schema(nil)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "//"), "\n")
		if row, ok := strings.CutPrefix(line, "\t"); ok {
			cells := regexp.MustCompile(` {2,}`).Split(row, 3)
			if current == nil || len(cells) < 2 {
				t.Fatalf("%s: %q is not in a table, or no row", file, row)
			}
			kind := strings.TrimRight(cells[1], "*?")
			if !slices.Contains([]string{"string", "number", "bool", "object"}, kind) || current[cells[0]] != nil {
				t.Fatalf("%s: bad row %q", file, row)
			}
			current[cells[0]] = &field{kind: kind, any: strings.Contains(cells[1], "*"), optional: strings.Contains(cells[1], "?")}
			continue
		}
		for _, h := range headings {
			if m := h.pattern.FindStringSubmatchIndex(strings.TrimSpace(line)); m != nil {
				current = schema{}
				schemas[string(h.pattern.ExpandString(nil, h.name, strings.TrimSpace(line), m))] = current
				break
			}
		}
	}
}

// check says in what an object is not as the tables of the given names say
// together.
func check(schemas map[string]schema, object map[string]any, names ...string) error {
	all := schema{}
	for _, n := range names {
		if schemas[n] == nil {
			return fmt.Errorf("there is no table for %s", n)
		}
		maps.Copy(all, schemas[n])
	}
	here := map[string]bool{}
	if err := all.walk("", object, here); err != nil {
		return err
	}
	for path, f := range all {
		if !f.optional && !here[path] {
			return fmt.Errorf("%s is missing", path)
		}
	}
	return nil
}

// walk checks a value and marks the fields that it has.
func (s schema) walk(path string, v any, here map[string]bool) error {
	kind := ""
	switch v.(type) {
	case string:
		kind = "string"
	case float64:
		kind = "number"
	case bool:
		kind = "bool"
	}
	f := s[path]
	if f != nil {
		f.seen, here[path] = true, true
	}
	if f != nil && f.any {
		return nil
	}
	if kind != "" {
		if f == nil || f.kind != kind {
			return fmt.Errorf("%s is a %s, which the tables do not say", path, kind)
		}
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if err := s.walk(strings.TrimPrefix(path+"."+name, "."), x, here); err != nil {
				return err
			}
		}
	case []any:
		for _, x := range v {
			if err := s.walk(path+"[]", x, here); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%s is %v", path, v)
	}
	return nil
}

// jsonOf runs a command with --json and returns its objects.
func jsonOf(t *testing.T, code int, stdin string, args ...string) []map[string]any {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(append(args, "--json"), strings.NewReader(stdin), &out, &errs); got != code {
		t.Fatalf("%v: exit code %d, want %d: %s", args, got, code, &errs)
	}
	return objects(t, out.Bytes())
}

func objects(t *testing.T, lines []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range bytes.Lines(lines) {
		var o map[string]any
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, o)
	}
	if all == nil {
		t.Fatal("no JSON")
	}
	return all
}

// TestSchema checks that what --json writes is what the tables say: no field that
// is not documented, none missing, and none documented that never comes.
func TestSchema(t *testing.T) {
	if !tier.Long() {
		t.Skip("many commands write JSON: for MMAFUZZ_LONG=1")
	}
	schemas := readSchemas(t)
	t.Chdir(t.TempDir())
	verify := func(all []map[string]any, name string) {
		t.Helper()
		for _, o := range all {
			names := []string{"object", name}
			if name == "run" {
				names = []string{"object", "event", fmt.Sprint("event ", o["event"])}
			}
			if err := check(schemas, o, names...); err != nil {
				t.Errorf("%s: %v", names[len(names)-1], err)
			}
		}
	}
	verify(jsonOf(t, 1, "", "run", "--a", "sim:ampere", "--b", "sim:hopper", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--count", "3000", "--out", "out"), "run")
	verify(jsonOf(t, 1, "", "run", "--a", "exec:mmachild ampere mma.m16n8k8.f32.f16.f16.f32 join.align.f=25", "--b", "sim:ampere", "--count", "3000", "--out", "alike"), "run")
	verify(jsonOf(t, 1, "", "run", "--a", "exec:mmachild -bad scatters ampere mma.m16n8k8.f32.f16.f16.f32", "--b", "sim:ampere", "--count", "3000", "--out", "scatters"), "run")
	verify(jsonOf(t, 1, "", "run", "--a", "exec:mmachild -bad flips ampere mma.m16n8k8.f32.f16.f16.f32", "--b", "sim:ampere", "--count", "3000", "--out", "flips"), "run")
	verify(jsonOf(t, 1, "", "run", "--a", "exec:mmaunit zero-ieee", "--b", "exec:mmaunit zero-plus", "--count", "4000", "--out", "zeros"), "run")
	verify(jsonOf(t, 1, "", "run", "--a", "exec:mmaunit stochastic-biased", "--b", "sim:x86/vcvtph2hf8s", "--nan", "class", "--out", "stochastic"), "run")
	earlier := `{"v": 1, "known": [{"id": "old", "reason": "x", "bucket": "defect", "difference": "8c9d0e5f"}]}`
	if err := os.WriteFile("earlier.json", []byte(earlier), 0o666); err != nil {
		t.Fatal(err)
	}
	verify(jsonOf(t, 1, "", "run", "--a", "exec:mmaunit lost-carry", "--b", "ref:mul", "--count", "4000", "--out", "carry", "--known", "earlier.json"), "run")
	verify(puzzleOf(t), "run")
	verify(progressOf(t), "run")
	verify(unfinishedRuns(t), "run")
	verify(jsonOf(t, 1, "", "replay", "--allow-exec", filepath.Join("changes-out", "mma.m8n8k4.f32.f16.f16.f32", "unstable-1")), "replay")
	verify(jsonOf(t, 1, "", "replay", "--allow-exec", filepath.Join("refuses-out", "mma.m8n8k4.f32.f16.f16.f32", "fault-1")), "replay")
	verifyFleet(t, verify)
	bundle := filepath.Join("out", "mma.m16n8k8.f32.f16.f16.f32", "truncation-width-1")

	if err := writeRecording("x.rec", "ampere", "hopper", "mma.m16n8k8.f32.f16.f16.f32"); err != nil {
		t.Fatal(err)
	}
	jsonOf(t, 1, "", "run", "--a", "replay:x.rec", "--b", "sim:ampere", "--out", "rec")
	verify(jsonOf(t, 1, "", "replay", bundle), "replay")
	verify(jsonOf(t, 1, "", "replay", filepath.Join("rec", "mma.m16n8k8.f32.f16.f16.f32", "truncation-width-1")), "replay")

	verify(jsonOf(t, 0, "", "record", "--target", "sim:turing", "--out", "turing.rec"), "run")
	plan := `{"v":1,"name":"p","seed":1,"entries":[{"instructions":["*"],"k":12,"inputs":[{"source":"raw@1","count":1}]}]}`
	if err := os.WriteFile("plan.json", []byte(plan), 0o666); err != nil {
		t.Fatal(err)
	}
	verify(jsonOf(t, 1, "", "record", "--target", "sim:turing", "--plan", "plan.json", "--out", "bad.rec"), "run")
	verify(recordingOf(t), "run")
	theirs := `{"a": 1.5, "b": 2, "c": 0.1, "d": 3.1}{"a": 1.5, "b": 2, "c": 0, "d": "nan"}`
	if err := os.WriteFile("theirs.json", []byte(theirs), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("flags.txt", []byte("3C00 4000 4200 4500 00\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	verify(jsonOf(t, 0, "", "import", "flags.txt", "--formats", "fp16,fp16,fp16,fp16", "--out", "flags.rec"), "run")
	verify(jsonOf(t, 0, "", "import", "theirs.json", "--target", "sim:ampere", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--out", "theirs.rec"), "run")

	verify(comparisonsOf(t), "compare")

	one := []string{"eval", "--target", "sim:ampere", "--inst", "mma.m16n8k8.f32.f16.f16.f32"}
	verify(jsonOf(t, 0, "3c00 3c00 00000000\n", one...), "eval")
	verify(jsonOf(t, 0, "0001 3c00 00000000\n", append(one, "--explain")...), "eval")
	flushing := []string{"eval", "--target", "sim:cdna2", "--inst", "v_mfma_f32_16x16x16f16", "--explain"}
	verify(jsonOf(t, 0, "0001 3c00 00000000\n", flushing...), "eval")
	verify(jsonOf(t, 0, "", "triage", bundle), "triage")
	verify(jsonOf(t, 0, "", "report", bundle), "report")
	units := []string{"--a", "sim:ampere", "--b", "sim:hopper", "--inst", "mma.m16n8k8.f32.f16.f16.f32"}
	verify(jsonOf(t, 0, "", slices.Concat([]string{"corpus", "export", "--out", "inputs"}, units)...), "export")
	verify(jsonOf(t, 1, "", slices.Concat([]string{"corpus", "import", "inputs", "--out", "imported"}, units)...), "import")
	split := `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"levels": [{"cut": {"by": "count", "n": 4, "grain": 64}, "merge": {"order": "forward"}}]}]}`
	scaled := `{"v": 1, "unit": {"instruction": "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"}, "scale_a": {}, "scale_b": {}, "schedules": [{"levels": [{"cut": {"by": "size", "n": 128}, "merge": {"order": "forward"}}]}], "epilogue": [{"op": "scale-ab"}]}`
	partial := strings.NewReplacer(`"scale_a": {}`, `"scale_a": {"k": 128}`, `"order": "forward"`, `"order": "forward", "scale": "(sa*sb)*p"`, `, "epilogue": [{"op": "scale-ab"}]`, "").Replace(scaled)
	for name, text := range map[string]string{"scaled.json": scaled, "partial.json": partial, "split.json": split, "lost.json": strings.Replace(split, `}}]`, `}, "tail": {"of": 64, "into": "drop"}}]`, 1), "chain.json": strings.Replace(split, "forward", "chain", 1)} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range []string{"lost.json", "chain.json", "exec:mmakernel split.json 2x3x10 changes", "exec:mmakernel split.json 2x3x10 doubles", "exec:mmakernel split.json 2x3x10 flips"} {
		verify(jsonOf(t, 1, "", "run", "--a", "split.json", "--b", b, "--count", "64", "--out", "kernels"), "run kernels")
	}
	verify(jsonOf(t, 1, "", "run", "--a", "naive", "--b", "exec:mmakernel lost.json 300", "--count", "64", "--out", "sides"), "run kernels")
	verify(jsonOf(t, 1, "", "run", "--a", "partial.json", "--b", "scaled.json", "--count", "32", "--out", "kernels"), "run kernels")
	verify(jsonOf(t, 1, "", "diff", "split.json", "chain.json"), "diff kernels")
	verify(jsonOf(t, 1, "", "diff", "hopper", "cdna3", "--inst", "mma.m16n8k16.f32.f16.f16.f32"), "diff")
	verify(jsonOf(t, 1, "", "diff", "hopper", "cdna3", "--inst", "wgmma.m64n8k32.f32.e4m3.e4m3"), "diff")
	verify(jsonOf(t, 0, "", "diff", "ampere", "ada", "--inst", "mma.m16n8k16.f32.f16.f16.f32"), "diff")
	if err := os.WriteFile("fused.json", []byte(`{"v": 1, "base": "cdna1/v_mfma_f32_16x16x16f16", "set": {"stage0.sum": "fused"}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	verify(jsonOf(t, 1, "", "prove", "volta", "--inst", "mma.m8n8k4.f32.f16.f16.f32", "--property", "order,adder,monotonic,exact-products,error"), "property")
	verify(jsonOf(t, 75, "", "prove", "sim:cdna3/v_mfma_f32_16x16x32_fp8_fp8", "--property", "no-nan", "--solver", ""), "property")
	verify(jsonOf(t, 1, "", "prove", "ampere", "hopper", "--inst", "mma.m16n8k8.f32.f16.f16.f32"), "prove")
	verify(jsonOf(t, 0, "", "prove", "ampere", "ada", "--inst", "mma.m16n8k8.f32.f16.f16.f32"), "prove")
	verify(jsonOf(t, 75, "", "prove", "sim:cdna1/v_mfma_f32_16x16x16f16", "model:fused.json", "--solver", ""), "prove")
	verify(jsonOf(t, 0, "", "vectors", "--arch", "volta", "--inst", "mma.m8n8k4.f32.f16.f16.f32", "--out", "vectors"), "vectors")
	verify(jsonOf(t, 1, "", "vectors", "--check", "vectors/volta/mma.m8n8k4.f32.f16.f16.f32.json", "--target", "sim:cdna2/v_mfma_f32_16x16x4f16"), "failed")
	if err := os.WriteFile("tests.txt", []byte("3c00 3c00 00000000\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	verify(jsonOf(t, 1, "", "vectors", "--score", "tests.txt", "--arch", "volta", "--inst", "mma.m8n8k4.f32.f16.f16.f32"), "score")
	screen := jsonOf(t, 1, "", "vectors", "--screen", "--arch", "volta", "--target", "exec:mmachild -bad stuck volta mma.m8n8k4.f32.f16.f16.f32",
		"--inst", "mma.m8n8k4.f32.f16.f16.f32", "--time", "1us")
	last := len(screen) - 1
	verify(screen[:1], "screen")
	verify(screen[1:last], "screen wrong")
	verify(screen[last:], "screened")
	verify(jsonOf(t, 75, "", "bisect", "--a", "sim:ampere", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--versions", "sim:ampere,model:none.json,sim:hopper", "--count", "1000", "--out", filepath.Join(t.TempDir(), "found")), "bisect")
	verify(jsonOf(t, 1, "", append([]string{"run", "--accept", "bound=u*S", "--count", "1000"}, units...)...), "accept")
	verify(jsonOf(t, 0, "", "tolerance", "--target", "sim:ampere", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--count", "100"), "tolerance")
	verify(jsonOf(t, 0, "", "tolerance", "--target", "sim:ampere", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--count", "100", "--k", "8,16"), "lengths")
	verify(jsonOf(t, 1, "", "invariance", "--count", "4", "exec:mmachild -bad batched -name mine hopper mma.m16n8k8.f32.f16.f16.f32"), "invariance")
	verify(doctorOf(t), "doctor")
	verify(jsonOf(t, 0, "", "study", "discrepancy", "sim:volta", "sim:turing", "--count", "128", "--rates-only"), "study")
	verify(jsonOf(t, 0, "", "study", "bias", "sim:volta", "--count", "10"), "study")
	verify(jsonOf(t, 0, "", "study", "chain", "sim:volta", "--count", "10"), "study")
	verify(jsonOf(t, 0, "", "gemm", "split.json", "--m", "2", "--n", "2", "--k", "200"), "study")
	for name, all := range benchesOf(t) {
		verify(all, name)
	}
	delete(schemas, "pipeline") // needs a GPU
	verify(kernelsOf(t), "kernel")
	if testing.Short() {
		delete(schemas, "infer") // takes long
	} else {
		verify(inferencesOf(t), "infer")
	}
	for _, inst := range []string{"sim:ampere/mma.m16n8k8.f32.f16.f16.f32", "sim:blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e2m1.e2m1"} {
		for _, o := range jsonOf(t, 0, "", "probe", "--target", inst, "--profile", "10") {
			name := "probe"
			switch {
			case o["operation"] != nil:
				name = "profile"
			case o["tree"] != nil:
				name = "order"
			}
			verify([]map[string]any{o}, name)
		}
	}

	for _, what := range []string{"targets", "generators", "plans", "labels", "formats", "parameters", "instructions"} {
		for _, o := range jsonOf(t, 0, "", "list", what) {
			if err := check(schemas, map[string]any{"v": o["v"]}, "object"); err != nil || len(o) < 3 {
				t.Fatalf("list %s: %v in %v", what, err, o)
			}
		}
	}
	for _, o := range slices.Concat(jsonOf(t, 0, "", "version"), jsonOf(t, 0, "", "show", bundle), jsonOf(t, 1, "", "minimize", bundle)) {
		if o["v"] != 1.0 {
			t.Errorf("version %v of %v", o["v"], o)
		}
	}

	if err := os.WriteFile(filepath.Join(bundle, "case.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	verify(jsonOf(t, 2, "", "triage", bundle), "triage")
	for name, s := range schemas {
		for path, f := range s {
			if !f.seen && !rare[name+": "+path] {
				t.Errorf("%s: %s is documented, but never came", name, path)
			}
		}
	}
}

// verifyFleet verifies what a campaign of units writes.
func verifyFleet(t *testing.T, verify func(all []map[string]any, name string)) {
	verify(jsonOf(t, 0, "", "campaign", "plan", "--a", "sim:ampere", "--b", "sim:hopper", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--count", "3000", "--unit", "512", "--out", "c.json"), "campaign")
	verify(jsonOf(t, 0, "", "run", "--campaign", "c.json", "--shard", "0/1", "--out", "units"), "run")
	verify(jsonOf(t, 0, "", "status", "units"), "status")
	for _, o := range jsonOf(t, 1, "", "merge", "units", "--out", "merged") {
		verify([]map[string]any{o}, "run")
	}
}

// unfinishedRuns returns the events of runs with units that change their answers, with one that
// stops answering and with one that fails on some inputs.
func unfinishedRuns(t *testing.T) []map[string]any {
	run := []string{"run", "--b", "sim:volta", "--workers", "1", "--inst", "mma.m8n8k4.f32.f16.f16.f32"}
	child := func(bad string) string { return "exec:mmachild -bad " + bad + " volta mma.m8n8k4.f32.f16.f16.f32" }
	if err := os.WriteFile("flaky", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	flaky := jsonOf(t, 1, "", append(run, "--a", child("flaky"), "--count", "3000", "--out", "flaky-out")...)
	changes := jsonOf(t, 1, "", append(run, "--a", child("changes"), "--count", "3000", "--out", "changes-out")...)
	gone := jsonOf(t, exitIncomplete, "", append(run, "--a", child("gone"), "--count", "3000", "--out", "gone-out")...)
	refuses := jsonOf(t, 1, "", append(run, "--a", child("refuses"), "--count", "3000", "--out", "refuses-out")...)
	drifts := jsonOf(t, 1, "", append(run, "--a", child("drifts"), "--count", "8000", "--out", "drifts-out")...)
	return slices.Concat(flaky, changes, gone, refuses, drifts)
}

// rare are fields that the commands of TestSchema do not give.
var rare = map[string]bool{
	"status: rate":                               true, // of a shard that is at work: see TestStatus
	"status: eta_seconds":                        true,
	"status: shards[].rate":                      true,
	"study: plots[].log_x":                       true,
	"study: plots[].log_y":                       true,
	"study: plots[].series":                      true,
	"study: failures[]":                          true,
	"study: unstable[]":                          true, // see unstable_unit.txtar
	"probe: unstable":                            true,
	"order: unstable":                            true,
	"event recorded: unstable[]":                 true,
	"replay: fault_b":                            true, // as fault_a
	"infer: stats.denied":                        true, // see infer.txtar
	"kernel: beta":                               true, // see TestAddend
	"failed: wrong":                              true,
	"failed: runs":                               true,
	"compare: differences[].equivalent[][]":      true, // see summary's and compare's TestInstead
	"replay: undecided":                          true, // see replay_before.txtar
	"replay: tile":                               true, // see TestTile of package bundle
	"run kernels: sides.change":                  true, // see TestChangedBox of package kernel
	"run kernels: why.others[]":                  true,
	"triage: differed":                           true,
	"triage: defect":                             true,
	"triage: runs":                               true,
	"import: differed":                           true,
	"import: runs":                               true,
	"event summary: pairs[].rounded":             true, // see stochastic.txtar
	"event summary: pairs[].unjudged[]":          true,
	"event summary: pairs[].sums":                true, // see TestSums of package engine
	"event summary: pairs[].history[].kept":      true, // see TestKept of package engine
	"event summary: pairs[].next[]":              true, // see unexplained.txtar
	"event summary: pairs[].equivalent[][].path": true,
	"event summary: pairs[].equivalent[][].from": true,
	"event summary: pairs[].equivalent[][].to":   true,
	"compare: models[].alike[]":                  true,
	"compare: machines[].equal_to":               true,
	"doctor: remedy":                             true,
	"compare: differences[].beyond[]":            true,
	"compare: incomplete[]":                      true,
	"compare: gone[].codes[]":                    true, // see TestCodes of package compare
}

// puzzleOf runs a recording of a unit that nothing explains, with a list of known
// differences.
func puzzleOf(t *testing.T) []map[string]any {
	t.Helper()
	flip := func(d uint64) uint64 {
		if d&7 == 5 {
			d ^= 2
		}
		return d
	}
	if err := writeRecordingOf("odd.rec", "exec:odd", "ampere", "ampere", "mma.m16n8k8.f32.f16.f16.f32", flip); err != nil {
		t.Fatal(err)
	}
	list := `{"v":1,"known":[{"id":"a","reason":"r","expires":"2026-01-31","bucket":"unexplained*"}]}`
	if err := os.WriteFile("list.json", []byte(list), 0o666); err != nil {
		t.Fatal(err)
	}
	return jsonOf(t, 1, "", "run", "--a", "replay:odd.rec", "--b", "sim:ampere", "--out", "odd", "--known", "list.json", "--date", "2026-02-01")
}

// progressOf returns an event progress, which else comes once a second.
func progressOf(t *testing.T) []map[string]any {
	ui, stdout, _ := testUI(t)
	ui.json = true
	ui.line.last = time.Now().Add(-time.Second)
	s := &fuzz.State{Epochs: 1, Pairs: []*fuzz.PairState{{Sum: fuzz.Sum{Dots: 1}}}}
	s.Pairs[0].Classes[oracle.Same] = 1
	ui.Progress(s)
	ui.Progress(s)
	all := objects(t, stdout.Bytes())
	if len(all) != 1 {
		t.Errorf("%d events at once", len(all))
	}
	return all
}

// comparisonsOf compares recordings of two nights such that everything comes that can
// come.
func comparisonsOf(t *testing.T) []map[string]any {
	plan := `{"v":1,"name":"p","seed":1,"entries":[{"instructions":["mma.m16n8k8.f32.f16.f16.f32"],"inputs":[{"source":"raw@1","count":512}]},
		{"instructions":["mma.m16n8k16.f32.f16.f16.f32"],"k":24,"inputs":[{"source":"raw@1","count":1}]}]}`
	fp8 := `{"v":1,"name":"f","seed":1,"entries":[{"instructions":["v_mfma_f32_16x16x32_fp8_fp8"],"inputs":[{"source":"common normal@1","count":1}]}]}`
	known := `{"v":1,"known":[{"id":"used","reason":"x","pair":["a","b"],"bucket":"truncation-width"},{"id":"old","reason":"x","expires":"2026-01-01","bucket":"none"}]}`
	model := `{"v":1,"base":"hopper/mma.m16n8k8.f32.f16.f16.f32","set":{"join.align.f":27}}`
	for name, text := range map[string]string{"compare.plan": plan, "fp8.plan": fp8, "other.plan": strings.Replace(plan, "raw", "normal", 1), "known.json": known, "f27.json": model} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	record := []string{"record", "--plan", "compare.plan", "--date", "2026-01-01"}
	jsonOf(t, 1, "", append(record, "--target", "sim:ampere", "--name", "a", "--out", "a.rec")...)
	jsonOf(t, 1, "", append(record, "--target", "sim:hopper", "--name", "b", "--out", "b.rec")...)
	jsonOf(t, 0, "", append(record, "--target", "model:f27.json", "--name", "b", "--out", "b27.rec")...)
	jsonOf(t, 1, "", "compare", "a.rec", "b.rec", "--out", "one")
	second := jsonOf(t, 1, "", "compare", "a.rec", "b27.rec", "sim:cdna3", "--out", "two", "--baseline", "one/compare.json")
	jsonOf(t, 1, "", "record", "--plan", "other.plan", "--target", "sim:ampere", "--name", "c", "--out", "c.rec")
	fourth := jsonOf(t, 2, "", "compare", "a.rec", "b.rec", "c.rec", "--out", "four")
	third := jsonOf(t, 2, "", "compare", "a.rec", "b.rec", "nothing.rec", "--out", "three", "--known", "known.json")
	jsonOf(t, 0, "", "record", "--target", "exec:mmachild -bad changes ampere mma.m16n8k8.f32.f16.f16.f32", "--plan", "compare.plan", "--out", "changes.rec")
	fifth := jsonOf(t, 1, "", "compare", "a.rec", "changes.rec", "--out", "five")
	jsonOf(t, 0, "", "record", "--target", "sim:cdna3", "--plan", "fp8.plan", "--name", "d", "--out", "d.rec")
	byValue := jsonOf(t, 1, "", "compare", "d.rec", "sim:hopper", "--out", "six")
	return slices.Concat(second, third, fourth, fifth, byValue, unclearOf(t))
}

// unclearOf compares two machines whose differences nothing explains with results and a list that
// have no samples of their cases: whether they are the same is not known.
func unclearOf(t *testing.T) []map[string]any {
	for _, bad := range []string{"scatters", "flips"} {
		jsonOf(t, 0, "", "record", "--plan", "compare.plan", "--target", "exec:mmachild -bad "+bad+" ampere mma.m16n8k8.f32.f16.f16.f32", "--name", "e", "--out", bad+".rec")
	}
	jsonOf(t, 1, "", "compare", "a.rec", "scatters.rec", "--out", "eight", "--known", "unclear.json", "--update-known", "--reason", "x")
	for from, to := range map[string]string{"unclear.json": "unclear.json", "eight/compare.json": "unclear-results.json"} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		text = regexp.MustCompile(`,\s*"marks":\s*"[^"]*"`).ReplaceAll(text, nil)
		if err := os.WriteFile(to, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return jsonOf(t, 1, "", "compare", "a.rec", "flips.rec", "--out", "nine", "--known", "unclear.json", "--baseline", "unclear-results.json")
}

// inferencesOf infers units of which each has another verdict.
func inferencesOf(t *testing.T) []map[string]any {
	volta := " volta mma.m8n8k4.f32.f16.f16.f32"
	var all []map[string]any
	for n, c := range []struct {
		code          int
		verdict, unit string
		args          []string
	}{
		{0, "found", "-bad refuses" + volta, []string{"--nan", "class"}},
		{0, "found", "-bad tired" + volta, nil},
		{0, "found", "riscv vfwdota.vv stage0.group=4 stage0.align.f=25 stage1.sum=pairwise stage1.round.frac=23 stage1.round.mode=rto stage1.round.emin=-126 stage1.round.emax=127", nil}, // conforms
		{1, "unexplained", "-bad flips x86 vfmadd231ps", []string{"--effort", "1"}},
		{1, "unstable", "-bad changes" + volta, nil},
		{1, "exhausted", volta, []string{"--queries", "1"}},
	} {
		o := jsonOf(t, c.code, "", append(c.args, "infer", "--target", "exec:mmachild "+c.unit, "--checks", "100", "--out", fmt.Sprint(n))...)
		if len(o) != 1 || o[0]["verdict"] != c.verdict {
			t.Errorf("%s: %v", c.unit, o)
		}
		all = append(all, o...)
	}
	return all
}

// kernelsOf infers a product that has a schedule and two that have none.
func kernelsOf(t *testing.T) (all []map[string]any) {
	kernel := `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"levels": [{"cut": {"by": "lanes", "n": 2}, "merge": {"order": "forward"}}]}]}`
	if err := os.WriteFile("lanes.json", []byte(kernel), 0o666); err != nil {
		t.Fatal(err)
	}
	for n, bad := range []string{"", " flips", " turns"} {
		all = append(all, jsonOf(t, min(n, 1), "", "infer", "--shape", "4x4x9", "--checks", "1000", "--target", "exec:mmakernel lanes.json 4x4x9"+bad, "--out", fmt.Sprint("kernel", n))...)
	}
	quantized := `{"v": 1, "unit": {"instruction": "x86/vpdpbssd"}, "scale_a": {"lines": 1, "k": 32}, "scale_b": {"lines": 1, "k": 32},
		"schedules": [{"levels": [{"cut": {"by": "size", "n": 32}, "merge": {"order": "forward", "format": "fp32", "scale": "(sa*sb)*p"}}]}]}`
	if err := os.WriteFile("quantized.json", []byte(quantized), 0o666); err != nil {
		t.Fatal(err)
	}
	all = append(all, jsonOf(t, 1, "", "infer", "--shape", "2x2x64", "--checks", "1000", "--target", "exec:mmakernel quantized.json 2x2x64 flips", "--out", "quantized")...)
	all = append(all, jsonOf(t, 1, "", "infer", "--shape", "2x2x64", "--checks", "1000", "--target", "exec:mmakernel quantized.json 2x2x64 turns", "--out", "turned")...)
	all = append(all, jsonOf(t, 0, "", "infer", "--shape", "2x2x64", "--checks", "1000", "--target", "exec:mmakernel quantized.json 2x2x64 least", "--out", "restricted")...)
	all = append(all, jsonOf(t, 0, "", "infer", "--shape", "2x2x8", "--checks", "1000", "--target", "exec:mmachild -name c ampere mma.m16n8k8.f32.f16.f16.f32 in.narrowc.frac=7", "--out", "c")...)
	return all
}

// recordingOf returns an event recording, which else comes once a second.
func recordingOf(t *testing.T) []map[string]any {
	ui, stdout, _ := testUI(t)
	ui.json = true
	r := &recordCmd{app: ui.app, said: true, lastJSON: time.Now().Add(-time.Second)}
	r.progress(record.Progress{Instruction: "x"})
	r.progress(record.Progress{Instruction: "x"})
	all := objects(t, stdout.Bytes())
	if len(all) != 1 {
		t.Errorf("%d events at once", len(all))
	}
	return all
}

// benchesOf returns the objects of bench by their tables.
func benchesOf(t *testing.T) map[string][]map[string]any {
	t.Helper()
	all := jsonOf(t, 0, "", "bench", "--only", "^models/fma/fp64/hopper/portable/raw|^targets/sim:.*8x16x8", "--count", "1", "--time", "1ms")
	all = append(all, jsonOf(t, 0, "", "bench", "--soak", "20ms", "--every", "1ms")...)
	by := map[string][]map[string]any{}
	for _, o := range all {
		name := "bench"
		for _, other := range []string{"machine", "look", "soak"} {
			if o[other] != nil {
				name = other
			}
		}
		by[name] = append(by[name], o)
	}
	if len(by) != 4 {
		t.Errorf("%d kinds of objects, want 4", len(by))
	}
	return by
}

// doctorOf returns what doctor says, whether or not all is well.
func doctorOf(t *testing.T) []map[string]any {
	var out, errs bytes.Buffer
	if code := run([]string{"doctor", "--json"}, nil, &out, &errs); code == exitMismatch {
		t.Errorf("doctor: exit code %d", code)
	}
	return objects(t, out.Bytes())
}

// TestSchemaCheck checks that the check above can fail.
func TestSchemaCheck(t *testing.T) {
	schemas := map[string]schema{"x": {
		"a": {kind: "string"}, "b[].c": {kind: "number", optional: true}, "d": {kind: "object", any: true, optional: true},
	}}
	for text, want := range map[string]string{
		`{"a":"1"}`:                           "",
		`{"a":"1","b":[{"c":1},{"c":2}]}`:     "",
		`{"a":"1","d":{"any":[1,"x",null]}}`:  "",
		`{}`:                                  "a is missing",
		`{"a":1}`:                             "a is a number, which the tables do not say",
		`{"a":"1","e":true}`:                  "e is a bool, which the tables do not say",
		`{"a":"1","b":[{"c":"1"}]}`:           "b[].c is a string, which the tables do not say",
		`{"a":"1","b":[{"c":1,"x":{"y":1}}]}`: "b[].x.y is a number, which the tables do not say",
		`{"a":null}`:                          "a is <nil>",
	} {
		var o map[string]any
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		err := check(schemas, o, "x")
		if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
