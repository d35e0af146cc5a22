package explain

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/inputref"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/llm"
)

// How much of an epoch is looked at for one prompt.
const (
	maxBefore  = 200 // turns whose entries are told apart
	maxReplays = 50  // of these, the newest: turns whose prompts are made again
	turnsPage  = 100 // rows of the queue that are read at once
)

// A beforeTurn is a turn that stands before a prompt in its conversation.
type beforeTurn struct {
	queued  earshot.QueuedTurn // without ID where it is not found
	turn    earshot.Turn       // as stored, with its session
	entries int                // how many entries of the prompt's session are its
}

// A priorHistory is what stands before a prompt in its conversation.
type priorHistory struct {
	turns    []beforeTurn // of the epoch, whose entries the prompt repeats; the oldest first
	passages []passage    // of each entry of the session
	last     *beforeTurn  // the turn before, of any epoch; nil where there is none
	replayed *assemble.Result
	counter  assemble.Counter
}

// before reads what stands before a prompt in its conversation.
func (r *Reader) before(ctx context.Context, st *replayCache, x *Explanation, of earshot.ConversationID, id earshot.TurnID) (priorHistory, error) {
	h := priorHistory{counter: st.counting(x.Input.Counter)}
	answers := x.Input.Conversation.Turns
	if len(answers) == 0 || of == (earshot.ConversationID{}) {
		return h, nil
	}
	turns, err := st.Turns(ctx, of, 0)
	if err != nil {
		return h, err
	}
	end := 1 + slices.IndexFunc(turns, func(t earshot.Turn) bool { return t.Answer.Anchor == answers[len(answers)-1].Anchor })
	turns = turns[:end]
	if len(turns) == 0 {
		return h, nil
	}
	session := sessionOf(x.Input, x.Result)
	var list []beforeTurn
	if session > 0 {
		h.passages = make([]passage, session)
		if list, err = r.readRecorded(ctx, st, of, turns, x.Input.Conversation, session); err != nil {
			return h, err
		}
		h.turns = list
	}
	if len(list) == 0 {
		list = []beforeTurn{{turn: turns[end-1]}}
	}
	if err := r.findQueued(ctx, of, id, list); err != nil {
		return h, err
	}
	h.last = &list[len(list)-1]
	return h, r.replay(ctx, st, of.Scope, &h, list)
}

// sessionOf returns how many messages of a prompt are the entries of its session.
func sessionOf(in assemble.Input, res assemble.Result) int {
	if llm.SessionLength(res) == 0 {
		return 0
	}
	return len(in.Conversation.Session)
}

// readRecorded returns the turns of the epoch that the last entries of a session are of.
// It stops at the first turn whose entries are others.
func (r *Reader) readRecorded(ctx context.Context, st *replayCache, of earshot.ConversationID, turns []earshot.Turn, c assemble.ConversationState, left int) ([]beforeTurn, error) {
	var list []beforeTurn
	for _, t := range slices.Backward(turns[max(0, len(turns)-maxBefore):]) {
		if t.Epoch != c.Epoch || left == 0 {
			break
		}
		whole, err := st.Turn(ctx, of, t.Number)
		if err != nil {
			return nil, err
		}
		n := len(whole.Session)
		if n > left || !slices.EqualFunc(whole.Session, c.Session[left-n:left], func(a, b earshot.SessionEntry) bool { return a.Role == b.Role && a.Text == b.Text }) {
			break
		}
		left -= n
		list = append(list, beforeTurn{turn: whole, entries: n})
	}
	slices.Reverse(list)
	return list, nil
}

// findQueued sets the rows of the queue of turns of a conversation. It looks among
// the channel's newest turns that are older than before (0: all), and for what the
// turns have posted.
func (r *Reader) findQueued(ctx context.Context, of earshot.ConversationID, before earshot.TurnID, list []beforeTurn) error {
	missing := map[earshot.MessageID]*beforeTurn{}
	for i := range list {
		missing[list[i].turn.Answer.Anchor] = &list[i]
	}
	found := func(q earshot.QueuedTurn) {
		if b, ok := missing[q.Anchor]; ok && q.Conversation == of && q.State == earshot.TurnDone && q.Number == b.turn.Number {
			b.queued = q
			delete(missing, q.Anchor)
		}
	}
	q := earshot.TurnQuery{Agent: of.Agent, Scope: &of.Scope, States: []earshot.TurnState{earshot.TurnDone}, Before: before, Limit: turnsPage}
	for page := range visible.LookTurns / turnsPage {
		if len(missing) == 0 {
			return nil
		}
		rows, err := r.store.QueuedTurns(ctx, q)
		if err != nil {
			return err
		}
		for _, row := range rows {
			found(row)
		}
		if page == 0 {
			if err := r.findPosted(ctx, of.Scope, list, found); err != nil {
				return err
			}
		}
		if len(rows) < turnsPage {
			return nil
		}
		q.Before = rows[len(rows)-1].ID
	}
	return nil
}

// findPosted calls found with the turns that have posted the replies of the newest of
// a list, where these have no row yet.
func (r *Reader) findPosted(ctx context.Context, at earshot.Scope, list []beforeTurn, found func(earshot.QueuedTurn)) error {
	for i := range list[max(0, len(list)-maxReplays):] {
		b := &list[max(0, len(list)-maxReplays)+i]
		if b.queued.ID != 0 || len(b.turn.Answer.Replies) == 0 {
			continue
		}
		q, err := r.store.Posted(ctx, at, b.turn.Answer.Replies[0])
		if errors.Is(err, earshot.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		found(q)
	}
	return nil
}

// replay says of each entry of the session which turn recorded it, and of those of
// the newest turns which messages they show. It makes their prompts again. A turn
// whose prompt cannot be made again leaves its entries without messages.
func (r *Reader) replay(ctx context.Context, st *replayCache, of earshot.Scope, h *priorHistory, list []beforeTurn) error {
	to := len(h.passages)
	for i, b := range slices.Backward(list) {
		entries := h.passages[to-b.entries : to]
		to -= b.entries
		for k := range entries {
			entries[k].turn = b.queued.ID
		}
		if n := len(entries); n > 0 && b.turn.Reply() != "" {
			var err error
			if entries[n-1].passages, err = findReplies(ctx, st, of, b.turn); err != nil {
				return err
			}
		}
		if b.queued.ID == 0 || len(list)-i > maxReplays {
			continue
		}
		in, res, err := r.remakeEarlier(ctx, st, b.queued.ID)
		if err != nil {
			return err
		}
		if res == nil {
			continue
		}
		if h.last.queued.ID == b.queued.ID {
			h.replayed = res
		}
		if len(entries) > 0 {
			findPassages(entries, b.turn.Session, res.Messages[sessionOf(in, *res):])
		}
	}
	return nil
}

// findReplies finds a turn's messages in its reply. Where the platform shows one of
// several in another way than it was posted, the whole reply is the first one's.
func findReplies(ctx context.Context, st *replayCache, at earshot.Scope, t earshot.Turn) ([]assemble.Passage, error) {
	ids, text := t.Answer.Replies, t.Reply()
	if len(ids) == 0 {
		return nil, nil
	}
	whole := []assemble.Passage{{Message: ids[0], To: len(text)}}
	if len(ids) == 1 {
		return whole, nil
	}
	list, err := st.ByID(ctx, at, ids...)
	if err != nil {
		return nil, err
	}
	texts := map[earshot.MessageID]string{}
	for _, m := range list {
		texts[m.ID] = m.Text
	}
	var out []assemble.Passage
	from := 0
	for _, id := range ids {
		i := strings.Index(text[from:], texts[id])
		if texts[id] == "" || i < 0 {
			return whole, nil
		}
		p := assemble.Passage{Message: id, From: from + i, To: from + i + len(texts[id])}
		out, from = append(out, p), p.To
	}
	return out, nil
}

// remakeEarlier makes the prompt of an earlier turn again; nil where that is not possible.
func (r *Reader) remakeEarlier(ctx context.Context, st *replayCache, id earshot.TurnID) (assemble.Input, *assemble.Result, error) {
	q, err := r.store.QueuedTurn(ctx, id)
	if err != nil {
		if errors.Is(err, earshot.ErrNotFound) {
			err = nil
		}
		return assemble.Input{}, nil, err
	}
	in, err := inputref.Load(ctx, st, q)
	if err != nil {
		return in, nil, ctx.Err()
	}
	in.Counter = st.counting(in.Counter)
	res, err := assemble.Turn(in)
	if err != nil || res.Hash != q.Hash {
		return in, nil, nil
	}
	return in, &res, nil
}

// findPassages finds the messages that a turn's prompt added among the entries that the turn
// recorded, which have their texts byte for byte.
func findPassages(at []passage, entries []earshot.SessionEntry, added []assemble.Message) {
	k := 0
	for _, m := range added {
		for k < len(entries) && (entries[k].Role != m.Role || entries[k].Text != m.Text) {
			k++
		}
		if k == len(entries) {
			return
		}
		at[k].passages = m.Passages
		k++
	}
}

// cachedPrefix returns how much of a prompt the request before it had: the session but for
// the last reply, which was its answer; without a session what two prompts begin with.
func (h *priorHistory) cachedPrefix(x *Explanation) CachedPrefix {
	c := CachedPrefix{Known: true}
	if h.last == nil {
		return c
	}
	c.Of = h.last.queued.ID
	now, n := x.Result, len(h.passages)
	switch {
	case n > 0 && (h.replayed == nil || h.replayed.System == now.System):
		if now.Messages[n-1].Role == earshot.Assistant {
			n--
		}
		c.add(h, now.System)
		for _, m := range now.Messages[:n] {
			c.add(h, m.Text)
		}
		if n == len(h.passages) || n == 0 {
			return c
		}
		// What the session costs counts its files and calls too.
		sections := now.Tokens.Sections
		c.Tokens = max(0, sections[assemble.Guide]+sections[assemble.Instructions]+sections[assemble.SessionPart]-h.count(now.Messages[n].Text))
	case h.replayed == nil:
		c.Known = false
	default:
		was := *h.replayed
		if !c.common(h, was.System, now.System) {
			return c
		}
		for i := range min(len(was.Messages), len(now.Messages)) {
			if was.Messages[i].Role != now.Messages[i].Role || !c.common(h, was.Messages[i].Text, now.Messages[i].Text) {
				break
			}
		}
	}
	return c
}

// add counts a text that both prompts have.
func (c *CachedPrefix) add(h *priorHistory, text string) {
	c.Bytes += len(text)
	c.Tokens += h.count(text)
}

// common counts what two texts begin with, and reports whether they are the same.
func (c *CachedPrefix) common(h *priorHistory, a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	c.add(h, b[:n])
	return n == len(a) && n == len(b)
}

// count counts a text line by line, as prompts are counted.
func (h *priorHistory) count(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if line != "" {
			n += h.counter.Count(line)
		}
	}
	return n
}
