package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/search"
)

// A turnStore is a store that was opened to read turns, with what finds its channels and
// what tells of the turns.
type turnStore struct {
	store    earshot.Store
	channels channelFinder
	turns    *explain.Reader
}

// operator is whoever runs the command: they have the store, and see all of it.
var operator = access.Principal{ID: "local:earshot", Name: "earshot", Kind: access.Local}

// turnStore opens the store, which must exist.
func (a *app) turnStore(ctx context.Context) (turnStore, error) {
	st, err := a.open(ctx)
	if err != nil {
		return turnStore{}, err
	}
	return turnsOf(st), nil
}

func turnsOf(st earshot.Store) turnStore {
	return turnStore{st, channelsOf(st), explain.New(st, search.New(st, nil), explain.Options{})}
}

func (l turnStore) Close() { l.store.Close() }

// A queuedJSON is a turn as --json writes it.
type queuedJSON struct {
	ID           earshot.TurnID      `json:"id"`
	State        earshot.TurnState   `json:"state"`
	Why          string              `json:"why,omitempty"`
	Agent        earshot.AgentID     `json:"agent"`
	Platform     earshot.Platform    `json:"platform"`
	Workspace    earshot.WorkspaceID `json:"workspace"`
	Channel      earshot.ChannelID   `json:"channel"`
	ChannelName  string              `json:"channel_name"`
	Conversation string              `json:"conversation"`
	Anchor       earshot.MessageID   `json:"anchor"`
	By           string              `json:"by"`
	Question     string              `json:"question"` // "" when it was deleted
	Opened       string              `json:"opened"`
	Updated      string              `json:"updated"`
	Tries        int                 `json:"tries"`
	Ends         int                 `json:"ends,omitempty"`
	Epoch        int                 `json:"epoch"`
	Hash         string              `json:"hash,omitempty"`

	minute string
}

// row describes a turn, with the question that it answers.
func (l turnStore) row(ctx context.Context, t earshot.QueuedTurn) (queuedJSON, error) {
	s := t.Conversation.Scope
	r := queuedJSON{
		ID: t.ID, State: t.State, Why: t.Why, Agent: t.Conversation.Agent, Platform: s.Platform, Workspace: s.Workspace,
		Channel: s.Channel, ChannelName: string(s.Channel), Conversation: t.Conversation.Name, Anchor: t.Anchor,
		Opened: t.Opened.String(), Updated: t.Updated.String(), Tries: t.Tries, Ends: t.Ends, Epoch: t.Epoch, Hash: t.Hash, minute: plain.Minute(t.Opened),
	}
	c, err := l.store.Channel(ctx, s)
	if err == nil {
		r.ChannelName, err = l.channels.label(ctx, c)
	}
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return r, err
	}
	m, err := l.store.Message(ctx, s, t.Anchor)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return r, err
	}
	r.By, r.Question = cmp.Or(m.Author.Name, string(m.Author.ID)), plain.Readable(m.Text)
	return r, nil
}

// scope returns the channel that an argument names; nil for "".
func (l turnStore) scope(ctx context.Context, channel string) (*earshot.Scope, error) {
	if channel == "" {
		return nil, nil
	}
	c, err := l.channels.find(ctx, channel, nil)
	if err != nil {
		return nil, err
	}
	s := c.Scope()
	return &s, nil
}

// turn returns one turn, or an error that says how to find it.
func (l turnStore) turn(ctx context.Context, id int64) (earshot.QueuedTurn, error) {
	t, err := l.store.QueuedTurn(ctx, earshot.TurnID(id))
	if errors.Is(err, earshot.ErrNotFound) {
		return t, noTurn(id)
	}
	return t, err
}

// noTurn is the error for a turn that is not stored.
func noTurn(id int64) error { return usagef("there is no turn %d; `earshot turns` lists them", id) }
