// Package anthropic answers by Claude, through Anthropic's Messages API
// (https://platform.claude.com/docs/en/api/messages).
//
//	claude, err := anthropic.New(model.Options{Model: "claude-…", APIKey: key})
//	answer, err := claude.Generate(ctx, request, nil)
//
// [New] makes an [llm.Model]; it reads nothing from the environment. The answer
// always comes as a stream, so that a cut is seen and no connection idles.
//
// Marks for caching become cache breakpoints. Blocks that are neither text nor
// calls (thinking with its signature) are kept as they came and sent back in
// their place, byte for byte. Audio cannot be given: the model reads a line that
// says so.
package anthropic

import (
	"context"
	"net/http"
	"net/url"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/internal/adapter"
)

// Provider is the name in opaque parts, and in responses and errors unless
// [model.Options] have another.
const Provider = "anthropic"

const (
	baseURL = "https://api.anthropic.com"
	// version is that of the API, which each request names
	// (https://platform.claude.com/docs/en/api/versioning).
	version = "2023-06-01"
	path    = "v1/messages"
)

// A Model is one of Anthropic's. It is safe for concurrent use.
type Model struct {
	options model.Options
	url     *url.URL
}

// New returns the model that o names. Where o cannot be used, the error is
// [model.ErrOptions]. Nothing is sent. The base URL is what stands before
// /v1/messages.
func New(o model.Options) (*Model, error) {
	if err := o.Check("ANTHROPIC_API_KEY"); err != nil {
		return nil, err
	}
	base := o.BaseURL
	if base == "" {
		base = baseURL
	}
	return &Model{o, adapter.URL(base, path)}, nil
}

// Generate implements [llm.Model].
func (m *Model) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	x := adapter.NewExchange(Provider, m.options)
	defer x.Close()
	header := http.Header{"Anthropic-Version": {version}}
	if key := m.options.APIKey; !key.Empty() {
		header.Set("X-Api-Key", key.Reveal())
	}
	if !x.Post(ctx, m.url, header, Body(m.options.Model, r)) {
		return llm.Response{}, x.Error(ctx, faultIn(x.Said(), false))
	}
	a := answer{stream: stream, model: m.options.Model}
	for e := range x.Events() {
		if f := a.add(e); f != nil {
			return llm.Response{}, x.Error(ctx, *f)
		}
	}
	if !a.ended || a.stop == "" {
		return llm.Response{}, x.Error(ctx, faultIn(x.Said(), true))
	}
	return x.Answered(a.response(r), path, "", r), nil
}

// statuses are what an error in the middle of a stream would have been as an
// answer's status (https://platform.claude.com/docs/en/api/errors).
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"billing_error":         http.StatusPaymentRequired,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"api_error":             http.StatusInternalServerError,
	"timeout_error":         http.StatusGatewayTimeout,
	"overloaded_error":      529,
}

// faultIn reads an error as the API writes it; streamed says that it came in an
// answer with the status 200.
func faultIn(said []byte, streamed bool) adapter.Fault {
	var e struct {
		Error struct{ Type, Message string }
	}
	if adapter.Decode(said, &e) != nil {
		return adapter.Fault{}
	}
	f := adapter.Fault{Code: e.Error.Type, Message: e.Error.Message}
	if streamed {
		f.Status = statuses[f.Code]
	}
	return f
}
