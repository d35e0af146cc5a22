package bot

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
)

// Why an event opens a turn, or none: [Outcome.Why].
const (
	whyMention = "mention"
	whyDirect  = "direct"
	whyRoot    = "root"
	whyOwned   = "owned"

	whyNotAddressed = "not-addressed"
	whySelf         = "self"
	whySystem       = "system"
	whyBot          = "bot"
	whyBounded      = "bots-bounded"
	whyEdit         = "edit"
	whyDeletion     = "deletion"
	whySilence      = "silence"
	whyNamed        = "other-named"
)

// address decides whether a message is for us, and in which conversation.
func (b *Bot) address(ctx context.Context, e Event) (*earshot.ConversationID, string, error) {
	m := e.Message
	if b.Identity.Is(m.Author.ID) {
		return nil, whySelf, nil
	}
	id, err := gather.ConversationOf(ctx, b.Store, e.Channel, m, b.Identity)
	if err != nil {
		return nil, "", fmt.Errorf("address message %s: %w", m.ID, err)
	}
	if m.Author.Kind == earshot.Bot && !m.Deleted {
		if err := b.yield(ctx, id, m); err != nil {
			return nil, "", err
		}
	}
	why, forUs, err := b.forUs(ctx, e, id)
	if err != nil || !forUs {
		return nil, why, err
	}
	if m.Author.Kind == earshot.Bot {
		many, err := b.manyBots(ctx, id, m)
		if err != nil || many {
			return nil, whyBounded, err
		}
	}
	return &id, why, nil
}

// forUs decides by the message itself and the settings.
func (b *Bot) forUs(ctx context.Context, e Event, id earshot.ConversationID) (why string, yes bool, err error) {
	m := e.Message
	mentioned := mentions(b.Identity, m)
	switch {
	case m.Deleted:
		return whyDeletion, false, nil
	case m.Edited != 0 && !e.Past:
		return whyEdit, false, nil
	case m.Author.Kind == earshot.System:
		return whySystem, false, nil
	case m.Author.Kind == earshot.Bot && (!mentioned || !b.Answer.Bots):
		return whyBot, false, nil
	case m.Author.Kind == earshot.Bot && empty(b.Identity, m):
		return whySilence, false, nil
	case mentioned:
		return whyMention, true, nil
	case e.Channel.Kind == earshot.KindDM:
		if nothing(m) {
			return whySilence, false, nil
		}
		return whyDirect, true, nil
	case nothing(m):
		return whyNotAddressed, false, nil
	case b.Answer.Roots && m.Root() == "" && m.ReplyTo == "":
		return whyRoot, true, nil
	case b.Answer.OwnedThreads && (m.Root() != "" || m.ReplyTo != ""):
		if len(named(m)) > 0 {
			return whyNamed, false, nil
		}
		owned, err := b.owns(ctx, id)
		return whyOwned, owned, err
	}
	return whyNotAddressed, false, nil
}

// code and addresses, in which a mention is none.
var (
	fenced  = regexp.MustCompile("(?s)```.*?(?:```|$)")
	ticked  = regexp.MustCompile("`[^`\n]+`")
	address = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s<]*(?:<@[^\s>]*>?)?[^\s<]*`)
	mention = regexp.MustCompile(`<@[!&]?([A-Za-z0-9_.-]+)(?:\|[^<>\n]*)?>`)
)

// plain returns a text without its code and addresses.
func plain(text string) string {
	for _, r := range []*regexp.Regexp{fenced, ticked, address} {
		text = r.ReplaceAllString(text, " ")
	}
	return text
}

// mentions reports whether m names the agent by an id, outside of code and
// addresses. A list of mentions counts where the text does not tell the place.
func mentions(self earshot.Identity, m earshot.Message) bool {
	if slices.ContainsFunc(named(m), self.Is) {
		return true
	}
	for _, x := range mention.FindAllStringSubmatch(m.Text, -1) {
		if self.Is(earshot.AuthorID(x[1])) {
			return false // in code or an address only
		}
	}
	return slices.ContainsFunc(m.Mentions, self.Is)
}

// named returns who is mentioned in the text, outside of code and addresses.
func named(m earshot.Message) []earshot.AuthorID {
	var ids []earshot.AuthorID
	for _, x := range mention.FindAllStringSubmatch(plain(m.Text), -1) {
		ids = append(ids, earshot.AuthorID(x[1]))
	}
	return ids
}

// isolation is the sign of a message that is answered alone.
const isolation = "🚫"

// empty reports whether m says nothing but the agent's name.
func empty(self earshot.Identity, m earshot.Message) bool {
	text := mention.ReplaceAllStringFunc(m.Text, func(s string) string {
		if self.Is(earshot.AuthorID(mention.FindStringSubmatch(s)[1])) {
			return " "
		}
		return s
	})
	m.Text = strings.ReplaceAll(text, isolation, "")
	return nothing(m) || len(m.Files)+len(m.Shared) == 0 && !strings.ContainsFunc(m.Text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) || r == '?' || r == '!'
	})
}

// nothing reports whether nothing of m can be seen.
func nothing(m earshot.Message) bool {
	return len(m.Files)+len(m.Shared) == 0 && !strings.ContainsFunc(m.Text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r)
	})
}

// botWindow is the time within which other bots' turns are counted, and
// maxCounted how many turns are looked at.
const (
	botWindow  = earshot.Time(10 * time.Minute / time.Microsecond)
	maxCounted = 500
)

// manyBots reports whether bots have had their turns: in this conversation, or
// this one in the channel, because one that begins thread after thread is a
// loop as well.
func (b *Bot) manyBots(ctx context.Context, id earshot.ConversationID, m earshot.Message) (bool, error) {
	from := b.Now() - botWindow
	of := map[earshot.MessageID]earshot.ConversationID{}
	var anchors []earshot.MessageID
	q := earshot.TurnQuery{Agent: b.agent, Scope: &id.Scope, Limit: 100}
	for len(anchors) < maxCounted {
		list, err := b.Store.QueuedTurns(ctx, q)
		if err != nil {
			return false, err
		}
		for _, t := range list {
			if t.Opened >= from {
				of[t.Anchor] = t.Conversation
				anchors = append(anchors, t.Anchor)
			}
			q.Before = t.ID
		}
		if len(list) < q.Limit || list[len(list)-1].Opened < from {
			break
		}
	}
	list, err := b.Store.ByID(ctx, id.Scope, anchors...)
	if err != nil {
		return false, err
	}
	n := 0
	for _, a := range list {
		if a.ID != m.ID && a.Author.Kind == earshot.Bot && (of[a.ID] == id || a.Author.ID == m.Author.ID) {
			n++
		}
	}
	return n >= b.Answer.BotTurns, nil
}
