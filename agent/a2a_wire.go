package agent

import (
	"strings"

	"github.com/earshot-ai/earshot/llm"
)

// An a2aVersion is how one version of the protocol is written. What agents answer is read
// leniently, as either (a2a_read.go).
type a2aVersion struct {
	name                                 string
	send, stream, get, subscribe, cancel string // methods
	role                                 string // of who asks
	extensions                           string // the header that names extensions
	part                                 func(a2aPart) map[string]any
	configuration                        map[string]any // of a message to an agent that does not stream
}

// The versions, as their specifications have them: https://a2a-protocol.org/v1.0.0/specification
// and https://a2a-protocol.org/v0.3.0/specification.
var (
	version1 = &a2aVersion{
		name: "1.0", send: "SendMessage", stream: "SendStreamingMessage", get: "GetTask", subscribe: "SubscribeToTask", cancel: "CancelTask",
		role: "ROLE_USER", extensions: "A2A-Extensions", part: part1,
		configuration: map[string]any{"returnImmediately": true},
	}
	version03 = &a2aVersion{
		name: "0.3", send: "message/send", stream: "message/stream", get: "tasks/get", subscribe: "tasks/resubscribe", cancel: "tasks/cancel",
		role: "user", extensions: "X-A2A-Extensions", part: part03,
		configuration: map[string]any{"blocking": false},
	}
)

// covers reports whether a version that a card names is this one; what came before 0.3 is
// written alike.
func (v *a2aVersion) covers(name string) bool {
	if v == version03 {
		return strings.HasPrefix(name, "0.3") || strings.HasPrefix(name, "0.2")
	}
	return name == "1" || strings.HasPrefix(name, "1.")
}

// versionOf returns the version of a card.
func versionOf(c Card) *a2aVersion {
	if c.Version == version1.name {
		return version1
	}
	return version03
}

// An a2aPart is a part of a message to an agent: a text, or a file.
type a2aPart struct {
	text string
	file *llm.Media
	kind string // what it is, where it is not new: instructions, user, assistant
}

func part1(p a2aPart) map[string]any {
	out := map[string]any{}
	if p.file != nil {
		out["raw"], out["filename"], out["mediaType"] = p.file.Data, p.file.Name, p.file.Type
	} else {
		out["text"] = p.text
	}
	return p.mark(out)
}

func part03(p a2aPart) map[string]any {
	out := map[string]any{"kind": "text", "text": p.text}
	if p.file != nil {
		out = map[string]any{"kind": "file", "file": map[string]any{"bytes": p.file.Data, "name": p.file.Name, "mimeType": p.file.Type}}
	}
	return p.mark(out)
}

// mark writes beside a part what it is.
func (p a2aPart) mark(out map[string]any) map[string]any {
	if p.kind != "" {
		out["metadata"] = map[string]any{TurnExtension: map[string]string{"part": p.kind}}
	}
	return out
}
