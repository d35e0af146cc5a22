// Package gemini answers by Google's Gemini models, through the Gemini API
// (https://ai.google.dev/api/generate-content).
//
//	flash, err := gemini.New(model.Options{Model: "gemini-…", APIKey: key})
//	answer, err := flash.Generate(ctx, request, nil)
//
// [New] makes an [llm.Model]; it reads nothing from the environment. The answer
// always comes as a stream, so that a cut is seen.
//
// Thought signatures are kept with the part that they came on, and that part is
// sent back in its place, byte for byte. Marks for caching are not sent: the
// provider caches by itself.
package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/internal/adapter"
)

// Provider is the name in opaque parts, and in responses and errors unless
// [model.Options] have another.
const Provider = "gemini"

const baseURL = "https://generativelanguage.googleapis.com"

// A Model is one of Google's. It is safe for concurrent use.
type Model struct {
	options model.Options
	url     *url.URL
	path    string // of the API, below its base URL
}

// New returns the model that o names, or a tuned one as tunedModels/NAME. Where
// o cannot be used, the error is [model.ErrOptions]. Nothing is sent. The base
// URL is what stands before /v1beta.
func New(o model.Options) (*Model, error) {
	if err := o.Check("GEMINI_API_KEY"); err != nil {
		return nil, err
	}
	if strings.ContainsAny(o.Model, "?&#%") || strings.Contains(o.Model, "..") {
		return nil, fmt.Errorf("%w: %q is no name of a Gemini model", model.ErrOptions, o.Model)
	}
	name, base := o.Model, o.BaseURL
	if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/") {
		name = "models/" + name
	}
	if base == "" {
		base = baseURL
	}
	path := "v1beta/" + name + ":streamGenerateContent"
	u := adapter.URL(base, path)
	query := u.Query()
	query.Set("alt", "sse")
	u.RawQuery = query.Encode()
	return &Model{o, u, path}, nil
}

// Generate implements [llm.Model].
func (m *Model) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	x := adapter.NewExchange(Provider, m.options)
	defer x.Close()
	header := http.Header{}
	if key := m.options.APIKey; !key.Empty() {
		header.Set("X-Goog-Api-Key", key.Reveal())
	}
	if !x.Post(ctx, m.url, header, Body(m.options.Model, r)) {
		return llm.Response{}, x.Error(ctx, faultIn(x.Said()))
	}
	a := answer{stream: stream, model: m.options.Model, ids: adapter.NewIDs(Provider, r)}
	for e := range x.Events() {
		if f := a.add(e.Data); f != nil {
			return llm.Response{}, x.Error(ctx, *f)
		}
	}
	if a.finish == "" && !a.blocked {
		return llm.Response{}, x.Error(ctx, errorIn(x.Said()))
	}
	if what, bad := unusable[a.finish]; bad {
		return llm.Response{}, x.Error(ctx, adapter.Fault{
			Status: http.StatusInternalServerError, Code: a.finish, Message: "the model's answer is " + what,
		})
	}
	return x.Answered(a.response(), m.path, "", r), nil
}

// unusable are the ends of answers that are none; another try may bring one.
var unusable = map[string]string{
	"MALFORMED_FUNCTION_CALL": "a call that cannot be read",
	"MALFORMED_RESPONSE":      "one that cannot be read",
	"OTHER":                   "missing, for a reason that is not told",
}

// faultIn reads the body of an answer that is an error: as the API writes it, or
// as a text, unless it is a gateway's page.
func faultIn(said []byte) adapter.Fault {
	if json.Valid(said) {
		return errorIn(said)
	}
	if bytes.HasPrefix(bytes.TrimSpace(said), []byte("<")) {
		return adapter.Fault{}
	}
	return adapter.Fault{Message: string(said)}
}

// errorIn reads an error as the API writes it, alone or in a list; zero where
// there is none.
func errorIn(said []byte) adapter.Fault {
	var list []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(said), []byte("[")) && json.Unmarshal(said, &list) == nil && len(list) > 0 {
		said = list[0]
	}
	var body struct {
		Error struct {
			Code    int
			Message string
			Status  string
			Details []struct{ RetryDelay string }
		}
	}
	if adapter.Decode(said, &body) != nil {
		return adapter.Fault{}
	}
	e := body.Error
	f := adapter.Fault{Status: e.Code, Code: e.Status, Message: e.Message}
	for _, detail := range e.Details {
		// Of google.rpc.RetryInfo: https://ai.google.dev/gemini-api/docs/rate-limits
		if d, err := time.ParseDuration(detail.RetryDelay); err == nil {
			f.Wait = max(0, d)
		}
	}
	return f
}
