package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// The verdicts on an inference.
const (
	right        = "right"         // the model agrees with the unit on all inputs tried
	wrong        = "WRONG"         // the model differs from the unit
	unexplained  = "unexplained"   // no model, and a correct input on which the best program fails
	falseWitness = "FALSE WITNESS" // no model, and no input on which the best program fails
	unstable     = "unstable"      // reported as unstable, and it is
	falseAlarm   = "FALSE ALARM"   // reported as unstable, but it is not
	refused      = "refused"       // infer does not support the unit, and says why
	trouble      = "TROUBLE"       // inference ended otherwise
)

// A judge runs mmafuzz as a user does.
type judge struct {
	mmafuzz, self string   // programs
	dir           string   // for what infer writes
	flags         []string // for infer besides the target
	count, aimed  int      // inputs of the comparison: of campaigns and of dot.aimed
}

// A ruling is the verdict on one inference.
type ruling struct {
	verdict string
	detail  string // the program, and an input on which it fails
	command string // a command that shows what is wrong
}

func (r ruling) bad() bool {
	return r.verdict == wrong || r.verdict == falseWitness || r.verdict == falseAlarm || r.verdict == trouble
}

// rule infers a unit and judges the answer.
func (j *judge) rule(u *unit, seed uint64) (ruling, error) {
	dir := filepath.Join(j.dir, fmt.Sprintf("%s-%d", u.name, seed))
	if err := os.RemoveAll(dir); err != nil {
		return ruling{}, err
	}
	target := "exec:" + j.self + " serve " + u.name
	args := append([]string{"infer", "--target", target, "--nan", "bits", "--seed", strconv.FormatUint(seed, 10), "--out", dir, "--json"}, j.flags...)
	out, code, err := j.run("", args...)
	if err != nil {
		return ruling{}, err
	}
	r := ruling{verdict: trouble, command: "mmafuzz " + strings.Join(quoted(args), " ")}
	var report struct {
		Verdict, Arithmetic string
		Witness             *struct{ Dot, Got, Would string }
	}
	if code == 2 && strings.HasSuffix(out, " are not supported\n") {
		r.verdict, r.detail = refused, strings.TrimSpace(out)
		return r, nil
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		r.detail = fmt.Sprintf("exit status %d: %v", code, err)
		return r, nil
	}
	r.detail = report.Arithmetic
	switch report.Verdict {
	case "found":
		return r, j.compare(&r, u, filepath.Join(dir, "model.json"), target)
	case "unstable":
		if r.verdict, r.detail = falseAlarm, ""; u.unstable {
			r.verdict = unstable
		}
	case "unexplained":
		r.verdict = falseWitness
		if w := report.Witness; w != nil {
			r.detail += " fails on " + w.Dot
			d := newDot(u)
			if err := d.parse(w.Dot); err != nil {
				return r, nil
			}
			best, _, err := j.run(d.String()+"\n", "eval", "--target", "model:"+filepath.Join(dir, "best.json"))
			if err != nil {
				return r, err
			}
			best = strings.TrimSpace(best)
			if got := d.result(); got == w.Got && best == w.Would && got != best {
				r.verdict = unexplained
			}
		}
	default:
		r.detail = fmt.Sprintf("exit status %d: %s", code, report.Verdict)
	}
	return r, nil
}

// compare compares a model with the unit: in a campaign, and on inputs of dot.aimed.
func (j *judge) compare(r *ruling, u *unit, model, target string) error {
	args := []string{"run", "--a", "model:" + model, "--b", target, "--nan", "bits", "--zero", "bits", "--count", strconv.Itoa(j.count), "--max-bundles", "1", "--out", model + ".run", "--json"}
	if err := os.RemoveAll(model + ".run"); err != nil {
		return err
	}
	_, code, err := j.run("", args...)
	if err != nil {
		return err
	}
	if code != 0 {
		r.verdict = wrong
		r.detail += fmt.Sprintf("; run ends with exit status %d", code)
		r.command += "; mmafuzz " + strings.Join(quoted(args), " ")
		return nil
	}
	hash := fnv.New64()
	hash.Write([]byte(u.name))
	rng, d := rand.New(rand.NewPCG(hash.Sum64(), 1)), newDot(u)
	var inputs, want []string
	for range j.aimed {
		d.aimed(rng)
		inputs, want = append(inputs, d.String()), append(want, d.result())
	}
	out, _, err := j.run(strings.Join(inputs, "\n")+"\n", "eval", "--target", "model:"+model)
	if err != nil {
		return err
	}
	got := strings.Fields(out)
	if len(got) != len(want) {
		return fmt.Errorf("%s: eval answers %d of %d inputs", u.name, len(got), len(want))
	}
	different := 0
	for i := range got {
		if got[i] != want[i] {
			if different++; different == 1 {
				r.detail += fmt.Sprintf("; %s gives %s, not %s", inputs[i], want[i], got[i])
				r.command += fmt.Sprintf("; echo '%s' | mmafuzz eval --target model:%s", inputs[i], model)
			}
		}
	}
	if r.verdict = right; different != 0 {
		r.verdict = wrong
		r.detail += fmt.Sprintf("; %d of %d aimed inputs differ", different, len(got))
	}
	return nil
}

// run returns the standard output and the exit status of mmafuzz; with exit status 2,
// standard error instead of standard output.
func (j *judge) run(input string, args ...string) (out string, code int, err error) {
	cmd := exec.Command(j.mmafuzz, args...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	exit := (*exec.ExitError)(nil)
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	if code == 2 {
		return stderr.String(), code, err
	}
	return string(b), code, err
}

// quoted quotes words that have a blank or a semicolon for a shell. No word has a quote.
func quoted(words []string) []string {
	var q []string
	for _, w := range words {
		if strings.ContainsAny(w, " ;") {
			w = "'" + w + "'"
		}
		q = append(q, w)
	}
	return q
}
