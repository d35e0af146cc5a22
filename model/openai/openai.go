// Package openai answers by OpenAI's models, and by those of every server that
// speaks the same chat completions API
// (https://platform.openai.com/docs/api-reference/chat): Ollama, vLLM,
// llama.cpp, gateways.
//
//	local, err := openai.New(model.Options{Model: "qwen3", BaseURL: "http://localhost:11434/v1"})
//	answer, err := local.Generate(ctx, request, nil)
//
// [New] makes an [llm.Model]; it reads nothing from the environment. A server at
// a base URL of its own needs no key. The answer always comes as a stream, so
// that a cut is seen.
//
// What a tool returns is text only in this API: files of a result follow in a
// message of the user's. Fields that servers add to an answer for themselves
// (reasoning, signatures of calls) are kept and sent back. Marks for caching are
// not sent: these providers cache by themselves. A server may ignore NoCalls.
package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/internal/adapter"
)

// Provider is the name in opaque parts, and in responses and errors unless
// [model.Options] have another.
const Provider = "openai"

const (
	baseURL = "https://api.openai.com/v1"
	path    = "chat/completions"
)

// A Model is one of OpenAI's or of a server's. It is safe for concurrent use.
type Model struct {
	options model.Options
	url     *url.URL
	// own: it is the provider itself, whose newer models know only
	// max_completion_tokens, where many servers know only max_tokens.
	own bool
	// noReasoning: the model takes tools only when it is told not to reason, as
	// those of OpenAI do since gpt-5.6 (https://github.com/BerriAI/litellm/pull/34569).
	noReasoning atomic.Bool
}

// New returns the model that o names. Where o cannot be used, the error is
// [model.ErrOptions]. Nothing is sent. The base URL is what stands before
// /chat/completions, such as http://localhost:11434/v1.
func New(o model.Options) (*Model, error) {
	if err := o.Check("OPENAI_API_KEY"); err != nil {
		return nil, err
	}
	base := o.BaseURL
	if base == "" {
		base = baseURL
	}
	m := &Model{options: o, url: adapter.URL(base, path)}
	host := m.url.Hostname()
	m.own = host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com")
	return m, nil
}

// Generate implements [llm.Model]. Where the model refuses a request because it
// would reason while it has tools, the request is sent once more at once: the
// model is then told not to reason, and so it is in all later requests.
func (m *Model) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	noReasoning := m.noReasoning.Load()
	answer, said, err := m.ask(ctx, r, nil, noReasoning, stream)
	if err != nil && len(r.Tools) > 0 && !noReasoning && refusesToReason(said) {
		m.noReasoning.Store(true)
		answer, _, err = m.ask(ctx, r, nil, true, stream)
	}
	return answer, err
}

// An Extra is what a request to an agent has beside that to a model.
type Extra struct {
	Header   http.Header
	User     string            // who asks
	Metadata map[string]string // at most 16, of 512 bytes each
}

// GenerateWith asks an agent behind the API: once, with what it is told beside the messages, and
// without a bound of its answer.
func (m *Model) GenerateWith(ctx context.Context, r llm.Request, x Extra, stream func(llm.Event)) (llm.Response, error) {
	answer, _, err := m.ask(ctx, r, &x, false, stream)
	return answer, err
}

// ask sends a request once; extra may be nil. said is the body of an answer that is an error.
func (m *Model) ask(ctx context.Context, r llm.Request, extra *Extra, noReasoning bool, stream func(llm.Event)) (out llm.Response, said []byte, err error) {
	x := adapter.NewExchange(Provider, m.options)
	defer x.Close()
	header := http.Header{}
	if extra != nil {
		header = extra.Header.Clone()
	}
	if key := m.options.APIKey; !key.Empty() {
		header.Set("Authorization", "Bearer "+key.Reveal())
	}
	form := formOf(m.own, noReasoning)
	if !x.Post(ctx, m.url, header, body(m.options.Model, form, r, extra)) {
		return llm.Response{}, x.Said(), x.Error(ctx, faultIn(x.Said(), false))
	}
	a := answer{stream: stream, model: m.options.Model}
	for e := range x.Events() {
		if strings.HasPrefix(string(e.Data), "[DONE]") {
			break
		}
		if f := a.add(e); f != nil {
			return llm.Response{}, nil, x.Error(ctx, *f)
		}
	}
	if a.finish == "" {
		return llm.Response{}, nil, x.Error(ctx, faultIn(x.Said(), true))
	}
	return x.Answered(a.response(r), path, form, r), nil, nil
}

// refusesToReason reports whether an answer says that tools and reasoning do not
// go together.
func refusesToReason(said []byte) bool {
	var e struct{ Error struct{ Param string } }
	return json.Unmarshal(said, &e) == nil && e.Error.Param == "reasoning_effort"
}

// A failure is the form of errors of OpenAI and of the servers like it.
type failure struct {
	Message string
	Type    string
	Code    json.RawMessage // a text, or a status
}

func (u failure) code() string {
	if s := strings.Trim(string(u.Code), `"`); s != "" && s != "null" {
		return s
	}
	return u.Type
}

// faultIn reads an error as a server writes it: in the provider's form, or as a
// text in one of the usual fields. streamed says that it came in an answer with
// the status 200.
func faultIn(said []byte, streamed bool) adapter.Fault {
	var body struct{ Error json.RawMessage }
	if adapter.Decode(said, &body) != nil {
		return adapter.Fault{}
	}
	var e failure
	if adapter.Decode(body.Error, &e) != nil || e.Message == "" {
		_ = adapter.Decode(said, &e)
		e.Message = errorText(said)
	}
	f := adapter.Fault{Message: e.Message, Code: e.code()}
	if streamed && (f.Message != "" || f.Code != "") {
		f.Status = streamStatus(e)
	}
	f.Final = f.Code == "insufficient_quota" || f.Code == "billing_hard_limit_reached"
	return f
}

// errorText reads an error that is a mere text, or an object with one.
func errorText(said []byte) string {
	var object struct {
		Error, Message, Detail json.RawMessage
	}
	_ = adapter.Decode(said, &object)
	for _, field := range []json.RawMessage{object.Error, object.Message, object.Detail} {
		var text string
		if json.Unmarshal(field, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// streamStatus returns the status that an error in the middle of a stream would
// have had as an answer.
func streamStatus(e failure) int {
	var status int
	if json.Unmarshal([]byte(strings.Trim(string(e.Code), `"`)), &status) == nil && status >= 400 && status < 600 {
		return status
	}
	switch code := e.code(); {
	case strings.Contains(code, "rate_limit"):
		return http.StatusTooManyRequests
	case strings.Contains(code, "invalid_request"), strings.Contains(code, "context_length"), strings.Contains(code, "BadRequest"):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}
