// Package llm is what Earshot says to a language model and hears from it, in
// the words of no provider.
//
// Start with [Model], the port that a provider's adapter implements, [Request]
// and [Response]. [FromResult] makes a request of an assembled context:
//
//	r, err := llm.FromResult(result, &llm.Options{Tools: tools})
//	answer, err := model.Generate(ctx, r, nil)
//
// An answer that calls tools is appended to the request with what the tools
// said, and asked again:
//
//	r = r.Append(answer, llm.Results(results...))
//
// The types are data: they are compared, stored as JSON in a turn's journal and
// read back unchanged. The package is pure. Nothing here is safe to change
// while another goroutine uses it; nothing here changes what it is given.
package llm

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A Model answers requests. It is safe for concurrent use.
type Model interface {
	// Generate answers one request. It tries once: who calls decides about
	// retries, by what the [*Error] says.
	//
	// stream, unless it is nil, hears of the answer while it is written. It is
	// called in order, never at the same time, and not after Generate has
	// returned. The texts of the events together are the text of the response:
	// of those after the last Again, where there is one.
	//
	// The response is whole or there is none: where a stream breaks off, the
	// error is an *Error that is Retryable. When ctx ends, ctx.Err() is in the
	// error's chain. The error never holds a key or a URL. The request is not
	// changed and not kept.
	Generate(ctx context.Context, r Request, stream func(Event)) (Response, error)
}

// A Request is all that a model reads.
type Request struct {
	// System is the static guide and the operator's own text. Nothing that was
	// said in chat stands in it.
	System string `json:"system,omitempty"`
	// Tools may be called, in this order; the same within an epoch, so that
	// the prefix stays the same.
	Tools []Tool `json:"tools,omitempty"`
	// Messages alternate between the roles; the first and the last are the
	// user's.
	Messages []Message `json:"messages"`
	// MaxTokens bounds the answer; it is above 0.
	MaxTokens int `json:"max_tokens"`
	// NoCalls keeps the model from calling tools without changing Tools: the
	// last round of a turn.
	NoCalls bool `json:"no_calls,omitempty"`
	// Cache marks the end of tools and system as worth caching.
	Cache bool `json:"cache,omitempty"`
}

// MaxBreakpoints is how many ends may be marked as worth caching in a request,
// that of the system text included. It is Anthropic's bound; providers that
// cache by themselves ignore the marks.
const MaxBreakpoints = 4

// A Message is one run of a role. What tools said is the user's.
type Message struct {
	Role  earshot.Role `json:"role"`
	Parts []Part       `json:"parts"`
	// Cache marks the message's end as worth caching: what stands up to here
	// comes again in the next request.
	Cache bool `json:"cache,omitempty"`
}

// A Tool is something that a model may call.
type Tool struct {
	// Name has 1 to 64 letters, digits, underscores and hyphens.
	Name        string `json:"name"`
	Description string `json:"description"`
	// Schema is the JSON Schema of the arguments, whose type is object.
	Schema JSON `json:"schema"`
}

// An Event is a step of an answer that is being written. One of its fields is
// set.
type Event struct {
	Text string // what the answer's text grows by
	Call string // the name of a tool whose call has begun
	// Again: the answer broke off and begins anew, perhaps by another model;
	// whatever was heard so far is void. An adapter, which tries once, never
	// says so; who tries again does, and only after something was heard.
	Again bool
}

// A Stop says why an answer ends.
type Stop string

// The stops. An answer holds calls if and only if its stop is StopCalls: a call
// that was cut off is nobody's to run.
const (
	StopEnd     Stop = "end"     // it is complete
	StopCalls   Stop = "calls"   // tools are called, and the answer waits for them
	StopLength  Stop = "length"  // MaxTokens or the model's own bound was reached
	StopRefused Stop = "refused" // the model or the provider declined
)

// A Response is a whole answer.
type Response struct {
	Parts    []Part        `json:"parts"`
	Stop     Stop          `json:"stop"`
	Usage    earshot.Usage `json:"usage"`
	Provider string        `json:"provider"` // such as anthropic
	Model    string        `json:"model"`    // as the provider names it
	// Counted, unless it is nil, is what Usage is compared with.
	Counted *Counted `json:"counted,omitempty"`
}

// A Counted says how long a request was by our own count. No adapter makes it:
// who asks the model does.
type Counted struct {
	Model  string `json:"model"`  // as it was asked for; a provider may name it otherwise
	Tokens int    `json:"tokens"` // of the request's text, tools' descriptions included, by the base counter
}

// Text returns the answer's text.
func (r Response) Text() string {
	var b strings.Builder
	for _, p := range r.Parts {
		if p.Kind == KindText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Calls returns the calls of tools, in order.
func (r Response) Calls() []Call {
	var calls []Call
	for _, p := range r.Parts {
		if p.Kind == KindCall && p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// Append returns the request that goes on after an answer that called tools,
// with what the tools said. The end of it is marked for caching, in the place
// of an earlier round's mark. r stays as it is.
func (r Request) Append(answer Response, results []Part) Request {
	messages := slices.Clone(r.Messages)
	if n := len(messages); n > 1 && messages[n-1].Cache && holdsResults(messages[n-1]) {
		messages[n-1].Cache = false
	}
	r.Messages = append(messages,
		Message{Role: earshot.Assistant, Parts: slices.Clone(answer.Parts)},
		Message{Role: earshot.User, Parts: slices.Clone(results), Cache: r.breakpoints(messages) < MaxBreakpoints})
	return r
}

func holdsResults(m Message) bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind == KindResult })
}

func (r Request) breakpoints(messages []Message) int {
	n := 0
	if r.Cache {
		n++
	}
	for _, m := range messages {
		if m.Cache {
			n++
		}
	}
	return n
}
