package local_test

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/earshot-ai/earshot"
)

// The channel that every test has.
var (
	channel = earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: "general", Name: "general", Kind: earshot.KindChannel}
	scope   = channel.Scope()
)

// plain removes a terminal's colours.
func plain(s string) string { return ansi.Strip(s) }
