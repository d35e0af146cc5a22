package explain

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/tokens"
)

// What one look at a conversation reads at most.
const (
	conversationTurns = 100  // of its newest turns
	conversationLook  = 2000 // turns of its channel, to find them
	conversationKnown = 5000 // messages, to count what its history would cost
	conversationFiles = 50   // files, to see whether they are kept
)

// A ConversationTurn is a turn of a conversation.
type ConversationTurn struct {
	Queued   earshot.QueuedTurn // without Input
	Turn     *earshot.Turn      // what it committed; nil for none
	Question *earshot.Message   // nil when it is deleted
	Calls    int                // of models
	// Usage sums the calls: from the journal, or from what was committed where that was
	// erased.
	Usage earshot.Usage
	// History is what the whole history would have been, in tokens: the conversation's
	// messages up to the question, and the others that prompts had shown by then.
	History int
}

// A GivenFile is a file that a turn gave to the model.
type GivenFile struct {
	earshot.AttachedFile
	Epoch   int
	Queued  earshot.TurnID
	Name    string            // "" when the message was deleted since, as is Message
	Type    string            // likewise
	Message earshot.MessageID // which shared it
	Session bool              // the current session holds it
	Kept    bool              // its content is stored
}

// A SessionSize is how long the current epoch's session is.
type SessionSize struct {
	Entries int
	Bytes   int
	Tokens  int // by the base counter (o200k), without files
}

// A WholeConversation is what an agent remembers together, with its newest turns.
type WholeConversation struct {
	earshot.Conversation
	Channel  earshot.Channel
	Root     *earshot.Message // which began it; nil at a top level, or when it is deleted
	Turns    []ConversationTurn
	Older    earshot.TurnID // turns before it are not in Turns; 0: there are none
	Bounded  bool           // History counts only the newest messages: there are too many
	Summary  *earshot.Summary
	Session  SessionSize
	Manifest earshot.Manifest
	Files    []GivenFile // of Turns, in order
}

// WholeConversation returns a conversation with its newest turns; those before a turn
// where one is given. Another user's conversation does not exist for the caller.
func (r *Reader) WholeConversation(ctx context.Context, p access.Principal, id earshot.ConversationID, before earshot.TurnID) (WholeConversation, error) {
	var w WholeConversation
	if p.Fixed != nil {
		return w, visible.ToolsOnly
	}
	err := r.To(p).Opens(ctx, id)
	if err == nil {
		w.Conversation, err = r.store.Conversation(ctx, id)
	}
	if err != nil {
		return WholeConversation{}, err
	}
	w.Channel, err = r.store.Channel(ctx, id.Scope)
	if errors.Is(err, earshot.ErrNotFound) {
		w.Channel, err = visible.ChannelLike(id), nil
	}
	if err != nil {
		return w, err
	}
	for _, read := range []func(context.Context, *WholeConversation) error{
		func(ctx context.Context, w *WholeConversation) error { return r.turnsIn(ctx, w, before) },
		r.historyOf, r.sessionOf, r.filesOf,
	} {
		if err := read(ctx, &w); err != nil {
			return WholeConversation{}, err
		}
	}
	return w, nil
}

// turnsIn reads the newest turns before one.
func (r *Reader) turnsIn(ctx context.Context, w *WholeConversation, before earshot.TurnID) error {
	q := earshot.TurnQuery{Agent: w.ID.Agent, Scope: &w.ID.Scope, Before: before, Limit: MaxTurns, States: earshot.AskedStates()}
	defer func() { slices.Reverse(w.Turns) }()
	for range conversationLook / MaxTurns {
		list, err := r.store.QueuedTurns(ctx, q)
		if err != nil {
			return err
		}
		for _, t := range list {
			if t.Conversation != w.ID {
				continue
			}
			if len(w.Turns) == conversationTurns {
				w.Older = w.Turns[len(w.Turns)-1].Queued.ID
				return nil
			}
			x, err := r.turnOf(ctx, t)
			if err != nil {
				return err
			}
			w.Turns = append(w.Turns, x)
		}
		if len(list) < q.Limit {
			return nil
		}
		q.Before = list[len(list)-1].ID
	}
	w.Older = q.Before
	return nil
}

// turnOf reads what a turn committed and what it asked.
func (r *Reader) turnOf(ctx context.Context, t earshot.QueuedTurn) (ConversationTurn, error) {
	x := ConversationTurn{Queued: t}
	var err error
	if x.Turn, err = r.readCommitted(ctx, t); err != nil {
		return x, err
	}
	steps, err := r.store.Steps(ctx, t.ID)
	if err != nil {
		return x, err
	}
	entries, _ := readSteps(steps)
	for _, c := range Calls(entries, x.Turn) {
		x.Calls++
		x.Usage.Input += c.Usage.Input
		x.Usage.Output += c.Usage.Output
		x.Usage.CacheRead += c.Usage.CacheRead
		x.Usage.CacheWrite += c.Usage.CacheWrite
	}
	return x, nil
}

// historyOf reads the questions, and counts what the whole history would have been at
// each.
func (r *Reader) historyOf(ctx context.Context, w *WholeConversation) error {
	ids := []earshot.MessageID{earshot.MessageID(w.ID.Name)}
	for _, t := range w.Turns {
		ids = append(ids, t.Queued.Anchor)
		if t.Turn != nil {
			ids = append(ids, t.Turn.Answer.Replies...)
		}
	}
	found := map[earshot.MessageID]earshot.Message{}
	for part := range slices.Chunk(ids, 500) {
		list, err := r.store.ByID(ctx, w.ID.Scope, part...)
		if err != nil {
			return err
		}
		for _, m := range list {
			found[m.ID] = m
		}
	}
	if m, ok := found[earshot.MessageID(w.ID.Name)]; ok && !m.Deleted {
		w.Root = &m
	}
	last := earshot.Position{}
	for i, t := range w.Turns {
		if m, ok := found[t.Queued.Anchor]; ok && !m.Deleted {
			w.Turns[i].Question = &m
			if m.Position().Compare(last) > 0 {
				last = m.Position()
			}
		}
	}
	part := earshot.ThreadOf(earshot.MessageID(visible.ThreadOf(w.ID)))
	known, err := r.store.Newest(ctx, w.ID.Scope, part, last, conversationKnown+1)
	if err != nil {
		return err
	}
	if w.Bounded = len(known) > conversationKnown; w.Bounded {
		known = known[1:]
	}
	countHistory(w.Turns, known, found)
	return nil
}

// countHistory sums, for each turn, the messages of the conversation up to its
// question, and the others that prompts had shown by then or that it asked and
// answered.
func countHistory(turns []ConversationTurn, known []earshot.Message, found map[earshot.MessageID]earshot.Message) {
	counted := map[earshot.MessageID]bool{}
	for _, m := range known {
		counted[m.ID] = true
	}
	next, sum := 0, 0
	add := func(id earshot.MessageID, n int) {
		if !counted[id] {
			counted[id] = true
			sum += n
		}
	}
	for i, t := range turns {
		if t.Question != nil {
			for ; next < len(known) && known[next].Position().Compare(t.Question.Position()) <= 0; next++ {
				sum += tokensOf(known[next])
			}
			add(t.Question.ID, tokensOf(*t.Question))
		}
		if t.Turn != nil {
			for _, r := range t.Turn.Ledger {
				if r.Verdict == earshot.Full || r.Verdict == earshot.Cut {
					add(r.ID, r.Tokens)
				}
			}
		}
		turns[i].History = sum
		if t.Turn != nil {
			for _, id := range t.Turn.Answer.Replies {
				if m, ok := found[id]; ok && !m.Deleted {
					add(id, tokensOf(m))
				}
			}
		}
	}
}

// tokensOf counts a message's text.
func tokensOf(m earshot.Message) int {
	if m.Tokens == 0 {
		return tokens.Base(m.Text)
	}
	return m.Tokens
}

// sessionOf reads the current session with its manifest, and the summary.
func (r *Reader) sessionOf(ctx context.Context, w *WholeConversation) error {
	session, err := r.store.Session(ctx, w.ID)
	if err != nil {
		return err
	}
	w.Session.Entries = len(session)
	for _, e := range session {
		w.Session.Bytes += len(e.Text)
		w.Session.Tokens += tokens.Base(e.Text)
		for _, c := range e.Calls {
			w.Session.Bytes += len(c.Name) + len(c.Args)
			w.Session.Tokens += tokens.Base(c.Name) + tokens.Base(c.Args)
		}
	}
	if w.Manifest, err = r.store.Manifest(ctx, w.ID); err != nil {
		return err
	}
	summary, err := r.store.Summary(ctx, w.ID)
	switch {
	case err == nil:
		w.Summary = &summary
	case !errors.Is(err, earshot.ErrNotFound):
		return err
	}
	return nil
}

// filesOf reads what is known of the files that the turns gave to the model.
func (r *Reader) filesOf(ctx context.Context, w *WholeConversation) error {
	for _, t := range w.Turns {
		if t.Turn == nil || len(t.Turn.Attached) == 0 {
			continue
		}
		ids := []earshot.MessageID{t.Queued.Anchor}
		for _, row := range t.Turn.Ledger {
			if row.Verdict != earshot.Out {
				ids = append(ids, row.ID)
			}
		}
		messages, err := r.store.ByID(ctx, w.ID.Scope, ids...)
		if err != nil {
			return err
		}
		for _, a := range t.Turn.Attached {
			a.Turn = t.Queued.Number
			f := GivenFile{AttachedFile: a, Epoch: t.Turn.Epoch, Queued: t.Queued.ID}
			for _, m := range messages {
				if i := slices.IndexFunc(m.Files, func(f earshot.File) bool { return f.ID == a.ID }); i >= 0 && !m.Deleted {
					f.Name, f.Type, f.Message = m.Files[i].Name, m.Files[i].Type, m.ID
				}
			}
			f.Session = t.Turn.Epoch == w.Epoch && slices.ContainsFunc(w.Manifest.Attached, func(x earshot.AttachedFile) bool { return x.ID == a.ID })
			if len(w.Files) < conversationFiles {
				_, err := r.store.Blob(ctx, w.ID.Scope, a.SHA256)
				if f.Kept = err == nil; err != nil && !errors.Is(err, earshot.ErrNotFound) {
					return err
				}
			}
			w.Files = append(w.Files, f)
		}
	}
	return nil
}

// A ConversationLine is a conversation in a list.
type ConversationLine struct {
	earshot.Conversation
	Root    *earshot.Message   // which began it; nil at a top level, or when it is deleted
	Last    earshot.QueuedTurn // its newest turn
	Turns   int                // that were answered
	Summary bool               // it has one
}

// Conversations returns the conversations with the newest turns that the caller sees,
// the newest first, at most limit, of one channel or of all. more is where to go on:
// before that turn; 0 where there is nothing more. The turns of a conversation may lie
// on both sides.
func (r *Reader) Conversations(ctx context.Context, p access.Principal, at visible.Place, agent earshot.AgentID, before earshot.TurnID, limit int) (list []ConversationLine, more earshot.TurnID, err error) {
	if p.Fixed != nil {
		return nil, 0, visible.ToolsOnly
	}
	q := earshot.TurnQuery{Agent: agent, Before: before, Limit: MaxTurns, States: earshot.AskedStates()}
	if at.Channel != "" {
		c, err := r.To(p).Find(ctx, at)
		if err != nil {
			return nil, 0, err
		}
		sc := c.Scope()
		q.Scope = &sc
	}
	mine, seen := r.To(p), map[earshot.ConversationID]bool{}
	for range conversationLook / MaxTurns {
		page, err := r.store.QueuedTurns(ctx, q)
		if err != nil {
			return nil, 0, err
		}
		for _, t := range page {
			if seen[t.Conversation] || !p.Sees(t.Conversation.Scope) {
				q.Before = t.ID
				continue
			}
			if ok, err := mine.Owns(ctx, t.Conversation); err != nil {
				return nil, 0, err
			} else if ok && len(list) == limit {
				return list, q.Before, nil
			} else if ok {
				x, err := r.conversationLine(ctx, t)
				if err != nil {
					return nil, 0, err
				}
				list = append(list, x)
			}
			seen[t.Conversation] = true
			q.Before = t.ID
		}
		if len(page) < q.Limit {
			return list, 0, nil
		}
	}
	return list, q.Before, nil
}

// conversationLine reads what a list says of the conversation of a turn.
func (r *Reader) conversationLine(ctx context.Context, t earshot.QueuedTurn) (x ConversationLine, err error) {
	x.Last = t
	if x.Conversation, err = r.store.Conversation(ctx, t.Conversation); errors.Is(err, earshot.ErrNotFound) {
		x.Conversation, err = earshot.Conversation{ID: t.Conversation}, nil
	}
	if err != nil {
		return x, err
	}
	turns, err := r.store.Turns(ctx, t.Conversation, 1)
	if err != nil {
		return x, err
	}
	for _, t := range turns {
		x.Turns = t.Number + 1
	}
	switch _, err := r.store.Summary(ctx, t.Conversation); {
	case err == nil:
		x.Summary = true
	case !errors.Is(err, earshot.ErrNotFound):
		return x, err
	}
	if t.Conversation.Name == gather.TopLevel {
		return x, nil
	}
	found, err := r.store.ByID(ctx, t.Conversation.Scope, earshot.MessageID(cmp.Or(t.Conversation.Name, string(t.Anchor))))
	if len(found) == 1 && !found[0].Deleted {
		x.Root = &found[0]
	}
	return x, err
}
