package gather

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// isolation is the sign of a message that is answered alone (context.md §2).
const isolation = "🚫"

// Bounds of what one turn reads, whatever happened in the channel.
const (
	maxChanges = 2048 // changes since the cursor that are looked through
	changePage = 512
	maxTree    = 500 // messages that hang on one reply reference
	maxPast    = 400 // messages among which a section looks for those that it shows
)

// A reader collects the messages of one input, each once.
type reader struct {
	store  Store
	scope  earshot.Scope
	req    Request
	anchor earshot.Message
	state  assemble.Conversation
	begun  string // the zone that the session began in

	// recent are the channel's newest messages, where a window has read them.
	recent []earshot.Message

	got      map[earshot.MessageID]bool
	messages []earshot.Message
	stored   []assemble.Stored
	recalled []assemble.Recalled

	// foundFrom is where in messages what the search found begins; -1: nothing
	// was searched for.
	foundFrom int
	coverage  []earshot.Coverage
}

// keep adds messages that the reader does not have, and none from after the
// anchor, nor a count of replies of which some are from after it.
func (r *reader) keep(list ...earshot.Message) {
	for _, m := range list {
		if r.got[m.ID] || m.Position().Compare(r.anchor.Position()) > 0 {
			continue
		}
		if told := m.Replies; told != nil && (told.Last == 0 || told.Last > r.anchor.Time) {
			m.Replies = nil
		}
		r.got[m.ID] = true
		r.messages = append(r.messages, m)
	}
}

// later reports whether the session may go on.
func (r *reader) later() bool {
	return r.req.Policy.Session && len(r.state.Session) > 0 && !r.req.NewEpoch
}

// read reads what the turn's sections ask for.
func (r *reader) read(ctx context.Context, zone string) error {
	if strings.Contains(r.anchor.Text, isolation) {
		r.state = assemble.Conversation{Cursor: r.state.Cursor, Epoch: r.state.Epoch}
		return nil
	}
	sections := r.req.Policy.First
	switch {
	case r.later():
		sections = r.req.Policy.Later
	case r.req.NewEpoch:
		// Why the session ended must be seen again: what it shows was deleted.
		sections = slices.Concat(r.req.Policy.Later, sections)
	}
	// Before the messages: history that arrives meanwhile is then read although
	// it is said to be missing, and not the other way round.
	var err error
	if r.coverage, err = r.store.Coverage(ctx, r.scope); err != nil {
		return err
	}
	if err := r.byID(ctx, r.anchor.Root()); err != nil {
		return err
	}
	if err := r.recorded(ctx); err != nil {
		return err
	}
	// A window's read of the channel holds the newest of the thread as well.
	for _, s := range sections {
		if s.Section == assemble.Window {
			if err := r.window(ctx, limits(s)); err != nil {
				return err
			}
		}
	}
	for _, s := range sections {
		if err := r.section(ctx, limits(s)); err != nil {
			return err
		}
	}
	if r.req.Finder != nil && slices.ContainsFunc(sections, func(s assemble.Section) bool { return s.Section == assemble.Recall }) {
		if err := r.recall(ctx, zone); err != nil {
			return err
		}
	}
	return r.parents(ctx)
}

func (r *reader) section(ctx context.Context, s assemble.Section) error {
	switch s.Section {
	case assemble.Thread:
		return r.thread(ctx, s)
	case assemble.Transcript:
		return r.transcript(ctx, s)
	case assemble.Snapshot:
		return r.snapshot(ctx, s)
	case assemble.Chain:
		return r.chain(ctx, s)
	case assemble.Delta:
		return r.delta(ctx, s)
	}
	return nil
}

// limits returns the section with its defaults; 0 messages or tokens are no
// limit of their own.
func limits(s assemble.Section) assemble.Section {
	return assemble.Policy{First: []assemble.Section{s}}.WithDefaults().First[0]
}

// byID keeps messages by id, tombstones too; empty ids and what is not stored
// are passed over.
func (r *reader) byID(ctx context.Context, ids ...earshot.MessageID) error {
	var want []earshot.MessageID
	for _, id := range ids {
		if id != "" && !r.got[id] {
			want = append(want, id)
		}
	}
	if len(want) == 0 {
		return nil
	}
	list, err := r.store.ByID(ctx, r.scope, want...)
	r.keep(list...)
	return err
}

// recorded keeps the anchors of the first and the last recorded turn: what
// stands before the one was said before the conversation began, what stands
// after the other is new to it.
func (r *reader) recorded(ctx context.Context) error {
	if n := len(r.state.Turns); n > 0 {
		return r.byID(ctx, r.state.Turns[0].Anchor, r.state.Turns[n-1].Anchor)
	}
	return nil
}

// isLog reports whether the policy asks for the log form.
func (r *reader) isLog() bool { return r.req.Policy.Frame == assemble.Log }

// thread reads the newest of the anchor's thread and counts the rest.
func (r *reader) thread(ctx context.Context, s assemble.Section) error {
	root := r.anchor.Root()
	if root == "" {
		return nil
	}
	part := earshot.ThreadOf(root)
	all, err := r.fill(ctx, part, r.wanted(s))
	if err != nil || all {
		return err
	}
	return r.count(ctx, root, part)
}

// count says how much of a part is stored.
func (r *reader) count(ctx context.Context, thread earshot.MessageID, part earshot.Part) error {
	for _, s := range r.stored {
		if s.Thread == thread {
			return nil
		}
	}
	c, err := r.store.Count(ctx, r.scope, part, r.anchor.Position())
	if err != nil {
		return err
	}
	r.stored = append(r.stored, assemble.Stored{Thread: thread, Count: c.Count, From: c.From, To: c.To})
	return nil
}

// transcript reads the newest turns of the conversation.
func (r *reader) transcript(ctx context.Context, s assemble.Section) error {
	root := r.anchor.Root()
	part := earshot.ThreadOf(root)
	// What the thread's block shows is no part of the transcript: read past it.
	for _, t := range r.req.Policy.First {
		if t.Section == assemble.Thread && root != "" {
			t = limits(t)
			if t.Messages > 0 {
				s.Messages += t.Messages
			}
			s.Tokens += t.Tokens
		}
	}
	w := r.wanted(s)
	if s.AddressedOnly {
		w.counts, w.rest, w.most = r.addressed(), true, max(maxPast, 4*s.Messages)
	}
	all, err := r.fill(ctx, part, w)
	if err != nil {
		return err
	}
	if root == "" { // the answers that stand in the questions' threads
		var answers []earshot.MessageID
		for _, a := range r.state.Turns {
			if r.got[a.Anchor] {
				answers = append(answers, a.Replies...)
			}
		}
		if err := r.byID(ctx, answers...); err != nil {
			return err
		}
		part = earshot.Whole()
	}
	if all {
		return nil
	}
	return r.count(ctx, root, part)
}

// addressed returns a test for what the agent wrote, what mentions it and what
// it answered. In a DM everything does.
func (r *reader) addressed() func(earshot.Message) bool {
	answered := map[earshot.MessageID]bool{}
	for _, a := range r.state.Turns {
		answered[a.Anchor] = len(a.Replies) > 0
	}
	ids := append([]earshot.AuthorID{r.req.Identity.ID}, r.req.Identity.Aliases...)
	return func(m earshot.Message) bool {
		if r.req.Channel.Kind == earshot.KindDM || r.req.Identity.Is(m.Author.ID) || answered[m.ID] ||
			slices.ContainsFunc(m.Mentions, r.req.Identity.Is) {
			return true
		}
		return strings.Contains(m.Text, "<@") && slices.ContainsFunc(ids, func(id earshot.AuthorID) bool {
			return id != "" && strings.Contains(m.Text, string(id))
		})
	}
}

// snapshot reads the anchor's neighbours and how lively their threads are.
func (r *reader) snapshot(ctx context.Context, s assemble.Section) error {
	root := r.anchor.Root()
	w := r.wanted(assemble.Section{Messages: s.Messages, Minutes: s.Minutes})
	w.tokens = 0 // rows are snippets
	w.counts = func(m earshot.Message) bool { return m.ID != root }
	if _, err := r.fill(ctx, earshot.TopLevel(), w); err != nil {
		return err
	}
	var roots []earshot.MessageID
	for _, m := range r.messages {
		if m.Root() == "" && m.ID != root && m.ID != r.anchor.ID {
			roots = append(roots, m.ID)
		}
	}
	if len(roots) == 0 {
		return nil
	}
	lively, err := r.store.Activity(ctx, r.scope, r.anchor.Position(), roots...)
	if err != nil {
		return err
	}
	for i := range r.messages {
		if a, ok := lively[r.messages[i].ID]; ok {
			r.messages[i].Replies = &a
		}
	}
	return nil
}

// chain follows the anchor's reply reference up. Blank messages on the way
// take no place, so a few more than the limit are read.
func (r *reader) chain(ctx context.Context, s assemble.Section) error {
	at := r.anchor
	for range s.Messages + 5 {
		if at.ReplyTo == "" || at.ReplyTo == at.ID {
			return nil
		}
		up, err := r.store.ByID(ctx, r.scope, at.ReplyTo)
		if err != nil || len(up) == 0 {
			return err
		}
		r.keep(up[0])
		at = up[0]
	}
	return nil
}
