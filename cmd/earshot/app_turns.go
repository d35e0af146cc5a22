package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/desk"
)

// A turnStore is a store that was opened to read turns, with what finds its channels.
type turnStore struct {
	store    earshot.Store
	channels channels
}

// turnStore opens the store, which must exist.
func (a *app) turnStore(ctx context.Context) (turnStore, error) {
	st, err := a.open(ctx)
	if err != nil {
		return turnStore{}, err
	}
	return turnsOf(st), nil
}

func turnsOf(st earshot.Store) turnStore { return turnStore{st, channelsOf(st)} }

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
		Opened: t.Opened.String(), Updated: t.Updated.String(), Tries: t.Tries, Ends: t.Ends, Epoch: t.Epoch, Hash: t.Hash, minute: desk.Minute(t.Opened),
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
	r.By, r.Question = m.Author.Name, desk.Readable(m.Text)
	if r.By == "" {
		r.By = string(m.Author.ID)
	}
	return r, nil
}

// turn returns one turn, or an error that says how to find it.
func (l turnStore) turn(ctx context.Context, id int64) (earshot.QueuedTurn, error) {
	t, err := l.store.QueuedTurn(ctx, earshot.TurnID(id))
	if errors.Is(err, earshot.ErrNotFound) {
		return t, usagef("there is no turn %d; `earshot turns` lists them", id)
	}
	return t, err
}

// committed returns what a turn committed; nil when it committed nothing, as
// one that is not done or was answered alone.
func (l turnStore) committed(ctx context.Context, t earshot.QueuedTurn) (*earshot.Turn, error) {
	if t.State != earshot.TurnDone {
		return nil, nil
	}
	c, err := l.store.Turn(ctx, t.Conversation, t.Number)
	if errors.Is(err, earshot.ErrNotFound) || err == nil && c.Answer.Anchor != t.Anchor {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("turn %d: %w", t.ID, err)
	}
	return &c, nil
}

// messagesOf returns the messages that a ledger speaks of.
func (l turnStore) messagesOf(ctx context.Context, s earshot.Scope, ledger earshot.Ledger) ([]earshot.Message, error) {
	var ids []earshot.MessageID
	for _, r := range ledger {
		ids = append(ids, r.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return l.store.ByID(ctx, s, ids...)
}
