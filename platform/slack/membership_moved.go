package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// A move is a note in the store that a channel has another id. It stays for a day: what is
// told under the old id after that, by a replica that is late for instance, is moved too.
// Where what is stored under both ids cannot be joined, it stays until it can.
type move struct {
	To   earshot.ChannelID `json:"to"`
	Said int64             `json:"said"` // when Slack said so, in Unix microseconds
}

const (
	moveTime  = 5 * time.Minute // for one move
	moveKnown = 24 * time.Hour
)

// moves is the prefix of the keys of moves; the old id follows.
func (p *Platform) moves() string { return "slack/moved/" + string(p.workspace) + "/" }

// moved gives what is stored of a channel the id that Slack has given it, as when a
// private channel is shared with another organisation (docs.slack.dev,
// channel_id_changed).
func (p *Platform) moved(ctx context.Context, x delivery) error {
	old, now := x.Event.Channel.ID, x.Event.Moved
	if old == "" || now == "" || old == now {
		return nil
	}
	data, err := json.Marshal(move{now, p.o.Now().UnixMicro()})
	if err != nil {
		return err
	}
	if err := p.o.Store.PutNote(ctx, earshot.Note{Key: p.moves() + string(old), Data: data}); err != nil {
		return fmt.Errorf("channel %s, which is now %s: %w", old, now, err)
	}
	err = p.move(ctx, old, now)
	if errors.Is(err, earshot.ErrConflict) {
		p.o.Log.Error("a channel has another id, and what is stored under both cannot be joined: what was said before stays under the old one until it can", "channel", now, "was", old, "err", err)
		return nil
	}
	return err
}

// move moves a channel, and tells of it.
func (p *Platform) move(ctx context.Context, old, now earshot.ChannelID) error {
	// All that is stored of the channel is written again, in one transaction: with much of
	// it that takes longer than other events, and a delivery that gives up would never end.
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), moveTime)
	defer cancel()
	if err := p.o.Store.MoveChannel(whole, p.scope(old), now); err != nil {
		return fmt.Errorf("channel %s, which is now %s: %w", old, now, err)
	}
	p.o.Log.Info("a channel has another id: what is stored of it is moved", "channel", now, "was", old)
	p.names.forget(old)
	if err := p.moveErasure(ctx, old, now); err != nil {
		return fmt.Errorf("channel %s, which is now %s: %w", old, now, err)
	}
	if err := p.o.Moved(ctx, p.scope(old), now); err != nil {
		return err
	}
	return p.leave(ctx, p.scope(old), false)
}

// moveAgain moves what is stored under ids that channels no longer have.
func (p *Platform) moveAgain(ctx context.Context) error {
	list, err := p.o.Store.Notes(ctx, p.moves(), 0)
	if err != nil {
		return fmt.Errorf("slack: channels that have other ids: %w", err)
	}
	for _, n := range list {
		var m move
		if err := json.Unmarshal(n.Data, &m); err != nil {
			return fmt.Errorf("slack: the note %s: %w", n.Key, err)
		}
		old := earshot.ChannelID(strings.TrimPrefix(n.Key, p.moves()))
		_, err := p.o.Store.Channel(ctx, p.scope(old))
		if err == nil {
			err = p.move(ctx, old, m.To)
		}
		switch {
		case errors.Is(err, earshot.ErrConflict): // as the log has said when Slack did
		case err != nil && !errors.Is(err, earshot.ErrNotFound):
			return err
		case p.o.Now().Sub(time.UnixMicro(m.Said)) > moveKnown:
			if err := p.o.Store.DropNote(ctx, n.Key); err != nil {
				return err
			}
		}
	}
	return nil
}
