package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// A question is one message of a stored channel, read as a question to the
// agent.
type question struct {
	place    readTarget
	identity earshot.Identity
	counter  assemble.Counter
	budget   assemble.Budget
	zone     string // of the times that are shown; "" is UTC
	text     string // is read in place of the message's text; "" for that text
	search   gather.Finder
	after    *earlierTurn
}

// An earlierTurn is the turn that a question follows up: what was asked, and
// what the agent answered.
type earlierTurn struct {
	anchor earshot.Message
	reply  *earshot.Message // nil when no answer of the agent is stored
}

// A prompt is a question's prompt under one policy, and how long it took to make.
type prompt struct {
	policy   assemble.Policy
	input    assemble.Input
	result   assemble.Result
	gather   time.Duration
	assemble time.Duration
}

// placeholder is what stands in a session for an answer that is not stored.
const placeholder = "(The answer that was given here is not stored.)"

// ask makes the prompt. For a follow-up it first makes the prompt of the earlier
// turn, which with its answer is then the session.
func (q question) ask(ctx context.Context, p assemble.Policy) (prompt, error) {
	req := gather.Request{
		Channel: q.place.channel.Channel, Anchor: q.place.message.ID, Identity: q.identity,
		Policy: p, Budget: q.budget, Counter: q.counter, Zone: q.zone, Text: q.text, Finder: q.search,
	}
	var unfound error
	req.Failed = func(err error) { unfound = err }
	if q.after != nil {
		state, zone, err := q.earlier(ctx, req)
		if err != nil {
			return prompt{}, err
		}
		req.State, req.Zone, req.AskerZone = &state, zone, q.zone
	}
	out := prompt{policy: p}
	start := time.Now()
	in, err := gather.Input(ctx, q.place.store, req)
	if err != nil {
		return out, err
	}
	out.gather = time.Since(start)
	start = time.Now()
	out.result, err = assemble.Turn(in)
	out.assemble = time.Since(start)
	out.input = in
	if gather.SessionEnded(in, out.result, err) {
		// The session could not go on: what a first turn needs is read instead.
		out.input, out.result, err = gather.Turn(ctx, q.place.store, req)
	}
	if unfound != nil {
		out.result.Notes = append(out.result.Notes, assemble.Note{Kind: assemble.NoteOmitted, Text: "recall: the search failed: " + unfound.Error()})
	}
	return out, q.explain(err)
}

// explain adds the remedy to an error of the assembler.
func (q question) explain(err error) error {
	var input *assemble.InputError
	switch {
	case errors.Is(err, assemble.ErrBudgetTooSmall):
		return usagef("the message and its thread's root alone need more than %d tokens; raise --limit", q.budget.Limit)
	case errors.As(err, &input) && input.Path == "anchor" && q.text != "":
		return usagef("nothing is left to ask of --as %q: %s; give it words", q.text, input.Reason)
	case errors.As(err, &input) && input.Path == "anchor":
		return usagef("%s cannot be asked about: %s; read it as a question with --as \"…\", or pick another with `earshot thread %s %s`",
			q.place.message.ID, input.Reason, q.place.label, q.place.message.ID)
	}
	return err
}

// earlier returns the conversation after the earlier turn, and the zone that its
// epoch keeps.
func (q question) earlier(ctx context.Context, req gather.Request) (assemble.ConversationState, string, error) {
	req.Anchor, req.Text = q.after.anchor.ID, ""
	in, first, err := gather.Turn(ctx, q.place.store, req)
	if err != nil {
		return assemble.ConversationState{}, "", err
	}
	c := assemble.ConversationState{
		Cursor: first.Next.Cursor, Epoch: first.Next.Epoch, Shown: first.Next.Shown, Attached: first.Next.Attached,
		Names: first.Next.Names,
		Turns: []earshot.Answer{{Anchor: q.after.anchor.ID}},
	}
	answer := placeholder
	if r := q.after.reply; r != nil {
		answer = r.Text
		c.Shown = append(c.Shown, earshot.ShownRevision{ID: r.ID, Revision: r.Edited})
		c.Turns[0].Replies = []earshot.MessageID{r.ID}
	}
	if req.Policy.Session {
		c.Form = req.Policy.Frame
		for _, m := range first.Messages {
			c.Session = append(c.Session, earshot.SessionEntry{
				Role: m.Role, Text: m.Text, Media: m.Media, Calls: m.Calls, Call: m.Call, Failed: m.Failed, Opaque: m.Opaque,
			})
		}
		c.Session = append(c.Session, earshot.SessionEntry{Role: earshot.Assistant, Text: answer})
	}
	return c, in.Zone, nil
}

// follow finds the turn that the question follows up: the message want, and what
// the agent answered. They are of the same conversation, or the talk goes on at the
// channel's top level, where nothing but the order connects question and answer.
func (q question) follow(ctx context.Context, want string) (*earlierTurn, error) {
	p := q.place
	m, err := findMessage(ctx, p.store, p.channel.Channel, p.label, want)
	if err != nil {
		return nil, err
	}
	if m.Position().Compare(p.message.Position()) >= 0 {
		return nil, usagef("%s does not stand before %s, so it cannot be the turn before", m.ID, p.message.ID)
	}
	here, err := gather.ConversationOf(ctx, p.store, p.channel.Channel, p.message, q.identity)
	if err != nil {
		return nil, err
	}
	there, err := gather.ConversationOf(ctx, p.store, p.channel.Channel, m, q.identity)
	if err != nil {
		return nil, err
	}
	t := &earlierTurn{anchor: m}
	if t.reply, err = q.answerTo(ctx, m, there.Name); err != nil || here == there {
		return t, err
	}
	r := t.reply
	switch {
	case m.Root() == "" && p.message.Root() == "" && r != nil && (r.Root() != "" || r.ReplyTo == m.ID):
		return nil, usagef("%s is not of the same conversation as %s: it was answered with %s, and a follow-up replies to that; `earshot thread %s %s` lists what does",
			m.ID, p.message.ID, r.ID, p.label, r.ID)
	case m.Root() != "" || p.message.Root() != "", here.Name != string(p.message.ID) && (r == nil || here.Name != string(r.ID)):
		return nil, usagef("%s is not of the same conversation as %s; `earshot thread %s %s` lists what is", m.ID, p.message.ID, p.label, p.message.ID)
	}
	return t, nil
}

// answerTo returns the agent's next message after m in the conversation, else its
// first reply to m by reference, else, between two messages of a channel's top level,
// its next message there that replies to nothing; nil when there is none.
func (q question) answerTo(ctx context.Context, m earshot.Message, conversation string) (*earshot.Message, error) {
	p := q.place
	next := func(part earshot.ChannelPart, reply bool) (*earshot.Message, error) {
		for r, err := range p.store.Range(ctx, p.channel.Scope(), part, m.Position(), p.message.Position()) {
			if err != nil {
				return nil, err
			}
			if r.ID != m.ID && r.ID != p.message.ID && q.identity.Is(r.Author.ID) && (reply || r.ReplyTo == "") {
				return &r, nil
			}
		}
		return nil, nil
	}
	part := earshot.ThreadOf(earshot.MessageID(conversation))
	if conversation == gather.TopLevel {
		part = earshot.TopLevel()
	}
	if r, err := next(part, true); r != nil || err != nil {
		return r, err
	}
	// Where answers are replies by reference they stand outside of any thread.
	below, err := p.store.Replying(ctx, p.channel.Scope(), p.message.Position(), m.ID)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(below, func(r earshot.Message) bool { return q.identity.Is(r.Author.ID) }); i >= 0 {
		return &below[i], nil
	}
	if m.Root() != "" || p.message.Root() != "" {
		return nil, nil
	}
	return next(earshot.TopLevel(), false)
}

// agentName is the agent's name where --identity does not choose one.
const agentName = "earshot"

// findIdentity returns the agent's identity: the author with the id or name want;
// by default the stored bot named earshot, else a new one.
func findIdentity(ctx context.Context, p readTarget, want string) (earshot.Identity, error) {
	authors, err := p.store.Authors(ctx, p.channel.Platform, p.channel.Workspace)
	if err != nil {
		return earshot.Identity{}, err
	}
	var bots, alike []string
	var stored *earshot.Author
	answered := false
	for _, a := range authors {
		switch {
		case want != "" && string(a.ID) == want:
			return identityOf(a, authors), nil
		case want == "" && a.Kind == earshot.Bot && strings.EqualFold(a.Name, agentName):
			// Of several ids the one that has answered, else the last: on Slack the user
			// id, which mentions name.
			turns, err := p.store.QueuedTurns(ctx, earshot.TurnQuery{Agent: earshot.AgentID(a.ID), Limit: 1})
			if err != nil {
				return earshot.Identity{}, err
			}
			if len(turns) > 0 || !answered {
				stored, answered = &a, len(turns) > 0
			}
		case want != "" && strings.EqualFold(a.Name, strings.TrimPrefix(want, "@")):
			alike = append(alike, string(a.ID))
		case a.Kind == earshot.Bot:
			bots = append(bots, string(a.ID)+" ("+a.Name+")")
		}
	}
	switch {
	case stored != nil:
		return identityOf(*stored, authors), nil
	case want == "":
		return earshot.Identity{ID: agentName, Name: agentName}, nil
	case len(alike) == 1:
		return findIdentity(ctx, p, alike[0])
	case len(alike) > 1:
		return earshot.Identity{}, usagef("%q is more than one author: use one of %s", want, joinFirst(alike, 8))
	case len(bots) > 0:
		return earshot.Identity{}, usagef("there is no author %q; the bots are %s", want, joinFirst(bots, 8))
	}
	return earshot.Identity{}, usagef("there is no author %q, and no bot is stored; leave the flag out to ask as a new one", want)
}

// identityOf returns an author as the agent. Bots of the same name are its
// aliases: Slack gives one bot a user id and a bot id.
func identityOf(a earshot.Author, authors []earshot.Author) earshot.Identity {
	id := earshot.Identity{ID: a.ID, Name: cmp.Or(a.Name, string(a.ID))}
	for _, b := range authors {
		if b.ID != a.ID && b.Kind == earshot.Bot && a.Kind == earshot.Bot && b.Name == a.Name {
			id.Aliases = append(id.Aliases, b.ID)
		}
	}
	return id
}
