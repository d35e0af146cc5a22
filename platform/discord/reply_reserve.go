package discord

import (
	"sync"
	"time"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/internal/recent"
)

// postingReplies are the answers that are being posted.
type postingReplies struct {
	to    recent.Map[string, destination] // where answers are posted, by placeKey
	sent  recent.Map[string, time.Time]   // when a post was made first, by its key
	quiet recent.Map[string, time.Time]   // channels in which the bot may not show that it writes, and until when

	mu       sync.Mutex // guards what follows
	reserved map[string]reservation
	typing   map[string]*typing
}

// maxReplies is how many answers are remembered; of older ones the store knows where
// they stand.
const maxReplies = 1000

func newReplies() *postingReplies {
	return &postingReplies{
		to: recent.Map[string, destination]{Most: maxReplies}, sent: recent.Map[string, time.Time]{Most: maxReplies},
		quiet: recent.Map[string, time.Time]{Most: maxReplies}, reserved: map[string]reservation{}, typing: map[string]*typing{},
	}
}

// placeKey names a place by what is answered there.
func placeKey(at bot.Place) string { return string(at.Channel.ID) + " " + string(at.Anchor.ID) }

// A reservation is the post and the last update that a placeholder needs; with [NotifyPost] the
// post of the answer, and the placeholder's deletion.
type reservation struct {
	channel string // of Discord
	until   time.Time
}

// reservedFor is longer than a turn takes.
const reservedFor = 5 * time.Minute

// PlaceholderFits implements [bot.Limiter]. Where it returns true the calls are
// reserved, so that many questions at a time do not all count on the same ones.
func (p *Platform) PlaceholderFits(at bot.Place) bool {
	to := p.placed(at)
	own := to.refers && p.ownThread(at)
	if own && !p.client.Fits(rest.CreateThreadWithMessage, to.id, at.Anchor.ID) {
		return false
	}
	if own {
		to = inThread(at)
	}
	posts, _ := p.client.Free(rest.CreateMessage, to.id)
	last := rest.UpdateMessage
	if p.PostsAnew() {
		last = rest.DeleteMessage
	}
	calls, _ := p.client.Free(last, to.id, at.Anchor.ID)
	return p.replies.reserve(at, to.id, min(posts, calls), p.o.Now())
}

// reserve reserves a placeholder's calls, of those that are free and not reserved for
// others.
func (o *postingReplies) reserve(at bot.Place, channel string, free int, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := placeKey(at)
	delete(o.reserved, key)
	for k, x := range o.reserved {
		switch {
		case now.After(x.until):
			delete(o.reserved, k)
		case x.channel == channel:
			free--
		}
	}
	if free <= 0 {
		return false
	}
	o.reserved[key] = reservation{channel, now.Add(reservedFor)}
	return true
}

// waiting returns how many placeholders of a channel wait for their last text.
func (o *postingReplies) waiting(channel string, now time.Time) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, x := range o.reserved {
		if x.channel == channel && !now.After(x.until) {
			n++
		}
	}
	return n
}

// release drops the reservation for a place's placeholder.
func (o *postingReplies) release(at bot.Place) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.reserved, placeKey(at))
}
