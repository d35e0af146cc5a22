// Package toolbox is the port to tools of one's own: what an agent can do besides
// reading its channel.
//
// Start with [Toolbox], which package tools/mcpclient implements for MCP servers and any
// Go program for itself.
//
// Unstable: what this package exports may change with any version.
package toolbox

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// A Toolbox offers tools and runs them. It is safe for concurrent use.
type Toolbox interface {
	// Tools returns the tools for a place, in any order. The list is part of the prefix
	// that providers cache: a list that differs from that of the turn before ends the
	// epoch, so it should change only where the tools do. Where the tools are not known
	// just now, as of a server that is away, it returns those that were known last; an
	// error leaves all of the toolbox out of the turn.
	Tools(ctx context.Context, p Place) ([]Tool, error)
	// Call runs a tool that Tools returned for the place. A tool that ran and says that
	// it failed is a Result with Failed. An error means that nobody knows whether it
	// ran, unless it is [ErrNotRun]; where it has a method Reason() string, the model is
	// told the reason, and nothing else of it. ctx ends when the tool's time is over, when
	// the turn ends and when the process stops; Call must return soon after.
	Call(ctx context.Context, p Place, c Call) (Result, error)
}

// ErrNotRun is in the chain of an error of [Toolbox.Call] that certainly ran nothing, as
// where no connection could be made.
var ErrNotRun = errors.New("the tool did not run")

// A Place is where a tool is offered and called.
type Place struct {
	Conversation earshot.ConversationID
	Channel      earshot.Channel
	Thread       earshot.MessageID // the root; "" at the channel's top level
	Asker        earshot.Author    // who is answered
}

// An Effect says what a tool does to the world.
type Effect string

// The effects. A tool without one writes.
const (
	Reads  Effect = "reads"
	Writes Effect = "writes"
)

// A Tool is what a model is told of a tool, and what the agent has to know of it.
type Tool struct {
	llm.Tool
	Effect Effect `json:"effect,omitempty"`
	// Idempotent says that a second call under the same [Call].ID does nothing more.
	Idempotent bool `json:"idempotent,omitempty"`
	// Approve says that a person has to agree to each call.
	Approve bool `json:"approve,omitempty"`
}

// MayRepeat reports whether a call that may have run can be made again.
func (t Tool) MayRepeat() bool { return t.Effect == Reads || t.Idempotent }

// Check returns an error that says why no model can be offered the tool; nil where one can.
func (t Tool) Check() error {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	switch {
	case t.Name == "" || len(t.Name) > 64 || strings.ContainsFunc(t.Name, odd):
		return fmt.Errorf("the name %q is not 1 to 64 letters, digits, underscores and hyphens", t.Name)
	case !t.Schema.Valid() || !strings.HasPrefix(strings.TrimSpace(string(t.Schema)), "{"):
		return fmt.Errorf("the schema of %s is no JSON object", t.Name)
	}
	return nil
}

// A Call is one call of a tool.
type Call struct {
	// ID is the same each time that the same call is tried, and of no other call of any
	// turn: letters, digits and hyphens, at most 64.
	ID   string
	Turn earshot.TurnID
	Name string
	Args string // a JSON object, as the model wrote it
	// Progress, unless it is nil, shows a few words on how far the call has come. It may
	// be called at any time until Call returns.
	Progress func(text string)
	// Ask, unless it is nil, asks who is answered, and waits for what they say. That time
	// does not count as the call's. It may be called until Call returns, once at a time and
	// [MaxQuestions] times. Where nobody answers the error is [ErrNoAnswer].
	Ask func(ctx context.Context, q Question) (answer string, err error)
}

// MaxQuestions is how many questions a call may ask.
const MaxQuestions = 8

// A Question is what a tool asks a person. It is shown as the tool's words.
type Question struct {
	Text    string   `json:"question"` // at most 1,000 characters are shown
	Options []string `json:"options"`  // answers to choose from, at most 4; another one can be written all the same
}

// ErrNoAnswer is the error of [Call].Ask where nobody answered: in time, or because nobody
// can be asked, or the turn ended.
var ErrNoAnswer = errors.New("nobody answered")

// A Result is what a tool answered.
type Result struct {
	Parts  []llm.Part // text, image, document or audio; none means an empty text
	Failed bool       // Parts say what went wrong
}
