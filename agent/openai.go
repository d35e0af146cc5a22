package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/openai"
)

// Where an agent behind OpenAI's API looks further in the channel of a turn: our MCP endpoint,
// and its bearer token.
const (
	MCPURLHeader   = "Earshot-Mcp-Url"
	MCPTokenHeader = "Earshot-Mcp-Token"
)

// OpenAI is an agent behind the API of OpenAI: chat completions, or responses where its URL ends
// in /responses. It is safe for concurrent use.
type OpenAI struct {
	o         Options
	model     string
	responses bool
	chat      *openai.Model // nil for responses
}

// NewOpenAI returns the agent at a URL: the base URL of its API, or that of its chat completions
// or responses. Nothing is sent.
func NewOpenAI(o Options) (*OpenAI, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	a := &OpenAI{o: o, model: o.Model}
	if a.model == "" {
		a.model = provider
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, ErrOptions
	}
	if a.responses = strings.HasSuffix(u.Path, "/responses"); a.responses {
		return a, nil
	}
	u.Path = strings.TrimSuffix(u.Path, "/chat/completions")
	a.chat, err = openai.New(model.Options{Model: a.model, Provider: provider, APIKey: o.Key, BaseURL: u.String(), HTTPClient: o.HTTPClient})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return a, nil
}

// Generate implements [llm.Model]. The API has nothing by which an agent asks the person: calls
// of tools in an answer are left out, since none are offered.
func (a *OpenAI) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	if r.Turn == nil {
		return llm.Response{}, fault("it is asked by bots only", false)
	}
	r.Tools, r.Messages = nil, a.messages(r)
	if a.responses {
		return a.respond(ctx, r, stream)
	}
	answer, err := a.chat.GenerateWith(ctx, r, openai.Extra{Header: headerOf(r.Turn), User: string(r.Turn.Asker.ID), Metadata: metadataOf(r.Turn)}, told(stream))
	if err != nil {
		var e *llm.Error
		if errors.As(err, &e) && e.Status == http.StatusConflict { // it is still at work on the key
			e.Retryable = true
		}
		return llm.Response{}, err
	}
	return textOnly(answer)
}

// messages returns the messages of a request, questions and answers as texts.
func (a *OpenAI) messages(r llm.Request) []llm.Message {
	list := r.Messages
	if a.o.Theirs {
		list = newMessages(r)
	}
	out := make([]llm.Message, 0, len(list))
	for _, m := range list {
		var parts []llm.Part
		for _, p := range m.Parts {
			switch {
			case p.Kind == llm.KindText || p.Media != nil:
				parts = append(parts, p)
			default:
				if said := wordsOf([]llm.Part{p}); said != "" {
					parts = append(parts, llm.Text(said))
				}
			}
		}
		if len(parts) > 0 {
			out = append(out, llm.Message{Role: m.Role, Parts: parts})
		}
	}
	return out
}

// told passes on what an agent says, and which tools of its own it calls as what it is doing.
func told(stream func(llm.Event)) func(llm.Event) {
	wrote := false
	return func(e llm.Event) {
		if stream == nil {
			return
		}
		if e.Call != "" {
			if !wrote {
				stream(llm.Event{Status: oneLine(e.Call)})
			}
			e.Call = ""
		}
		if wrote = wrote || e.Text != ""; e != (llm.Event{}) {
			stream(e)
		}
	}
}

// textOnly returns an answer without what is no text of it.
func textOnly(answer llm.Response) (llm.Response, error) {
	calls := len(answer.Calls())
	var parts []llm.Part
	for _, p := range answer.Parts {
		if p.Kind == llm.KindText {
			parts = append(parts, llm.Text(p.Text))
		}
	}
	if len(parts) == 0 && calls > 0 {
		return llm.Response{}, fault("it calls a tool, and none is offered", false)
	}
	if answer.Stop == llm.StopCalls {
		answer.Stop = llm.StopEnd
	}
	u := answer.Usage
	answer.Usage.Input, answer.Usage.Output = bounded(u.Input), bounded(u.Output)
	answer.Usage.CacheRead, answer.Usage.CacheWrite = bounded(u.CacheRead), bounded(u.CacheWrite)
	answer.Parts, answer.Model, answer.Sent = parts, plain.Line(answer.Model, 80), nil
	return answer, nil
}

// headerOf are the headers of a request for a turn.
func headerOf(t *llm.Turn) http.Header {
	h := underKey(t.Key, "text/event-stream")
	if t.Access != nil {
		h.Set(MCPURLHeader, t.Access.URL)
		h.Set(MCPTokenHeader, t.Access.Token)
	}
	return h
}

// metadataOf are the facts of a turn as metadata, which that API has as at most 16 texts of 512
// characters each.
func metadataOf(t *llm.Turn) map[string]string {
	out := map[string]string{}
	for name, value := range map[string]string{
		"key": t.Key, "turn": strconv.FormatInt(int64(t.ID), 10), "conversation": t.Conversation, "new": strconv.Itoa(t.New),
		"asker_name": t.Asker.Name, "asker_zone": t.Asker.Zone, "asker_standing": string(t.Asker.Standing), "asker_kind": string(t.Asker.Kind),
		"platform": string(t.Channel.Platform), "workspace": string(t.Channel.Workspace), "channel": string(t.Channel.ID),
		"channel_name": t.Channel.Name, "channel_kind": string(t.Channel.Kind), "thread": string(t.Thread),
	} {
		if value != "" {
			out[name] = plain.Line(value, 500)
		}
	}
	return out
}
