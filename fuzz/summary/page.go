package summary

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/fleet"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// Page returns the page of the campaign in a directory, made from its journal and the
// bundles below it.
func Page(dir string) (*document.Document, error) {
	past, err := fuzz.ReadPast(filepath.Join(dir, fuzz.JournalFile))
	if err != nil {
		return nil, err
	}
	if past.Incomplete == "" && fleet.Unfinished(dir, past.State.Epochs) {
		past.Incomplete = fuzz.Unended
	}
	c := campaign{Past: past, dir: dir}
	if err := c.readBundles(); err != nil {
		return nil, err
	}
	return c.page()
}

// campaign is the campaign that a page shows.
type campaign struct {
	*fuzz.Past
	dir     string
	bundles []*corpus.Bundle // of findings
	damaged []string         // errors of bundles that could not be read
}

func (c *campaign) readBundles() error {
	dirs, err := bundle.Below(c.dir)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		b, err := corpus.ReadBundle(d)
		if err != nil {
			c.damaged = append(c.damaged, err.Error())
			continue
		}
		b.Files = nil // mismatch.json has it all
		c.bundles = append(c.bundles, b)
	}
	return nil
}

func (c *campaign) page() (*document.Document, error) {
	p := document.New(c.title(), c.lead())
	causes, err := c.causes()
	if err != nil {
		return nil, err
	}
	p.Add("Where they differ", append(c.alerts(), c.matrix())...)
	p.Add("Why they differ", causes...)
	p.Add("What was compared", c.compared()...)
	p.Add("Which inputs they were given", c.inputs()...)
	p.Add("By how much they differ, and on which inputs", c.distances(), c.sources(), c.spread())
	p.Add("How soon the causes were found", c.curve())
	findings, err := c.findings()
	if err != nil {
		return nil, err
	}
	p.Add("All findings", findings...)
	p.Add("Run it again", c.repeatCommand()...)
	return p, nil
}

// targets names what was compared.
func (c *campaign) targets() string {
	names := map[string]bool{}
	for _, st := range c.State.Pairs {
		names[st.TargetA+" and "+st.TargetB] = true
	}
	if len(names) == 1 {
		return slices.Collect(maps.Keys(names))[0]
	}
	return fmt.Sprintf("%d pairs of units", len(names))
}

func (c *campaign) title() string {
	switch dots, mismatches, _ := c.State.Totals(); {
	case mismatches > 0:
		return c.targets() + " compute differently"
	case dots == 0:
		return c.targets() + ": nothing was compared"
	case c.Incomplete != "":
		return c.targets() + ": incomplete, no difference so far"
	}
	return c.targets() + " agree"
}

// completeText says how to complete the campaign.
func (c *campaign) completeText() string {
	return "The command that began it goes on with it, with `--out " + readable.ShellPath(c.dir) + "`."
}

// incompleteText says that the campaign is not complete, "" if it is.
func (c *campaign) incompleteText() string {
	switch c.Incomplete {
	case "":
		return ""
	case fuzz.Unended:
		return "The campaign was not complete when this page was made: " + c.Incomplete + ". Only what its journal had by then is here. " + c.completeText()
	}
	return "The campaign is not complete: " + c.Incomplete + "."
}

func (c *campaign) lead() string {
	dots, mismatches, causes := c.State.Totals()
	differ := 0
	for _, st := range c.State.Pairs {
		if st.Mismatches() > 0 {
			differ++
		}
	}
	switch {
	case dots == 0 && c.Incomplete != "":
		return "No result is in the journal yet, so nothing can be said of them."
	case dots == 0:
		return "No dot product was compared, so nothing can be said of them. " + c.completeText() + " It needs more `--time` or `--count`, other generators, or a recording that has inputs."
	case mismatches == 0 && c.Incomplete != "":
		return fmt.Sprintf("They gave equal results in the %s of %s that were compared so far.", readable.Dots(dots), readable.Plural(len(c.State.Pairs), "instruction"))
	case mismatches == 0:
		return fmt.Sprintf("They gave equal results in all %s of %s.", readable.Dots(dots), readable.Plural(len(c.State.Pairs), "instruction"))
	}
	where := fmt.Sprintf("%d of %d instructions", differ, len(c.State.Pairs))
	if len(c.State.Pairs)-differ == 1 {
		i := slices.IndexFunc(c.State.Pairs, func(st *fuzz.PairState) bool { return st.Mismatches() == 0 })
		where += " (all but " + c.State.Pairs[i].Name + ")"
	}
	if len(c.State.Pairs) == 1 {
		where = c.State.Pairs[0].Name
	}
	return fmt.Sprintf("On %s the results differ, in %s of %s (%s). There %s.",
		where, readable.Thousands(mismatches), readable.Dots(dots), readable.Share(mismatches, dots), c.causesText(causes))
}

// causesText names the causes if they are few.
func (c *campaign) causesText(n int) string {
	const most = 3
	text, few := fmt.Sprintf("are %d causes", n), n <= most
	if n == 1 {
		text = "is one cause"
	}
	var names []string
	for _, cause := range fuzz.Causes(c.State) {
		doc := labelDoc(c.State, cause.Name)
		if few = few && doc != ""; few {
			names = append(names, cause.Name)
		}
	}
	if few {
		text += ": " + strings.Join(names, ", ")
	}
	return text
}

// targetsInWords describes the targets, each in a sentence.
func (c *campaign) targetsInWords() []string {
	var all []string
	for _, st := range c.State.Pairs {
		for side, name := range []string{st.TargetA, st.TargetB} {
			text := fmt.Sprintf("`%s` is %s.", name, targetInWords(name))
			if !c.several() {
				text = "AB"[side:side+1] + ": " + text
			}
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}

// kindsInWords describes the kinds of targets.
var kindsInWords = map[string]string{
	"cpu": "the processor of the machine that ran this", "cuda": "an NVIDIA GPU", "hip": "an AMD GPU", "vulkan": "a device of a Vulkan driver", "exec": "a command that somebody has written",
	"model": "a made-up unit, in software", "replay": "a recording of a unit",
}

// targetInWords describes a target.
func targetInWords(name string) string {
	kind, rest, _ := strings.Cut(name, ":")
	if arch, ok := mma.FindArch(rest); ok && kind == "sim" {
		return "a bit-accurate model of " + arch.Title + ", in software"
	}
	if ref, ok := oracle.FindReference(rest); ok && kind == "ref" {
		return "reference arithmetic: " + ref.Title
	}
	return cmp.Or(kindsInWords[kind], "a unit")
}

// interval returns the 95 % confidence interval of a share (Wilson's), in percent.
func interval(n, of uint64) string {
	if of == 0 {
		return ""
	}
	const z = 1.959964
	p, m := float64(n)/float64(of), float64(of)
	mid, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	lo, hi := max(0, 100*(mid-half)/(1+z*z/m)), 100*(mid+half)/(1+z*z/m)
	if n == 0 {
		lo = 0
	}
	return fmt.Sprintf("%.3g to %.3g%%", lo, hi)
}

// compared describes the targets, and has a row for each instruction: how often it differs,
// and why.
func (c *campaign) compared() []document.Block {
	columns := []string{"instruction", "#dot products", "#differ", "#share", "#95 % interval", "causes, by number of cases"}
	if c.several() {
		columns = slices.Insert(columns, 1, "A", "B")
	}
	t := document.Table{Caption: "How often each instruction differs", Columns: document.Columns(columns...)}
	t.Columns[len(columns)-2].Title = "of the share of such inputs, if they were drawn independently (Wilson)"
	for _, st := range c.State.Pairs {
		var causes []string
		for _, b := range st.Sorted() {
			causes = append(causes, b.Name)
		}
		if st.Rounded > 0 {
			causes = append(causes, "stochastic rounding")
		}
		n := st.Mismatches()
		text := strings.Join(readable.First(causes, 4), ", ")
		if n == 0 {
			text = sameText(st, c.Incomplete != "")
		}
		cells := []string{"`" + st.Name + "`", readable.Thousands(st.Dots), readable.Thousands(n), readable.Share(n, st.Dots), interval(n, st.Dots), text}
		if c.several() {
			cells = slices.Insert(cells, 1, st.TargetA, st.TargetB)
		}
		t.Add(cells...)
	}
	text := "A and B compute d = a₀·b₀ + a₁·b₁ + … + c for the same operands, one dot product of an instruction at a time. Results are compared " + c.policies() + ". The inputs are listed below, with the generators that make them."
	if slices.ContainsFunc(c.State.Pairs, func(st *fuzz.PairState) bool { return strings.Contains(st.Name, " ~ ") }) {
		text += " x ~ y compares the instruction x of A with y of B; the shorter of the two is executed several times, its result being the next c."
	}
	blocks := []document.Block{document.List(c.targetsInWords()...), document.Text(text), &t,
		document.Note("The interval (Wilson) is one for the share that these generators have with all seeds. It takes inputs for independent of each other, which variations of one input (`around`, `mutate`) and enumerated ones are not, and says nothing of other inputs: the generators aim at what units may do differently. Instructions whose numbers are equal may have the same arithmetic and inputs.")}
	return blocks
}

// alerts say what must not be missed: that the campaign is not complete, or that cases have no
// cause.
func (c *campaign) alerts() (blocks []document.Block) {
	if text := c.incompleteText(); text != "" {
		blocks = append(blocks, document.Alert(text))
	}
	unexamined := uint64(0)
	for _, st := range c.State.Pairs {
		unexamined += st.Unexamined
		for _, r := range st.Stochastic {
			switch {
			case st.StochasticText(r) == "":
			case r.Found == nil || r.Found.Defect != "":
				blocks = append(blocks, document.Alert(st.StochasticText(r)))
			default:
				blocks = append(blocks, document.Note(st.StochasticText(r)))
			}
		}
	}
	if unexamined > 0 {
		blocks = append(blocks, document.Alert(readable.Thousands(unexamined)+" of the differing dot products count for no cause: what they have in common was not looked for."))
	}
	return blocks
}

// policies says how results are compared.
func (c *campaign) policies() string {
	var except []string
	for _, x := range []struct{ policy, words string }{{"NaNs by class", "any NaN equals any other"}, {"zeros by class", "+0 equals -0"}} {
		var names []string
		for i, st := range c.State.Pairs {
			if strings.Contains(c.Policies[i], x.policy) {
				names = append(names, st.Name)
			}
		}
		switch {
		case len(names) == len(c.State.Pairs):
			except = append(except, x.words)
		case names != nil:
			except = append(except, x.words+" on "+strings.Join(readable.First(names, 3), ", "))
		}
	}
	if except == nil {
		return "bit by bit, the codes of NaNs and the signs of zeros included"
	}
	return "bit by bit, except that " + strings.Join(except, ", and that ")
}

// inputs lists the generators, with what they make.
func (c *campaign) inputs() []document.Block {
	sum, docs := c.bySource(), map[string]string{}
	for _, st := range c.State.Pairs {
		for name := range st.Next {
			if src, err := gen.ParseSource(name); err == nil {
				docs[src.Generator.Name] = src.Generator.Doc
			}
		}
	}
	t := document.Table{Caption: "The inputs, by generator", Columns: document.Columns("generator", "what it makes", "#dot products", "#differ", "#share")}
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		n := sum[name]
		t.Add("`"+name+"`", docs[name], readable.Thousands(n.Dots), readable.Thousands(n.Mismatches), readable.Share(n.Mismatches, n.Dots))
	}
	return []document.Block{document.Text(fmt.Sprintf("They come from these generators, with the seed %d. Where a generator has a version, as in cut@1[24,25], that is the number after the @; the numbers in brackets are the places of bits that it aims at.", c.Seed)), &t}
}

// bySource counts the dot products of all pairs by generator.
func (c *campaign) bySource() map[string]fuzz.Tally {
	sum := map[string]fuzz.Tally{}
	for _, st := range c.State.Pairs {
		for name, n := range st.Where.Sources {
			t := sum[name]
			sum[name] = fuzz.Tally{Dots: t.Dots + n.Dots, Mismatches: t.Mismatches + n.Mismatches}
		}
	}
	return sum
}

// causes explains each primary cause with its smallest finding.
func (c *campaign) causes() ([]document.Block, error) {
	_, mismatches, _ := c.State.Totals()
	var blocks []document.Block
	causes, parts := fuzz.Causes(c.State), changesBehind(c.State, ofAnyLabel(mma.Brief))
	if len(causes) > 0 {
		blocks = append(blocks, document.Text("A cause is a part of the arithmetic in which the two units differ: give A that of B, or B that of A, and the results of the dot product are equal. That was computed for each differing dot product. Each counts once: where any of several causes would do alone, for the one that comes first in the computation, and where several are needed together, for the first of these."))
	}
	first := true
	for _, cause := range causes {
		blocks = append(blocks, document.Heading(cause.Name+": "+cmp.Or(labelDoc(c.State, cause.Name), "results that no part of the arithmetic explains")))
		text := fmt.Sprintf("The cause of %s of the differing dot products (%s), on %d of %s.", readable.Thousands(cause.Cases), readable.Share(cause.Cases, mismatches),
			cause.Pairs, readable.Plural(len(c.State.Pairs), "instruction"))
		if cause.MaxUlp > 0 {
			text += " " + apart(cause.MaxUlp)
		}
		more, other := folded(&cause)
		if other > 0 {
			text += fmt.Sprintf(" In %s of them another cause alone would do as well.", atLeast(&cause, other))
		}
		if more > 0 {
			text += fmt.Sprintf(" In %s another cause is needed, too.", atLeast(&cause, more))
		}
		blocks = append(blocks, document.Text(text), partsList(parts[triage.Label(cause.Name)]))
		b := c.smallest(cause.Name)
		if b == nil {
			blocks = append(blocks, document.Note("No bundle of this cause is here."))
			continue
		}
		example, err := c.example(b, first)
		if err != nil {
			return nil, err
		}
		first = false
		blocks = append(blocks, example...)
	}
	return append(blocks, c.others(causes, parts)...), nil
}

// partsList lists the changes behind a cause, each with its instructions.
func partsList(parts []behind) document.Block {
	if len(parts) == 1 {
		return document.Text("On all of them, from A to B: " + parts[0].whole() + ".")
	}
	var items []string
	for _, p := range parts {
		items = append(items, fmt.Sprintf("From A to B: %s, on %s.", p.whole(), strings.Join(readable.First(p.instructions, 3), ", ")))
	}
	return document.List(items...)
}

// others names the parts of the arithmetic in which the units differ although no dot product
// counts for them.
func (c *campaign) others(causes []fuzz.Cause, parts map[triage.Label][]behind) []document.Block {
	labels := labelsOf(causes)
	for _, cause := range causes {
		delete(labels, triage.Label(cause.Name))
	}
	var items []string
	for _, l := range triage.Labels() {
		if !labels[l.Label] {
			continue
		}
		text := string(l.Label) + ", " + labelDoc(c.State, string(l.Label))
		for i, p := range parts[l.Label] {
			text += []string{": from A to B ", "; "}[min(i, 1)] + p.whole() + ", on " + strings.Join(readable.First(p.instructions, 3), ", ")
		}
		items = append(items, text+".")
	}
	if items == nil {
		return nil
	}
	return []document.Block{document.Heading("Other differences"), document.Text("The units differ in these parts as well. No dot product counts for them: where they are needed, or would do alone, one of the causes above comes first."), document.List(items...)}
}

// apart describes the largest distance between results.
func apart(ulps float64) string {
	const far = 10_000
	switch {
	case ulps == 1:
		return "Their results are neighbouring numbers."
	case ulps < far:
		return "Their results are up to " + readable.Thousands(uint64(ulps)) + " representable numbers apart."
	}
	text := readable.Ulps(ulps)
	if ulps < 1<<53 {
		text = readable.Thousands(uint64(ulps))
	}
	return "Their results are up to " + text + " representable numbers apart, an infinity being the one after the largest."
}

// example shows a finding.
func (c *campaign) example(b *corpus.Bundle, first bool) ([]document.Block, error) {
	m := &b.Mismatch
	pic, err := bundle.Picture(m, "")
	if err != nil {
		return nil, err
	}
	base, other := m.A.Target, m.B.Target
	if m.Base == "b" {
		base, other = other, base
	}
	caption := m.Bucket + " on " + pic.Input.Title + ": made equal on both sides, both give the same result for the input below"
	blocks := []document.Block{report.ChangesTable(m.Formats, caption, m.CaseChanges, base, other)}
	if names := fuzz.LabelsIn(m.Detail); strings.Contains(m.Detail, "|") {
		blocks = append(blocks, document.Text("On this input any of these alone, made equal, would do: "+strings.Join(names, ", ")+". So what happens to it need not show the first."))
	}
	blocks = append(blocks, document.Text("The smallest input found that shows it (fewest terms, then fewest bits), and what happens to it:"))
	blocks = append(blocks, document.Steps(report.InWords(pic)...), bundle.Drawing(pic, first, false))
	if words := bundle.Rerun(m, b.Dir); words != nil {
		blocks = append(blocks, document.Text("To run this case again:"), document.Command(strings.Join(words, " ")))
	}
	return blocks, nil
}

// smallest returns the bundle of a cause that is the easiest to understand (results that are
// numbers, few labels, few terms), nil if there is none.
func (c *campaign) smallest(cause string) *corpus.Bundle {
	var best *corpus.Bundle
	var key []int
	for _, b := range c.bundles {
		m := &b.Mismatch
		if m.Bucket != cause {
			continue
		}
		terms := 0
		if dot, err := m.Dot(); err == nil {
			terms = minimize.Terms(m.Formats, dot)
		}
		k := []int{0, strings.Count(m.Detail, "+") + 2*strings.Count(m.Detail, "|"), terms, m.K, len(m.Case)}
		if m.Class != oracle.Value.String() {
			k[0] = 1
		}
		if best == nil || slices.Compare(k, key) < 0 {
			best, key = b, k
		}
	}
	return best
}

// matrix shows, for each instruction and each cause, the share of dot products that differ by
// the cause.
func (c *campaign) matrix() document.Block {
	all := fuzz.Causes(c.State)
	h := document.Heat{Title: "share of the dot products of each instruction that differ by each cause", Key: "share of the instruction's dot products that differ by the cause"}
	for _, x := range all {
		h.Columns = append(h.Columns, x.Name)
	}
	for _, st := range c.State.Pairs {
		name := st.Name
		if c.several() {
			name = st.TargetA + " ~ " + st.TargetB + " " + name
		}
		h.Rows = append(h.Rows, name)
		var row []document.HeatCell
		for _, x := range all {
			cell := document.HeatCell{Text: "="}
			if b := st.Buckets[x.Name]; b != nil {
				cell = document.HeatCell{Share: float64(b.Cases) / float64(st.Dots), Text: readable.Share(b.Cases, st.Dots),
					Title: fmt.Sprintf("%s: %s of %s dot products differ by %s", name, readable.Thousands(b.Cases), readable.Thousands(st.Dots), x.Name)}
			}
			row = append(row, cell)
		}
		h.Cells = append(h.Cells, row)
	}
	return document.Figure{Picture: &h, Caption: "Rows are instructions, columns causes; = means that no dot product differs by the cause."}
}

func (c *campaign) several() bool {
	first := c.State.Pairs[0]
	return slices.ContainsFunc(c.State.Pairs, func(st *fuzz.PairState) bool { return st.TargetA != first.TargetA || st.TargetB != first.TargetB })
}

// distances shows how far results are apart.
func (c *campaign) distances() document.Block {
	var sum []uint64
	for _, st := range c.State.Pairs {
		for n, cases := range st.Where.Ulps {
			for n >= len(sum) {
				sum = append(sum, 0)
			}
			sum[n] += cases
		}
	}
	b := document.Bars{Title: "differing dot products by how far their results are apart", X: "distance in representable numbers (ulp): from here to less than twice that", Y: "dot products", Log: true}
	numbers := document.Table{Columns: document.Columns("#distance, at least", "#dot products")}
	for n, cases := range sum {
		if n == 0 && cases == 0 {
			continue
		}
		label := "0"
		if n > 0 {
			label = readable.Ulps(math.Ldexp(1, n-1))
			if n > 4 {
				label = "2" + document.Superscript(n-1)
			}
		}
		b.Bars = append(b.Bars, document.Bar{Label: label, Value: float64(cases), Title: fmt.Sprintf("%s dot products differ by %s or more, less than twice that", readable.Thousands(cases), label)})
		numbers.Add(label, readable.Thousands(cases))
	}
	return document.Figure{Picture: &b, Caption: "How far the two results are apart, in numbers of the result's format: 1 is neighbouring numbers. Formats of all lengths are counted together; two results of opposite sign are up to 2³² apart in FP32 and 2¹⁶ in FP16, and two infinities a little more." + notApart(c.State.Pairs), Numbers: &numbers}
}

// notApart says how many differing dot products have no distance, and why.
func notApart(pairs []*fuzz.PairState) string {
	var mismatches, apart uint64
	counts := make([]uint64, oracle.Fault+1)
	for _, st := range pairs {
		mismatches += st.Mismatches()
		for class, n := range st.Classes {
			counts[class] += n
		}
		for _, n := range st.Where.Ulps {
			apart += n
		}
	}
	var parts []string
	add := func(n uint64, what string) {
		if n > 0 {
			parts = append(parts, readable.Thousands(n)+" "+what)
		}
	}
	add(counts[oracle.Inf], "with an infinity and a number")
	add(counts[oracle.NaN], "with a NaN and none")
	add(counts[oracle.NaNCode], "with two NaNs")
	add(counts[oracle.ZeroSign], "with zeros of two signs")
	add(counts[oracle.Fault], "without a result")
	add(counts[oracle.Value]-min(apart, counts[oracle.Value]), "of instructions that set flags")
	if parts == nil {
		return ""
	}
	return fmt.Sprintf(" %s of %s differing dot products are not here: %s.", readable.Thousands(mismatches-min(apart, mismatches)), readable.Thousands(mismatches), strings.Join(parts, ", "))
}

// sources shows which generator finds the differences, instruction by instruction.
func (c *campaign) sources() document.Block {
	sum := c.bySource()
	names := slices.SortedFunc(maps.Keys(sum), func(x, y string) int {
		return cmp.Or(cmp.Compare(share(sum[y]), share(sum[x])), cmp.Compare(x, y))
	})
	h := document.Heat{Title: "share of the inputs of each generator that differ on each instruction", Key: "share of the generator's inputs that differ", Rows: names}
	differing := slices.DeleteFunc(slices.Clone(c.State.Pairs), func(st *fuzz.PairState) bool { return st.Mismatches() == 0 })
	const most = 12
	shortened := len(differing) > most
	if shortened {
		slices.SortStableFunc(differing, func(x, y *fuzz.PairState) int { return cmp.Compare(y.Mismatches(), x.Mismatches()) })
		differing = differing[:most]
	}
	for _, st := range differing {
		h.Columns = append(h.Columns, st.Name)
	}
	for _, name := range names {
		var row []document.HeatCell
		for _, st := range differing {
			n, ok := st.Where.Sources[name]
			cell := document.HeatCell{Share: -1}
			if ok && n.Dots > 0 {
				cell = document.HeatCell{Share: share(n), Text: readable.Share(n.Mismatches, n.Dots), Title: fmt.Sprintf("%s on %s: %s of %s differ", name, st.Name, readable.Thousands(n.Mismatches), readable.Thousands(n.Dots))}
			}
			row = append(row, cell)
		}
		h.Cells = append(h.Cells, row)
	}
	caption := "Which inputs find the differences: rows are generators, the most successful first; columns are instructions on which results differ"
	if shortened {
		caption += fmt.Sprintf(", the %d with the most", most)
	}
	return document.Figure{Picture: &h, Caption: caption + "."}
}

func share(t fuzz.Tally) float64 {
	if t.Dots == 0 {
		return 0
	}
	return float64(t.Mismatches) / float64(t.Dots)
}

// spread shows how often results differ by the distance between the exponents of the terms.
func (c *campaign) spread() document.Block {
	sum := make([]fuzz.Tally, fuzz.SpreadMost+2)
	traced := uint64(0)
	for _, st := range c.State.Pairs {
		for n, t := range st.Where.Spread {
			sum[n] = fuzz.Tally{Dots: sum[n].Dots + t.Dots, Mismatches: sum[n].Mismatches + t.Mismatches}
			traced += t.Dots
		}
	}
	const few = 20
	s := document.Series{Name: "share that differ"}
	numbers := document.Table{Columns: document.Columns("#binades", "#inputs of the sample", "#differ", "#share")}
	for n, t := range sum {
		if t.Dots == 0 {
			continue
		}
		label := fmt.Sprint(n)
		if n > fuzz.SpreadMost {
			label = fmt.Sprintf("more than %d", fuzz.SpreadMost)
		}
		numbers.Add(label, readable.Thousands(t.Dots), readable.Thousands(t.Mismatches), readable.Share(t.Mismatches, t.Dots))
		if n <= fuzz.SpreadMost && t.Dots >= few {
			s.Points = append(s.Points, document.Point{X: float64(n), Y: 100 * share(t), Title: fmt.Sprintf("%d binades: %s of %s differ", n, readable.Thousands(t.Mismatches), readable.Thousands(t.Dots))})
		}
	}
	plot := document.Plot{Title: "share of differing inputs by the distance of exponents", X: document.Axis{Label: "binades between the largest and the smallest term of a sum"}, Y: document.Axis{Label: "inputs that differ, in %"}, Series: []document.Series{s}}
	return document.Figure{Picture: &plot, Caption: fmt.Sprintf("At which distance of exponents results differ, of a sample of %s inputs of all instructions. A unit that drops bits a number of places below the largest term shows as a step at that distance; points of few inputs scatter around it, and distances with fewer than %d have none (the table has the numbers).", readable.Thousands(traced), few), Numbers: &numbers}
}

// curve shows how many causes were known after how many dot products.
func (c *campaign) curve() document.Block {
	causes, kinds := document.Series{Name: "distinct causes", Steps: true}, document.Series{Name: "causes, counted for each instruction", Steps: true}
	numbers := document.Table{Columns: document.Columns("#dot products", "#differ", "#causes", "#causes of instructions")}
	for _, m := range c.Curve {
		x := float64(m.Dots)
		causes.Points = append(causes.Points, document.Point{X: x, Y: float64(m.Causes)})
		kinds.Points = append(kinds.Points, document.Point{X: x, Y: float64(m.Kinds)})
		numbers.Add(readable.Thousands(m.Dots), readable.Thousands(m.Mismatches), fmt.Sprint(m.Causes), fmt.Sprint(m.Kinds))
	}
	plot := document.Plot{Title: "distinct causes by dot products", X: document.Axis{Label: "dot products compared", Log: true}, Y: document.Axis{Label: "causes"}, Series: []document.Series{causes, kinds}}
	return document.Figure{Picture: &plot, Caption: "How many causes were known after how many dot products. A curve that has been flat for long has probably seen all that these generators find; parts that never count as a cause are not in it.", Numbers: &numbers}
}

// drawnMost is how many bytes of pictures a page has, so that a page of hundreds of findings
// stays below 2 MB.
const drawnMost = 1_200_000

// findings lists all findings, with the pictures of the first ones.
func (c *campaign) findings() ([]document.Block, error) {
	t := document.Table{Caption: "The cases that are kept", Columns: document.Columns("bundle", "cause", "result of A", "result of B", "found by")}
	var pictures []document.Block
	drawn := 0 // bytes
	for _, b := range c.bundles {
		m := &b.Mismatch
		name := strings.TrimPrefix(filepath.ToSlash(b.Dir), filepath.ToSlash(c.dir)+"/")
		t.Add("", cmp.Or(m.Detail, m.Bucket), "`"+m.A.Result+"`", "`"+m.B.Result+"`", m.Origin.Source)
		t.Rows[len(t.Rows)-1][0] = document.Cell{Text: name, Class: "name"}
		if drawn > drawnMost {
			continue
		}
		pic, err := bundle.Picture(m, "")
		if err != nil {
			return nil, err
		}
		drawing := bundle.Drawing(pic, false, false)
		pictures = append(pictures, document.Fold(name, drawing))
		drawn += len(drawing.Picture.SVG())
	}
	blocks := []document.Block{document.Text(c.keptText()),
		document.Note("The cause a+b: only a and b together, made equal on both sides, make the results equal. a|b: each of them alone does. After a colon stands in what the results differ if it is no plain number, as in overflow:nan, where one is a NaN. What follows an @ in a source is its version."), &t}
	for _, d := range c.damaged {
		blocks = append(blocks, document.Alert(d))
	}
	switch {
	case len(c.bundles) > len(pictures):
		blocks = append(blocks, document.Text(fmt.Sprintf("The pictures of the first %d follow. `mmafuzz show --html BUNDLE` makes a page of any.", len(pictures))))
	case len(c.bundles) > 0:
		blocks = append(blocks, document.Text("Their pictures follow. `mmafuzz show --html BUNDLE` makes a page of one."))
	}
	return append(blocks, pictures...), nil
}

// keptText says which findings are listed.
func (c *campaign) keptText() string {
	text := fmt.Sprintf("Each of these is a directory (a bundle) below `%s`, with the input, both results and programs that reproduce them.", readable.ShellPath(c.dir))
	if n := c.State.NotKept(); n > 0 {
		text += fmt.Sprintf(" %s more, of other instructions or combinations of causes, were not kept: there is one for each cause of an instruction and one for each combination of causes, as many as `run --max-bundles` allows.", readable.Plural(n, "finding"))
	}
	return text
}

// repeatCommand says how to repeat the campaign.
func (c *campaign) repeatCommand() []document.Block {
	if c.several() || len(c.State.Counts) == 0 {
		return []document.Block{document.Text("Every finding can be run again with `mmafuzz replay` and the directory of its bundle.")}
	}
	st := c.State.Pairs[0]
	words := []string{"mmafuzz", "run", "--a", st.TargetA, "--b", st.TargetB}
	if len(c.State.Pairs) == 1 {
		a, b, unlike := strings.Cut(st.Name, " ~ ")
		if words = append(words, "--inst", a); unlike {
			words = append(words, "--inst-b", b)
		}
	}
	words = append(words, "--seed", fmt.Sprint(c.Seed), "--count", fmt.Sprint(c.State.Counts[len(c.State.Counts)-1]))
	return []document.Block{document.Text("The same inputs again, on any machine that has the two units, with any number of workers (--count is for each instruction). If the campaign was started with flags that select instructions or generators, such as --inst, add them: the journal does not have them."), document.Command(readable.ShellCommand(words...))}
}
