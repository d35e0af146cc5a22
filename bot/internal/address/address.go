// Package address decides whether the agent answers a message.
//
//	verdict, err := address.Rules{…}.Decide(ctx, channel, address.Question{Message: m}, conversation)
//
// [Rules.Decide] holds the rules for every message, bots.go the bound on
// conversations between bots, owner.go who answers in a thread without being
// mentioned.
package address

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/earshot-ai/earshot"
)

// Why a message is answered.
const (
	Mention = "mention"
	Direct  = "direct"
	Root    = "root"
	Owned   = "owned"
	// Ambient: the agent reads along, and nobody addressed the message to anybody.
	Ambient = "ambient"
	// Reaction: by an emoji that somebody gave it.
	Reaction = "reaction"
)

// Why a message is not answered.
const (
	NotAddressed = "not-addressed"
	Self         = "self"
	System       = "system"
	FromBot      = "bot"
	Edit         = "edit"
	Deletion     = "deletion"
	Silence      = "silence"
	OtherNamed   = "other-named"
	AmongPeople  = "among-people"
	Known        = "known"
	Unheard      = "unheard"
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
	BotTurns     int           // of other bots, within BotWindow
	BotWindow    time.Duration // see tooMany
	NoForms      bool
	FormTurns    int           // of one form, within BotWindow
	Ambient      bool          // the agent reads along in the channel
	EditWindow   time.Duration // for how long after it was posted an edit of a message asks
}

// A Question is a message that may be one, with what its event says of it.
type Question struct {
	*earshot.Message
	Past bool // it was found in the history: it may have been edited since it was posted
	Form bool // a form posted it, which a person filled in
}

// A Verdict says whether a message opens a turn.
type Verdict struct {
	Why     string // in a word: why it does, or why not
	Answer  bool
	Anew    bool            // it is an edit that asks
	Refused earshot.Refusal // it names the agent and opens none: why
}

func refuse(why earshot.Refusal) Verdict { return Verdict{Why: string(why), Refused: why} }

// Decide decides about a message that is not the agent's own. It would open a turn in
// the conversation id.
func (r Rules) Decide(ctx context.Context, c earshot.Channel, m Question, id earshot.ConversationID) (v Verdict, err error) {
	fromBot := m.Author.Kind == earshot.Bot
	if fromBot && !m.Deleted {
		if err := r.passOn(ctx, id, m.Message); err != nil {
			return v, err
		}
	}
	anew := false
	if m.Edited != 0 && !m.Past && !m.Deleted {
		if v, anew, err = r.byEdit(ctx, c, m.Message); err != nil || !anew {
			return v, err
		}
	}
	if v = r.byMessage(c, m); v.Why == "" {
		v.Why, v.Answer, err = r.byOwner(ctx, c, m.Message, id)
	}
	if err == nil && r.Ambient && !v.Answer && (v.Why == NotAddressed || v.Why == Owned) {
		return r.byReadingAlong(ctx, c, m, v)
	}
	v.Anew = anew && v.Answer
	if err != nil || !v.Answer || !fromBot {
		return v, err
	}
	if many, err := r.tooMany(ctx, id, m); err != nil || many {
		if m.Form {
			return refuse(earshot.RefusedForms), err
		}
		return refuse(earshot.RefusedBots), err
	}
	return v, nil
}

// byEdit decides about an edit: it asks if it adds a mention, soon enough. A message
// that was never heard as it was first said may have had it from the beginning: then
// nothing is said of a late edit.
func (r Rules) byEdit(ctx context.Context, c earshot.Channel, m *earshot.Message) (v Verdict, asks bool, err error) {
	v = Verdict{Why: Edit}
	if !r.Self.CalledIn(m) {
		return v, false, nil
	}
	before, err := r.Store.ByID(ctx, c.Scope(), m.ID)
	if err != nil || len(before) > 0 && (before[0].Deleted || r.Self.CalledIn(&before[0])) {
		return v, false, err
	}
	if r.Now-m.Time <= earshot.Time(r.EditWindow/time.Microsecond) {
		return v, true, nil
	}
	if len(before) > 0 {
		v = refuse(earshot.RefusedLate)
	}
	return v, false, nil
}

// byMessage decides by the message and the settings. Why is "" when the decision
// depends on who owns the thread.
func (r Rules) byMessage(c earshot.Channel, m Question) Verdict {
	mentioned := r.Self.CalledIn(m.Message)
	fromBot := m.Author.Kind == earshot.Bot
	reply := m.Root() != "" || m.ReplyTo != ""
	not := func(why string) Verdict { return Verdict{Why: why} }
	yes := func(why string) Verdict { return Verdict{Why: why, Answer: true} }
	switch {
	case m.Deleted:
		return not(Deletion)
	case m.Author.Kind == earshot.System:
		return not(System)
	case fromBot && !mentioned:
		return not(FromBot)
	case m.Form && r.NoForms:
		return refuse(earshot.RefusedForm)
	case fromBot && !m.Form && !r.Bots:
		return refuse(earshot.RefusedBot)
	case fromBot && OnlyMention(r.Self, m.Message):
		return refuse(earshot.RefusedSilence)
	case mentioned:
		return yes(Mention)
	case c.Kind == earshot.KindDM && isInvisible(m.Message):
		return not(Silence)
	case c.Kind == earshot.KindDM:
		return yes(Direct)
	case isInvisible(m.Message):
		return not(NotAddressed)
	case r.Roots && !reply:
		return yes(Root)
	case !r.OwnedThreads || !reply:
		return not(NotAddressed)
	case len(m.Called()) > 0:
		return not(OtherNamed)
	}
	return Verdict{}
}

// byReadingAlong decides about a message that is addressed to nobody, or v where it is
// none, where the agent reads along: only what a person says now, to no one else.
func (r Rules) byReadingAlong(ctx context.Context, c earshot.Channel, m Question, v Verdict) (Verdict, error) {
	if m.Author.Kind != earshot.Human || m.Form || m.Past || m.Edited != 0 || m.Isolated() || len(m.Called()) > 0 || isInvisible(m.Message) || OnlyMention(r.Self, m.Message) {
		return v, nil
	}
	other, err := r.repliesToOther(ctx, c, m.Message)
	if err != nil || other {
		return v, err
	}
	return Verdict{Why: Ambient, Answer: true}, nil
}

// repliesToOther reports whether m replies by reference to somebody else than its author
// and the agent.
func (r Rules) repliesToOther(ctx context.Context, c earshot.Channel, m *earshot.Message) (bool, error) {
	if m.ReplyTo == "" || m.ReplyTo == m.ID {
		return false, nil
	}
	above, err := r.Store.ByID(ctx, c.Scope(), m.ReplyTo)
	return len(above) > 0 && !above[0].Deleted && !r.Self.Is(above[0].Author.ID) && above[0].Author.ID != m.Author.ID, err
}

// byOwner decides by who owns the conversation. A reply by reference to somebody else
// is for them, though the agent answered further up.
func (r Rules) byOwner(ctx context.Context, c earshot.Channel, m *earshot.Message, id earshot.ConversationID) (why string, answer bool, err error) {
	if other, err := r.repliesToOther(ctx, c, m); err != nil || other {
		return OtherNamed, false, err
	}
	if answer, err = r.owns(ctx, id); err != nil || !answer {
		return Owned, answer, err
	}
	talk, err := r.talkAmongThemselves(ctx, id, m)
	if talk {
		return AmongPeople, false, err
	}
	return Owned, true, err
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
