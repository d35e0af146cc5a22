package eval

import (
	"math"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble/links"
	"github.com/earshot-ai/earshot/internal/eval/chats"
)

// A GuessedLink says what a message seems to answer. Parent is its own id where
// it starts a conversation. Ranked holds up to [links.Ranks] likely parents,
// best first, itself never.
type GuessedLink struct {
	Conversation string              `json:"conversation"`
	ID           earshot.MessageID   `json:"id"`
	Parent       earshot.MessageID   `json:"parent"`
	Ranked       []earshot.MessageID `json:"ranked"`
}

// GuessLinks guesses for each message what it answers, from what was said
// before it in its conversation: conversations in the order in which each
// appears first, their messages by time. Threads and references are hidden
// from the guess. One thing is told afterwards, and not to the guess: a message
// that the data marks as a reply starts no conversation, so its Parent is the
// first of Ranked.
func GuessLinks(list []chats.Message) []GuessedLink {
	out := make([]GuessedLink, 0, len(list))
	for _, c := range chats.Conversations(list) {
		linker := links.New()
		for i, m := range c.Messages {
			g := guessLink(linker, c, i)
			if g.Parent == m.ID && m.ReplyTo != "" && len(g.Ranked) > 0 {
				g.Parent = g.Ranked[0]
			}
			out = append(out, g)
		}
	}
	return out
}

// guessLink says what the message i of a conversation seems to answer, when the linker knows
// those before it.
func guessLink(linker *links.Linker, c chats.Conversation, i int) GuessedLink {
	s := withoutReplies(c.Messages[i])
	guess := linker.Next(&s)
	g := GuessedLink{Conversation: c.Name, ID: s.ID, Parent: s.ID, Ranked: []earshot.MessageID{}}
	for _, n := range guess.Ranked {
		if n != links.None {
			g.Ranked = append(g.Ranked, c.Messages[n].ID)
		}
	}
	if guess.Parent != links.None {
		g.Parent = c.Messages[guess.Parent].ID
	}
	return g
}

// withoutReplies returns a message without what says whom it answers. In logs of IRC nobody
// is the author of "=== ann joined", which is no talk, and of "* ann waves",
// which is ann's.
func withoutReplies(m chats.Message) earshot.Message {
	s := m.Stored()
	s.Thread, s.ReplyTo = "", ""
	if m.Author != "" {
		return s
	}
	if f := strings.Fields(m.Text); len(f) > 2 && f[0] == "*" {
		s.Author.ID, s.Author.Name = earshot.AuthorID(f[1]), f[1]
		s.Text = strings.Join(f[2:], " ")
		return s
	}
	s.Author.Kind = earshot.System
	return s
}

// A Score is precision, recall and their harmonic mean, from 0 to 1.
type Score struct {
	Gold      int     `json:"gold"`
	Guessed   int     `json:"guessed"`
	Right     int     `json:"right"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F         float64 `json:"f"`
}

func (s Score) rated() Score {
	if s.Right > 0 {
		s.Precision, s.Recall = float64(s.Right)/float64(s.Guessed), float64(s.Right)/float64(s.Gold)
		s.F = 2 * s.Precision * s.Recall / (s.Precision + s.Recall)
	}
	return s
}

// LinkMeasures compare guesses with annotated links as Kummerfeld et al. (2019)
// do, over the messages that are annotated.
type LinkMeasures struct {
	Messages int `json:"messages"` // annotated
	// Links counts pairs of a message and what it answers; one that starts a
	// conversation is linked to itself.
	Links Score `json:"links"`
	// Exact counts conversations of two and more messages all of whose messages
	// are guessed, and no others. A conversation is a connected component of links.
	Exact Score `json:"exact_conversations"`
	// Information is 1 minus the variation of information between the guessed
	// conversations and the annotated, as a share of its greatest value.
	Information float64 `json:"variation_of_information"`
}

// ReplyMeasures say how often a message's reply reference, which was hidden, is
// the first of the guessed parents, and one of the first three. Replies counts
// those whose parent is an earlier message of the conversation.
type ReplyMeasures struct {
	Replies int     `json:"replies"`
	At1     float64 `json:"at_1"`
	At3     float64 `json:"at_3"`
}

// A messageIndex is a message of the data.
type messageIndex struct {
	conversation string
	id           earshot.MessageID
}

// MeasureLinks compares guesses with annotated links. Of two messages the later
// one by the guesses' order answers the earlier one. Links of messages that
// were not guessed count as missed.
func MeasureLinks(guesses []GuessedLink, gold []chats.Link) LinkMeasures {
	order := make(map[messageIndex]int, len(guesses))
	for i, g := range guesses {
		order[messageIndex{g.Conversation, g.ID}] = i
	}
	wanted := map[messageIndex][]messageIndex{}
	for _, l := range gold {
		a, b := messageIndex{l.Conversation, l.ID}, messageIndex{l.Conversation, l.Parent}
		if order[b] > order[a] {
			a, b = b, a
		}
		if !slices.Contains(wanted[a], b) {
			wanted[a] = append(wanted[a], b)
		}
	}
	var out LinkMeasures
	want, got := unionFind{}, unionFind{}
	var annotated []messageIndex
	for _, g := range guesses {
		at, parent := messageIndex{g.Conversation, g.ID}, messageIndex{g.Conversation, g.Parent}
		if len(wanted[at]) == 0 {
			continue
		}
		annotated = append(annotated, at)
		got.join(at, parent)
		out.Links.Guessed++
		if slices.Contains(wanted[at], parent) {
			out.Links.Right++
		}
	}
	for at, parents := range wanted {
		out.Links.Gold += len(parents)
		for _, p := range parents {
			want.join(at, p)
		}
	}
	out.Messages = len(annotated)
	out.Links = out.Links.rated()
	out.Exact, out.Information = want.compare(got, annotated)
	return out
}

// MeasureReplies compares guesses with the reply references of the data.
func MeasureReplies(guesses []GuessedLink, list []chats.Message) ReplyMeasures {
	order, parent := map[messageIndex]int{}, map[messageIndex]earshot.MessageID{}
	for i, g := range guesses {
		order[messageIndex{g.Conversation, g.ID}] = i
	}
	for _, m := range list {
		parent[messageIndex{m.Conversation, m.ID}] = m.ReplyTo
	}
	var out ReplyMeasures
	var first, three int
	for i, g := range guesses {
		up := parent[messageIndex{g.Conversation, g.ID}]
		at, ok := order[messageIndex{g.Conversation, up}]
		if up == "" || !ok || at >= i {
			continue
		}
		out.Replies++
		switch slices.Index(g.Ranked, up) {
		case -1:
		case 0:
			first++
			three++
		default:
			three++
		}
	}
	if out.Replies > 0 {
		out.At1, out.At3 = float64(first)/float64(out.Replies), float64(three)/float64(out.Replies)
	}
	return out
}

// unionFind is a union-find forest: each place points to its parent, a root to
// itself.
type unionFind map[messageIndex]messageIndex

func (g unionFind) top(p messageIndex) messageIndex {
	for {
		up, ok := g[p]
		if !ok || up == p {
			return p
		}
		if next, ok := g[up]; ok {
			g[p] = next
		}
		p = up
	}
}

func (g unionFind) join(a, b messageIndex) {
	if x, y := g.top(a), g.top(b); x != y {
		g[x] = y
	}
}

// members lists each group's annotated messages, in their order.
func (g unionFind) members(annotated []messageIndex) map[messageIndex][]int {
	out := map[messageIndex][]int{}
	for i, p := range annotated {
		top := g.top(p)
		out[top] = append(out[top], i)
	}
	return out
}

// compare counts the groups of two and more that other has too, and returns 1
// minus the scaled variation of information.
func (g unionFind) compare(other unionFind, annotated []messageIndex) (Score, float64) {
	want, got := g.members(annotated), other.members(annotated)
	var s Score
	for _, list := range got {
		if len(list) > 1 {
			s.Guessed++
		}
	}
	n := float64(len(annotated))
	var terms []float64
	for _, list := range want {
		overlap := map[messageIndex]int{}
		for _, i := range list {
			overlap[other.top(annotated[i])]++
		}
		for top, both := range overlap {
			b, w, h := float64(both), float64(len(list)), float64(len(got[top]))
			terms = append(terms, b/n*(math.Log2(b/w)+math.Log2(b/h)))
		}
		if len(list) > 1 {
			s.Gold++
			if slices.Equal(list, got[other.top(annotated[list[0]])]) {
				s.Right++
			}
		}
	}
	slices.Sort(terms) // the order of a map must not change the sum
	vi := 0.0
	for _, t := range terms {
		vi -= t
	}
	if n < 2 {
		return s.rated(), 1
	}
	return s.rated(), 1 - vi/math.Log2(n)
}
