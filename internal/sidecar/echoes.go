package sidecar

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// A platform tells a bot of its own posts too. Such an echo of a reply that was
// committed without ids is that reply: its id becomes the turn's, so that no later
// prompt shows the answer twice, and who replies to it goes on with the conversation.
// It may come before the commit or after it.

const (
	echoTurns = 20 // of a channel's newest turns, an echo is looked for among so many
	echoPosts = 50 // of a place's newest messages, a commit looks for its echo among so many
	longPiece = 100
)

// A posting is a committed turn with what is known of its reply.
type posting struct {
	queued  earshot.QueuedTurn
	anchor  earshot.Message
	self    earshot.Identity
	replies []earshot.MessageID
	text    string // the whole reply as plainly compares; "" where only its hash is kept
	rest    string // of the text, what has not become a message yet
	sum     string // of the text; "" where it is not known
}

// takeEchoes looks among messages that were told for replies of committed turns.
func (s *Service) takeEchoes(ctx context.Context, p access.Principal, at earshot.Scope, told []earshot.Message) error {
	queued, err := s.store.QueuedTurns(ctx, earshot.TurnQuery{Scope: &at, States: []earshot.TurnState{earshot.TurnDone}, Limit: echoTurns})
	if err != nil {
		return fmt.Errorf("look for the replies of turns: %w", err)
	}
	var asked []earshot.MessageID
	for _, q := range queued {
		asked = append(asked, q.Anchor)
	}
	anchors, err := s.store.ByID(ctx, at, asked...)
	if err != nil {
		return fmt.Errorf("read the questions of turns: %w", err)
	}
	agents := map[earshot.AgentID]earshot.Identity{}
	var waiting []*posting
	for _, q := range slices.Backward(queued) { // the oldest first
		self, known := agents[q.Conversation.Agent]
		if !known {
			if self, err = s.to(p).AgentOf(ctx, q.Conversation); err != nil {
				return err
			}
			agents[q.Conversation.Agent] = self
		}
		i := slices.IndexFunc(anchors, func(m earshot.Message) bool { return m.ID == q.Anchor })
		if i < 0 || !slices.ContainsFunc(told, (&posting{self: self, anchor: anchors[i]}).mayBe) {
			continue
		}
		post, err := s.posting(ctx, q, anchors[i], self)
		if err != nil {
			return err
		}
		if post != nil {
			waiting = append(waiting, post)
		}
	}
	for _, post := range waiting { // two turns may say the same: what is a whole reply is no piece of another
		if told, err = s.take(ctx, post, told, (*posting).isWhole); err != nil {
			return err
		}
	}
	for _, post := range waiting {
		before := len(told)
		if told, err = s.take(ctx, post, told, (*posting).isNext); err != nil {
			return err
		}
		if len(told) < before && post.rest != "" { // pieces that were told before this one
			if err := s.takeStored(ctx, post, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// posting loads a committed turn; nil where nothing of its reply is missing.
func (s *Service) posting(ctx context.Context, q earshot.QueuedTurn, anchor earshot.Message, self earshot.Identity) (*posting, error) {
	if anchor.Deleted || anchor.Isolated() { // an isolated turn shows nothing, and is shown nowhere
		return nil, nil
	}
	t, err := s.store.Turn(ctx, q.Conversation, q.Number)
	if errors.Is(err, earshot.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a committed turn: %w", err)
	}
	list, err := s.store.ByID(ctx, q.Conversation.Scope, t.Answer.Replies...)
	if err != nil {
		return nil, fmt.Errorf("read a committed reply: %w", err)
	}
	post := &posting{queued: q, anchor: anchor, self: self, replies: t.Answer.Replies, text: plainly(t.Reply())}
	if post.rest = post.text; post.text == "" {
		d, err := s.store.Draft(ctx, q.ID)
		if err != nil && !errors.Is(err, earshot.ErrNotFound) {
			return nil, err
		}
		if post.sum = d.Turn.Sum; post.sum == "" || len(post.replies) > 0 {
			return nil, nil
		}
		return post, nil
	}
	for _, id := range post.replies { // what the caller told is whole, whatever the platform made of its text
		i := slices.IndexFunc(list, func(m earshot.Message) bool { return m.ID == id })
		if i < 0 || !post.isNext(list[i]) {
			return nil, nil
		}
		post.shorten(list[i])
	}
	if post.rest == "" {
		return nil, nil
	}
	return post, nil
}

// mayBe reports whether a message is the agent's own, stands where the answer belongs,
// and was said after the question.
func (x *posting) mayBe(m earshot.Message) bool {
	if !x.self.Is(m.Author.ID) || m.Deleted || m.Position().Compare(x.anchor.Position()) <= 0 || slices.Contains(x.replies, m.ID) {
		return false
	}
	if root := m.Root(); root != "" {
		return root == x.anchor.Root() || root == x.anchor.ID
	}
	return x.anchor.Root() == "" && (m.ReplyTo == "" || m.ReplyTo == x.anchor.ID || slices.Contains(x.replies, m.ReplyTo))
}

// isWhole reports whether a message is the whole reply.
func (x *posting) isWhole(m earshot.Message) bool {
	if len(x.replies) > 0 {
		return false
	}
	if x.text == "" {
		return x.sum == (&Reply{Text: m.Text}).sum()
	}
	return plainly(m.Text) == x.text
}

// isNext reports whether a message is the next piece of the reply. A short one ends
// where a word does: only what is long is cut within a word.
func (x *posting) isNext(m earshot.Message) bool {
	piece := plainly(m.Text)
	after, ok := strings.CutPrefix(x.rest, piece)
	return ok && piece != "" && (after == "" || after[0] == ' ' || len(piece) >= longPiece)
}

// shorten takes a piece off what has not become a message yet.
func (x *posting) shorten(m earshot.Message) {
	x.rest = strings.TrimPrefix(strings.TrimPrefix(x.rest, plainly(m.Text)), " ")
}

// take makes of those messages that is accepts replies of a turn, and returns the
// others.
func (s *Service) take(ctx context.Context, x *posting, list []earshot.Message, is func(*posting, earshot.Message) bool) ([]earshot.Message, error) {
	var left []earshot.Message
	for _, m := range list {
		if !x.mayBe(m) || !is(x, m) {
			left = append(left, m)
			continue
		}
		err := s.store.AddReply(ctx, x.queued.Conversation, x.queued.Number, x.replies, earshot.ShownRevision{ID: m.ID, Revision: m.Edited, Seen: assemble.Told})
		switch {
		case errors.Is(err, earshot.ErrConflict), errors.Is(err, earshot.ErrNotFound):
			again, err := s.posting(ctx, x.queued, x.anchor, x.self) // another one was faster, or something was erased
			if err != nil {
				return nil, err
			}
			if again == nil || len(again.replies) == len(x.replies) {
				left = append(left, m)
				continue
			}
			*x = *again
			return s.take(ctx, x, append(left, list[slices.IndexFunc(list, func(o earshot.Message) bool { return o.ID == m.ID }):]...), is)
		case err != nil:
			return nil, fmt.Errorf("record what a reply became: %w", err)
		}
		x.replies = append(slices.Clone(x.replies), m.ID)
		x.shorten(m)
	}
	return left, nil
}

// takeStored looks for a turn's reply among the stored messages, but those named: the
// newest that is the whole of it, else its pieces.
func (s *Service) takeStored(ctx context.Context, x *posting, but []earshot.MessageID) error {
	list, err := s.near(ctx, x)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(m earshot.Message) bool { return slices.Contains(but, m.ID) })
	slices.Reverse(list)
	if list, err = s.take(ctx, x, list, (*posting).isWhole); err != nil {
		return err
	}
	slices.Reverse(list)
	for before := -1; before != len(list) && x.rest != ""; {
		before = len(list)
		if list, err = s.take(ctx, x, list, (*posting).isNext); err != nil {
			return err
		}
	}
	return nil
}

// near returns the agent's newest messages where a turn's reply may stand, in the order
// of Position.
func (s *Service) near(ctx context.Context, x *posting) ([]earshot.Message, error) {
	parts := []earshot.ChannelPart{earshot.ThreadOf(x.anchor.Root())}
	if x.anchor.Root() == "" {
		parts = append(parts, earshot.ThreadOf(x.anchor.ID))
	}
	var out []earshot.Message
	for _, part := range parts {
		list, err := s.store.Newest(ctx, x.queued.Conversation.Scope, part, earshot.Position{}, echoPosts)
		if err != nil {
			return nil, fmt.Errorf("look for a reply: %w", err)
		}
		for _, m := range list {
			if x.mayBe(m) {
				out = append(out, m)
			}
		}
	}
	slices.SortFunc(out, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) })
	return out, nil
}

// posted returns the messages of the agent after a question: none of them is the reply
// of a turn that is opened now.
func (s *Service) posted(ctx context.Context, id earshot.ConversationID, anchor earshot.Message, self earshot.Identity) ([]earshot.MessageID, error) {
	x := &posting{queued: earshot.QueuedTurn{Conversation: id}, anchor: anchor, self: self}
	list, err := s.near(ctx, x)
	out := []earshot.MessageID{}
	for _, m := range list {
		out = append(out, m.ID)
	}
	return out, err
}

// Platforms write a text in their own way: Slack escapes three characters, puts links
// into brackets and names people in mentions.
var (
	escapes   = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
	links     = regexp.MustCompile(`<(?:https?://|mailto:)[^\s|<>]*\|([^<>]*)>`)
	bareLinks = regexp.MustCompile(`<(https?://[^\s|<>]*)>`)
	mentions  = regexp.MustCompile(`<([@#!][^|<>]*)\|[^<>]*>`)
)

// plainly returns a text in the form in which replies and their echoes are compared.
func plainly(s string) string {
	for was := ""; s != was; {
		was, s = s, escapes.Replace(s)
	}
	s = mentions.ReplaceAllString(bareLinks.ReplaceAllString(links.ReplaceAllString(s, "$1"), "$1"), "<$1>")
	return strings.Join(strings.Fields(norm.NFC.String(s)), " ")
}
