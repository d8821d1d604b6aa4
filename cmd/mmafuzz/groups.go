package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// groups are the commands by what they are for, in the order in which help lists them. Every
// command is in one.
var groups = []struct{ id, title, commands string }{
	{"find", "Find differences:", "run record import compare bisect invariance vectors"},
	{"explain", "Explain them:", "show report diff prove probe infer eval replay minimize triage atlas"},
	{"measure", "Measure accuracy and speed:", "study gemm quantize tolerance bench"},
	{"operate", "Operate:", "campaign merge status corpus serve list doctor kit completion version help"},
}

// setGroups puts the commands into groups, and lists the guides below them.
func setGroups(root *cobra.Command) {
	group := map[string]string{}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for name := range strings.FieldsSeq(g.commands) {
			group[name] = g.id
		}
	}
	root.SetHelpCommandGroupID(group["help"])
	root.SetCompletionCommandGroupID(group["completion"])
	for _, c := range root.Commands() {
		c.GroupID = group[c.Name()]
	}
	var b strings.Builder
	b.WriteString("\n\nGuides, by mmafuzz help NAME:")
	for _, g := range guides() {
		fmt.Fprintf(&b, "\n  %-11s %s", g.name, g.title)
	}
	fmt.Fprintf(&b, "\n\nFormats and protocols, in the same way: %s.", strings.Join(references(), ", "))
	root.Long += b.String()
}
