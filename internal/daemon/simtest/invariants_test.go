package simtest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/simulate"
)

// Facts are what Slack has delivered and the daemon has acknowledged.
type facts struct {
	parsed  []delivery
	created map[place]bool // a message's own event was acknowledged
	gone    map[place]bool // its deletion was acknowledged
	cursors map[earshot.ConversationID]int64
}

type place struct{ channel, ts string }

// A delivery is an event that Slack has sent, and the message that it is about.
type delivery struct {
	at   place
	kind string // new, changed, deleted, ""
	done bool   // counted
}

func newFacts() facts {
	return facts{created: map[place]bool{}, gone: map[place]bool{}, cursors: map[earshot.ConversationID]int64{}}
}

// read decodes an event.
func read(body json.RawMessage) (t delivery) {
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
		return delivery{place{e.Channel, e.Deleted}, "deleted", false}
	case e.Subtype == "message_changed" && e.Message.Subtype == "tombstone":
		return delivery{place{e.Channel, e.Message.TS}, "deleted", false}
	case e.Subtype == "message_changed":
		return delivery{place{e.Channel, e.Message.TS}, "changed", false}
	case e.TS != "":
		return delivery{place{e.Channel, e.TS}, "new", false}
	}
	return t
}

// scope returns the scope of a channel.
func (w *world) scope(channel string) earshot.Scope {
	return earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(w.slack.Team().ID), Channel: earshot.ChannelID(channel)}
}

// check checks what must hold at any time.
func (w *world) check() {
	ctx := context.Background()
	for i, d := range w.slack.Deliveries() {
		if i >= len(w.facts.parsed) {
			w.facts.parsed = append(w.facts.parsed, read(d.Body))
		}
		t := &w.facts.parsed[i]
		if !d.Done || t.done || t.kind == "" {
			continue
		}
		t.done = true
		_, err := w.store.Message(ctx, w.scope(t.at.channel), earshot.MessageID(t.at.ts))
		switch {
		case err != nil && w.script.none && (t.kind != "new" || !w.asks(t.at)):
			if t.kind == "new" {
				w.facts.created[t.at] = true
			}
		case err != nil:
			w.wrong("I1: the event %s (%s) of %v was acknowledged, and its message is not stored: %v", d.EventID, t.kind, t.at, err)
		case t.kind == "deleted":
			w.facts.gone[t.at] = true
		case t.kind == "new":
			w.facts.created[t.at] = true
		}
	}
	for at := range w.facts.gone {
		if m, err := w.store.Message(ctx, w.scope(at.channel), earshot.MessageID(at.ts)); err != nil || !m.Deleted {
			w.wrong("I3: %v was deleted, and is stored as %q (%v)", at, m.Text, err)
		}
	}
	w.checkPosts()
	w.checkCursors(ctx)
}

// asks reports whether a message is a question to the bot.
func (w *world) asks(at place) bool {
	return slices.ContainsFunc(w.said, func(m *spoken) bool { return m.channel == at.channel && m.ts == at.ts && m.ask })
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
		if c.Cursor < w.facts.cursors[q.Conversation] {
			w.wrong("I10: the cursor of %v moved back from %d to %d", q.Conversation, w.facts.cursors[q.Conversation], c.Cursor)
		}
		w.facts.cursors[q.Conversation] = c.Cursor
	}
}

// checkReport checks I6: the prompt of a finished turn is within its budget.
func (w *world) checkReport(r bot.Report) {
	t, free := r.Result.Tokens, 0
	for _, s := range []assemble.SectionName{assemble.Guide, assemble.Instructions, assemble.Place, assemble.Thread, assemble.Anchor, assemble.SessionPart} {
		free += t.Sections[s] // of the thread only the root
	}
	if t.Total-free > t.Budget || t.Total > assemble.DefaultBudget().Limit {
		w.wrong("I6: turn %d has %d tokens in a budget of %d: %v", r.Turn.ID, t.Total, t.Budget, t.Sections)
	}
}

// checkEnd checks what must hold once all turns have ended.
func (w *world) checkEnd() {
	ctx := context.Background()
	turns := w.turns(ctx)
	w.checkTurns(ctx, turns)
	w.checkOrder(turns)
	w.checkSeen(ctx, turns)
	w.checkAway()
	w.checkHeard(ctx, turns)
	w.checkActs(ctx)
}

// checkTurns checks I4: each turn has ended, and people see the result.
func (w *world) checkTurns(ctx context.Context, turns []earshot.QueuedTurn) {
	seen := w.slack.PostsByMetadata("key")
	gone := map[place]bool{} // deleted questions, whether or not the daemon knows
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
			// The adapter removes a reply to a thread that no longer exists.
			if visible == 0 && !gone[place{string(q.Conversation.Scope.Channel), string(q.Anchor)}] {
				w.wrong("I4: turn %d is done, and nothing of it can be seen", q.ID)
			}
		case earshot.TurnFailed, earshot.TurnDropped:
			if q.Why == "" {
				w.wrong("I4: turn %d is %s without a reason", q.ID, q.State)
			}
			// An ephemeral message cannot be looked up, so its state is ambiguous.
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

// checkOrder checks I5: turns of a conversation are answered in order, but those that have
// waited for somebody.
func (w *world) checkOrder(turns []earshot.QueuedTurn) {
	last := map[earshot.ConversationID]int{}
	for _, q := range turns {
		if q.State != earshot.TurnDone || w.hasAsked(q) {
			continue
		}
		n, ok := last[q.Conversation]
		if ok && q.Number <= n {
			w.wrong("I5: turn %d of %v was answered before its predecessor", q.ID, q.Conversation)
		}
		last[q.Conversation] = q.Number
	}
}

// checkSeen checks the bot's messages as people see them: the store knows every post,
// and no placeholder is left.
func (w *world) checkSeen(ctx context.Context, turns []earshot.QueuedTurn) {
	known := map[string]bool{}
	turn := map[string]earshot.QueuedTurn{}
	for _, q := range turns {
		posts, _ := w.store.Posts(ctx, q.ID) // the error was reported above
		for _, p := range posts {
			known[p.Key], turn[p.Key] = true, q
		}
	}
	for key, list := range w.slack.PostsByMetadata("key") {
		for _, m := range list {
			if len(m.Files) > 0 {
				continue // no post: checkActs counts it
			}
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

// checkAway checks that a person is told at most once an hour in a channel that the bot
// was away.
func (w *world) checkAway() {
	last := map[string]float64{}
	for _, e := range w.slack.Ephemerals() {
		if e.Text != "I was away when you asked; ask again if it still matters." {
			continue
		}
		at, err := strconv.ParseFloat(e.TS, 64)
		if was, ok := last[e.Channel+e.User]; err != nil || ok && at-was < 3600 {
			w.wrong("I11: %s is told in %s at %s that the bot was away, and %.0f s before", e.User, e.Channel, e.TS, at-was)
		}
		last[e.Channel+e.User] = at
		w.told++
	}
}

// belongs reports whether a post is in its turn's conversation: in its channel, and
// in the thread that has the conversation's name or that begins with the question.
func (w *world) belongs(m simulate.Message, q earshot.QueuedTurn) bool {
	if m.Channel != string(q.Conversation.Scope.Channel) {
		return false
	}
	direct := slices.Index(w.channels, m.Channel) >= 2
	return m.Thread == "" && direct || m.Thread == q.Conversation.Name || m.Thread == string(q.Anchor)
}

// checkHeard checks that every question that the daemon has acknowledged has a turn,
// and that the stored text is the visible one.
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
			continue // it was not delivered, or not acknowledged: check has checked that
		case err != nil:
			w.wrong("%v cannot be read: %v", at, err)
		case w.facts.created[at] && m.ask && anchors[at] == 0 && !w.facts.gone[at] && !w.answers(ctx, m):
			w.wrong("I4: %v was heard, asks the bot, and has no turn", at)
		case whole[at] && !w.script.none && !m.deleted && !strings.Contains(stored.Text, m.word):
			w.wrong("I2: %v says %s, and is stored as %q", at, m.word, stored.Text)
		}
	}
}

// whole returns the messages of which every delivery was acknowledged.
func (w *world) whole() map[place]bool {
	out := map[place]bool{}
	for i, d := range w.slack.Deliveries() {
		if i >= len(w.facts.parsed) {
			break
		}
		at := w.facts.parsed[i].at
		if was, ok := out[at]; ok {
			out[at] = was && d.Done
		} else {
			out[at] = d.Done
		}
	}
	return out
}

// checkFiles looks for the words of deleted messages in the files of the store, and
// for the words of any message in the log.
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
			if slices.Contains(m.words, word) && w.script.none {
				w.wrong("%s of %s, in a channel that is not stored, stands in the store's files", word, m.ts)
			}
			if w.facts.gone[place{m.channel, m.ts}] && slices.Contains(m.words, word) {
				w.wrong("I3: %s of the deleted %s stands in the store's files", word, m.ts)
			}
		}
	}
	for _, word := range words.FindAllString(w.log.buf.String(), 3) {
		w.wrong("I8: the log has a word of a message: %s", word)
	}
}
