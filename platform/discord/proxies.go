package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// Some people speak through a proxy such as PluralKit or Tupperbox: it posts again
// under a webhook what they wrote, with another name, and deletes their message,
// within seconds and in either order. The two are one message of a person and get one
// answer. docs/decisions/151-proxies.md has the reasons for what is done here:
//
//   - The webhook's message counts as a person's, and asks what the original asked.
//   - While the original stands, its turn is the one.
//   - Once the original is deleted its turn is given up, and the webhook's message
//     gets one, unless the original was answered already.

// reposted ends the delivery's id of an original's repost.
const reposted = "reposted"

// Bounds of what is taken for a repost.
const (
	repostWithin = earshot.Time(time.Minute / time.Microsecond)
	maxTags      = 64   // bytes that the proxy takes away before and behind the text
	maxWithdrawn = 1000 // deleted messages that are remembered, of all channels
	// givingUp is how long an event waits for the turn of a deleted original to end.
	// Until then it is not certain that it will not be answered.
	givingUp = 5 * time.Second
	lookFor  = 200 * time.Millisecond
)

// proxyApps are the applications of proxies whose messages are people's also where the
// original was not seen, as in history: PluralKit and Tupperbox.
var proxyApps = []string{"466378653216014359", "431544605209788416"}

// A withdrawnMessage is a message of a person that was deleted a short time ago. Its text is
// kept in memory only.
type withdrawnMessage struct {
	earshot.Message
	scope  earshot.Scope
	thread earshot.MessageID
}

// withdrawals remembers deleted messages of people, which a webhook may post again.
// The zero value is ready to use.
type withdrawals struct {
	mu   sync.Mutex // guards list
	list []withdrawnMessage
}

// remember adds a message, and drops those that are too old to be posted again.
func (w *withdrawals) remember(x withdrawnMessage, now earshot.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(slices.DeleteFunc(w.list, func(o withdrawnMessage) bool { return o.Time < now-2*repostWithin }), x)
	if len(w.list) > maxWithdrawn {
		w.list = slices.Delete(w.list, 0, len(w.list)-maxWithdrawn)
	}
}

// has reports whether a message is remembered.
func (w *withdrawals) has(id earshot.MessageID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.list, func(x withdrawnMessage) bool { return x.ID == id })
}

// of returns the messages of a place.
func (w *withdrawals) of(s earshot.Scope, thread earshot.MessageID) []earshot.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []earshot.Message
	for _, x := range w.list {
		if x.scope == s && x.thread == thread {
			out = append(out, x.Message)
		}
	}
	return out
}

// proxied decides about a webhook's message: whether a person speaks in it, why it
// opens no turn if it asks, and whether it repeats a message that has its turn. A person's message takes over from its original to what it replied
// and that it mentioned the bot, which a webhook cannot do.
func (p *Platform) proxied(ctx context.Context, app string, at place, m *earshot.Message) (refused earshot.Refusal, repeats bool, err error) {
	if app == "" {
		return p.notAllowed(m.Author.ID, nil), false, nil // a person made the webhook, for a program
	}
	known := m.Author.Kind == earshot.Human
	original, gone, err := p.original(ctx, at, m)
	if err != nil {
		return "", false, err
	}
	if original.ID == "" && !known {
		return p.notAllowed(m.Author.ID, nil), false, nil
	}
	m.Author.Kind = earshot.Human
	p.proxyUse.seen(at.Guild, original, earshot.TimeOf(p.o.Now()))
	if err := p.directory.meet(ctx, at.Guild, m.Author); err != nil {
		return "", false, err
	}
	if original.ID == "" {
		return p.notAllowed(m.Author.ID, nil), false, nil
	}
	inheritFacts(p.identity, m, &original)
	turn, some, err := p.turnOf(ctx, at.channel().Scope(), original.ID)
	switch {
	case err != nil:
		return "", false, err
	case !some:
		return p.notAllowed(original.Author.ID, nil), false, nil
	case !gone:
		return "", true, nil
	}
	answered, err := p.settled(ctx, at.channel().Scope(), original.ID, turn)
	return "", answered, err
}

// inheritFacts gives a repost what it cannot have: a webhook does not reply.
func inheritFacts(self earshot.Identity, m *earshot.Message, original *earshot.Message) {
	m.ReplyTo = cmp.Or(m.ReplyTo, original.ReplyTo)
	if self.MentionedIn(original) && !self.MentionedIn(m) {
		m.Mentions = append(m.Mentions, self.ID)
	}
}

// original returns the message that a webhook posts again, of the newest one where
// several fit; its id is "" where there is none. gone says that it is deleted.
func (p *Platform) original(ctx context.Context, at place, m *earshot.Message) (original earshot.Message, gone bool, err error) {
	s, part := at.channel().Scope(), earshot.ThreadOf(at.thread())
	for o, err := range p.o.Store.Range(ctx, s, part, earshot.Position{Time: m.Time - repostWithin}, m.Position()) {
		if err != nil {
			return original, false, fmt.Errorf("what message %s repeats: %w", m.ID, err)
		}
		if isRepost(&o, m) {
			original = o
		}
	}
	for _, o := range p.withdrawals.of(s, at.thread()) {
		if isRepost(&o, m) && o.Position().Compare(original.Position()) > 0 {
			original, gone = o, true
		}
	}
	return original, gone, nil
}

// isRepost reports whether m is what a proxy makes of a person's message: its text
// without the signs before or behind it that called the proxy, or its files.
func isRepost(original, m *earshot.Message) bool {
	if original.Author.Kind != earshot.Human || isWebhook(original.Author.ID) || original.ID == m.ID ||
		m.Time < original.Time || m.Time-original.Time > repostWithin {
		return false
	}
	was, is := strings.TrimSpace(discordmsg.WithoutAlternatives(original.Text)), strings.TrimSpace(discordmsg.WithoutAlternatives(m.Text))
	if len(was)-len(is) > maxTags || !strings.Contains(was, is) {
		return false
	}
	return is != "" || len(m.Files) > 0 && len(m.Files) == len(original.Files)
}

// isWebhook reports whether an author's id is that of somebody for whom a webhook
// speaks.
func isWebhook(id earshot.AuthorID) bool { return strings.Contains(string(id), ".") }

// withdrawn hands the deletion of one message to the bot. Where a proxy has posted the
// message again, the repost is handed over once more, to be answered in its place.
func (p *Platform) withdrawn(ctx context.Context, x *delivery, at place, id earshot.MessageID) error {
	s := at.channel().Scope()
	repost, known, err := p.repostOf(ctx, at, id)
	if err != nil {
		return err
	}
	note := earshot.Note{Key: repostNote(s, id), Data: []byte(repost.ID)}
	if known {
		// After a crash the deletion comes again, and then the original has no text by
		// which its repost could be found.
		if err := p.o.Store.PutNote(ctx, note); err != nil {
			return fmt.Errorf("deletion of message %s: %w", id, err)
		}
	}
	if err := p.pass(ctx, x, dispatchMessage{channel: at.channel(), message: discordmsg.Tombstone(id), more: known}); err != nil || !known {
		return err
	}
	turn, some, err := p.turnOf(ctx, s, id)
	if err != nil {
		return err
	}
	answered := false
	if some {
		if answered, err = p.settled(ctx, s, id, turn); err != nil {
			return err
		}
	}
	e := dispatchMessage{channel: at.channel(), message: repost, suffix: reposted}
	if !some || answered {
		e.known = true
	}
	if err := p.pass(ctx, x, e); err != nil {
		return err
	}
	if err := p.o.Store.DropNote(ctx, note.Key); err != nil {
		return fmt.Errorf("deletion of message %s: %w", id, err)
	}
	return nil
}

func repostNote(s earshot.Scope, id earshot.MessageID) string {
	return fmt.Sprintf("discord/repost/%s/%s/%s", s.Workspace, s.Channel, id)
}

// repostOf returns the stored message of a webhook that repeats a message which is
// being deleted. A person's message without one is remembered: its repost may follow.
func (p *Platform) repostOf(ctx context.Context, at place, id earshot.MessageID) (repost earshot.Message, known bool, err error) {
	s := at.channel().Scope()
	m, err := p.o.Store.Message(ctx, s, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return repost, false, nil
	}
	if err != nil {
		return repost, false, fmt.Errorf("deletion of message %s: %w", id, err)
	}
	if m.Deleted {
		notes, err := p.o.Store.Notes(ctx, repostNote(s, id), 1)
		if err != nil || len(notes) == 0 || notes[0].Key != repostNote(s, id) {
			return repost, false, err
		}
		repost, err = p.o.Store.Message(ctx, s, earshot.MessageID(notes[0].Data))
		return repost, err == nil && !repost.Deleted, ignoreNotFound(err)
	}
	if m.Author.Kind != earshot.Human || isWebhook(m.Author.ID) {
		return repost, false, nil
	}
	for r, err := range p.o.Store.Range(ctx, s, earshot.ThreadOf(at.thread()), m.Position(), earshot.Position{Time: m.Time + repostWithin}) {
		if err != nil {
			return repost, false, fmt.Errorf("what repeats message %s: %w", id, err)
		}
		if r.Author.Kind == earshot.Human && isWebhook(r.Author.ID) && isRepost(&m, &r) {
			return r, true, nil
		}
	}
	p.withdrawals.remember(withdrawnMessage{Message: m, scope: s, thread: at.thread()}, earshot.TimeOf(p.o.Now()))
	return repost, false, nil
}

func ignoreNotFound(err error) error {
	if errors.Is(err, earshot.ErrNotFound) {
		return nil
	}
	return err
}

// questionStands returns a [*bot.PostError] where the question of an answer was
// deleted. Its placeholder then takes no text any more, so that the bot deletes it: a
// note that the question is gone would stand beside the answer to its repost.
func (p *Platform) questionStands(ctx context.Context, at bot.Place) error {
	m, err := p.o.Store.Message(ctx, at.Channel.Scope(), at.Anchor.ID)
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return nil
	case err != nil:
		return &bot.PostError{Retry: again, Err: fmt.Errorf("question %s: %w", at.Anchor.ID, err)}
	case m.Deleted:
		p.replies.release(at)
		return &bot.PostError{Err: errors.New("the question was deleted")}
	}
	return nil
}

// turnOf returns the turn that a message of a channel has, among the newest.
func (p *Platform) turnOf(ctx context.Context, s earshot.Scope, anchor earshot.MessageID) (q earshot.QueuedTurn, ok bool, err error) {
	list, err := p.o.Store.QueuedTurns(ctx, earshot.TurnQuery{Agent: earshot.AgentID(p.identity.ID), Scope: &s})
	if err != nil {
		return q, false, fmt.Errorf("the turn of message %s: %w", anchor, err)
	}
	for _, q := range list {
		if q.Anchor == anchor && q.State != earshot.TurnRefused {
			return q, true, nil
		}
	}
	return q, false, nil
}

// anchorDeleted is why the bot drops a turn whose question was deleted.
const anchorDeleted = "anchor deleted"

// settled waits until the turn of a deleted message has ended, for a few seconds, and
// reports whether it was answered. An answer that was under way when the deletion came
// may still have arrived.
func (p *Platform) settled(ctx context.Context, s earshot.Scope, anchor earshot.MessageID, q earshot.QueuedTurn) (answered bool, err error) {
	for until := p.o.Now().Add(givingUp); !q.State.Final() && p.o.Now().Before(until); {
		if err := pause.For(ctx, lookFor); err != nil {
			return false, err
		}
		if q, _, err = p.turnOf(ctx, s, anchor); err != nil {
			return false, err
		}
	}
	return q.State.Final() && (q.State != earshot.TurnDropped || q.Why != anchorDeleted), nil
}
