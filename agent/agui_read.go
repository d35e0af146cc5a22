package agent

import (
	"cmp"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot/internal/sse"
	"github.com/earshot-ai/earshot/llm"
)

// An aguiEvent is what is read of an event.
type aguiEvent struct {
	Type     string          `json:"type"`
	Subagent string          `json:"subagentRunId"`
	Message  string          `json:"messageId"`
	Role     string          `json:"role"`
	Delta    json.RawMessage `json:"delta"` // a text; of a state it is something else
	Tool     string          `json:"toolCallName"`
	Step     string          `json:"stepName"`
	Messages []aguiSaid      `json:"messages"` // of a snapshot
	Said     string          `json:"message"`  // of an error
	Code     string          `json:"code"`     // of an error
	Outcome  json.RawMessage `json:"outcome"`
	Usage    []aguiUsage     `json:"usage"`
}

type (
	aguiSaid struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	aguiOutcome struct {
		Type       string          `json:"type"` // success, interrupt, cancelled
		Interrupts []aguiInterrupt `json:"interrupts"`
	}
	aguiUsage struct {
		Model      string `json:"model"`
		Input      int    `json:"inputTokens"`
		Output     int    `json:"outputTokens"`
		CacheRead  int    `json:"cachedInputTokens"`
		CacheWrite int    `json:"cacheWriteInputTokens"`
	}
)

// An aguiAnswer is an answer as far as it was read.
type aguiAnswer struct {
	stream func(llm.Event)
	key    string

	text     strings.Builder
	message  string          // the id of the message that was last spoken of
	written  string          // that of the message that was last written to
	skipped  map[string]bool // messages that are no answer
	snapshot string          // what the agent said last, where it told by a snapshot
	outcome  aguiOutcome
	usage    usageEvent
}

func newAGUIAnswer(key string, stream func(llm.Event)) *aguiAnswer {
	return &aguiAnswer{key: key, stream: stream, skipped: map[string]bool{}}
}

func (a *aguiAnswer) read(response *http.Response) error {
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "text/event-stream" {
		return fault("it did not answer with events", false)
	}
	limited := &io.LimitedReader{R: response.Body, N: maxAnswer + 1}
	err := a.readEvents(limited)
	if limited.N <= 0 {
		return errTooLong
	}
	return err
}

func (a *aguiAnswer) readEvents(in io.Reader) error {
	events := sse.NewReader(in)
	for {
		e, err := events.Next()
		if err != nil {
			return errBrokenOff
		}
		var x aguiEvent
		if json.Unmarshal(e.Data, &x) != nil || x.Type == "" {
			return errNoProtocol
		}
		if done, err := a.add(x); err != nil || done {
			return err
		}
	}
}

// add adds an event. What the protocol has beside text, progress and the end of a run is passed
// over.
func (a *aguiAnswer) add(e aguiEvent) (done bool, err error) {
	switch e.Type {
	case "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK":
		return false, a.write(e)
	case "TOOL_CALL_START", "TOOL_CALL_CHUNK":
		a.does(e.Tool)
	case "STEP_STARTED":
		a.does(e.Step)
	case "MESSAGES_SNAPSHOT":
		a.snapshot = lastSaid(e.Messages)
	case "RUN_ERROR":
		status, _ := strconv.Atoi(e.Code)
		f := fault(oneLine(e.Said), comesAgain(status))
		f.Code = oneLine(e.Code)
		return false, f
	case "RUN_FINISHED":
		return true, a.finish(e)
	}
	return false, nil
}

// write adds to the answer's text. What subagents write is not the answer, nor is what stands in
// another role than the agent's own.
func (a *aguiAnswer) write(e aguiEvent) error {
	if e.Message != "" { // else a chunk that goes on
		a.message = e.Message
	}
	if e.Role != "" && e.Role != "assistant" || e.Subagent != "" {
		a.skipped[a.message] = true
	}
	var delta string
	if len(e.Delta) > 0 && json.Unmarshal(e.Delta, &delta) != nil {
		return errNoProtocol
	}
	if delta == "" || a.skipped[a.message] {
		return nil
	}
	if a.text.Len() > 0 && a.written != a.message {
		a.say("\n\n")
	}
	a.written = a.message
	a.say(strings.ToValidUTF8(delta, "�"))
	return nil
}

func (a *aguiAnswer) say(text string) {
	a.text.WriteString(text)
	a.event(llm.Event{Text: text})
}

// does says what the agent is doing, until there is text.
func (a *aguiAnswer) does(what string) {
	if what = oneLine(what); what != "" && a.text.Len() == 0 {
		a.event(llm.Event{Status: what})
	}
}

func (a *aguiAnswer) event(e llm.Event) {
	if a.stream != nil {
		a.stream(e)
	}
}

// finish takes the end of a run.
func (a *aguiAnswer) finish(e aguiEvent) error {
	if a.text.Len() == 0 && a.snapshot != "" {
		a.say(strings.ToValidUTF8(a.snapshot, "�"))
	}
	for _, u := range e.Usage { // what is cached is a part of the input
		read, written := bounded(u.CacheRead), bounded(u.CacheWrite)
		a.usage.Model = cmp.Or(a.usage.Model, u.Model)
		a.usage.Input += max(0, bounded(u.Input)-read-written)
		a.usage.Output += bounded(u.Output)
		a.usage.CacheRead += read
		a.usage.CacheWrite += written
	}
	if len(e.Outcome) == 0 || string(e.Outcome) == "null" {
		return nil // an agent that knows no outcomes
	}
	if json.Unmarshal(e.Outcome, &a.outcome.Type) != nil && json.Unmarshal(e.Outcome, &a.outcome) != nil { // a draft of 1.0 has a mere word
		return errNoProtocol
	}
	switch {
	case a.outcome.Type == "cancelled":
		return fault("its run was cancelled", false)
	case a.outcome.Type == "interrupt" && len(a.outcome.Interrupts) == 0:
		return fault("it waits for an answer, and does not say to what", false)
	case len(a.outcome.Interrupts) > maxInterrupts:
		return fault("it asks too much at once", false)
	}
	return nil
}

// lastSaid returns what an agent has said after the last message of anybody else.
func lastSaid(list []aguiSaid) string {
	var words []string
	for _, m := range list {
		var text string
		switch {
		case m.Role == "user":
			words = nil
		case m.Role == "assistant" && json.Unmarshal(m.Content, &text) == nil && text != "":
			words = append(words, text)
		}
	}
	return strings.Join(words, "\n\n")
}

// response makes a response of an answer that is whole.
func (a *aguiAnswer) response() (llm.Response, error) {
	if a.outcome.Type != "interrupt" {
		return a.usage.response(a.text.String()), nil
	}
	waits, err := waitFor(a.outcome.Interrupts)
	if err != nil {
		return llm.Response{}, err
	}
	return a.usage.asking(a.text.String(), waits.ask(a.key)), nil
}
