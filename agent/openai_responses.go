package agent

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sse"
	"github.com/earshot-ai/earshot/llm"
)

// A request of the Responses API: https://platform.openai.com/docs/api-reference/responses.
type (
	responsesBody struct {
		Model        string            `json:"model"`
		Stream       bool              `json:"stream"`
		User         string            `json:"user,omitempty"`
		Metadata     map[string]string `json:"metadata"`
		Instructions string            `json:"instructions,omitempty"`
		Input        []responsesInput  `json:"input"`
	}
	responsesInput struct {
		Role    string          `json:"role"`
		Content []responsesPart `json:"content"`
	}
	responsesPart struct {
		Type     string `json:"type"` // input_text, output_text, input_image, input_file
		Text     string `json:"text,omitempty"`
		ImageURL string `json:"image_url,omitempty"`
		Filename string `json:"filename,omitempty"`
		FileData string `json:"file_data,omitempty"`
	}
)

func (a *OpenAI) respond(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	body := responsesBody{Model: a.model, Stream: true, User: string(r.Turn.Asker.ID), Metadata: metadataOf(r.Turn), Instructions: r.System, Input: []responsesInput{}}
	for _, m := range r.Messages {
		in := responsesInput{Role: string(m.Role)}
		for _, p := range m.Parts {
			in.Content = append(in.Content, responsesPartOf(m.Role, p))
		}
		body.Input = append(body.Input, in)
	}
	x := &responsesAnswer{stream: told(stream), usage: usageEvent{Model: a.model}, stop: llm.StopEnd}
	if err := a.o.exchange(ctx, headerOf(r.Turn), body, x.read); err != nil {
		return llm.Response{}, err
	}
	answer := x.usage.response(x.text.String())
	answer.Stop = x.stop
	return answer, nil
}

func responsesPartOf(role earshot.Role, p llm.Part) responsesPart {
	switch {
	case p.Media == nil && role == earshot.Assistant:
		return responsesPart{Type: "output_text", Text: p.Text}
	case p.Media == nil:
		return responsesPart{Type: "input_text", Text: p.Text}
	}
	data := "data:" + p.Media.Type + ";base64," + base64.StdEncoding.EncodeToString(p.Media.Data)
	if p.Kind == llm.KindImage {
		return responsesPart{Type: "input_image", ImageURL: data}
	}
	return responsesPart{Type: "input_file", Filename: cmp.Or(p.Media.Name, "file"), FileData: data}
}

// A responsesAnswer is an answer as far as it was read.
type responsesAnswer struct {
	stream func(llm.Event)
	text   strings.Builder
	usage  usageEvent
	stop   llm.Stop
}

// A responsesEvent is what is read of an event.
type responsesEvent struct {
	Type    string          `json:"type"`
	Delta   json.RawMessage `json:"delta"`
	Code    string          `json:"code"`    // of an error
	Message string          `json:"message"` // of an error
	Item    struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"item"`
	Response struct {
		Model string `json:"model"`
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Usage struct {
			Input   int `json:"input_tokens"`
			Output  int `json:"output_tokens"`
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"input_tokens_details"`
		} `json:"usage"`
	} `json:"response"`
}

func (a *responsesAnswer) read(response *http.Response) error {
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "text/event-stream" {
		return fault("it did not answer with events", false)
	}
	limited := &io.LimitedReader{R: response.Body, N: maxAnswer + 1}
	events := sse.NewReader(limited)
	for {
		e, err := events.Next()
		switch {
		case limited.N <= 0:
			return errTooLong
		case err != nil:
			return errBrokenOff
		}
		var x responsesEvent
		if json.Unmarshal(e.Data, &x) != nil {
			return errNoProtocol
		}
		if done, err := a.add(x); err != nil || done {
			return err
		}
	}
}

func (a *responsesAnswer) add(e responsesEvent) (done bool, err error) {
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		var delta string
		if json.Unmarshal(e.Delta, &delta) != nil {
			return false, errNoProtocol
		}
		a.text.WriteString(delta)
		a.stream(llm.Event{Text: delta})
	case "response.output_item.added":
		if e.Item.Type != "message" && e.Item.Type != "reasoning" {
			a.stream(llm.Event{Call: cmp.Or(e.Item.Name, strings.TrimSuffix(e.Item.Type, "_call"))})
		}
	case "error":
		return false, responsesFault(e.Code, e.Message)
	case "response.failed":
		return false, responsesFault(e.Response.Error.Code, e.Response.Error.Message)
	case "response.completed", "response.incomplete":
		u := e.Response.Usage
		cached := bounded(u.Details.Cached)
		a.usage = usageEvent{Model: cmp.Or(e.Response.Model, a.usage.Model), Input: bounded(u.Input) - min(cached, bounded(u.Input)), Output: u.Output, CacheRead: cached}
		if e.Type == "response.incomplete" {
			a.stop = llm.StopLength
		}
		return true, nil
	}
	return false, nil
}

// responsesFault is an error in the middle of an answer, by the API's own codes.
func responsesFault(code, message string) error {
	e := fault(oneLine(message), code == "server_error" || code == "rate_limit_exceeded")
	e.Code = oneLine(code)
	return e
}
