package slack

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// What the status line says after the app's name.
const (
	sayThinking = "is thinking…"
	sayWriting  = "is writing…"
)

// Times of the status line.
const (
	statusEvery = 90 * time.Second // Slack clears it after two minutes (docs.slack.dev, assistant.threads.setStatus)
	statusTime  = 5 * time.Second  // one call
)

// A status is the status line of one answer.
type status struct {
	say  chan string   // holds the text to show next
	done chan struct{} // closed when the answer is posted or given up
}

// Writing implements [bot.Writer]: it appends to a stream, and where there is none it
// shows the status line below the thread until the answer is posted.
func (p *Platform) Writing(ctx context.Context, at bot.Place, text string, done bool) {
	if s := p.replies.streamByPlace(at); s != nil {
		if !done {
			p.appendToStream(ctx, s, text)
		}
		return
	}
	if done {
		p.replies.endStatus(placeKey(at))
		return
	}
	say := sayThinking
	if text != "" {
		say = sayWriting
	}
	p.showStatus(ctx, at, say, text != "")
}

// Working implements [bot.StatusWriter].
func (p *Platform) Working(ctx context.Context, at bot.Place, on string) {
	if s := p.replies.streamByPlace(at); s != nil {
		p.showTask(ctx, s, on)
		return
	}
	p.showStatus(ctx, at, "is "+on+"…", true)
}

// showStatus shows the status line of an answer. Where it is shown already, it changes
// only by news.
func (p *Platform) showStatus(ctx context.Context, at bot.Place, say string, news bool) {
	key := placeKey(at)
	root := threadOf(at)
	if root == "" || !p.replies.allowed("status", p.o.Now()) || !p.replies.allowed("status "+string(at.Channel.ID), p.o.Now()) {
		return
	}
	s, begun := p.replies.beginStatus(key)
	if begun {
		p.replies.shown.Go(func() { p.show(ctx, s, key, at.Channel.ID, root, say) })
	} else if news {
		select {
		case s.say <- say:
		default: // a text waits to be shown already
		}
	}
}

// show repeats a status line until its answer is posted or ctx ends.
func (p *Platform) show(ctx context.Context, s *status, key string, channel earshot.ChannelID, root earshot.MessageID, say string) {
	defer p.replies.forgetStatus(key, s)
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	shown := false
	for ; say != ""; say = s.next(ctx, say, tick.C) {
		ok, err := p.setStatus(ctx, channel, root, say)
		if err != nil {
			return
		}
		shown = shown || ok
	}
	if shown {
		_, _ = p.setStatus(context.WithoutCancel(ctx), channel, root, "") // if this fails, Slack clears it after two minutes
	}
}

// next returns the text to show next, "" when the line is to be cleared.
func (s *status) next(ctx context.Context, say string, tick <-chan time.Time) string {
	for {
		select {
		case <-s.done:
			return ""
		case <-ctx.Done():
			return ""
		case <-tick:
			return say
		case next := <-s.say:
			if next != say {
				return next
			}
		}
	}
}

// setStatus calls assistant.threads.setStatus. An error means that calling it again
// would not help; further calls are paused then.
func (p *Platform) setStatus(ctx context.Context, channel earshot.ChannelID, root earshot.MessageID, say string) (ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	call := p.client.Try
	if say == "" {
		call = p.client.Call // a line that was shown must be cleared, even after a wait
	}
	_, err = call(ctx, "assistant.threads.setStatus", url.Values{"channel_id": {string(channel)}, "thread_ts": {string(root)}, "status": {say}})
	var refused *bot.PostError
	if !errors.As(postError(err), &refused) || refused.Retry > 0 {
		return err == nil, nil
	}
	what := "status " + string(channel)
	if slackapi.IsRefused(err, "missing_scope", "unknown_method", "not_allowed_token_type", "access_denied", "no_permission") {
		what = "status"
	}
	p.o.Log.Info("there is no status line", "channel", channel, "err", err)
	p.replies.until.Put(what, p.o.Now().Add(retryAfter))
	return false, err
}

// beginStatus returns the status line of an answer, and whether it is new.
func (o *replies) beginStatus(key string) (s *status, begun bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.status[key]; s != nil {
		return s, false
	}
	s = &status{say: make(chan string, 1), done: make(chan struct{})}
	o.status[key] = s
	return s, true
}

// endStatus ends the status line of an answer, if there is one.
func (o *replies) endStatus(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.status[key]; s != nil {
		close(s.done)
		delete(o.status, key)
	}
}

func (o *replies) forgetStatus(key string, s *status) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.status[key] == s {
		delete(o.status, key)
	}
}
