// Package address decides whether the agent answers a message.
//
//	why, answer, err := address.Rules{…}.Decide(ctx, channel, message, false, conversation)
//
// [Rules.Decide] holds the rules for every message, bots.go the bound on
// conversations between bots, owner.go who answers in a thread without being
// mentioned.
package address

import (
	"context"
	"strings"
	"unicode"

	"github.com/earshot-ai/earshot"
)

// Why a message is answered.
const (
	Mention = "mention"
	Direct  = "direct"
	Root    = "root"
	Owned   = "owned"
)

// Why a message is not answered.
const (
	NotAddressed = "not-addressed"
	Self         = "self"
	System       = "system"
	FromBot      = "bot"
	BotsBounded  = "bots-bounded"
	Edit         = "edit"
	Deletion     = "deletion"
	Silence      = "silence"
	OtherNamed   = "other-named"
	Known        = "known"
)

// A Store is what the rules read, and where they keep who owns a thread.
type Store interface {
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
	Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error)
	MergeMetadata(ctx context.Context, id earshot.ConversationID, patch map[string]*string) (earshot.Conversation, error)
	QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error)
}

// Rules are the settings of one decision, as bot.Answer describes them.
type Rules struct {
	Store Store
	Self  earshot.Identity
	Agent earshot.AgentID
	Now   earshot.Time

	Roots        bool
	OwnedThreads bool
	Bots         bool
	BotTurns     int
}

// Decide reports whether m, which is not the agent's own, opens a turn in the
// conversation id, and in a word why or why not. past says that m was found in
// the history: it may have been edited since it was posted.
func (r Rules) Decide(ctx context.Context, c earshot.Channel, m *earshot.Message, past bool, id earshot.ConversationID) (why string, answer bool, err error) {
	fromBot := m.Author.Kind == earshot.Bot
	if fromBot && !m.Deleted {
		if err := r.passOn(ctx, id, m); err != nil {
			return "", false, err
		}
	}
	if why, answer = r.byMessage(c, m, past); why == "" {
		why, answer, err = r.byOwner(ctx, c, m, id)
	}
	if err != nil || !answer || !fromBot {
		return why, answer, err
	}
	if many, err := r.tooManyBots(ctx, id, m); err != nil || many {
		return BotsBounded, false, err
	}
	return why, true, nil
}

// byMessage decides by the message and the settings. why is "" when the decision
// depends on who owns the thread.
func (r Rules) byMessage(c earshot.Channel, m *earshot.Message, past bool) (why string, answer bool) {
	mentioned := r.Self.CalledIn(m)
	fromBot := m.Author.Kind == earshot.Bot
	reply := m.Root() != "" || m.ReplyTo != ""
	switch {
	case m.Deleted:
		return Deletion, false
	case m.Edited != 0 && !past:
		return Edit, false
	case m.Author.Kind == earshot.System:
		return System, false
	case fromBot && (!mentioned || !r.Bots):
		return FromBot, false
	case fromBot && OnlyMention(r.Self, m):
		return Silence, false
	case mentioned:
		return Mention, true
	case c.Kind == earshot.KindDM && isInvisible(m):
		return Silence, false
	case c.Kind == earshot.KindDM:
		return Direct, true
	case isInvisible(m):
		return NotAddressed, false
	case r.Roots && !reply:
		return Root, true
	case !r.OwnedThreads || !reply:
		return NotAddressed, false
	case len(m.Called()) > 0:
		return OtherNamed, false
	}
	return "", false
}

// byOwner decides by who owns the conversation. A reply by reference to somebody else
// is for them, though the agent answered further up.
func (r Rules) byOwner(ctx context.Context, c earshot.Channel, m *earshot.Message, id earshot.ConversationID) (why string, answer bool, err error) {
	if m.ReplyTo != "" && m.ReplyTo != m.ID {
		above, err := r.Store.ByID(ctx, c.Scope(), m.ReplyTo)
		if err != nil {
			return "", false, err
		}
		if len(above) > 0 && !above[0].Deleted && !r.Self.Is(above[0].Author.ID) && above[0].Author.ID != m.Author.ID {
			return OtherNamed, false, nil
		}
	}
	answer, err = r.owns(ctx, id)
	return Owned, answer, err
}

// OnlyMention reports whether m contains nothing but a mention of the agent, the
// isolation sign and punctuation.
func OnlyMention(self earshot.Identity, m *earshot.Message) bool {
	if len(m.Files)+len(m.Shared) > 0 {
		return false
	}
	text := strings.ReplaceAll(self.WithoutMentions(m.Text), earshot.Isolation, "")
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) || r == '?' || r == '!'
	})
}

// isInvisible reports whether m shows nothing: no file, nothing quoted, no
// character that prints.
func isInvisible(m *earshot.Message) bool {
	return len(m.Files)+len(m.Shared) == 0 && !strings.ContainsFunc(m.Text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r)
	})
}
