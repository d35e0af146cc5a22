package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/internal/sse"
	"github.com/earshot-ai/earshot/llm"
)

// HTTP is an agent behind the protocol of docs/agent-http.md. It is safe for concurrent use.
type HTTP struct{ o Options }

// NewHTTP returns the agent at a URL. Nothing is sent.
func NewHTTP(o Options) (*HTTP, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &HTTP{o}, nil
}

// Generate implements [llm.Model].
func (h *HTTP) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	if r.Turn == nil {
		return llm.Response{}, fault("it is asked by bots only", false)
	}
	a := &httpAnswer{stream: stream, turn: r.Turn}
	if err := h.o.exchange(ctx, underKey(r.Turn.Key, "text/event-stream, application/json"), h.body(r), a.read); err != nil {
		return llm.Response{}, err
	}
	return a.response()
}

// What a turn looks like in the protocol. docs/agent-http.md has each field.
type (
	turnBody struct {
		turnFacts
		Messages []messageBody `json:"messages"`
		Answer   *answerBody   `json:"answer,omitempty"`
	}
	messageBody struct {
		Role  string     `json:"role"`
		Parts []partBody `json:"parts"`
	}
	partBody struct {
		Type      string `json:"type"` // text, file, question, answer
		Text      string `json:"text,omitempty"`
		ID        string `json:"id,omitempty"`
		Name      string `json:"name,omitempty"`
		MediaType string `json:"media_type,omitempty"`
		Data      []byte `json:"data,omitempty"`
	}
	answerBody struct {
		Question string          `json:"question"`
		Text     string          `json:"text"`
		Given    bool            `json:"given"`
		State    json.RawMessage `json:"state,omitempty"`
	}
)

// body writes a request as the protocol has it.
func (h *HTTP) body(r llm.Request) turnBody {
	b := turnBody{turnFacts: factsOf(r)}
	list := r.Messages
	if h.o.Theirs {
		list = newMessages(r)
	}
	for _, m := range list {
		b.Messages = append(b.Messages, messageBody{string(m.Role), partsOf(m.Parts)})
	}
	if a := answered(r); a != nil {
		b.Answer = &answerBody{Question: a.question, Text: a.text, Given: !a.failed, State: json.RawMessage(a.kept)}
		if a.failed {
			b.Answer.Text = ""
		}
	}
	return b
}

func partsOf(parts []llm.Part) []partBody {
	out := []partBody{}
	for _, p := range parts {
		switch {
		case p.Kind == llm.KindText:
			out = append(out, partBody{Type: "text", Text: p.Text})
		case p.Media != nil:
			out = append(out, partBody{Type: "file", ID: string(p.Media.ID), Name: p.Media.Name, MediaType: p.Media.Type, Data: p.Media.Data})
		case p.Call != nil && p.Call.Name == askTool:
			var q Question
			_ = json.Unmarshal([]byte(p.Call.Args), &q) // as this program wrote it
			out = append(out, partBody{Type: "question", ID: p.Call.ID, Text: q.Text})
		case p.Result != nil:
			out = append(out, partBody{Type: "answer", ID: p.Result.Call, Text: said(p.Result.Parts)})
		}
	}
	return out
}

// An httpAnswer is an answer as far as it was read.
type httpAnswer struct {
	stream func(llm.Event)
	turn   *llm.Turn
	text   strings.Builder
	asks   *questionEvent
	usage  usageEvent
	whole  bool
}

// The data of events. A JSON answer has those of text, question and usage at once.
type (
	textEvent struct {
		Text string `json:"text"`
	}
	questionEvent struct {
		Question
		State json.RawMessage `json:"state,omitempty"`
	}
	errorEvent struct {
		Message    string  `json:"message"`
		Retry      bool    `json:"retry"`
		RetryAfter float64 `json:"retry_after"` // seconds
	}
	jsonAnswer struct {
		Text     string         `json:"text"`
		Question *questionEvent `json:"question"`
		Usage    usageEvent     `json:"usage"`
	}
)

// read reads an answer, as a stream or as JSON.
func (a *httpAnswer) read(response *http.Response) error {
	limited := &io.LimitedReader{R: response.Body, N: maxAnswer + 1}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var err error
	switch kind {
	case "text/event-stream":
		err = a.readEvents(limited)
	case "application/json":
		err = a.readJSON(limited)
	default:
		return &llm.Error{Provider: provider, Status: response.StatusCode, Message: "it answered neither with events nor with JSON; see docs/agent-http.md"}
	}
	if limited.N <= 0 {
		return errTooLong
	}
	return err
}

func (a *httpAnswer) readJSON(in io.Reader) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return errBrokenOff
	}
	var j jsonAnswer
	if err := json.Unmarshal(data, &j); err != nil {
		return &llm.Error{Provider: provider, Message: "its answer is no JSON of the protocol; see docs/agent-http.md"}
	}
	a.say(j.Text)
	a.asks, a.usage, a.whole = j.Question, j.Usage, true
	return nil
}

func (a *httpAnswer) readEvents(in io.Reader) error {
	events := sse.NewReader(in)
	for {
		e, err := events.Next()
		if err != nil {
			return errBrokenOff
		}
		if done, err := a.add(e); err != nil || done {
			a.whole = err == nil
			return err
		}
	}
}

// add adds an event. Events that the protocol does not have are passed over.
func (a *httpAnswer) add(e sse.Event) (done bool, err error) {
	read := func(v any) {
		if err == nil && json.Unmarshal(e.Data, v) != nil {
			err = &llm.Error{Provider: provider, Message: fmt.Sprintf("the data of its event %q is no JSON of the protocol; see docs/agent-http.md", e.Name)}
		}
	}
	switch e.Name {
	case "text":
		var t textEvent
		read(&t)
		a.say(t.Text)
	case "status":
		var t textEvent
		if read(&t); a.stream != nil && t.Text != "" && a.text.Len() == 0 {
			a.stream(llm.Event{Status: oneLine(t.Text)})
		}
	case "usage":
		read(&a.usage)
	case "question":
		a.asks = &questionEvent{}
		read(a.asks)
		return true, err
	case "error":
		var f errorEvent
		if read(&f); err == nil {
			wait := time.Duration(max(0, min(f.RetryAfter, 3600)) * float64(time.Second))
			err = &llm.Error{Provider: provider, Message: oneLine(f.Message), Retryable: f.Retry, RetryAfter: wait}
		}
	case "done":
		return true, nil
	}
	return false, err
}

func (a *httpAnswer) say(text string) {
	text = strings.ToValidUTF8(text, "�")
	a.text.WriteString(text)
	if a.stream != nil && text != "" {
		a.stream(llm.Event{Text: text})
	}
}

// response makes a response of what was read.
func (a *httpAnswer) response() (llm.Response, error) {
	if a.asks != nil && strings.TrimSpace(a.asks.Text) != "" {
		return a.usage.asking(a.text.String(), asks("q_"+a.turn.Key, a.asks.Question, llm.JSON(a.asks.State))), nil
	}
	return a.usage.response(a.text.String()), nil
}
