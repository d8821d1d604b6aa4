package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
)

// answerLine is a line that mmafuzz probe --json writes: an answer or the summation tree.
type answerLine struct {
	Answer
	Evidence []string `json:"evidence"`
	Tree     string   `json:"tree"`
	Problem  string   `json:"problem"`
}

// Page makes the page of answers in JSON lines. The title names the unit.
func Page(title string, lines []byte) (*document.Document, error) {
	p := document.New(title, "The questions that the literature has asked of matrix units, and what this unit answers: each answer rests on inputs and results, which can be asked for again.")
	answers := map[string]*document.Table{}
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
			t := answers[a.Paper]
			if t == nil {
				t = &document.Table{Columns: document.Columns("test", "question", "answer", "remark", "proof")}
				answers[a.Paper] = t
			}
			proof := document.Cell{}
			if len(a.Evidence) > 0 {
				text := ""
				for _, e := range a.Evidence {
					text += e + "\n"
				}
				proof.Block = document.Fold("inputs", document.Pre(text))
			}
			t.Rows = append(t.Rows, document.Row{{Text: a.ID}, {Text: a.Question}, {Text: "`" + a.Value + "`"}, {Text: a.Why}, proof})
		case a.Tree != "":
			tree = append(tree, document.Text("( ) is the sum of two terms, [ ] a fused sum in which a large term makes small ones vanish, { } an exact one. p0, p1, … are products."), document.Pre(a.Tree))
		case a.Problem != "":
			tree = append(tree, document.Text("There is no summation tree: "+a.Problem))
		}
	}
	if len(answers) == 0 && tree == nil {
		return nil, errors.New("these are no answers of mmafuzz probe --json")
	}
	p.Add("How the unit adds", tree...)
	for _, paper := range Papers {
		if t := answers[paper.Key]; t != nil {
			p.Add(paper.Title, document.Note("A dash: no input of these formats decides the question."), t)
		}
	}
	return p, nil
}
