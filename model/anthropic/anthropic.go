// Package anthropic answers by Claude, through Anthropic's Messages API.
//
// [New] makes an [llm.Model] of [model.Options]; [FromEnv] reads
// ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL. The answer always comes as a
// stream, so that a cut is seen and no connection idles.
//
// Marks for caching become cache breakpoints. Blocks that are neither text nor
// calls (thinking with its signature) are kept as they came and sent back in
// their place. Audio cannot be given: the model reads a line that says so.
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// Provider is the name in responses, errors and opaque parts.
const Provider = "anthropic"

const (
	keyName     = "ANTHROPIC_API_KEY"
	baseURLName = "ANTHROPIC_BASE_URL"
)

// FromEnv returns options with the key and the base URL of the environment.
func FromEnv(getenv func(string) string) model.Options {
	return model.FromEnv(getenv, keyName, baseURLName)
}

// A Model is one of Anthropic's. It is safe for concurrent use.
type Model struct{ options model.Options }

// New returns the model that o names. The error is [model.ErrOptions]. Nothing
// is sent.
func New(o model.Options) (*Model, error) {
	if err := o.Check(keyName); err != nil {
		return nil, err
	}
	return &Model{o}, nil
}

// Generate implements [llm.Model].
func (m *Model) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	x := m.options.Exchange()
	var answer sdk.Message
	err := m.receive(ctx, x, params(m.options.Model, r), stream, &answer)
	if err != nil {
		return llm.Response{}, err
	}
	return m.response(answer), nil
}

// receive reads an answer to its end. The error is an *llm.Error.
func (m *Model) receive(ctx context.Context, x *model.Exchange, p sdk.MessageNewParams, stream func(llm.Event), answer *sdk.Message) error {
	options := []option.RequestOption{
		option.WithEnvironmentProduction(),
		option.WithHTTPClient(x.Client()),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
	}
	if m.options.BaseURL != "" {
		options = append(options, option.WithBaseURL(m.options.BaseURL))
	}
	if !m.options.APIKey.Empty() {
		options = append(options, option.WithAPIKey(m.options.APIKey.Reveal()))
	}
	messages := sdk.NewMessageService(options...)
	events := messages.NewStreaming(ctx, p)
	defer func() { _ = events.Close() }()
	whole := false
	for events.Next() {
		e := events.Current()
		if err := answer.Accumulate(e); err != nil {
			return x.Error(ctx, model.Fault{Provider: Provider, Err: err})
		}
		switch e.Type {
		case "content_block_start":
			if e.ContentBlock.Type == "tool_use" {
				tell(stream, llm.Event{Call: e.ContentBlock.Name})
			} else if e.ContentBlock.Text != "" {
				tell(stream, llm.Event{Text: e.ContentBlock.Text})
			}
		case "content_block_delta":
			if e.Delta.Type == "text_delta" {
				tell(stream, llm.Event{Text: e.Delta.Text})
			}
		case "message_stop":
			whole = true
		}
	}
	if err := events.Err(); err != nil || !whole || answer.StopReason == "" {
		return x.Error(ctx, fault(err))
	}
	return nil
}

func tell(stream func(llm.Event), e llm.Event) {
	if stream != nil && e != (llm.Event{}) {
		stream(e)
	}
}

// statuses are what an error in the middle of a stream would have been as an
// answer's status.
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

// fault reads the SDK's error.
func fault(err error) model.Fault {
	f := model.Fault{Provider: Provider, Err: err}
	var api *sdk.Error
	if !errors.As(err, &api) {
		return f
	}
	var body struct {
		Error struct{ Type, Message string }
	}
	if !unmarshal(api.RawJSON(), &body) {
		return f
	}
	f.Code, f.Message = body.Error.Type, body.Error.Message
	if f.Status = api.StatusCode; f.Status < 300 {
		f.Status = statuses[f.Code]
	}
	return f
}

// response makes an answer of what was accumulated.
func (m *Model) response(answer sdk.Message) llm.Response {
	r := llm.Response{Provider: Provider, Model: answer.Model}
	if r.Model == "" {
		r.Model = m.options.Model
	}
	for _, block := range answer.Content {
		switch block.Type {
		case "text":
			if block.Text != "" {
				p := llm.Text(block.Text)
				if len(block.Citations) > 0 {
					p.Opaque = &llm.Opaque{Provider: Provider, JSON: llm.JSON(block.RawJSON())}
				}
				r.Parts = append(r.Parts, p)
			}
		case "tool_use":
			r.Parts = append(r.Parts, llm.Calling(llm.Call{ID: block.ID, Name: block.Name, Args: arguments(block.Input)}))
		default:
			if json := llm.JSON(block.RawJSON()); json.Valid() {
				r.Parts = append(r.Parts, llm.Kept(Provider, json))
			}
		}
	}
	switch answer.StopReason {
	case "tool_use":
		r.Stop = llm.StopCalls
	case "max_tokens", "model_context_window_exceeded":
		r.Stop = llm.StopLength
	case "refusal":
		r.Stop = llm.StopRefused
	default:
		r.Stop = llm.StopEnd
	}
	r.Usage.Input = int(answer.Usage.InputTokens)
	r.Usage.Output = int(answer.Usage.OutputTokens)
	r.Usage.CacheRead = int(answer.Usage.CacheReadInputTokens)
	r.Usage.CacheWrite = int(answer.Usage.CacheCreationInputTokens)
	return model.Finish(r)
}

// arguments returns a call's arguments as the model wrote them.
func arguments(input []byte) string {
	if s := strings.TrimSpace(string(input)); s != "" && s != "null" {
		return s
	}
	return "{}"
}
