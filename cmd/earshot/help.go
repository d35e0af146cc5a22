package main

import (
	"embed"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/earshot-ai/earshot/internal/daemon/providers"
)

// helps has the long help of each command, in a file that is named for it.
//
//go:embed help
var helps embed.FS

// describe gives the commands below n their long help. The words of a command are
// joined by hyphens: help/import-slack.txt.
// In a text, ${keys} stands for the variables that hold the keys of models.
func describe(n *kong.Node, above string) {
	for _, c := range n.Children {
		name := above + c.Name
		text, _ := helps.ReadFile("help/" + name + ".txt") // a command of commands may have none
		c.Detail = strings.ReplaceAll(strings.TrimSpace(string(text)), "${keys}", strings.Join(providers.KeyVariables(), ", "))
		describe(c, name+"-")
	}
}
