package simtest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/simulate"
)

// Facts are what Slack has told and was thanked for.
type facts struct {
	parsed  []telling
	created map[place]bool // a message's own event was acknowledged
	gone    map[place]bool // its deletion was
	cursors map[earshot.ConversationID]int64
}

type place struct{ channel, ts string }

// A telling is a delivery of which message.
type telling struct {
	at   place
	kind string // new, changed, deleted, ""
	done bool   // counted
}

func newFacts() facts {
	return facts{created: map[place]bool{}, gone: map[place]bool{}, cursors: map[earshot.ConversationID]int64{}}
}

// read reads an event.
func read(body json.RawMessage) (t telling) {
	var x struct {
		Event struct {
			Type, Subtype, Channel, TS string
			Deleted                    string `json:"deleted_ts"`
			Message                    struct{ TS, Subtype string }
		}
	}
	if json.Unmarshal(body, &x) != nil {
		return t
	}
	e := x.Event
	switch {
	case e.Type != "message" && e.Type != "app_mention":
	case e.Subtype == "message_deleted":
		return telling{place{e.Channel, e.Deleted}, "deleted", false}
	case e.Subtype == "message_changed" && e.Message.Subtype == "tombstone":
		return telling{place{e.Channel, e.Message.TS}, "deleted", false}
	case e.Subtype == "message_changed":
		return telling{place{e.Channel, e.Message.TS}, "changed", false}
	case e.TS != "":
		return telling{place{e.Channel, e.TS}, "new", false}
	}
	return t
}

// scope is a channel as the store has it.
func (w *world) scope(channel string) earshot.Scope {
	return earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(w.slack.Team().ID), Channel: earshot.ChannelID(channel)}
}

// check checks what must hold at any moment.
func (w *world) check() {
	ctx := context.Background()
	for i, d := range w.slack.Deliveries() {
		if i >= len(w.told.parsed) {
			w.told.parsed = append(w.told.parsed, read(d.Body))
		}
		t := &w.told.parsed[i]
		if !d.Done || t.done || t.kind == "" {
			continue
		}
		t.done = true
		_, err := w.store.Message(ctx, w.scope(t.at.channel), earshot.MessageID(t.at.ts))
		switch {
		case err != nil:
			w.wrong("I1: the event %s (%s) of %v was acknowledged, and its message is not stored: %v", d.EventID, t.kind, t.at, err)
		case t.kind == "deleted":
			w.told.gone[t.at] = true
		case t.kind == "new":
			w.told.created[t.at] = true
		}
	}
	for at := range w.told.gone {
		if m, err := w.store.Message(ctx, w.scope(at.channel), earshot.MessageID(at.ts)); err != nil || !m.Deleted {
			w.wrong("I3: %v was deleted, and is stored as %q (%v)", at, m.Text, err)
		}
	}
	w.checkPosts()
	w.checkCursors(ctx)
}

// checkPosts checks I11: at most one message for a post.
func (w *world) checkPosts() {
	for key, list := range w.slack.PostsByMetadata("key") {
		if key != "" && len(list) > 1 {
			w.wrong("I11: the post %s can be seen %d times", key, len(list))
		}
	}
}

func (w *world) turns(ctx context.Context) []earshot.QueuedTurn {
	list, err := w.store.QueuedTurns(ctx, earshot.TurnQuery{Limit: 10_000})
	if err != nil {
		w.wrong("turns cannot be listed: %v", err)
	}
	slices.Reverse(list)
	return list
}

// checkCursors checks that no cursor moves back or beyond what is known.
func (w *world) checkCursors(ctx context.Context) {
	for _, q := range w.turns(ctx) {
		c, err := w.store.Conversation(ctx, q.Conversation)
		if err != nil {
			w.wrong("the conversation of turn %d: %v", q.ID, err)
			continue
		}
		if c.Cursor < w.told.cursors[q.Conversation] {
			w.wrong("I10: the cursor of %v moved back from %d to %d", q.Conversation, w.told.cursors[q.Conversation], c.Cursor)
		}
		w.told.cursors[q.Conversation] = c.Cursor
	}
}

// checkReport checks the budget of a turn that is done.
func (w *world) checkReport(r bot.Report) {
	t, free := r.Result.Tokens, 0
	for _, s := range []assemble.SectionName{assemble.Guide, assemble.Instructions, assemble.Place, assemble.Thread, assemble.Anchor, assemble.SessionPart} {
		free += t.Sections[s] // of the thread its root
	}
	if t.Total-free > t.Budget || t.Total > assemble.DefaultBudget().Limit {
		w.wrong("I6: turn %d has %d tokens in a budget of %d: %v", r.Turn.ID, t.Total, t.Budget, t.Sections)
	}
}

// checkEnd checks what must hold once everything has come to rest.
func (w *world) checkEnd() {
	ctx := context.Background()
	turns := w.turns(ctx)
	w.checkTurns(ctx, turns)
	w.checkOrder(turns)
	w.checkSeen(ctx, turns)
	w.checkHeard(ctx, turns)
}

// checkTurns checks I4: how each turn has ended.
func (w *world) checkTurns(ctx context.Context, turns []earshot.QueuedTurn) {
	seen := w.slack.PostsByMetadata("key")
	gone := map[place]bool{} // questions that were deleted, known or not
	for _, m := range w.said {
		gone[place{m.channel, m.ts}] = m.deleted
	}
	for _, q := range turns {
		posts, err := w.store.Posts(ctx, q.ID)
		if err != nil {
			w.wrong("the posts of turn %d: %v", q.ID, err)
		}
		visible := 0
		for _, p := range posts {
			if len(seen[p.Key]) > 0 {
				visible++
			}
			if p.State != earshot.PostSent && len(seen[p.Key]) > 0 && q.State != earshot.TurnParked {
				w.wrong("I4: post %s of turn %d, which is %s (%s), can be seen and is %s", p.Key, q.ID, q.State, q.Why, p.State)
			}
		}
		w.ends[q.State]++
		w.trace("turn %d %s is %s %q, %d tries, %d of %d posts visible", q.ID, q.Anchor, q.State, q.Why, q.Tries, visible, len(posts))
		switch q.State {
		case earshot.TurnDone:
			// A reply to a thread that is gone is taken back by the adapter.
			if visible == 0 && !gone[place{string(q.Conversation.Scope.Channel), string(q.Anchor)}] {
				w.wrong("I4: turn %d is done, and nothing of it can be seen", q.ID)
			}
		case earshot.TurnFailed, earshot.TurnDropped:
			if q.Why == "" {
				w.wrong("I4: turn %d is %s without a reason", q.ID, q.State)
			}
			// What only the person sees cannot be looked for, and is ambiguous.
			told := slices.ContainsFunc(posts, func(p earshot.Post) bool {
				return p.State == earshot.PostSent || p.State == earshot.PostAmbiguous && strings.HasPrefix(p.Key, "w")
			})
			if q.State == earshot.TurnFailed && !told && !strings.Contains(q.Why, "could not be told") {
				w.wrong("I4: turn %d failed (%s), and nobody was told", q.ID, q.Why)
			}
		case earshot.TurnParked:
			w.wrong("I12: turn %d is parked: %s", q.ID, q.Why)
		default:
			w.wrong("I4: turn %d is still %s after %d tries: %s", q.ID, q.State, q.Tries, q.Why)
		}
	}
}

// checkOrder checks I5: turns of a conversation are answered in order.
func (w *world) checkOrder(turns []earshot.QueuedTurn) {
	last := map[earshot.ConversationID]int{}
	for _, q := range turns {
		if q.State != earshot.TurnDone {
			continue
		}
		n, ok := last[q.Conversation]
		if ok && q.Number <= n {
			w.wrong("I5: turn %d of %v was answered before its predecessor", q.ID, q.Conversation)
		}
		last[q.Conversation] = q.Number
	}
}

// checkSeen checks what people see of the bot: every post is known, and no
// placeholder stays.
func (w *world) checkSeen(ctx context.Context, turns []earshot.QueuedTurn) {
	known := map[string]bool{}
	turn := map[string]earshot.QueuedTurn{}
	for _, q := range turns {
		posts, _ := w.store.Posts(ctx, q.ID) // read before
		for _, p := range posts {
			known[p.Key], turn[p.Key] = true, q
		}
	}
	for key, list := range w.slack.PostsByMetadata("key") {
		for _, m := range list {
			if q, ok := turn[key]; ok && !w.belongs(m, q) {
				w.wrong("I8: %s of turn %d, which is of %s, stands in %s of %s", m.TS, q.ID, q.Conversation.Name, m.Thread, m.Channel)
			}
			if !known[key] {
				w.wrong("I11: %s in %s is nobody's post: %q", m.TS, m.Channel, m.Text)
			}
			if strings.TrimSpace(m.Text) == "…" || m.Streaming {
				w.wrong("I4: a placeholder stays at %s in %s", m.TS, m.Channel)
			}
		}
	}
}

// belongs reports whether a post stands where its turn's conversation is: in the
// channel, and in the thread that has the conversation's name or that the
// question begins. A thread of which nothing is left takes no reply.
func (w *world) belongs(m simulate.Message, q earshot.QueuedTurn) bool {
	if m.Channel != string(q.Conversation.Scope.Channel) {
		return false
	}
	direct := slices.Index(w.channels, m.Channel) >= 2
	return m.Thread == "" && direct || m.Thread == q.Conversation.Name || m.Thread == string(q.Anchor)
}

// checkHeard checks that what was said for the bot to answer has a turn, and
// that what is stored is what is seen.
func (w *world) checkHeard(ctx context.Context, turns []earshot.QueuedTurn) {
	anchors := map[place]int{}
	for _, q := range turns {
		anchors[place{string(q.Conversation.Scope.Channel), string(q.Anchor)}]++
	}
	whole := w.whole()
	for _, m := range w.said {
		at := place{m.channel, m.ts}
		if n := anchors[at]; n > 1 {
			w.wrong("I4: %v has %d turns", at, n)
		}
		stored, err := w.store.Message(ctx, w.scope(m.channel), earshot.MessageID(m.ts))
		switch {
		case errors.Is(err, earshot.ErrNotFound):
			continue // it was not told, or not acknowledged: check has looked
		case err != nil:
			w.wrong("%v cannot be read: %v", at, err)
		case w.told.created[at] && m.ask && anchors[at] == 0 && !w.told.gone[at]:
			w.wrong("I4: %v was heard, asks the bot, and has no turn", at)
		case whole[at] && !m.deleted && !strings.Contains(stored.Text, m.word):
			w.wrong("I2: %v says %s, and is stored as %q", at, m.word, stored.Text)
		}
	}
}

// whole returns the messages of which everything that was told was also
// acknowledged.
func (w *world) whole() map[place]bool {
	out := map[place]bool{}
	for i, d := range w.slack.Deliveries() {
		if i >= len(w.told.parsed) {
			break
		}
		at := w.told.parsed[i].at
		if was, ok := out[at]; ok {
			out[at] = was && d.Done
		} else {
			out[at] = d.Done
		}
	}
	return out
}

// checkFiles looks for deleted words in the files of the store, and for any in
// the log.
func (w *world) checkFiles() {
	var data []byte
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(w.file + end)
		if err == nil {
			data = append(data, b...)
		}
	}
	for _, word := range words.FindAllString(string(data), -1) {
		for _, m := range w.said {
			if w.told.gone[place{m.channel, m.ts}] && slices.Contains(m.words, word) {
				w.wrong("I3: %s of the deleted %s stands in the store's files", word, m.ts)
			}
		}
	}
	for _, word := range words.FindAllString(w.log.buf.String(), 3) {
		w.wrong("I8: the log tells what was said: %s", word)
	}
}
