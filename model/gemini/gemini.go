// Package gemini answers by Google's Gemini models, through the Gemini API.
//
// [New] makes an [llm.Model] of [model.Options]; [FromEnv] reads GEMINI_API_KEY
// and GOOGLE_GEMINI_BASE_URL. The answer always comes as a stream, so that a
// cut is seen.
//
// Thought signatures are kept on the part that they came with, and sent back in
// its place. Marks for caching say nothing here: the provider caches by itself.
package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	sdk "google.golang.org/genai"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// Provider is the name in responses, errors and opaque parts.
const Provider = "gemini"

const (
	keyName     = "GEMINI_API_KEY"
	baseURLName = "GOOGLE_GEMINI_BASE_URL"
	baseURL     = "https://generativelanguage.googleapis.com/"
)

// FromEnv returns options with the key and the base URL of the environment.
func FromEnv(getenv func(string) string) model.Options {
	return model.FromEnv(getenv, keyName, baseURLName)
}

// A Model is one of Google's. It is safe for concurrent use.
type Model struct {
	options model.Options
	client  *sdk.Client
}

// New returns the model that o names. The error is [model.ErrOptions]. Nothing
// is sent.
func New(o model.Options) (*Model, error) {
	if err := o.Check(keyName); err != nil {
		return nil, err
	}
	// Everything that the SDK would else read from the environment is given.
	config := &sdk.ClientConfig{
		APIKey: o.APIKey.Reveal(), Backend: sdk.BackendGeminiAPI, HTTPClient: o.Relay(),
		HTTPOptions: sdk.HTTPOptions{BaseURL: baseURL},
	}
	if o.BaseURL != "" {
		config.HTTPOptions.BaseURL = o.BaseURL
	}
	if config.APIKey == "" {
		config.APIKey = "none" // the SDK wants one; a server at another base URL may not
	}
	client, err := sdk.NewClient(context.Background(), config)
	if err != nil {
		// The SDK's error prints the key.
		return nil, fmt.Errorf("%w: its client cannot be made", model.ErrOptions)
	}
	return &Model{o, client}, nil
}

// Generate implements [llm.Model].
func (m *Model) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	x := m.options.Exchange()
	contents, err := contents(m.options.Model, r)
	if err != nil {
		return llm.Response{}, x.Error(ctx, model.Fault{Provider: Provider, Refused: true, Message: err.Error()})
	}
	a := answer{stream: stream, ids: model.NewIDs(Provider, r)}
	for chunk, err := range m.client.Models.GenerateContentStream(x.Carry(ctx), m.options.Model, stand(), m.config(r, contents)) {
		if err == nil {
			err = a.add(chunk)
		}
		if err != nil {
			return llm.Response{}, x.Error(ctx, fault(err))
		}
	}
	if a.finish == "" && !a.blocked {
		return llm.Response{}, x.Error(ctx, model.Fault{Provider: Provider})
	}
	if code, bad := broken[a.finish]; bad {
		return llm.Response{}, x.Error(ctx, model.Fault{
			Provider: Provider, Status: http.StatusInternalServerError, Code: string(a.finish), Message: "the model's answer is " + code,
		})
	}
	out := a.response()
	if out.Model == "" {
		out.Model = m.options.Model
	}
	return out, nil
}

// broken are the ends of answers that are none, of which another try may be
// one.
var broken = map[sdk.FinishReason]string{
	sdk.FinishReasonMalformedFunctionCall: "a call that cannot be read",
	"MALFORMED_RESPONSE":                  "one that cannot be read",
	sdk.FinishReasonOther:                 "missing, for a reason that is not told",
}

// fault reads the SDK's error.
func fault(err error) model.Fault {
	f := model.Fault{Provider: Provider, Err: err}
	var api sdk.APIError
	if !errors.As(err, &api) {
		return f
	}
	f.Status, f.Code, f.Message = api.Code, api.Status, api.Message
	for _, detail := range api.Details {
		if s, ok := detail["retryDelay"].(string); ok {
			if d, err := time.ParseDuration(s); err == nil {
				f.Wait = max(0, d)
			}
		}
	}
	// Where the body was none of the API's, the SDK gives the whole of it.
	var page struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal([]byte(f.Message), &page) == nil && page.Error == nil {
		f.Message = http.StatusText(f.Status)
	}
	return f
}
