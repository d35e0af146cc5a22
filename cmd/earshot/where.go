package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
)

type whereCmd struct {
	Text string `arg:"" help:"A text as it was written, a name, or an id; or a link to a message."`
}

// whereJSON is what where found, as --json writes it.
type whereJSON struct {
	Found    int           `json:"found"`    // places
	Messages []messageKept `json:"messages"` // whose id the text is
	Places   []placeJSON   `json:"places"`
}

// A placeJSON is one place. Table and column are "" for the raw bytes of a file,
// whose name and offset row then has.
type placeJSON struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Row    string `json:"row"`
}

// messageKept is what is stored of a message.
type messageKept struct {
	Channel   string            `json:"channel"`
	Message   earshot.MessageID `json:"message"`
	Deleted   bool              `json:"deleted"`
	Revisions int               `json:"revisions"`  // the current one included
	RawEvents int               `json:"raw_events"` // stored deliveries about it
	Files     int               `json:"files"`
	Turns     []turnReader      `json:"turns"` // whose model has read it
}

func (c *whereCmd) Run(ctx context.Context, a *app) error {
	err := c.run(ctx, a)
	if err != nil && !errors.Is(err, errNothing) {
		err = &statusError{err, exitUsage} // 1 says that nothing was found
	}
	return err
}

func (c *whereCmd) run(ctx context.Context, a *app) error {
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	text := c.Text
	out := whereJSON{Messages: []messageKept{}, Places: []placeJSON{}}
	if channel, id, ok := earshot.ParsePermalink(text); ok {
		text = string(id)
		err = l.appendKept(ctx, channel, id, &out.Messages)
	} else {
		err = l.appendKept(ctx, "", earshot.MessageID(text), &out.Messages)
	}
	if err != nil {
		return err
	}
	if !a.json {
		for _, m := range out.Messages {
			a.printf("%s", m.lines())
		}
	}
	looked, end := a.looking()
	defer end()
	raw := 0
	for p, err := range l.store.Locate(ctx, text, looked) {
		if err != nil {
			return err
		}
		out.Found++
		if !a.json {
			end() // what was drawn stands where the line will
		}
		switch {
		case a.json:
			out.Places = append(out.Places, placeJSON(p))
		case p.Table == "":
			raw++
			a.printf("%s\n", plain.Line(p.Row, 200))
		default:
			a.printf("%s.%s  %s\n", plain.Line(p.Table, 60), plain.Line(p.Column, 60), plain.Line(p.Row, 200))
		}
	}
	end()
	if a.json {
		err = a.writeJSON(out)
	} else {
		a.printf("%s\n", foundLine(out.Found, raw))
	}
	if err == nil && out.Found == 0 {
		err = errNothing
	}
	return err
}

// foundLine says in how many places a text was found.
func foundLine(found, raw int) string {
	switch {
	case found == 0:
		return "found nowhere"
	case raw == 0:
		return "found in " + plain.Count(found, "place")
	}
	return fmt.Sprintf("found in %s: %d in tables, %d in the bytes of files", plain.Count(found, "place"), found-raw, raw)
}

// appendKept appends what is stored of the messages with an id, in one channel or, where
// channel is "", in all.
func (l turnStore) appendKept(ctx context.Context, channel earshot.ChannelID, id earshot.MessageID, out *[]messageKept) error {
	var q earshot.ChannelQuery
	if channel != "" {
		q.IDs = []earshot.ChannelID{channel}
	}
	list, err := l.store.FindChannels(ctx, q)
	if err != nil {
		return err
	}
	for _, c := range list {
		m, err := l.store.Message(ctx, c.Scope(), id)
		if errors.Is(err, earshot.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		label, err := l.channels.label(ctx, c.Channel)
		if err != nil {
			return err
		}
		k, err := l.keptOf(ctx, c.Scope(), m, label)
		if err != nil {
			return err
		}
		*out = append(*out, k)
	}
	return nil
}

// keptOf lists what is stored of a message.
func (l turnStore) keptOf(ctx context.Context, s earshot.Scope, m earshot.Message, label string) (messageKept, error) {
	out := messageKept{Channel: label, Message: m.ID, Deleted: m.Deleted, Files: len(m.Files)}
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
		out.Turns = []turnReader{}
	}
	return out, err
}

// lines returns w as lines for people.
func (w messageKept) lines() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("message %s of %s", plain.Line(string(w.Message), 80), plain.Line(w.Channel, 40))
	if w.Deleted {
		say("  deleted: its text is not stored")
	} else {
		say("  its text, in %s; %s", plain.Count(w.Revisions, "revision"), plain.Count(w.Files, "file"))
	}
	say("  %s as the platform sent it", plain.Count(w.RawEvents, "event"))
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
			say("    our reply %s %s", plain.Line(string(r.Message), 80), verb)
		}
	}
	return b.String()
}
