package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
	"github.com/earshot-ai/earshot/platform/discord/markup"
)

// Bounds of a search for a post.
const (
	firstLook = 25 // messages of the first page, which mostly has it
	maxLook   = 50 // pages; the others have 100 messages
)

// Find implements [bot.Finder]. Discord shows a nonce with the event of a post, not in
// its history, so a post is told by its author, by what it replies to, by its text,
// and by not being a post that is known to have arrived. All that was said since the
// question is searched, the newest first: a lost post is seldom old.
//
// Where it is not found it did not arrive. If history is behind, the same post made
// again within a few minutes gives the first one back, because its nonce is enforced.
func (p *Platform) Find(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	if err := p.knowHome(ctx, d.Channel.ID); err != nil {
		return earshot.Message{}, err
	}
	places := []destination{p.placed(d.Place)}
	if places[0].refers { // who posted it may have had another setting
		places = append([]destination{inThread(d.Place)}, places...)
	}
	for _, to := range places {
		m, err := p.look(ctx, d, to)
		if err == nil || !errors.Is(err, earshot.ErrNotFound) {
			return m, err
		}
	}
	return earshot.Message{}, fmt.Errorf("post %s: %w", d.Key, earshot.ErrNotFound)
}

// look searches one channel or thread for a draft's message.
func (p *Platform) look(ctx context.Context, d bot.Draft, to destination) (earshot.Message, error) {
	want := comparableText(markup.Write(d.Text, d.Mentions...))
	before := ""
	for i := range maxLook {
		most := maxPage
		if i == 0 {
			most = firstLook
		}
		query := url.Values{"limit": {strconv.Itoa(most)}}
		if before != "" {
			query.Set("before", before)
		}
		page, err := fetchMessages(ctx, p.client.Call, to.id, query)
		if discordapi.IsRefused(err, discordapi.UnknownChannel) {
			return earshot.Message{}, earshot.ErrNotFound // no thread was begun, or it is gone
		}
		if err != nil {
			return earshot.Message{}, postError(err)
		}
		if len(page) == 0 && i == 0 {
			return earshot.Message{}, p.unseen(ctx, d, to)
		}
		for _, raw := range page {
			x, err := discordmsg.Decode(raw, discordmsg.Names{})
			if err != nil {
				continue
			}
			m := x.Message
			if m.Time < d.Anchor.Time || m.ID == d.Anchor.ID {
				return earshot.Message{}, earshot.ErrNotFound
			}
			before = string(m.ID)
			ours, err := p.isDraft(ctx, d, x, contentOf(raw), to, want)
			if err != nil {
				return earshot.Message{}, err
			}
			if ours {
				return earshot.Message{ID: m.ID, Time: m.Time, Thread: to.thread, ReplyTo: m.ReplyTo}, nil
			}
		}
		if len(page) < most || before == "" {
			return earshot.Message{}, earshot.ErrNotFound
		}
	}
	return earshot.Message{}, errors.New("too much was said since the question to look through")
}

// nonceLife is for how long a post with the same nonce certainly gives the first one
// back. Discord says "the past few minutes" (Create Message, enforce_nonce).
const nonceLife = 2 * time.Minute

// unseen returns what it means that a channel shows no message at all: not even the
// question. Where the bot may not read history nothing can be found, and the post is
// made again only as long as that does no harm.
func (p *Platform) unseen(ctx context.Context, d bot.Draft, to destination) error {
	err := p.mayRead(ctx, p.client.Call, d.Channel, to.id)
	sent, _ := p.replies.sent.Get(d.Key) // zero where this process does not know
	if err == nil || isRefusal(err) && p.o.Now().Sub(sent) < nonceLife {
		return earshot.ErrNotFound
	}
	return postError(err)
}

// isDraft reports whether a message is the post of a draft.
func (p *Platform) isDraft(ctx context.Context, d bot.Draft, x discordmsg.DecodedMessage, content string, to destination, want string) (bool, error) {
	m := x.Message
	switch {
	case !p.identity.Is(m.Author.ID):
		return false, nil
	case x.Nonce != "":
		return x.Nonce == d.Key, nil
	case to.refers && m.ReplyTo != "" && m.ReplyTo != d.Anchor.ID:
		return false, nil
	case comparableText(content) != want:
		return false, nil
	}
	_, err := p.o.Store.Posted(ctx, d.Channel.Scope(), m.ID)
	switch {
	case err == nil:
		return false, nil // another post with this text
	case errors.Is(err, earshot.ErrNotFound):
		return true, nil
	}
	return false, fmt.Errorf("whose post is message %s: %w", m.ID, err)
}

// contentOf reads the text of a message as it was posted.
func contentOf(raw json.RawMessage) string {
	var x struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(raw, &x) // a field of another kind costs itself
	return x.Content
}

// comparableText returns what is left of a text when what Discord may change is taken out: spaces,
// invisible characters and marks.
func comparableText(s string) string {
	keep := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}
	if out := strings.Map(keep, s); out != "" {
		return out
	}
	return strings.Join(strings.Fields(s), "")
}
