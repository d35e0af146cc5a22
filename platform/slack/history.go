package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// Bounds of a page: docs.slack.dev, conversations.history.
const (
	maxPage        = 999
	maxPageSlowest = 15 // of apps that are sold outside the Marketplace
)

// historyNameTime is how long a page waits for names where nobody waits for the page.
const historyNameTime = 10 * time.Second

// Replies reads replies of a thread within the window, oldest first, as
// [backfill.Source] asks. The root may stand in any page.
func (p *Platform) Replies(ctx context.Context, c earshot.Channel, root earshot.MessageID, w backfill.Window) (backfill.Page, error) {
	args := p.window(c, w)
	args.Set("ts", string(root))
	return p.page(ctx, slackapi.Replies, c, args)
}

// History reads what stands at a channel's top level within the window, newest
// first, as [backfill.Source] asks.
func (p *Platform) History(ctx context.Context, c earshot.Channel, w backfill.Window) (backfill.Page, error) {
	page, err := p.page(ctx, slackapi.History, c, p.window(c, w))
	page.NewestFirst = true
	return page, err
}

// Root reads one message of a channel's top level, as [backfill.RootSource]
// asks: conversations.history from and to its own ts (docs.slack.dev, retrieving
// messages). A root has reply_count and latest_reply there.
func (p *Platform) Root(ctx context.Context, c earshot.Channel, root earshot.MessageID) (backfill.Page, error) {
	return p.page(ctx, slackapi.History, c, url.Values{
		"channel": {string(c.ID)}, "limit": {"1"}, "inclusive": {"true"}, "include_all_metadata": {"true"},
		"oldest": {string(root)}, "latest": {string(root)},
	})
}

// RootTime returns the time that a root's ts is.
func (p *Platform) RootTime(root earshot.MessageID) earshot.Time {
	t, err := earshot.ParseTime(string(root))
	if err != nil {
		return 0
	}
	return t
}

// window writes a window as Slack's arguments. Both ends are given always:
// with one of them, from which end Slack begins is not the same everywhere.
func (p *Platform) window(c earshot.Channel, w backfill.Window) url.Values {
	most := maxPage
	if p.o.Tier == Distributed {
		most = maxPageSlowest
	}
	if w.Limit > 0 {
		most = min(most, w.Limit)
	}
	args := url.Values{
		"channel": {string(c.ID)}, "limit": {strconv.Itoa(most)}, "inclusive": {"true"}, "include_all_metadata": {"true"},
		"oldest": {w.Oldest.TS()}, "latest": {w.Latest.TS()},
	}
	if w.Cursor != "" {
		args.Set("cursor", w.Cursor)
	}
	return args
}

// page reads one page. A message that cannot be read costs itself, not the
// page.
func (p *Platform) page(ctx context.Context, method string, c earshot.Channel, args url.Values) (backfill.Page, error) {
	if c.Platform != earshot.Slack || c.Workspace != p.workspace {
		return backfill.Page{}, fmt.Errorf("%s: %w", method, backfill.ErrNotThere)
	}
	raw, err := p.client.Call(ctx, method, args)
	if err != nil {
		return backfill.Page{}, mapRefusal(err)
	}
	var answer struct {
		Messages []json.RawMessage `json:"messages"`
		Limited  bool              `json:"is_limited"`
		More     *bool             `json:"has_more"`
		Next     struct {
			Cursor string `json:"next_cursor"`
		} `json:"response_metadata"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || answer.Messages == nil {
		return backfill.Page{}, fmt.Errorf("%s: %w: it has no messages", method, slackapi.ErrAnswer)
	}
	// Slack tells both that there is more and where it goes on. Where neither is told,
	// a page that is full may have been cut.
	full := answer.More == nil && strconv.Itoa(len(answer.Messages)) == args.Get("limit") && args.Get("oldest") != args.Get("latest")
	page := backfill.Page{Cursor: answer.Next.Cursor, More: answer.More != nil && *answer.More || full, Hidden: answer.Limited, Messages: make([]backfill.HistoryMessage, 0, len(answer.Messages))}
	p.learn(ctx, answer.Messages)
	for _, m := range answer.Messages {
		d, err := p.names.read(m, &missingIDs{})
		p.unedited(&d)
		p.attribute(ctx, &d)
		refused := p.byGroup(ctx, &d.Message)
		f := backfill.HistoryMessage{Event: earshot.Event{Client: d.ClientID, Raw: m, Message: p.rooted(c, d.Message), Form: d.Form, Refused: refused}, Key: d.Key, Whole: d.Whole}
		if err != nil || d.Kind == slackmsg.Ignored {
			p.o.Log.Debug("a message of history is not kept", "channel", c.ID, "reason", d.Reason, "err", err)
			f = backfill.HistoryMessage{Unread: true}
			var ok bool
			if f.Message.ID, f.Message.Time, ok = slackmsg.Stamp(m); !ok {
				continue
			}
		}
		page.Messages = append(page.Messages, f)
	}
	return page, nil
}

// learn asks for the names of those in a page, for half of the time that is left: a
// page without names is better than none.
func (p *Platform) learn(ctx context.Context, page []json.RawMessage) {
	wait := historyNameTime
	if deadline, ok := ctx.Deadline(); ok {
		wait = time.Until(deadline) / 2
	}
	soon, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	p.names.learn(soon, page)
}

// mapRefusal turns an error of the client into what backfill decides by.
func mapRefusal(err error) error {
	var (
		limited *slackapi.LimitedError
		api     *slackapi.Error
	)
	switch {
	case errors.As(err, &limited):
		return &backfill.LimitError{Wait: limited.After, Err: err}
	case !errors.As(err, &api):
		return err
	}
	switch api.Code {
	case "missing_scope":
		return &backfill.ScopeError{Scope: api.Needed, Err: err}
	case "channel_not_found", "thread_not_found", "message_not_found", "not_in_channel":
		return fmt.Errorf("%w: %w", backfill.ErrNotThere, err)
	}
	return err
}
