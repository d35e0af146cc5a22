package discord

import (
	"context"
	"time"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot/bot"
)

// Times of the line that says that the bot is typing.
const (
	typingEvery = 8 * time.Second // Discord shows it for ten (Trigger Typing Indicator)
	typingTime  = 5 * time.Second // one call
	quietFor    = time.Hour       // after a refusal
)

// A typing is the line of one answer.
type typing struct {
	stop  context.CancelFunc
	ended chan struct{} // closed when its goroutine has ended
}

// Writing implements [bot.Writer]: it shows that the bot is typing, until the answer
// is posted or given up.
func (p *Platform) Writing(ctx context.Context, at bot.Place, _ string, done bool) {
	if done {
		p.replies.endTyping(placeKey(at))
		return
	}
	to, ok := p.replies.to.Get(placeKey(at))
	if !ok {
		to = p.placed(at)
	}
	if t, ctx := p.replies.beginTyping(ctx, placeKey(at), to.id, p.o.Now()); t != nil {
		go p.typeOn(ctx, t, to.id)
	}
}

// typeOn repeats the line until ctx ends.
func (p *Platform) typeOn(ctx context.Context, t *typing, channel string) {
	defer close(t.ended)
	tick := time.NewTicker(typingEvery)
	defer tick.Stop()
	for {
		call, cancel := context.WithTimeout(ctx, typingTime)
		_, err := p.client.Try(call, rest.SendTyping, []any{channel}, nil, nil)
		cancel()
		if isRefusal(err) {
			p.o.Log.Info("the bot is not shown as typing", "channel", channel, "err", err)
			p.replies.quiet.Put(channel, p.o.Now().Add(quietFor))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// beginTyping returns the line of an answer, and what ends it, where it is new.
func (o *postingReplies) beginTyping(ctx context.Context, key, channel string, now time.Time) (*typing, context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if until, _ := o.quiet.Get(channel); o.typing[key] != nil || now.Before(until) {
		return nil, nil
	}
	ctx, stop := context.WithCancel(ctx)
	t := &typing{stop: stop, ended: make(chan struct{})}
	o.typing[key] = t
	return t, ctx
}

// endTyping ends the line of an answer. The call that is under way is cancelled, so
// that the wait for its goroutine is short.
func (o *postingReplies) endTyping(key string) {
	o.mu.Lock()
	t := o.typing[key]
	delete(o.typing, key)
	o.mu.Unlock()
	if t != nil {
		t.stop()
		<-t.ended
	}
}
