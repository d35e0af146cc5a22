package llm

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// OfflineName is the offline model's name, and that of its provider.
const OfflineName = "offline"

// Offline is a model that needs no network and no key, and understands nothing.
// It reads the prompt, calls the channel's tools where there are any, and quotes
// the messages that share most words with the question, with their authors and,
// where they are known, their times. Every answer says so. The same request
// gives the same answer.
//
// It reads the prompts that package assemble renders, under every policy. It
// knows two tools by their names, and calls each at most once for a question:
//
//	channel_context   {"intent": "the question"}
//	channel_messages  {"message_ids": ["…"]} for cut messages that fit, where the prompt has ids
//
// It calls any other tool only where the question writes the call out, name and
// arguments, so that tools can be tried without a model's key; the answer quotes what they
// return:
//
//	@earshot tracker__create_issue {"title": "staging is down"}
//
// A tool's result is JSON. Messages in it, at any depth, are objects with a text
// (or snippet), an author (a name, or an object with display_name or name) and
// perhaps a ts (or time) and a message_id (or id). What a message quotes is its
// list "shared". A list "missing" that is not empty says that a part was not
// read, and the answer repeats it:
//
//	{"results": [{"message_id": "…", "ts": "2026-03-02T09:00:00Z", "author": {"user_id": "U1", "display_name": "Alice"}, "text": "…",
//		"shared": [{"kind": "forward", "author": "Erin", "text": "…"}]}], "coverage": {"missing": []}}
//
// A result that is not JSON is read like a prompt.
type Offline struct{}

// The tools that the offline model knows.
const (
	contextTool  = "channel_context"
	messagesTool = "channel_messages"
)

// Generate implements [Model].
func (Offline) Generate(ctx context.Context, r Request, stream func(Event)) (Response, error) {
	if err := ctx.Err(); err != nil {
		return Response{}, &Error{Provider: OfflineName, Model: OfflineName, Err: err}
	}
	if err := r.Check(); err != nil {
		return Response{}, err
	}
	if stream == nil {
		stream = func(Event) {}
	}
	seen := readRequest(r)
	out := Response{Stop: StopCalls, Provider: OfflineName, Model: OfflineName, Usage: earshot.Usage{Input: size(r) / 4}}
	calls := seen.calls(r)
	for _, c := range calls {
		stream(Event{Call: c.Name})
		out.Parts = append(out.Parts, Calling(c))
		out.Usage.Output += len(c.Args)/4 + 1
	}
	if len(calls) > 0 {
		return out, nil
	}
	text := seen.answer()
	out.Stop = StopEnd
	if short := cutWords(text, r.MaxTokens*4); short != text {
		text, out.Stop = short, StopLength
	}
	for _, piece := range splitPieces(text) {
		stream(Event{Text: piece})
	}
	if text != "" {
		out.Parts = []Part{Text(text)}
	}
	out.Usage.Output = len(text)/4 + 1
	return out, nil
}

// calls returns the calls of tools for the question; none when tools have
// answered it already.
func (s *promptView) calls(r Request) []Call {
	if r.NoCalls || s.answered {
		return nil
	}
	before := 0
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Kind == KindCall {
				before++
			}
		}
	}
	var calls []Call
	call := func(name string, args any) {
		if !slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Name == name }) {
			return
		}
		raw, err := json.Marshal(args)
		if err != nil {
			return // cannot happen: args are strings
		}
		id := "offline_" + strconv.Itoa(before+len(calls)+1)
		calls = append(calls, Call{ID: id, Name: name, Args: string(raw)})
	}
	for _, c := range s.named(r.Tools) {
		call(c.name, json.RawMessage(c.args))
	}
	if len(calls) > 0 {
		return calls
	}
	if intent := s.intent(); intent != "" {
		call(contextTool, map[string]any{"intent": intent})
	}
	if ids := s.cutIDs(); len(ids) > 0 {
		call(messagesTool, map[string]any{"message_ids": ids})
	}
	return calls
}

// maxIntent bounds the text that is searched for, in bytes.
const maxIntent = 400

// intent is the question without the names that it mentions.
func (s *promptView) intent() string {
	var words []string
	for w := range strings.FieldsSeq(s.question) {
		if !strings.HasPrefix(w, "@") {
			words = append(words, w)
		}
	}
	return cutWords(strings.Join(words, " "), maxIntent)
}

// maxFetched is how many cut messages are fetched whole.
const maxFetched = 5

// cutIDs are the ids of those of the best quotes that the prompt has cut off.
func (s *promptView) cutIDs() []string {
	var ids []string
	for _, q := range s.best(maxFetched) {
		if q.cut && q.id != "" {
			ids = append(ids, q.id)
		}
	}
	return ids
}

// size returns the bytes of a request's texts.
func size(r Request) int {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += len(p.Text)
			if p.Call != nil {
				n += len(p.Call.Args)
			}
			if p.Result != nil {
				for _, q := range p.Result.Parts {
					n += len(q.Text)
				}
			}
		}
	}
	return n
}

// splitPieces cuts a text into pieces of a few words, to be streamed.
func splitPieces(text string) []string {
	var out []string
	for word := range strings.SplitAfterSeq(text, " ") {
		if n := len(out); n > 0 && len(out[n-1])+len(word) <= 24 {
			out[n-1] += word
		} else if word != "" {
			out = append(out, word)
		}
	}
	return out
}
