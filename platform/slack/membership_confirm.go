package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// An erasure is planned for a channel, or the workspace, that the bot seems to have
// left. It is a note in the store until Slack, when asked, has confirmed it twice
// with Options.Confirm between, or has denied it once.
//
// The event alone is no proof: it may be delivered again up to a day later, when the
// bot was invited back (docs.slack.dev, Events API).
type erasure struct {
	// Said is when Slack first said that the bot is gone, in Unix microseconds; 0:
	// not yet.
	Said int64 `json:"said"`
}

// askTime is for one question to Slack, the wait for its rate included.
const askTime = 30 * time.Second

// leaving is the key of a channel's erasure.
func (p *Platform) leaving(c earshot.ChannelID) string { return p.leavings() + string(c) }

// leavings is the prefix of these keys.
func (p *Platform) leavings() string { return "slack/leaving/" + string(p.workspace) + "/" }

// uninstalling is the key of the workspace's erasure.
func (p *Platform) uninstalling() string { return "slack/uninstalling/" + string(p.workspace) }

// planErasure asks Slack for the first time, and plans an erasure unless Slack
// denies it. One that is planned already, as when the event comes again, is left as
// it is.
func (p *Platform) planErasure(ctx context.Context, key string, ask func(context.Context) (answer, error)) error {
	list, err := p.o.Store.Notes(ctx, key, 1)
	if err != nil || len(list) > 0 && list[0].Key == key {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, nameTime) // the event waits for it
	defer cancel()
	a, err := ask(soon)
	if err != nil {
		p.o.Log.Warn("slack does not say whether the bot is gone; it is asked again before anything is erased", "err", err)
	}
	if a == yes {
		return nil
	}
	return p.putErasure(ctx, key, a)
}

func (p *Platform) putErasure(ctx context.Context, key string, a answer) error {
	d := erasure{}
	if a == no {
		d.Said = p.o.Now().UnixMicro()
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return p.o.Store.PutNote(ctx, earshot.Note{Key: key, Data: data})
}

// moveErasure gives an erasure that is planned for a channel the channel's new id.
func (p *Platform) moveErasure(ctx context.Context, old, now earshot.ChannelID) error {
	list, err := p.o.Store.Notes(ctx, p.leaving(old), 1)
	if err != nil || len(list) == 0 || list[0].Key != p.leaving(old) {
		return err
	}
	if err := p.o.Store.PutNote(ctx, earshot.Note{Key: p.leaving(now), Data: list[0].Data}); err != nil {
		return err
	}
	return p.o.Store.DropNote(ctx, p.leaving(old))
}

// Confirm asks Slack again about every planned erasure, and erases what Slack then
// confirms for the second time. Before that it moves what is stored under ids that channels
// no longer have, where that could not be done at once. Call it now and then, after
// [Platform.Enter] or [Platform.Recall].
func (p *Platform) Confirm(ctx context.Context) error {
	if err := p.moveAgain(ctx); err != nil {
		return err
	}
	list, err := p.o.Store.Notes(ctx, p.leavings(), 0)
	if err != nil {
		return fmt.Errorf("slack: what was left: %w", err)
	}
	for _, n := range list {
		id := earshot.ChannelID(strings.TrimPrefix(n.Key, p.leavings()))
		err := p.confirm(ctx, n, p.o.Purge,
			func(ctx context.Context) (answer, error) { return p.member(ctx, id) },
			func(ctx context.Context) error { return p.leave(ctx, p.scope(id), true) })
		if err != nil {
			return err
		}
	}
	list, err = p.o.Store.Notes(ctx, p.uninstalling(), 1)
	if err != nil {
		return fmt.Errorf("slack: what was left: %w", err)
	}
	for _, n := range list {
		if n.Key != p.uninstalling() {
			continue
		}
		if err := p.confirm(ctx, n, p.asksTwice(), p.installed, func(ctx context.Context) error { return p.uninstalled(ctx, true) }); err != nil {
			return err
		}
	}
	return nil
}

// confirm asks about one erasure, which may be wanted no longer. The error is the store's.
func (p *Platform) confirm(ctx context.Context, n earshot.Note, wanted bool, ask func(context.Context) (answer, error), erase func(context.Context) error) error {
	var d erasure
	if json.Unmarshal(n.Data, &d) != nil {
		d = erasure{} // begin again
	}
	if d.Said != 0 && p.o.Now().Sub(time.UnixMicro(d.Said)) < p.o.Confirm {
		return nil
	}
	soon, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	a, err := ask(soon)
	switch {
	case a == yes || a == no && !wanted: // the options may have changed since
		p.o.Log.Info("nothing is erased: the bot is there", "note", n.Key)
	case a == unknown:
		p.o.Log.Warn("slack does not say whether the bot is gone; nothing is erased until it does", "err", err)
		return nil
	case d.Said == 0:
		return p.putErasure(ctx, n.Key, no)
	default:
		p.o.Log.Info("erased: slack has said twice that the bot is gone", "note", n.Key)
		if err := erase(ctx); err != nil {
			return err
		}
	}
	return p.o.Store.DropNote(ctx, n.Key)
}

// refusedAtStart is called when Slack refuses the token at a start. Where that is the
// second time that Slack says the app is gone, it erases what is planned. It returns
// why, the reason of the refusal.
func (p *Platform) refusedAtStart(ctx context.Context, why error) error {
	if Unreachable(why) || !p.asksTwice() {
		return why
	}
	if !p.known {
		if known, err := p.Recall(ctx); err != nil || !known {
			return why // the workspace is not known
		}
	}
	if err := p.Confirm(ctx); err != nil {
		p.o.Log.Error("what is to be erased stays for now", "err", err)
	}
	return why
}
