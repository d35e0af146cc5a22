package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// MaxTalk bounds a page of talk.
const MaxTalk = 200

// A TalkQuery says which stretch of a channel is read.
type TalkQuery struct {
	Thread earshot.MessageID // the root of the thread to read; "": the channel's top level
	Before earshot.MessageID // the stretch ends before this message; "": with the newest
	At     earshot.MessageID // the stretch has this message, and some after it; in place of Before
	Limit  int               // at most MaxTalk; 0: 50
}

// A Talk is a stretch of a channel as people read it: messages in the order of their
// positions, with what stands behind them.
type Talk struct {
	Page
	Newer   bool                                  // there are newer ones
	Next    earshot.MessageID                     // Before of the page with newer ones; "" where that is the newest page
	Deleted []earshot.Message                     // tombstones within the newest page
	Threads map[earshot.MessageID]Replies         // of what has replies; empty in a thread
	Quoted  map[earshot.MessageID]earshot.Message // what messages reply to; tombstones too
	Turns   map[earshot.MessageID]earshot.QueuedTurn
}

// Replies are what is known of a thread from outside.
type Replies struct {
	earshot.Activity
	Newest []earshot.Message // the last few, the oldest first
}

// How much of a thread a page shows, and how far it looks for what was deleted.
const (
	tailReplies = 2
	lookDeleted = 400
	afterAt     = 8 // messages after TalkQuery.At
)

// Talk reads a stretch of a channel, without Input of the turns. Turns has the turn of
// each message that asked something or is a part of a reply, also of those in Threads.
func (r *Reader) Talk(ctx context.Context, p access.Principal, c earshot.Channel, q TalkQuery) (Talk, error) {
	at := c.Scope()
	if err := visible.Reads(p, at); err != nil {
		return Talk{}, err
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.Limit = min(q.Limit, MaxTalk)
	part := earshot.ThreadOf(q.Thread)
	before, err := r.talkEnd(ctx, at, part, q)
	if err != nil {
		return Talk{}, err
	}
	var t Talk
	if t.Page, err = r.page(ctx, p, at, part, Span{Before: before, Limit: q.Limit}, ""); err != nil {
		return t, err
	}
	if !before.IsZero() {
		t.Newer = true
		if t.Next, err = r.nextPage(ctx, at, part, before, q.Limit); err != nil {
			return t, err
		}
	} else if t.Deleted, err = r.deletedLately(ctx, at, t.Messages, t.Older); err != nil {
		return t, err
	}
	if q.Thread == "" {
		if t.Threads, err = r.replies(ctx, at, slices.Concat(t.Messages, t.Deleted)); err != nil {
			return t, err
		}
	}
	if t.Quoted, err = r.quotedMessages(ctx, at, t.Messages); err != nil {
		return t, err
	}
	all := slices.Clone(t.Messages)
	for _, thread := range t.Threads {
		all = append(all, thread.Newest...)
	}
	t.Turns, err = r.turnsOf(ctx, p, at, all)
	return t, err
}

// talkEnd returns the position before which a stretch ends; zero is no bound.
func (r *Reader) talkEnd(ctx context.Context, at earshot.Scope, part earshot.ChannelPart, q TalkQuery) (earshot.Position, error) {
	id := cmp.Or(q.Before, q.At)
	if id == "" {
		return earshot.Position{}, nil
	}
	m, err := r.store.Message(ctx, at, id)
	if err == nil && m.Time.IsZero() {
		err = visible.Absent
	}
	if err != nil {
		return earshot.Position{}, err
	}
	if q.Before != "" {
		return m.Position(), nil
	}
	return r.after(ctx, at, part, m.Position(), afterAt)
}

// after returns the position of the message that stands n after a position; zero where
// there are not that many.
func (r *Reader) after(ctx context.Context, at earshot.Scope, part earshot.ChannelPart, from earshot.Position, n int) (earshot.Position, error) {
	for m, err := range r.store.Range(ctx, at, part, from, earshot.Position{}) {
		switch {
		case err != nil:
			return earshot.Position{}, fmt.Errorf("read messages of %s: %w", at.Channel, err)
		case m.Position() == from:
			continue
		case n == 0:
			return m.Position(), nil
		}
		n--
	}
	return earshot.Position{}, nil
}

// nextPage returns the message before which the page ends that begins at a position.
func (r *Reader) nextPage(ctx context.Context, at earshot.Scope, part earshot.ChannelPart, from earshot.Position, limit int) (earshot.MessageID, error) {
	end, err := r.after(ctx, at, part, from, limit-1)
	return end.ID, err
}

// deletedLately returns the tombstones that stand within the newest page. A tombstone
// does not tell its thread.
func (r *Reader) deletedLately(ctx context.Context, at earshot.Scope, page []earshot.Message, older bool) ([]earshot.Message, error) {
	var from earshot.Position
	var seq int64
	if len(page) > 0 && older {
		from, seq = page[0].Position(), page[0].Seq
		for _, m := range page {
			seq = min(seq, m.Seq)
		}
	}
	known, err := r.store.Since(ctx, at, seq, lookDeleted)
	if err != nil {
		return nil, fmt.Errorf("read what was deleted in %s: %w", at.Channel, err)
	}
	known = slices.DeleteFunc(known, func(m earshot.Message) bool {
		return !m.Deleted || m.Time.IsZero() || m.Position().Compare(from) < 0
	})
	slices.SortFunc(known, func(x, y earshot.Message) int { return x.Position().Compare(y.Position()) })
	return known, nil
}

// replies returns the threads of the roots that have some.
func (r *Reader) replies(ctx context.Context, at earshot.Scope, roots []earshot.Message) (map[earshot.MessageID]Replies, error) {
	if len(roots) == 0 {
		return nil, nil
	}
	ids := make([]earshot.MessageID, len(roots))
	for i, m := range roots {
		ids[i] = m.ID
	}
	active, err := r.store.Activity(ctx, at, earshot.Position{}, ids...)
	if err != nil {
		return nil, fmt.Errorf("count replies in %s: %w", at.Channel, err)
	}
	out := make(map[earshot.MessageID]Replies, len(active))
	for root, a := range active {
		list, err := r.store.Newest(ctx, at, earshot.ThreadOf(root), earshot.Position{}, tailReplies+1)
		if err != nil {
			return nil, fmt.Errorf("read thread %s: %w", root, err)
		}
		list = slices.DeleteFunc(list, func(m earshot.Message) bool { return m.ID == root })
		out[root] = Replies{a, list[max(0, len(list)-tailReplies):]}
	}
	return out, nil
}

// quotedMessages returns the messages that a page's messages reply to by reference.
func (r *Reader) quotedMessages(ctx context.Context, at earshot.Scope, page []earshot.Message) (map[earshot.MessageID]earshot.Message, error) {
	var ids []earshot.MessageID
	for _, m := range page {
		if m.ReplyTo != "" && !slices.Contains(ids, m.ReplyTo) {
			ids = append(ids, m.ReplyTo)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := r.store.ByID(ctx, at, ids...)
	if err != nil {
		return nil, fmt.Errorf("read what is replied to in %s: %w", at.Channel, err)
	}
	out := make(map[earshot.MessageID]earshot.Message, len(list))
	for _, m := range list {
		out[m.ID] = m
	}
	return out, nil
}

// How many turns and conversations are looked at for the turns of a page.
const (
	pageTurns         = 200
	pageConversations = 16
	pageAnswers       = 50
)

// turnsOf returns the turns of a page's messages, by message: the turn that a message
// asked for, and the turn whose reply it is. Questions are looked for among the
// channel's newest turns and those of the page's replies.
func (r *Reader) turnsOf(ctx context.Context, p access.Principal, at earshot.Scope, page []earshot.Message) (map[earshot.MessageID]earshot.QueuedTurn, error) {
	recent, err := r.store.QueuedTurns(ctx, earshot.TurnQuery{Scope: &at, Limit: pageTurns})
	if err != nil {
		return nil, fmt.Errorf("list turns of %s: %w", at.Channel, err)
	}
	f := pageOfTurns{reader: r, mine: r.To(p), at: at, anchors: map[earshot.MessageID]earshot.QueuedTurn{}, found: map[earshot.MessageID]earshot.QueuedTurn{}}
	for _, q := range recent {
		if _, known := f.anchors[q.Anchor]; known {
			continue // an older turn for the same question
		}
		switch ok, err := f.mine.Owns(ctx, q.Conversation); {
		case err != nil:
			return nil, err
		case ok:
			f.anchors[q.Anchor] = q
		}
	}
	missing, err := f.findPosted(ctx, page)
	if err == nil && len(missing) > 0 {
		err = f.findCommitted(ctx, page, recent, missing)
	}
	if err != nil {
		return nil, err
	}
	for _, m := range page {
		if q, ok := f.anchors[m.ID]; ok && m.Author.Kind != earshot.System {
			f.found[m.ID] = q
		}
	}
	return f.found, nil
}

// pageOfTurns collects the turns of a page.
type pageOfTurns struct {
	reader  *Reader
	mine    *visible.View
	at      earshot.Scope
	anchors map[earshot.MessageID]earshot.QueuedTurn // by question
	found   map[earshot.MessageID]earshot.QueuedTurn // by message of the page
}

// findPosted finds the turns of replies that were posted from the outbox, and returns the
// programs' messages without one.
func (f *pageOfTurns) findPosted(ctx context.Context, page []earshot.Message) (missing []earshot.Message, err error) {
	for _, m := range page {
		if m.Author.Kind != earshot.Bot {
			continue
		}
		q, err := f.reader.store.Posted(ctx, f.at, m.ID)
		if errors.Is(err, earshot.ErrNotFound) {
			missing = append(missing, m)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look for the turn of %s: %w", m.ID, err)
		}
		q.Input = nil
		ok, err := f.mine.Owns(ctx, q.Conversation)
		if err != nil {
			return nil, err
		}
		if ok {
			f.found[m.ID] = q
			if _, known := f.anchors[q.Anchor]; !known {
				f.anchors[q.Anchor] = q
			}
		}
	}
	return missing, nil
}

// findCommitted finds the turns of replies that a bot beside us has posted and committed:
// first in the conversations of the page's questions, then in the newest ones.
func (f *pageOfTurns) findCommitted(ctx context.Context, page []earshot.Message, recent []earshot.QueuedTurn, missing []earshot.Message) error {
	asked := func(q earshot.QueuedTurn) int {
		if slices.ContainsFunc(page, func(m earshot.Message) bool { return m.ID == q.Anchor }) {
			return 0
		}
		return 1
	}
	recent = slices.Clone(recent)
	slices.SortStableFunc(recent, func(x, y earshot.QueuedTurn) int { return asked(x) - asked(y) })
	var list []earshot.ConversationID
	for _, q := range recent {
		if _, seen := f.anchors[q.Anchor]; seen && q.State == earshot.TurnDone && len(list) < pageConversations && !slices.Contains(list, q.Conversation) {
			list = append(list, q.Conversation)
		}
	}
	for _, c := range list {
		turns, err := f.reader.store.Turns(ctx, c, pageAnswers)
		if err != nil {
			return fmt.Errorf("read turns of %s: %w", f.at.Channel, err)
		}
		for _, t := range turns {
			q, ok := f.anchors[t.Answer.Anchor]
			if !ok || q.Conversation != c {
				continue
			}
			for _, m := range missing {
				if slices.Contains(t.Answer.Replies, m.ID) {
					f.found[m.ID] = q
				}
			}
		}
	}
	return nil
}
