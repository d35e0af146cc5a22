package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// A doubt is a thing that may have to be erased because the bot seems to be
// gone from it. It stands in the store until Slack has said plainly, twice and
// with Options.Confirm between, that it is; or once that it is not.
//
// An event that tells of it is no proof: it may come again up to a day later,
// when the bot was invited back (docs.slack.dev, Events API).
type doubt struct {
	// Said is when Slack first said no, in Unix microseconds; 0: not yet.
	Said int64 `json:"said"`
}

// askTime is how long a question waits for its answer, and for its turn.
const askTime = 30 * time.Second

// leaving is the key of the doubt about a channel.
func (p *Platform) leaving(c earshot.ChannelID) string { return p.leavings() + string(c) }

// leavings begins these keys.
func (p *Platform) leavings() string { return "slack/leaving/" + string(p.workspace) + "/" }

// uninstalling is the key of the doubt about the workspace.
func (p *Platform) uninstalling() string { return "slack/uninstalling/" + string(p.workspace) }

// doubt begins a doubt, with a first question. One that is there already, as
// when the event comes again, stays as it is.
func (p *Platform) doubt(ctx context.Context, key string, ask func(context.Context) (answer, error)) error {
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
	return p.putDoubt(ctx, key, a)
}

func (p *Platform) putDoubt(ctx context.Context, key string, a answer) error {
	d := doubt{}
	if a == no {
		d.Said = p.o.Now().UnixMicro()
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return p.o.Store.PutNote(ctx, earshot.Note{Key: key, Data: data})
}

// Confirm asks Slack again where the bot seems to be gone, and erases what it
// then says so of for the second time. Call it now and then once
// [Platform.Enter] or [Platform.Recall] has said who the bot is.
func (p *Platform) Confirm(ctx context.Context) error {
	list, err := p.o.Store.Notes(ctx, p.leavings(), 0)
	if err != nil {
		return fmt.Errorf("slack: what was left: %w", err)
	}
	for _, n := range list {
		id := earshot.ChannelID(strings.TrimPrefix(n.Key, p.leavings()))
		err := p.confirm(ctx, n,
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
		if err := p.confirm(ctx, n, p.installed, func(ctx context.Context) error { return p.uninstalled(ctx, true) }); err != nil {
			return err
		}
	}
	return nil
}

// confirm asks about one doubt. The error is the store's.
func (p *Platform) confirm(ctx context.Context, n earshot.Note, ask func(context.Context) (answer, error), erase func(context.Context) error) error {
	var d doubt
	if json.Unmarshal(n.Data, &d) != nil {
		d = doubt{} // as if it had not been said
	}
	if d.Said != 0 && p.o.Now().Sub(time.UnixMicro(d.Said)) < p.o.Confirm {
		return nil
	}
	soon, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	a, err := ask(soon)
	switch {
	case a == yes || a == no && !p.o.Purge: // it may have been configured otherwise since
		p.o.Log.Info("nothing is erased: the bot is there", "note", n.Key)
	case a == unknown:
		p.o.Log.Warn("slack does not say whether the bot is gone; nothing is erased until it does", "err", err)
		return nil
	case d.Said == 0:
		return p.putDoubt(ctx, n.Key, no)
	default:
		p.o.Log.Info("erased: slack has said twice that the bot is gone", "note", n.Key)
		if err := erase(ctx); err != nil {
			return err
		}
	}
	return p.o.Store.DropNote(ctx, n.Key)
}

// notEntered looks, before a start ends because Slack refuses the token,
// whether that is the second time that it says the app is gone. It returns why
// the bot cannot enter.
func (p *Platform) notEntered(ctx context.Context, why error) error {
	if Unreachable(why) || !p.o.Purge {
		return why
	}
	if !p.known {
		if known, err := p.Recall(ctx); err != nil || !known {
			return why // nothing is known that could be erased
		}
	}
	if err := p.Confirm(ctx); err != nil {
		p.o.Log.Error("what is to be erased stays for now", "err", err)
	}
	return why
}
