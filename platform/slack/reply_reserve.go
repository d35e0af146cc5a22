package slack

import (
	"net/url"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// Slack counts the calls that give placeholders their last text (chat.update,
// chat.stopStream) over the whole workspace, 50 and 20 a minute, and posts by
// channel. So each placeholder has its last call reserved from before it is
// posted. Where none is free the answer is posted whole, which costs one post
// and none of those calls.

// owed is the last call that a placeholder will need.
type owed struct {
	method  string
	channel earshot.ChannelID
	posted  bool      // the placeholder's own post was made
	until   time.Time // then it is taken for given up
}

// owedFor is longer than a turn takes.
const owedFor = 5 * time.Minute

// PlaceholderFits implements [bot.Limiter]. Where it is true, the last call is
// reserved.
func (p *Platform) PlaceholderFits(at bot.Place) bool {
	now := p.o.Now()
	ends, _ := p.client.Free(slackapi.StopStream, nil)
	updates, _ := p.client.Free(slackapi.Update, nil)
	posts, _ := p.client.Free(slackapi.Post, url.Values{"channel": {string(at.Channel.ID)}})
	if p.o.Reply != ReplyStream {
		ends = 0
	}
	if p.o.Rates != nil { // another replica counts on the same calls
		ends, updates = ends/2, updates/2
	}
	return p.out.owe(at, now, ends, updates, posts)
}

// owe reserves the last call of a placeholder, of those that are free and not
// owed to others.
func (o *out) owe(at bot.Place, now time.Time, ends, updates, posts int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := placeKey(at)
	for k, x := range o.owed {
		switch {
		case k == key || now.After(x.until):
			delete(o.owed, k)
		case x.method == slackapi.StopStream:
			ends--
		default:
			updates--
			if x.channel == at.Channel.ID && !x.posted {
				posts--
			}
		}
	}
	x := owed{method: slackapi.StopStream, channel: at.Channel.ID, until: now.Add(owedFor)}
	if ends <= 0 {
		if x.method = slackapi.Update; updates <= 0 || posts <= 0 {
			return false
		}
	}
	o.owed[key] = x
	return true
}

// owes reports how many last calls are owed by a method.
func (o *out) owes(method string, now time.Time) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, x := range o.owed {
		if x.method == method && !now.After(x.until) {
			n++
		}
	}
	return n
}

// owing returns what is owed to a place's placeholder.
func (o *out) owing(at bot.Place) (x owed, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x, ok = o.owed[placeKey(at)]
	return x, ok
}

// placing notes that a place's placeholder is being posted, and by which method
// it will get its last text.
func (o *out) placing(at bot.Place, method string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if x, ok := o.owed[placeKey(at)]; ok {
		x.posted, x.method = true, method
		o.owed[placeKey(at)] = x
	}
}

// settled notes that a place's placeholder needs no call any more.
func (o *out) settled(at bot.Place) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.owed, placeKey(at))
}

// placeKey names a place by what is answered there.
func placeKey(at bot.Place) string { return string(at.Channel.ID) + " " + string(at.Anchor.ID) }
