package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// A Handler records an event and returns once it is durable, as [bot.Bot.Handle]
// does. After an error it may or may not be stored.
type Handler func(ctx context.Context, e bot.Event) (bot.Outcome, error)

// An ActionResult is the outcome of something that a person did: the message as it is
// stored, and what the bot does about it.
type ActionResult struct {
	Message earshot.Message
	Turn    earshot.TurnID // the turn that answers it; 0 when there is none
	Why     string         // see [bot.Outcome]
}

// A Chat is the side of a platform that people use. It is safe for concurrent use.
type Chat struct {
	*Platform
	handle Handler
	choose func(context.Context, bot.Chosen) (private string, err error)
}

// Chat returns the people's side. Its events go to handle, and what people choose to
// choose, as [bot.Bot.Choose] takes it. Without choose nobody can choose anything.
func (p *Platform) Chat(handle Handler, choose func(context.Context, bot.Chosen) (private string, err error)) *Chat {
	return &Chat{p, handle, choose}
}

// A NewMessage is what a person says. Channel, As and Text (or Files) are required.
type NewMessage struct {
	Channel string // a name or id
	As      string // a person's name or id
	Bot     bool   // if nobody has the name yet, it becomes that of a program
	Text    string
	Thread  earshot.MessageID // the root of its thread; "" for the top level
	ReplyTo earshot.MessageID // a reply reference, as on Discord
	Client  string            // the sender's own id of the message; sent twice, it is one message
	Files   []Upload
}

// maxText bounds the bytes of one message.
const maxText = 256 << 10

// Say records what a person says and returns the stored message. If the same Client
// was used before, that is the earlier message.
func (c *Chat) Say(ctx context.Context, s NewMessage) (ActionResult, error) {
	ch, err := c.channel(ctx, s.Channel)
	if err != nil {
		return ActionResult{}, err
	}
	if strings.TrimSpace(s.Text) == "" && len(s.Files) == 0 || len(s.Text) > maxText {
		return ActionResult{}, fmt.Errorf("%w: a message has 1 to %d bytes of text, or files", ErrInvalid, maxText)
	}
	who, err := c.person(ctx, s.As, s.Bot)
	if err != nil {
		return ActionResult{}, err
	}
	for _, id := range []earshot.MessageID{s.Thread, s.ReplyTo} {
		if id == "" {
			continue
		}
		if up, err := c.store.Message(ctx, ch.Scope(), id); err != nil || up.Deleted {
			return ActionResult{}, fmt.Errorf("message %s: %w", id, orNotFound(err))
		}
	}
	m := earshot.Message{Author: who, Thread: s.Thread, ReplyTo: s.ReplyTo}
	if m.Time, err = c.now(ctx, ch.Scope()); err != nil {
		return ActionResult{}, err
	}
	m.ID = freeIDAt(m.Time)
	if s.Client != "" {
		m.ID = deriveID("c", string(ch.ID)+"\x00"+string(who.ID), s.Client)
		switch known, err := c.store.Message(ctx, ch.Scope(), m.ID); {
		case err == nil && known.Deleted:
			return ActionResult{Message: known}, nil
		case err == nil:
			// A repeat; whether the bot has answered it is not known here.
			return c.event(ctx, ch, "message", earshot.Same, s.Client, known)
		case !errors.Is(err, earshot.ErrNotFound):
			return ActionResult{}, err
		}
	}
	if m.Text, m.Mentions, err = c.compose(ctx, s.Text); err != nil {
		return ActionResult{}, err
	}
	if m.Files, err = c.share(ch.Scope(), m.ID, s.Files); err != nil {
		return ActionResult{}, err
	}
	result, err := c.event(ctx, ch, "message", earshot.New, s.Client, m)
	if err != nil {
		c.unshare(ch.Scope(), m.ID)
	}
	return result, err
}

// Edit gives a message a new text. Only its author may.
func (c *Chat) Edit(ctx context.Context, channel string, id earshot.MessageID, as, text string) (ActionResult, error) {
	ch, m, err := c.own(ctx, channel, id, as)
	if err != nil {
		return ActionResult{}, err
	}
	if strings.TrimSpace(text) == "" || len(text) > maxText {
		return ActionResult{}, fmt.Errorf("%w: a message has 1 to %d bytes of text", ErrInvalid, maxText)
	}
	if m.Text, m.Mentions, err = c.compose(ctx, text); err != nil {
		return ActionResult{}, err
	}
	now, err := c.now(ctx, ch.Scope())
	if err != nil {
		return ActionResult{}, err
	}
	m.Edited, m.Tokens = max(now, m.Edited+1), 0
	return c.event(ctx, ch, "edit", earshot.Edited, "", m)
}

// Delete deletes a message. Only its author may.
func (c *Chat) Delete(ctx context.Context, channel string, id earshot.MessageID, as string) error {
	ch, m, err := c.own(ctx, channel, id, as)
	if err != nil {
		return err
	}
	_, err = c.event(ctx, ch, "delete", earshot.Gone, "", earshot.Message{ID: m.ID, Time: m.Time, Deleted: true})
	if err == nil {
		c.unshare(ch.Scope(), m.ID)
	}
	return err
}

// own returns a message if the person as wrote it.
func (c *Chat) own(ctx context.Context, channel string, id earshot.MessageID, as string) (earshot.Channel, earshot.Message, error) {
	ch, who, m, err := c.find(ctx, channel, id, as)
	if err == nil && m.Author.ID != who.ID {
		err = fmt.Errorf("%w: message %s is not by %s", ErrForbidden, id, who.Name)
	}
	return ch, m, err
}

// find returns a message that is not deleted, its channel, and the person as.
func (c *Chat) find(ctx context.Context, channel string, id earshot.MessageID, as string) (ch earshot.Channel, who earshot.Author, m earshot.Message, err error) {
	if ch, err = c.channel(ctx, channel); err != nil {
		return ch, who, m, err
	}
	if who, err = c.person(ctx, as, false); err != nil {
		return ch, who, m, err
	}
	if m, err = c.store.Message(ctx, ch.Scope(), id); err != nil || m.Deleted {
		err = fmt.Errorf("message %s: %w", id, orNotFound(err))
	}
	return ch, who, m, err
}

func orNotFound(err error) error {
	if err == nil {
		return earshot.ErrNotFound
	}
	return err
}

// event passes an event to the handler, and notifies watchers once it is durable.
func (c *Chat) event(ctx context.Context, ch earshot.Channel, kind string, change earshot.Change, client string, m earshot.Message) (ActionResult, error) {
	moment := m.Time
	if m.Edited != 0 {
		moment = m.Edited
	}
	raw, err := json.Marshal(map[string]any{
		"type": kind, "channel": ch.ID, "id": m.ID, "time": moment.String(), "user": m.Author.ID,
		"text": m.Text, "thread": m.Thread, "reply_to": m.ReplyTo, "files": m.Files,
	})
	if err != nil {
		return ActionResult{}, fmt.Errorf("write the event: %w", err)
	}
	e := bot.Event{Channel: ch, Event: earshot.Event{
		Delivery: kind + ":" + string(m.ID), Client: client, Raw: raw, Received: earshot.TimeOf(c.o.Now()), Message: m,
	}}
	if kind == "edit" {
		e.Delivery += ":" + string(freeIDAt(moment))
	}
	out, err := c.handle(ctx, e)
	if err != nil {
		return ActionResult{}, err
	}
	if out.Seq != 0 { // known deliveries of unknown messages have none
		m.Seq = out.Seq
	}
	if !out.Duplicate {
		c.tell(Update{Channel: ch, Change: change, Message: m})
	}
	return ActionResult{Message: m, Turn: out.Turn, Why: out.Why}, nil
}
