package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// addEvents adds the routes of what callers tell: messages, edits, deletions and reactions.
func (s *server) addEvents(a huma.API) {
	schema := &huma.Schema{AnyOf: []*huma.Schema{schemaOf[eventBatch](a), schemaOf[event](a), {
		Type: huma.TypeObject, AdditionalProperties: true, Description: "with platform=slack: one delivery of Slack's Events API (event_callback) as it came, or a list of them as events; with platform=discord: likewise dispatches of Discord's gateway (op, t, s, d), each with Discord's object of the channel or thread as channel",
	}}}
	addRaw(s, a, huma.Operation{
		OperationID: "post-events", Method: http.MethodPost, Path: "/v1/events", Summary: "Tell what was said: messages, edits, deletions, reactions",
		Description: "What was told before changes nothing, so a batch may be sent again. One event may be the body as it is. Events are stored in their order, and all are checked first: when one is refused, with its place as events[3].message.time, none is stored. " +
			"A channel that is not stored yet is created if the key reaches it; without a platform it is of platform api. A message with the id and the edit time of a stored one and another text is a conflict: the stored text stays. A reaction of the same person counts once, however often it is told; one without its user needs the delivery's id, by which a repeated delivery is recognised.",
	}, schema, s.tell)
}

// An eventBatch is the body of POST /v1/events.
type eventBatch struct {
	Events []*event `json:"events" maxItems:"1000" doc:"in the order in which they happened"`
}

// An event is one of them.
type event struct {
	Type      string            `json:"type" enum:"message,edit,delete,reaction"`
	ID        string            `json:"id,omitempty" maxLength:"400" doc:"the delivery's id, unique within the channel; a reaction without its user needs it"`
	Channel   eventChannel      `json:"channel" doc:"its id, or an object with it; name, kind, topic and purpose replace what is stored; workspace and platform where the id is not enough"`
	Message   *contract.Message `json:"message,omitempty" doc:"of message and edit; an edit has edited, the time of the revision"`
	MessageID string            `json:"message_id,omitempty" maxLength:"512" doc:"of delete and reaction"`
	Reaction  *eventReaction    `json:"reaction,omitempty"`
}

// An eventChannel is a channel's id, or the channel.
type eventChannel struct{ jsontext.Value }

// Schema implements [huma.SchemaProvider].
func (eventChannel) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString, Description: "the channel's id on its platform"}, r.Schema(reflect.TypeFor[contract.Channel](), true, "")}}
}

// read returns the channel. What is not told of it is zero, its kind too.
func (w eventChannel) read() (earshot.Channel, error) {
	if w.Kind() == '"' {
		var id string
		err := contract.Unmarshal(w.Value, &id, "channel")
		return earshot.Channel{ID: earshot.ChannelID(id)}, err
	}
	var c contract.Channel
	if err := contract.Unmarshal(w.Value, &c, ""); err != nil {
		return earshot.Channel{}, prefixField("channel", err)
	}
	channel, err := c.Read()
	if c.Kind == nil {
		channel.Kind = "" // what is not told does not replace what is stored
	}
	return channel, err
}

type eventReaction struct {
	Name string `json:"name" maxLength:"200" doc:"the emoji's name without colons"`
	By   int    `json:"by" enum:"1,-1" doc:"1 where somebody gave it, -1 where they took it back"`
	User string `json:"user,omitempty" maxLength:"512" doc:"who: the same person's same emoji counts once, however often it is told; without it, each id counts"`
	Time string `json:"time,omitempty" doc:"when it happened: of what one person did the later stands, in whatever order it is told; without it, when it is told"`
}

// A toldEvents is the answer.
type toldEvents struct {
	Events []toldEvent `json:"events" doc:"one for each event, in their order"`
}

type toldEvent struct {
	Change    earshot.Change      `json:"change" enum:"new,edited,updated,gone,late,same,conflict,unknown,ignored" doc:"what has come of it: late is an older revision than the stored one, conflict another text for the stored revision, which stays, unknown a reaction to a message that is not stored, which counts if the message comes within a day, ignored a raw event that says nothing that is kept"`
	Platform  earshot.Platform    `json:"platform,omitempty"`
	Workspace earshot.WorkspaceID `json:"workspace,omitempty"`
	Channel   earshot.ChannelID   `json:"channel,omitempty"`
	Message   earshot.MessageID   `json:"message,omitempty" doc:"its id"`
	Seq       int64               `json:"seq,omitempty" doc:"the message's sequence in its channel"`
	Detail    string              `json:"detail,omitempty" doc:"of conflict: what to do"`
}

type eventsInput struct {
	Platform string `query:"platform" maxLength:"64" doc:"slack or discord, where the events are raw deliveries of Slack or Discord"`
	StrictInput
}

func (s *server) tell(ctx context.Context, p access.Principal, in *eventsInput) (*struct{ Body toldEvents }, error) {
	told, err := s.told(ctx, p, in)
	if err != nil {
		return nil, err
	}
	out := toldEvents{make([]toldEvent, 0, len(told))}
	for _, t := range told {
		e := toldEvent{t.Change, t.Channel.Platform, t.Channel.Workspace, t.Channel.Channel, t.Message, t.Seq, ""}
		if t.Change == earshot.Other {
			e.Detail = "another text is stored for this id and stays; " + sidecar.TellEdit
		}
		out.Events = append(out.Events, e)
	}
	return &struct{ Body toldEvents }{out}, nil
}

func (s *server) told(ctx context.Context, p access.Principal, in *eventsInput) ([]sidecar.EventResult, error) {
	switch in.Platform {
	case "":
		var b eventBatch
		err := in.StrictInput.read(ctx, &b)
		if err != nil && isEvent(in.RawBody) {
			in.RawBody = slices.Concat([]byte(`{"events":[`), in.RawBody, []byte(`]}`))
			err = in.StrictInput.read(ctx, &b)
		}
		if err != nil {
			return nil, notBatch(err)
		}
		events, err := b.read()
		if err != nil {
			return nil, err
		}
		return s.Service.Events(ctx, p, events)
	case string(earshot.Slack):
		raw, err := in.deliveries(ctx)
		if err != nil {
			return nil, err
		}
		return s.Service.SlackEvents(ctx, p, raw)
	case string(earshot.Discord):
		raw, err := in.deliveries(ctx)
		if err != nil {
			return nil, err
		}
		return s.Service.DiscordEvents(ctx, p, raw)
	}
	return nil, &assemble.InputError{Path: "platform", Reason: "of raw events must be slack or discord; neutral events have it in their channel"}
}

// isEvent reports whether a body is one event, with no batch around it.
func isEvent(body []byte) bool {
	var one struct {
		Type   jsontext.Value `json:"type"`
		Events jsontext.Value `json:"events"`
	}
	err := json.Unmarshal(body, &one, jsontext.AllowInvalidUTF8(true))
	return err == nil && one.Type != nil && one.Events == nil
}

// notBatch is the error for a body that is no batch, with how one looks.
func notBatch(err error) error {
	var e *assemble.InputError
	if !errors.As(err, &e) || strings.HasPrefix(e.Path, "events") {
		return err
	}
	return &assemble.InputError{Path: e.Path, Reason: e.Reason + `; the body is {"events": [{"type": "message", "channel": "C1", "message": {…}}]}, or one such event`}
}

// read returns the events of a batch.
func (b *eventBatch) read() ([]sidecar.Event, error) {
	if len(b.Events) == 0 || len(b.Events) > sidecar.MaxEvents {
		return nil, &assemble.InputError{Path: "events", Reason: fmt.Sprintf("must be 1 to %d", sidecar.MaxEvents)}
	}
	out := make([]sidecar.Event, 0, len(b.Events))
	for i, w := range b.Events {
		at := fmt.Sprintf("events[%d]", i)
		if w == nil {
			return nil, &assemble.InputError{Path: at, Reason: "must not be null"}
		}
		e, err := w.read(at)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// read returns one event. Fields that belong to other types are refused.
func (w *event) read(at string) (sidecar.Event, error) {
	e := sidecar.Event{Type: sidecar.EventType(w.Type), ID: w.ID, Of: earshot.MessageID(w.MessageID)}
	isMessage, isReaction := e.Type == sidecar.Said || e.Type == sidecar.Edited, e.Type == sidecar.Reacted
	refuse := func(field, reason string) (sidecar.Event, error) {
		return e, &assemble.InputError{Path: at + "." + field, Reason: reason}
	}
	switch {
	case !isMessage && !isReaction && e.Type != sidecar.Deleted:
		return refuse("type", "must be message, edit, delete or reaction")
	case len(w.Channel.Value) == 0 || w.Channel.Kind() == 'n':
		return refuse("channel", "is required")
	case isMessage && w.Message == nil:
		return refuse("message", "is required")
	case !isMessage && w.Message != nil:
		return refuse("message", "belongs to message and edit; give message_id")
	case isMessage && w.MessageID != "":
		return refuse("message_id", "belongs to delete and reaction; the message has its id")
	case isReaction && w.Reaction == nil:
		return refuse("reaction", "is required")
	case !isReaction && w.Reaction != nil:
		return refuse("reaction", "belongs to reaction")
	}
	var err error
	if e.Channel, err = w.Channel.read(); err != nil {
		return e, prefixField(at, err)
	}
	if isMessage {
		if e.Message, err = w.Message.Read(at + ".message"); err != nil {
			return e, err
		}
	}
	if isReaction {
		e.Reaction, e.By, e.User = w.Reaction.Name, w.Reaction.By, earshot.AuthorID(w.Reaction.User)
		if w.Reaction.Time != "" {
			if e.At, err = earshot.ParseTime(w.Reaction.Time); err != nil || e.At == 0 {
				return refuse("reaction.time", "must be a time as RFC 3339 has it, or a Slack ts")
			}
		}
	}
	return e, nil
}

// deliveries returns the raw deliveries of a body: one, or a list as events.
func (in *eventsInput) deliveries(ctx context.Context) ([][]byte, error) {
	if tooDeep(in.RawBody) {
		return nil, deepBody(ctx)
	}
	body := bytes.TrimSpace(in.RawBody)
	var whole map[string]jsontext.Value
	if err := contract.Unmarshal(body, &whole, "body"); err != nil {
		return nil, err
	}
	list, ok := whole["events"]
	if !ok || len(whole) > 1 {
		return [][]byte{body}, nil
	}
	var each []jsontext.Value
	if err := contract.Unmarshal(list, &each, "events"); err != nil {
		return nil, err
	}
	if len(each) == 0 || len(each) > sidecar.MaxEvents {
		return nil, &assemble.InputError{Path: "events", Reason: fmt.Sprintf("must be 1 to %d", sidecar.MaxEvents)}
	}
	raw := make([][]byte, len(each))
	for i := range each {
		raw[i] = each[i]
	}
	return raw, nil
}
