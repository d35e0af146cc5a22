package discord

import (
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/internal/recent"
)

// A proxy takes a second or two to post somebody's message again and to delete it. If the
// model were asked at once, it would be asked twice. So a question waits, but only where a
// proxy was seen in the server, and only of people who may use it: of those for whom it has
// spoken, and of those of whom no message is known that was left as it was. Nothing of
// this is stored: after a start the first of such questions costs a second call.

// Bounds of waiting for a proxy.
const (
	repostSoon = earshot.Time(2500 * time.Millisecond / time.Microsecond) // after the question was said
	leftAlone  = earshot.Time(10 * time.Second / time.Microsecond)        // a message that stands longer is none of a proxy's
)

// proxyUse is what was seen of proxies. The zero value with bounds is ready to use.
type proxyUse struct {
	guilds   recent.Map[string, bool]                    // with a proxy
	speaks   recent.Map[person, bool]                    // true: by a proxy, also if not always; false: not
	last     recent.Map[person, earshot.Position]        // what somebody said last
	reposted recent.Map[earshot.MessageID, earshot.Time] // when an original was seen to be posted again
}

func newProxyUse() *proxyUse {
	const most = 1000
	return &proxyUse{
		guilds: recent.Map[string, bool]{Most: most}, speaks: recent.Map[person, bool]{Most: 10 * most},
		last: recent.Map[person, earshot.Position]{Most: 10 * most}, reposted: recent.Map[earshot.MessageID, earshot.Time]{Most: most},
	}
}

// seen notes that a proxy has posted something in a guild, and of which message it was the
// repost, where that is known.
func (u *proxyUse) seen(guild string, original earshot.Message, now earshot.Time) {
	u.guilds.Put(guild, true)
	if original.ID != "" {
		u.speaks.Put(person{guild, string(original.Author.ID)}, true)
		u.reposted.Put(original.ID, now)
	}
}

// heard notes what a person has said by themselves. What they said before and what was left
// as it was tells that they do without a proxy.
func (u *proxyUse) heard(guild string, m earshot.Message, gone func(earshot.MessageID) bool) {
	if _, ok := u.guilds.Get(guild); !ok {
		return
	}
	who := person{guild, string(m.Author.ID)}
	before, ok := u.last.Put(who, m.Position())
	if !ok || m.Time-before.Time < leftAlone || gone(before.ID) {
		return
	}
	if _, known := u.speaks.Get(who); !known {
		u.speaks.Put(who, false)
	}
}

// MayRepost implements [bot.Reposter].
func (p *Platform) MayRepost(at bot.Place) bool {
	guild, m, now := guildOf(at.Channel), at.Anchor, earshot.TimeOf(p.o.Now())
	if _, ok := p.proxyUse.guilds.Get(guild); !ok || at.By != "" || m.Author.Kind != earshot.Human || isWebhook(m.Author.ID) {
		return false
	}
	if since, ok := p.proxyUse.reposted.Get(m.ID); ok { // its deletion is on the way
		return now-since < earshot.Time(givingUp/time.Microsecond)
	}
	by, known := p.proxyUse.speaks.Get(person{guild, string(m.Author.ID)})
	return (by || !known) && now-m.Time < repostSoon
}
