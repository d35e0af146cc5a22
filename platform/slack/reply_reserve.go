package slack

import (
	"net/url"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// Slack limits the calls that give placeholders their final text (chat.update,
// chat.stopStream) for the whole workspace, to 50 and 20 a minute, and posts for
// each channel. So each placeholder's final call is reserved before the placeholder
// is posted. Where none is free, no placeholder is posted: the answer is one post,
// which needs none of those calls.

// A reservation is the final call that a placeholder will need.
type reservation struct {
	method  string
	channel earshot.ChannelID
	posted  bool      // the placeholder's own post was made
	until   time.Time // then it counts as given up
}

// reservedFor is longer than a turn takes.
const reservedFor = 5 * time.Minute

// PlaceholderFits implements [bot.Limiter]. Where it returns true, the final call is
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
	return p.replies.reserve(at, now, ends, updates, posts)
}

// reserve reserves the final call of a placeholder, of those that are free and not
// reserved for others.
func (o *replies) reserve(at bot.Place, now time.Time, ends, updates, posts int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := placeKey(at)
	for k, x := range o.reserved {
		switch {
		case k == key || now.After(x.until):
			delete(o.reserved, k)
		case x.method == slackapi.StopStream:
			ends--
		default:
			updates--
			if x.channel == at.Channel.ID && !x.posted {
				posts--
			}
		}
	}
	x := reservation{method: slackapi.StopStream, channel: at.Channel.ID, until: now.Add(reservedFor)}
	if ends <= 0 {
		if x.method = slackapi.Update; updates <= 0 || posts <= 0 {
			return false
		}
	}
	o.reserved[key] = x
	return true
}

// reservedCalls returns how many calls of a method are reserved.
func (o *replies) reservedCalls(method string, now time.Time) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, x := range o.reserved {
		if x.method == method && !now.After(x.until) {
			n++
		}
	}
	return n
}

// reservation returns the reservation for a place's placeholder.
func (o *replies) reservation(at bot.Place) (x reservation, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x, ok = o.reserved[placeKey(at)]
	return x, ok
}

// notePlaceholder notes that a place's placeholder is being posted, and by which
// method it will get its final text.
func (o *replies) notePlaceholder(at bot.Place, method string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if x, ok := o.reserved[placeKey(at)]; ok {
		x.posted, x.method = true, method
		o.reserved[placeKey(at)] = x
	}
}

// release drops the reservation for a place's placeholder.
func (o *replies) release(at bot.Place) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.reserved, placeKey(at))
}

// placeKey names a place by what is answered there.
func placeKey(at bot.Place) string { return string(at.Channel.ID) + " " + string(at.Anchor.ID) }
