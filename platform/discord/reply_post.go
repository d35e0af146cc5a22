package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/markup"
)

var _ interface {
	bot.Platform
	bot.Finder
	bot.Sizer
	bot.Updater
	bot.Notifier
	bot.Reposter
	bot.Remover
	bot.Reactor
	bot.Writer
	bot.Limiter
	bot.Chooser
	bot.FileSender
} = (*Platform)(nil)

// MaxText implements [bot.Sizer].
func (p *Platform) MaxText() int { return markup.MaxText }

// Post implements [bot.Platform]: Create Message, with the draft's key as a nonce that
// Discord enforces, so that the same post made again within a few minutes gives the
// same message back. At a channel's top level it is a reply to the question, or with
// [ThreadOnMention] it stands in the question's thread. With [NotifyPost] the first post of
// an answer is a reply in threads too, and notifies whoever asked. Where the question
// stands elsewhere, as beside a thread that was begun with it, Discord leaves the
// reference out.
func (p *Platform) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	buttons, err := buttonsOf(d)
	if err != nil {
		return earshot.Message{}, err
	}
	to, err := p.destination(ctx, d.Place)
	if err != nil {
		return earshot.Message{}, postError(err)
	}
	p.replies.to.Put(placeKey(d.Place), to)
	p.replies.sent.Add(d.Key, p.o.Now())
	notifies := p.PostsAnew() && d.Notify && d.Channel.Kind != earshot.KindDM // there every message notifies
	refers := to.refers || notifies
	raw, err := p.client.Call(ctx, rest.CreateMessage, []any{to.id}, nil, newPost(d, buttons, refers, notifies))
	if refers && discordapi.IsRefused(err, discordapi.NoReadHistory) { // without that permission an answer stands alone
		raw, err = p.client.Call(ctx, rest.CreateMessage, []any{to.id}, nil, newPost(d, buttons, false, false))
	}
	if err != nil {
		return earshot.Message{}, postError(err)
	}
	m, err := decodePosted(raw)
	if err != nil {
		return earshot.Message{}, err
	}
	m.Thread = to.thread
	return m, nil
}

// PostsAnew implements [bot.Notifier].
func (p *Platform) PostsAnew() bool { return p.o.Notify == NotifyPost }

// A destination is where an answer is posted.
type destination struct {
	id     string            // of the Discord channel or thread
	thread earshot.MessageID // as our message has it; "" at a channel's top level
	refers bool              // the post is a reply to the question
}

// placed returns where an answer belongs without a thread of its own: in the
// question's thread, or beside the question. Only at a channel's top level does it
// need a reference, because only there do people talk of several things at a time.
func (p *Platform) placed(at bot.Place) destination {
	to := destination{id: p.target(at), thread: at.Thread}
	if to.id != string(at.Channel.ID) {
		to.thread = earshot.MessageID(to.id)
	}
	to.refers = to.thread == "" && at.Channel.Kind != earshot.KindDM
	return to
}

// ownThread reports whether a question at a channel's top level is answered in a thread of its own.
func (p *Platform) ownThread(at bot.Place) bool {
	if at.Where != "" {
		return at.Where == bot.AnswerInThread
	}
	return p.o.Thread == ThreadOnMention
}

// destination returns where an answer is posted, and begins the thread that it needs.
// All posts of an answer get the same.
func (p *Platform) destination(ctx context.Context, at bot.Place) (destination, error) {
	if err := p.knowHome(ctx, at.Channel.ID); err != nil {
		return destination{}, &bot.PostError{Retry: again, Err: fmt.Errorf("where channel %s is: %w", at.Channel.ID, err)}
	}
	to := p.placed(at)
	if !to.refers || !p.ownThread(at) {
		return to, nil
	}
	if known, ok := p.replies.to.Get(placeKey(at)); ok {
		return known, nil
	}
	_, err := p.client.Call(ctx, rest.CreateThreadWithMessage, []any{to.id, at.Anchor.ID}, nil, newThread{threadName(p.identity, at.Anchor)})
	switch {
	case err == nil, discordapi.IsRefused(err, discordapi.ThreadExists):
		return inThread(at), nil // its id is that of the message that it begins with
	case isRefusal(err):
		p.o.Log.Info("an answer gets no thread of its own", "channel", at.Channel.ID, "message", at.Anchor.ID, "err", err)
		return to, nil
	case discordapi.Undone(err):
		return destination{}, err
	}
	// Whether there is a thread now does not matter: to begin it again does no harm.
	return destination{}, &bot.PostError{Retry: again, Err: fmt.Errorf("begin a thread: %w", err)}
}

// inThread returns the thread that is begun with the question.
func inThread(at bot.Place) destination {
	return destination{id: string(at.Anchor.ID), thread: at.Anchor.ID}
}

// Times after which a post is tried again.
const (
	again  = 2 * time.Second
	slowed = 10 * time.Second
)

// Codes of Discord for limits that come as refusals (Opcodes and Status Codes, JSON).
const (
	slowmode       = 20016
	channelWrites  = 20028
	serverWrites   = 20029
	unavailableNow = 40333 // Cloudflare, before the API
)

// postError turns an error of a call into a [*bot.PostError] where it is certain that
// the call had no effect.
func postError(err error) error {
	var (
		limited *discordapi.LimitedError
		known   *bot.PostError
		api     *discordapi.Error
	)
	switch {
	case err == nil, errors.As(err, &known), !discordapi.Undone(err):
		return err
	case errors.As(err, &limited):
		return &bot.PostError{Retry: max(limited.Wait, time.Millisecond), Err: err}
	case errors.Is(err, discordapi.ErrUnreachable), errors.Is(err, discordapi.ErrNotMade):
		return &bot.PostError{Retry: again, Err: err}
	case errors.Is(err, discordapi.ErrToken): // another token, or the same one later, posts the answer
		return &bot.PostError{Retry: slowed, Err: err}
	case discordapi.IsRefused(err, slowmode, channelWrites, serverWrites, unavailableNow):
		return &bot.PostError{Retry: slowed, Err: err}
	case errors.As(err, &api) && api.Code == 0 && (api.Status == http.StatusForbidden || api.Status == http.StatusUnauthorized): // a proxy's, before the API
		return &bot.PostError{Retry: slowed, Err: err}
	}
	return &bot.PostError{Err: err}
}

// isRefusal reports whether Discord has refused a call, and would refuse it again.
func isRefusal(err error) bool {
	var api *discordapi.Error
	return errors.As(err, &api) && api.Status != http.StatusTooManyRequests
}
