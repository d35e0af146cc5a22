package inspect

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/platform/local"
)

// A chatReader reads the messages of a page.
type chatReader struct {
	*server
	visit   *visit
	channel earshot.Channel
	data    *chatData
	query   url.Values // also what does not stay: edit, revisions, full

	drafts map[earshot.MessageID]local.Draft
}

func (r *chatReader) read() error {
	d := r.data
	r.drafts = map[earshot.MessageID]local.Draft{}
	if d.local {
		for _, x := range r.Chat.Drafts(r.channel.Scope()) {
			r.drafts[x.Anchor] = x
		}
	}
	q := explain.TalkQuery{Before: r.id("before"), At: r.id("at"), Limit: chatPage}
	thread := r.id("thread")
	if q.At != "" {
		m, _, err := r.Reader.Message(r.visit.Context(), r.visit.caller, r.channel, q.At, false)
		if err != nil {
			return err
		}
		if root := m.Root(); root != "" { // the message stands in its thread
			q.At, thread = root, cmp.Or(thread, root)
		}
	}
	talk, err := r.Reader.Talk(r.visit.Context(), r.visit.caller, r.channel, q)
	if q.At != "" && absentMessage(err) { // the root of a thread that is not stored
		q.At = ""
		talk, err = r.Reader.Talk(r.visit.Context(), r.visit.caller, r.channel, q)
	}
	if err != nil {
		return err
	}
	if d.Messages, err = r.lines(talk); err != nil {
		return err
	}
	d.Older, d.Newer = r.pages(talk, "before")
	if thread != "" {
		if d.Thread, err = r.thread(thread); err != nil {
			return err
		}
	}
	return nil
}

func (r *chatReader) id(name string) earshot.MessageID { return earshot.MessageID(r.query.Get(name)) }

// pages returns the addresses of the pages before and after a stretch.
func (r *chatReader) pages(t explain.Talk, parameter string) (older, newer string) {
	if t.Older && len(t.Messages) > 0 {
		older = r.data.to(parameter, string(t.Messages[0].ID), "at", "")
	}
	if t.Newer {
		newer = r.data.to(parameter, string(t.Next), "at", "")
	}
	return older, newer
}

// thread reads the thread beside the channel.
func (r *chatReader) thread(root earshot.MessageID) (*chatThread, error) {
	r.data.query.Set("thread", string(root))
	talk, err := r.Reader.Talk(r.visit.Context(), r.visit.caller, r.channel, explain.TalkQuery{Thread: root, Before: r.id("thread_before"), Limit: threadPage})
	if err != nil {
		return nil, err
	}
	t := &chatThread{ID: root}
	talk.Deleted = nil // a tombstone does not tell its thread
	if t.Messages, err = r.lines(talk); err != nil {
		return nil, err
	}
	t.Older, t.Newer = r.pages(talk, "thread_before")
	if t.Older == "" && !slices.ContainsFunc(talk.Messages, func(m earshot.Message) bool { return m.ID == root }) {
		if t.RootGone = true; len(talk.Messages) == 0 && r.id("thread_before") == "" {
			return nil, absent
		}
	}
	return t, nil
}

// lines returns the lines of a stretch, tombstones in their places. A placeholder is
// left out: the line of the question says that an answer is being written.
func (r *chatReader) lines(t explain.Talk) ([]chatMessage, error) {
	list := slices.Concat(t.Messages, t.Deleted)
	slices.SortStableFunc(list, func(x, y earshot.Message) int { return x.Position().Compare(y.Position()) })
	out := []chatMessage{}
	for _, m := range list {
		if r.placeholder(m, t) {
			continue
		}
		x := r.line(m, t)
		if x.ID == r.id("revisions") && m.Edited != 0 {
			_, revisions, err := r.Reader.Message(r.visit.Context(), r.visit.caller, r.channel, m.ID, true)
			if err != nil {
				return nil, err
			}
			for _, v := range revisions {
				x.Revisions = append(x.Revisions, chatRevision{Time: cmp.Or(v.Edited, v.Time).String(), Text: v.Text, at: cmp.Or(v.Edited, v.Time)})
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// placeholder reports whether a message is the one that an answer will stand in.
func (r *chatReader) placeholder(m earshot.Message, t explain.Talk) bool {
	q, ok := t.Turns[m.ID]
	return ok && q.Anchor != m.ID && !q.State.Final() && m.Text == "" && len(m.Files) == 0 && !m.Deleted
}

// line returns the line of a message.
func (r *chatReader) line(m earshot.Message, t explain.Talk) chatMessage {
	scope := r.channel.Scope()
	x := newChatMessage(m)
	if m.Deleted {
		x.addReplies(r, m, t)
		return x
	}
	x.Link = chatAt(scope, m.ID)
	x.mine = r.data.Writes && string(m.Author.ID) == r.data.As && m.Author.Kind == earshot.Human
	x.editing = x.mine && r.id("edit") == m.ID
	x.full = r.id("full") == m.ID || x.editing
	x.here = r.id("at") == m.ID
	if q, ok := t.Turns[m.ID]; ok {
		x.Turn = &chatTurn{ID: q.ID, State: q.State, Why: explain.WhyOf(q), Link: turnLink(q.ID), Answer: q.Anchor != m.ID}
		if x.Turn.asks() && !q.State.Final() {
			x.Turn.Draft = r.drafts[m.ID].Text
		}
	}
	x.Choices = r.choices(m)
	if m.Author.Kind == earshot.Human || m.Author.Kind == "" {
		x.Context = contextLink(scope, m.ID)
	}
	if m.ReplyTo != "" && m.ReplyTo != m.ID {
		x.ReplyTo = r.reference(m.ReplyTo, t)
	}
	x.addReplies(r, m, t)
	return x
}

// reference describes the message that another one replies to.
func (r *chatReader) reference(id earshot.MessageID, t explain.Talk) *chatReference {
	q, ok := t.Quoted[id]
	switch {
	case !ok:
		return &chatReference{ID: id, Says: "a message that is not stored"}
	case q.Deleted:
		return &chatReference{ID: id, Says: "a message that was deleted"}
	}
	return &chatReference{ID: id, Author: nameOf(q.Author), Says: oneLine(q, 120), Link: r.data.to("at", string(id), "before", "") + "#" + keyOf(id)}
}

// addReplies adds what is known of the thread that a message begins.
func (x *chatMessage) addReplies(r *chatReader, m earshot.Message, t explain.Talk) {
	a, ok := t.Threads[m.ID]
	if !ok {
		return
	}
	x.Replies = &chatReplies{Count: a.Count, Last: a.Last.String(), Link: r.data.to("thread", string(m.ID), "thread_before", "", "at", ""), last: a.Last}
	without := t
	without.Threads = nil
	for _, reply := range a.Newest {
		if !r.placeholder(reply, t) {
			x.Replies.Newest = append(x.Replies.Newest, r.line(reply, without))
		} else {
			x.Replies.Count--
		}
	}
}
