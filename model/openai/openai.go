// Package openai answers by OpenAI's models, and by those of every server that
// speaks the same chat completions API: Ollama, vLLM, llama.cpp, gateways.
//
// [New] makes an [llm.Model] of [model.Options]; [FromEnv] reads
// OPENAI_API_KEY and OPENAI_BASE_URL. A base URL ends where the API begins,
// such as http://localhost:11434/v1; a server at one needs no key. The answer
// always comes as a stream, so that a cut is seen.
//
// What a tool says is text only in this API: files of a result follow in a
// message of the user's. Fields that servers add to an answer for themselves
// (reasoning, signatures of calls) are kept and sent back. Marks for caching
// say nothing here: these providers cache by themselves. A server may ignore
// NoCalls.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// Provider is the name in responses, errors and opaque parts.
const Provider = "openai"

const (
	keyName     = "OPENAI_API_KEY"
	baseURLName = "OPENAI_BASE_URL"
)

// FromEnv returns options with the key and the base URL of the environment.
func FromEnv(getenv func(string) string) model.Options {
	return model.FromEnv(getenv, keyName, baseURLName)
}

// A Model is one of OpenAI's or of a server's. It is safe for concurrent use.
type Model struct {
	options model.Options
	// own: the provider itself, whose newer models know max_completion_tokens
	// only, where many servers know max_tokens only.
	own bool
	// blunt: the model takes tools only when it is told not to reason, as those
	// of OpenAI do since gpt-5.6 (https://github.com/BerriAI/litellm/pull/34569).
	blunt atomic.Bool
}

// New returns the model that o names. The error is [model.ErrOptions]. Nothing
// is sent.
func New(o model.Options) (*Model, error) {
	if err := o.Check(keyName); err != nil {
		return nil, err
	}
	m := &Model{options: o, own: o.BaseURL == ""}
	if u, err := url.Parse(o.BaseURL); err == nil {
		host := u.Hostname()
		m.own = m.own || host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com")
	}
	return m, nil
}

// Generate implements [llm.Model]. A request is sent once more at once where the
// model refuses it because it would reason: it is then told not to, and so are
// all that follow.
func (m *Model) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	x := m.options.Exchange()
	options := []option.RequestOption{
		option.WithEnvironmentProduction(),
		option.WithHTTPClient(x.Client()),
		option.WithMaxRetries(0),
	}
	if m.options.BaseURL != "" {
		options = append(options, option.WithBaseURL(m.options.BaseURL))
	}
	if !m.options.APIKey.Empty() {
		options = append(options, option.WithAPIKey(m.options.APIKey.Reveal()))
	}
	chat := sdk.NewChatCompletionService(options...)
	blunt := m.blunt.Load()
	chunks := chat.NewStreaming(ctx, m.params(r, blunt))
	defer func() { _ = chunks.Close() }()
	a := answer{stream: stream}
	for chunks.Next() {
		a.add(chunks.Current())
	}
	if err := chunks.Err(); err != nil || a.finish == "" {
		if len(r.Tools) > 0 && !blunt && refusesToReason(x.Said()) {
			m.blunt.Store(true)
			return m.Generate(ctx, r, stream)
		}
		return llm.Response{}, x.Error(ctx, fault(err, x.Said()))
	}
	out := a.response(r)
	if out.Model == "" {
		out.Model = m.options.Model
	}
	return out, nil
}

// An upstream is the form of errors of OpenAI and of what is like it.
type upstream struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"` // a text, or a status
}

func (u upstream) code() string {
	if s := strings.Trim(string(u.Code), `"`); s != "" && s != "null" {
		return s
	}
	return u.Type
}

// refusesToReason reports whether an answer is that tools and reasoning do not
// go together.
func refusesToReason(body []byte) bool {
	var said struct {
		Error struct {
			Param string `json:"param"`
		} `json:"error"`
	}
	return json.Unmarshal(body, &said) == nil && said.Error.Param == "reasoning_effort"
}

// fault reads an error: of the stream as the SDK tells it, else as the server
// wrote it, since the SDK knows the provider's own form only.
func fault(err error, body []byte) model.Fault {
	f := model.Fault{Provider: Provider, Err: err}
	var event struct {
		Error json.RawMessage `json:"error"`
	}
	var broken *ssestream.StreamError
	streamed := errors.As(err, &broken)
	if streamed {
		body = broken.Event.Data
	}
	var said upstream
	if json.Unmarshal(body, &event) != nil {
		return f
	}
	if json.Unmarshal(event.Error, &said) != nil || said.Message == "" {
		_ = json.Unmarshal(body, &said)
		said.Message = message(body)
	}
	if streamed {
		f.Status = midStream(said)
	}
	f.Message, f.Code = said.Message, said.code()
	f.Refused = f.Code == "insufficient_quota" || f.Code == "billing_hard_limit_reached"
	return f
}

// message reads an error that is a mere text, or an object with one.
func message(body []byte) string {
	var object struct {
		Error, Message, Detail json.RawMessage
	}
	_ = json.Unmarshal(body, &object)
	for _, field := range []json.RawMessage{object.Error, object.Message, object.Detail} {
		var text string
		if json.Unmarshal(field, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// midStream returns the status that an error in the middle of a stream would
// have had as an answer.
func midStream(u upstream) int {
	var status int
	if json.Unmarshal([]byte(strings.Trim(string(u.Code), `"`)), &status) == nil && status >= 400 && status < 600 {
		return status
	}
	switch code := u.code(); {
	case strings.Contains(code, "rate_limit"):
		return http.StatusTooManyRequests
	case strings.Contains(code, "invalid_request"), strings.Contains(code, "context_length"), strings.Contains(code, "BadRequest"):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}
