// Package llm has the requests to language models and their answers, in a form
// that belongs to no provider.
//
// Start with [Model], which a provider's adapter implements, [Request] and
// [Response]. [FromResult] makes a request of an assembled context:
//
//	r, err := llm.FromResult(result, &llm.Options{Tools: tools})
//	answer, err := model.Generate(ctx, r, nil)
//
// Where the answer calls tools, the caller runs them, appends the answer and the
// results to the request, and asks again:
//
//	r = r.Append(answer, llm.Results(results...))
//	answer, err = model.Generate(ctx, r, nil)
//
// The types are data: they can be compared, stored as JSON and read back
// unchanged. The package is pure, and no function changes its arguments. A value
// must not be changed while another goroutine uses it.
package llm

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A Model answers requests. It is safe for concurrent use.
type Model interface {
	// Generate answers one request. It tries once: the caller decides about
	// retries, by the fields of the [*Error].
	//
	// stream, unless it is nil, is called with each piece of the answer while it
	// is written: in order, never concurrently, and not after Generate has
	// returned. The texts of the events, joined, are the text of the response;
	// only those after the last Again count.
	//
	// The response is complete, or there is an error: where a stream breaks off,
	// it is an *Error that is Retryable. When ctx ends, ctx.Err() is in the
	// error's chain. The error never holds a key or a URL. The request is
	// neither changed nor kept.
	Generate(ctx context.Context, r Request, stream func(Event)) (Response, error)
}

// A Request is everything that a model reads for one answer.
type Request struct {
	// System is the static guide and the operator's own text. It holds nothing
	// that people wrote in a chat.
	System string `json:"system,omitempty"`
	// Tools are those that the model may call. Their order is part of the prefix
	// that providers cache, so keep it between requests.
	Tools []Tool `json:"tools,omitempty"`
	// Messages alternate between the roles; the first and the last are the
	// user's.
	Messages []Message `json:"messages"`
	// MaxTokens bounds the answer; it is above 0.
	MaxTokens int `json:"max_tokens"`
	// NoCalls forbids calls while Tools, and with them the cached prefix, stay the
	// same: for the last round of a turn.
	NoCalls bool `json:"no_calls,omitempty"`
	// Cache marks the end of Tools and System as worth caching.
	Cache bool `json:"cache,omitempty"`
	// Turn says whose question it is; nil where an agent is not asked.
	Turn *Turn `json:"-"`
}

// MaxBreakpoints is how many marks for caching a request may have, that of the
// request itself included. It is Anthropic's bound; providers that cache by
// themselves ignore the marks.
const MaxBreakpoints = 4

// A Message is what one role contributes until the other one does. Results of
// tools belong to the user.
type Message struct {
	Role  earshot.Role `json:"role"`
	Parts []Part       `json:"parts"`
	// Cache marks the message's end as worth caching: the next request will
	// begin with the same messages up to here.
	Cache bool `json:"cache,omitempty"`
}

// A Tool is a function that a model may call.
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
	Text string // the next piece of the answer's text
	Call string // the name of a tool whose call begins
	// Status is what an agent is doing, in a few words, before it writes. It is no part of the
	// answer.
	Status string `json:",omitempty"`
	// Task is what an agent calls its work on this request, as soon as that is known: whoever
	// makes the same request again gives it back ([Turn].Task).
	Task string `json:",omitempty"`
	// Again says that the answer broke off and begins anew, perhaps by another
	// model: all texts before are void. Adapters of models never send it, since they try
	// once; a wrapper that retries does, if any event came before, and an agent may take back
	// what it wrote.
	Again bool
}

// A Stop says why an answer ends.
type Stop string

// The stops. An answer has calls if and only if its stop is StopCalls: calls of
// an answer that was cut off are left out.
const (
	StopEnd     Stop = "end"     // it is complete
	StopCalls   Stop = "calls"   // tools are called, and the answer waits for them
	StopLength  Stop = "length"  // MaxTokens or the model's own limit was reached
	StopRefused Stop = "refused" // the model or the provider declined to answer
)

// A Response is a complete answer.
type Response struct {
	Parts    []Part        `json:"parts"`
	Stop     Stop          `json:"stop"`
	Usage    earshot.Usage `json:"usage"`
	Provider string        `json:"provider"` // such as anthropic
	Model    string        `json:"model"`    // as the provider names it
	// Counted, unless it is nil, is our own count, to compare Usage with.
	Counted *CountedRequest `json:"counted,omitempty"`
	// Sent, unless it is nil, identifies the request as it went over the network.
	// An adapter sets it. A model that sends nothing has none.
	Sent *SentBody `json:"sent,omitempty"`
}

// A SentBody identifies the body of a request that a provider was sent, and holds what
// its [Request] had besides system text and messages. Who makes the same request
// again and gets a body with the same hash has the very bytes. Keys and headers
// are not in it, nor is the address of the server, which may contain a key.
type SentBody struct {
	Model  string `json:"model"`          // as it was asked for; Response.Model is as the provider names it
	Path   string `json:"path"`           // of the API's URL, below its base URL
	Form   string `json:"form,omitempty"` // which of several ways the adapter wrote it in; its own word
	Bytes  int    `json:"bytes"`          // length of the body
	SHA256 string `json:"sha256"`         // of the body, in lower-case hex

	MaxTokens int  `json:"max_tokens"`
	Tools     int  `json:"tools,omitempty"` // how many were offered
	NoCalls   bool `json:"no_calls,omitempty"`
}

// A CountedRequest is the length of a request by our own count. The caller of a model
// sets it, not an adapter.
type CountedRequest struct {
	Model  string `json:"model"`  // the requested name; a provider may answer with another
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

// Append returns the request that follows an answer which calls tools: r, the
// answer, and the results as [Results] makes them. Its end is marked for caching
// instead of that of an earlier round, within [MaxBreakpoints]. r is not changed.
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
