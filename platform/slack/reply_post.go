package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/markup"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

var _ interface {
	bot.Platform
	bot.Finder
	bot.Sizer
	bot.Updater
	bot.Remover
	bot.Writer
	bot.Apologizer
	bot.Limiter
	bot.Chooser
	bot.FileSender
} = (*Platform)(nil)

// MaxText implements [bot.Sizer].
func (p *Platform) MaxText() int { return markup.MaxText }

// Post implements [bot.Platform]: chat.postMessage, with the draft's key as
// metadata. With [ReplyStream] a draft that grows begins a stream instead.
func (p *Platform) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	root := threadOf(d.Place)
	if err := p.ensureThread(ctx, d.Place, root); err != nil {
		return earshot.Message{}, err
	}
	if m, begun, err := p.startStream(ctx, d, root); begun {
		return m, err
	}
	if d.Growing {
		p.replies.notePlaceholder(d.Place, slackapi.Update)
	}
	args := url.Values{
		"channel": {string(d.Channel.ID)}, "metadata": {metadata(d.Key, false)},
		// No link that a model writes may be fetched.
		"unfurl_links": {"false"}, "unfurl_media": {"false"},
	}
	if root != "" {
		args.Set("thread_ts", string(root))
	}
	raw, err := p.send(ctx, p.client.Call, slackapi.Post, args, markup.Write(d.Text, d.Mentions...), buttons(d)...)
	if err != nil {
		return earshot.Message{}, p.unlessMoved(ctx, d.Channel.ID, postError(err))
	}
	m, err := decodePosted(raw)
	if err != nil {
		return earshot.Message{}, err
	}
	return p.takeBackOutsideThread(ctx, d, root, m)
}

// threadOf returns the root of the thread to which an answer goes, or "" for the top
// level. In a channel, a question at the top level becomes the root, unless it says otherwise; in a
// DM only where it is marked as one, as with agent_view.
func threadOf(at bot.Place) earshot.MessageID {
	switch {
	case at.Thread != "":
		return at.Thread
	case at.Channel.Kind != earshot.KindDM && at.Where == bot.AnswerInChannel:
		return ""
	case at.Channel.Kind == earshot.KindDM && at.Anchor.Thread != at.Anchor.ID:
		return ""
	}
	return at.Anchor.ID
}

// metadata is what our message is found by again, and says whether it has its final
// text. Everybody in the workspace can read it, so the key reveals nothing.
func metadata(key string, whole bool) string {
	payload := map[string]any{slackmsg.MetadataKey: key}
	if whole {
		payload[slackmsg.MetadataWhole] = true
	}
	raw, err := json.Marshal(map[string]any{"event_type": slackmsg.MetadataType, "event_payload": payload})
	if err != nil {
		panic("slack: metadata: " + err.Error()) // strings only
	}
	return string(raw)
}

// decodePosted reads Slack's answer to a post: the message's id, time and thread.
func decodePosted(raw json.RawMessage) (earshot.Message, error) {
	var answer struct {
		TS      string `json:"ts"`
		Message struct {
			Thread string `json:"thread_ts"`
		} `json:"message"`
	}
	err := json.Unmarshal(raw, &answer)
	id, at, ok := slackmsg.Stamp(raw)
	if err != nil || !ok {
		return earshot.Message{}, fmt.Errorf("%w: it does not say what was posted", slackapi.ErrAnswer)
	}
	return earshot.Message{ID: id, Time: at, Thread: earshot.MessageID(answer.Message.Thread)}, nil
}

// takeBackOutsideThread removes a message that Slack has posted into the channel,
// because the root of its thread is gone.
func (p *Platform) takeBackOutsideThread(ctx context.Context, d bot.Draft, root earshot.MessageID, m earshot.Message) (earshot.Message, error) {
	if root == "" || m.Thread == root {
		return m, nil
	}
	if err := p.Remove(ctx, d.Place, m.ID); err != nil {
		p.o.Log.Warn("a reply stands in the channel: its thread is gone", "channel", d.Channel.ID, "message", m.ID, "err", err)
		return m, nil
	}
	return earshot.Message{}, &bot.PostError{Err: errNoThread}
}

var errNoThread = errors.New("the thread is gone: its first message was deleted")

// threadTime is how long an answer waits for the check that its thread exists.
const threadTime = 3 * time.Second

// ensureThread returns an error where a thread does not exist: Slack would post the
// reply into the channel. Deletions come as events, so Slack is asked only where the
// root was deleted, or where the question is older than the last gap in the events.
// On the slowest tier a gap alone is no reason: the one call a minute reads history, and
// a reply that lands in the channel is taken back. A thread whose root was deleted still
// exists while it has replies.
func (p *Platform) ensureThread(ctx context.Context, at bot.Place, root earshot.MessageID) error {
	if root == "" {
		return nil
	}
	m, err := p.o.Store.Message(ctx, at.Channel.Scope(), root)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return &bot.PostError{Retry: time.Second, Err: fmt.Errorf("is thread %s there: %w", root, err)}
	}
	if !m.Deleted && (p.o.Tier == Distributed || at.Anchor.Time >= p.replies.heardSince()) {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, threadTime)
	defer cancel()
	_, err = p.client.Call(short, slackapi.Replies, url.Values{"channel": {string(at.Channel.ID)}, "ts": {string(root)}, "limit": {"1"}})
	if slackapi.IsRefused(err, "thread_not_found") {
		return &bot.PostError{Err: errNoThread}
	}
	return nil // where Slack does not say, its answer to the post will
}

// postError turns an error of a call into a [*bot.PostError] where it is certain that
// the call had no effect.
func postError(err error) error {
	var (
		limited *slackapi.LimitedError
		api     *slackapi.Error
		dial    *net.OpError
	)
	switch {
	case errors.As(err, &limited):
		return &bot.PostError{Retry: max(limited.After, time.Millisecond), Err: err}
	case errors.As(err, &dial) && dial.Op == "dial": // no connection, no request
		return &bot.PostError{Retry: redial, Err: err}
	case !errors.As(err, &api):
		return err
	}
	if slackapi.EndsToken(api.Code) { // another token, or the same one later, posts the answer
		return &bot.PostError{Retry: signedOut, Err: err}
	}
	switch api.Code {
	case "internal_error", "fatal_error", "service_unavailable", "request_timeout", "update_failed", "unknown", "":
		return err // "it's possible some aspect of the operation succeeded"
	case "external_channel_migrating", "team_added_to_org", "org_login_required":
		return &bot.PostError{Retry: migrating, Err: err}
	}
	return &bot.PostError{Err: err}
}

// unlessMoved returns an error of a post, which can be tried again where the channel has
// another id: Slack refuses the old one at once, and its event may come a little later.
func (p *Platform) unlessMoved(ctx context.Context, id earshot.ChannelID, err error) error {
	if !slackapi.IsRefused(err, "channel_not_found") {
		return err
	}
	end := time.NewTimer(movedWithin)
	defer end.Stop()
	look := time.NewTicker(movedWithin / 30)
	defer look.Stop()
	for {
		if _, e := p.o.Store.Channel(ctx, p.scope(id)); errors.Is(e, earshot.ErrNotFound) {
			return &bot.PostError{Retry: time.Second, Err: err} // this or another replica has moved it
		}
		select {
		case <-look.C:
		case <-end.C:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

// movedWithin is how long a refusal of a channel's id waits for the event that gives
// another one.
const movedWithin = 3 * time.Second

const (
	redial    = 2 * time.Second
	migrating = time.Minute
	signedOut = 10 * time.Second
)
