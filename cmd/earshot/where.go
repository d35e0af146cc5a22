package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/desk"
)

type whereCmd struct {
	Channel string `arg:"" help:"A channel: name, id or workspace/name." predictor:"channel"`
	Message string `arg:"" help:"A message: its id, a link to it, or last. Of a deleted one the whole id."`
}

func (c *whereCmd) Help() string {
	return `Lists what is stored of a message and where: its text and revisions, what the platform delivered, the turns whose model
has read it with what is kept of them, and the bot's replies that may quote it. It works for a deleted message too: then only
such replies are left, and earshot erase --replies removes them.

Examples:

  earshot where deploys 1773154325.646159`
}

// whereJSON is what is stored of a message, as --json writes it.
type whereJSON struct {
	Channel   string            `json:"channel"`
	Message   earshot.MessageID `json:"message"`
	Deleted   bool              `json:"deleted"`
	Revisions int               `json:"revisions"`  // the current one included
	RawEvents int               `json:"raw_events"` // stored deliveries about it
	Files     int               `json:"files"`
	Turns     []reader          `json:"turns"` // whose model has read it
}

func (c *whereCmd) Run(ctx context.Context, a *app) error {
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	ch, m, label, err := l.message(ctx, c.Channel, c.Message)
	if err != nil {
		return err
	}
	out, err := l.where(ctx, ch, m, label)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(out)
	}
	a.printf("%s", out.lines())
	return nil
}

// message finds a stored message, deleted or not.
func (l turnStore) message(ctx context.Context, channel, message string) (s earshot.Scope, m earshot.Message, label string, err error) {
	ch, err := findChannel(l.channels, channel)
	if err != nil {
		return s, m, "", err
	}
	s, label = ch.Scope(), channelLabel(l.channels, ch.Channel)
	m, err = l.store.Message(ctx, s, earshot.MessageID(message))
	if errors.Is(err, earshot.ErrNotFound) {
		m, err = findMessage(ctx, l.store, ch.Channel, label, message)
	}
	return s, m, label, err
}

// where lists what is stored of a message.
func (l turnStore) where(ctx context.Context, s earshot.Scope, m earshot.Message, label string) (whereJSON, error) {
	out := whereJSON{Channel: label, Message: m.ID, Deleted: m.Deleted, Files: len(m.Files)}
	texts, err := l.textsOf(ctx, s, m.ID)
	if err != nil {
		return out, err
	}
	out.Revisions = len(texts)
	events, err := l.store.Events(ctx, s, m.ID)
	if err != nil {
		return out, err
	}
	for _, e := range events {
		if e.Raw != nil {
			out.RawEvents++
		}
	}
	out.Turns, err = l.readers(ctx, s, m.ID, texts)
	if out.Turns == nil {
		out.Turns = []reader{}
	}
	return out, err
}

// replies returns the stored replies that may quote the message.
func (w whereJSON) replies() []replyJSON {
	var out []replyJSON
	for _, t := range w.Turns {
		out = append(out, t.Replies...)
	}
	return out
}

// lines returns w as lines for people.
func (w whereJSON) lines() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("message %s of %s", desk.Line(string(w.Message), 80), desk.Line(w.Channel, 40))
	if w.Deleted {
		say("  deleted: its text is not stored")
	} else {
		say("  its text, in %s; %s", desk.Count(w.Revisions, "revision"), desk.Count(w.Files, "file"))
	}
	say("  %s as the platform sent it", desk.Count(w.RawEvents, "event"))
	for _, t := range w.Turns {
		held := "nothing else is kept of it"
		if len(t.Holds) > 0 {
			held = "kept of it: " + strings.Join(t.Holds, ", ")
		}
		say("  turn %d (%s) has read it; %s", t.Turn, t.State, held)
		for _, r := range t.Replies {
			verb := "may quote it"
			if r.Quotes {
				verb = "quotes it"
			}
			say("    our reply %s %s: %s", desk.Line(string(r.Message), 80), verb, desk.Line(r.Text, 60))
		}
	}
	if w.Deleted && len(w.replies()) > 0 {
		say("earshot erase %s %s --replies removes the replies from the store", shellWord(w.Channel), shellWord(string(w.Message)))
	}
	return b.String()
}
