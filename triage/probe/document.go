package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
)

// Table lists answers for people, with the inputs and results that they rest on.
func Table(answers []Answered) document.Block {
	t := &document.Table{Bare: true, Columns: []document.Column{{Name: "test"}, {Name: "question", Narrow: true}, {Name: "answer"}, {Name: "proof", Blocks: true}}}
	for _, a := range answers {
		value := a.Value
		if a.Why != "" {
			value += " (" + a.Why + ")"
		}
		proof := document.Fold("inputs", document.Pre(strings.Join(a.Evidence, "\n")))
		t.Rows = append(t.Rows, document.Row{{Text: a.ID}, {Text: a.Question}, {Text: value, Plain: true}, {Block: proof}})
	}
	return document.Indent(2, t)
}

// Figure draws the summation tree of a unit of K products for people.
func (t *Tree) Figure(k int) document.Block {
	return document.Indent(2, document.Figure{
		Picture: t.canvas(k).Titled("summation tree"), Text: t.Text(k),
		Caption: "The order in which the unit adds its products p0, p1, … and c: + adds two terms; Σ (blue) adds several in one sum, in which a large term makes small ones vanish even if it is cancelled by another; Σ exact (framed) adds several without such a loss.",
	})
}

// NoTree says to people why there is no summation tree.
func NoTree(why string) document.Block {
	return document.Indent(2, document.Text("There is no summation tree: "+why))
}

// answerLine is a line that mmafuzz probe --json writes: an answer or the summation tree.
type answerLine struct {
	Answered
	Tree    string `json:"tree"`
	Problem string `json:"problem"`
}

// About is what answers are, for people.
const About = "The questions that the literature has asked of matrix units, and what this unit answers: each answer rests on inputs and results, which can be asked for again."

// Page makes the document of answers in JSON lines. The title names the unit.
func Page(title string, lines []byte) (*document.Document, error) {
	p := document.New(title, About)
	answers := map[string][]Answered{}
	var tree []document.Block
	d := json.NewDecoder(bytes.NewReader(lines))
	for {
		var a answerLine
		if err := d.Decode(&a); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("these are no answers of mmafuzz probe --json: %w", strictjson.Error(lines, err))
		}
		switch {
		case a.Paper != "":
			answers[a.Paper] = append(answers[a.Paper], a.Answered)
		case a.Tree != "":
			tree = append(tree, document.Text("( ) is the sum of two terms, [ ] a fused sum in which a large term makes small ones vanish, { } an exact one. p0, p1, … are products."), document.Pre(a.Tree))
		case a.Problem != "":
			tree = append(tree, NoTree(a.Problem))
		}
	}
	if len(answers) == 0 && tree == nil {
		return nil, errors.New("these are no answers of mmafuzz probe --json")
	}
	p.Add("How the unit adds", tree...)
	for _, paper := range Papers {
		if all := answers[paper.Key]; all != nil {
			p.Add(paper.Title, document.OnPage(document.Note("A dash: no input of these formats decides the question.")), Table(all))
		}
	}
	return p, nil
}
