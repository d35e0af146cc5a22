package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/desk"
)

// ledgers is a store that keeps turns, opened to be read.
type ledgers struct {
	store    bot.Store
	channels []earshot.ChannelInfo
}

// ledgers opens the store, which must exist.
func (a *app) ledgers(ctx context.Context) (ledgers, error) {
	st, err := a.open(ctx)
	if err != nil {
		return ledgers{}, err
	}
	return newLedgers(ctx, st)
}

// newLedgers reads turns from an open store, which is closed on an error.
func newLedgers(ctx context.Context, st earshot.Store) (ledgers, error) {
	turns, ok := st.(bot.Store)
	if !ok {
		st.Close()
		return ledgers{}, usagef("this store keeps no turns; use sqlite:PATH")
	}
	list, err := st.Channels(ctx)
	if err != nil {
		st.Close()
		return ledgers{}, err
	}
	return ledgers{turns, list}, nil
}

func (l ledgers) Close() { l.store.Close() }

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

// row describes a turn with what it answers.
func (l ledgers) row(ctx context.Context, t earshot.QueuedTurn) (queuedJSON, error) {
	s := t.Conversation.Scope
	r := queuedJSON{
		ID: t.ID, State: t.State, Why: t.Why, Agent: t.Conversation.Agent, Platform: s.Platform, Workspace: s.Workspace,
		Channel: s.Channel, ChannelName: string(s.Channel), Conversation: t.Conversation.Name, Anchor: t.Anchor,
		Opened: t.Opened.String(), Updated: t.Updated.String(), Tries: t.Tries, Ends: t.Ends, Epoch: t.Epoch, Hash: t.Hash, minute: desk.Minute(t.Opened),
	}
	for _, c := range l.channels {
		if c.Scope() == s {
			r.ChannelName = channelLabel(l.channels, c.Channel)
		}
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
func (l ledgers) turn(ctx context.Context, id int64) (earshot.QueuedTurn, error) {
	t, err := l.store.QueuedTurn(ctx, earshot.TurnID(id))
	if errors.Is(err, earshot.ErrNotFound) {
		return t, usagef("there is no turn %d; `earshot turns` lists them", id)
	}
	return t, err
}

// committed returns what a turn committed; nil when it committed nothing, as
// one that is not done or was answered alone.
func (l ledgers) committed(ctx context.Context, t earshot.QueuedTurn) (*earshot.Turn, error) {
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
func (l ledgers) messagesOf(ctx context.Context, s earshot.Scope, ledger earshot.Ledger) ([]earshot.Message, error) {
	var ids []earshot.MessageID
	for _, r := range ledger {
		ids = append(ids, r.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return l.store.ByID(ctx, s, ids...)
}
