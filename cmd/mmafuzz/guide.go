package main

import (
	"embed"
	"io"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
)

// Guides are short texts in Markdown with an example first, which help prints.
//
//go:embed guides/*.md
var guideFiles embed.FS

type guide struct{ name, title, text string }

// guides returns all of them, by name.
func guides() (all []guide) {
	files, _ := guideFiles.ReadDir("guides")
	for _, f := range files {
		text, _ := guideFiles.ReadFile("guides/" + f.Name())
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		all = append(all, guide{strings.TrimSuffix(f.Name(), path.Ext(f.Name())), title, string(text)})
	}
	return all
}

func findGuide(name string) (guide, bool) {
	for _, g := range guides() {
		if g.name == name {
			return g, true
		}
	}
	return guide{}, false
}

// write writes a guide for a terminal: blocks are indented instead of fenced.
func (g guide) write(w io.Writer) error {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(g.text) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside
		case strings.HasPrefix(line, "<!--"):
		case inside && line != "\n":
			b.WriteString("    " + line)
		default:
			b.WriteString(strings.TrimPrefix(line, "# "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// document makes a page of a guide.
func (g guide) document() *document.Document {
	d := document.New(g.title, "")
	_, text, _ := strings.Cut(g.text, "\n")
	var blocks []document.Block
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			_, code, _ := strings.Cut(part, "\n")
			blocks = append(blocks, document.Pre(strings.TrimSuffix(code, "\n")))
			continue
		}
		for paragraph := range strings.SplitSeq(part, "\n\n") {
			blocks = append(blocks, paragraphBlock(strings.Trim(paragraph, "\n")))
		}
	}
	d.Add("Step by step", blocks...)
	return d
}

// paragraphBlock makes a block of a paragraph, a list or indented text.
func paragraphBlock(text string) document.Block {
	switch {
	case strings.HasPrefix(text, "    "):
		return document.Pre(strings.ReplaceAll(text[4:], "\n    ", "\n"))
	case strings.HasPrefix(text, "- "):
		items := strings.Split(text[2:], "\n- ")
		for i := range items {
			items[i] = strings.Join(strings.Fields(items[i]), " ")
		}
		return document.List(items...)
	}
	return document.Text(strings.Join(strings.Fields(text), " "))
}

// newHelp makes the help command, which knows commands and guides. Where a guide has the name of a
// command, --help of that command lists the flags.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|GUIDE]",
		Short: "help about a command, or a guide",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				if g, ok := findGuide(args[0]); ok {
					return g.write(c.OutOrStdout())
				}
				if found, err := writeReference(c.OutOrStdout(), args[0]); found {
					return err
				}
			}
			topic, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownTopic(topic, append(rest, args...)[0])
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

func unknownTopic(c *cobra.Command, word string) error {
	if c.HasParent() {
		return unknownCommand(c, word)
	}
	names := commandNames(c)
	for _, g := range guides() {
		names = append(names, g.name)
	}
	names = append(names, references()...)
	return hint.New(hint.DidYouMean(hint.Nearest(word, names))+"mmafuzz --help lists the commands and the guides", "unknown command or guide %q", word)
}
