package eval

import (
	"hash/fnv"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble/links"
	"github.com/earshot-ai/earshot/internal/eval/chats"
)

// MixedMeasures say what guessing brings where some messages say what they answer
// and others do not, as on Discord. A part of the reply references is known to the
// guess, the rest is hidden from it and measured.
type MixedMeasures struct {
	Known  int           `json:"known"` // reply references
	Hidden ReplyMeasures `json:"hidden"`
	// Guessed counts the hidden replies that were guessed to answer something,
	// Right those of them that answer it.
	Guessed int `json:"guessed"`
	Right   int `json:"right"`
	// Plain counts the messages without a reference, PlainGuessed those of them that
	// were guessed to answer something, which nobody can say whether they do.
	Plain        int `json:"plain"`
	PlainGuessed int `json:"plain_guessed"`
	// Alone and Both compare the conversations that all references make, of those
	// messages that have one, with what the known references make alone, and
	// together with the guesses.
	Alone MixedConversations `json:"references_alone"`
	Both  MixedConversations `json:"references_and_guesses"`
}

// MixedConversations are [LinkMeasures] of conversations.
type MixedConversations struct {
	Exact       Score   `json:"exact_conversations"`
	Information float64 `json:"variation_of_information"`
}

// MeasureMixed guesses as a window does: a known reference is followed, and every
// other message gets a guess. percent is how many reply references of a hundred are
// known; which they are depends on the messages' ids alone.
func MeasureMixed(list []chats.Message, percent int) MixedMeasures {
	var out MixedMeasures
	var both, alone []GuessedLink
	var gold []chats.Link
	var hidden []chats.Message // as data whose only references are the hidden ones
	for _, c := range chats.Conversations(list) {
		linker := links.New()
		number := make(map[earshot.MessageID]int, len(c.Messages))
		for i, m := range c.Messages {
			number[m.ID] = i
			parent, replies := number[m.ReplyTo]
			replies = replies && m.ReplyTo != "" && m.ReplyTo != m.ID
			if replies {
				gold = append(gold, chats.Link{Conversation: c.Name, ID: m.ID, Parent: m.ReplyTo})
			}
			own := GuessedLink{Conversation: c.Name, ID: m.ID, Parent: m.ID}
			if replies && isKnownReference(m.ID, percent) {
				out.Known++
				s := withoutReplies(m)
				linker.Follow(&s, parent)
				own.Parent = m.ReplyTo
				both, alone = append(both, own), append(alone, own)
				continue
			}
			alone = append(alone, own)
			own = guessLink(linker, c, i)
			both = append(both, own)
			if !replies {
				out.Plain++
				if own.Parent != m.ID {
					out.PlainGuessed++
				}
				continue
			}
			hidden = append(hidden, m)
			if own.Parent != m.ID {
				out.Guessed++
			}
			if own.Parent == m.ReplyTo {
				out.Right++
			}
		}
	}
	out.Hidden = MeasureReplies(both, hidden)
	m := MeasureLinks(alone, gold)
	out.Alone = MixedConversations{m.Exact, m.Information}
	m = MeasureLinks(both, gold)
	out.Both = MixedConversations{m.Exact, m.Information}
	return out
}

// isKnownReference reports whether a reference is one of the known ones.
func isKnownReference(id earshot.MessageID, percent int) bool {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32()%100) < percent
}
