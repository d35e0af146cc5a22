package explain_test

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

var (
	channel  = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel}
	everyone = access.Principal{ID: "key:test", Kind: access.Key}
	alice    = earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
)
