package gather

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// Bounds of what one turn reads, in messages, whatever happened in the channel.
const (
	maxChanges = 2048 // changes since the cursor
	changePage = 512  // of these, in one read
	maxTree    = 500  // of one tree of reply references
	maxAnswers = 50   // turns below whose answers is looked
	maxPast    = 400  // among which a section looks for those that it shows
)

// A reader collects the messages of one input, each once.
type reader struct {
	store  Store
	scope  earshot.Scope
	req    Request
	anchor earshot.Message
	end    earshot.Position // up to which the turn reads: the anchor's, or the emoji's that asks about it
	state  assemble.ConversationState

	// named says that a caller has created the conversation: its thread may be a name
	// that no message has as its id.
	named bool

	// sessionZone is the zone that the session began in.
	sessionZone string

	// ended is what the model was shown in an epoch that has ended, where the
	// state is of the next, which has no session yet.
	ended []earshot.ShownRevision

	// recent are the channel's newest messages, in the order of Position, once a
	// window has read them.
	recent []earshot.Message

	kept     map[earshot.MessageID]bool // the ids in messages
	messages []earshot.Message
	stored   []assemble.StoredCount
	recalled []assemble.RecalledMessage
	coverage []earshot.Coverage

	// foundFrom is the index in messages of the first one that was read because
	// of the search; -1 until there was a search.
	foundFrom int
}

// keep adds messages to the input, each once, and none from after the end. A
// count of replies that includes some from after it is left out.
func (r *reader) keep(list ...earshot.Message) {
	for _, m := range list {
		if r.kept[m.ID] || m.Position().Compare(r.end) > 0 {
			continue
		}
		if a := m.Replies; a != nil && (a.Last == 0 || a.Last > r.end.Time) {
			m.Replies = nil
		}
		r.kept[m.ID] = true
		if len(r.messages) == cap(r.messages) {
			r.messages = slices.Grow(r.messages, max(len(list), len(r.messages))) // append adds a quarter, and copies more often
		}
		r.messages = append(r.messages, m)
	}
}

// later reports whether this is a later turn: the session may go on.
func (r *reader) later() bool {
	return r.state.Later(r.req.Policy) && !r.req.NewEpoch
}

// read reads what the turn's sections ask for.
func (r *reader) read(ctx context.Context, zone string) error {
	if r.anchor.Isolated() {
		r.state = assemble.ConversationState{Cursor: r.state.Cursor, Epoch: r.state.Epoch}
		return nil
	}
	sections := r.req.Policy.First
	switch {
	case r.later():
		sections = r.req.Policy.Later
	case r.req.NewEpoch:
		// The sections of a later turn are read too: they bring the deletion that
		// ended the session, which the assembler must see again.
		sections = slices.Concat(r.req.Policy.Later, sections)
	}
	// Coverage is read before the messages: history that arrives in between is
	// then shown although it is said to be missing, and never the other way round.
	var err error
	if r.coverage, err = r.store.Coverage(ctx, r.scope); err != nil {
		return err
	}
	if err := r.byID(ctx, r.anchor.Root()); err != nil {
		return err
	}
	if err := r.answersBeside(ctx); err != nil {
		return err
	}
	if err := r.recordedAnchors(ctx); err != nil {
		return err
	}
	if err := r.sharers(ctx); err != nil {
		return err
	}
	if err := r.shownAndOut(ctx); err != nil {
		return err
	}
	// Windows first: what they read of the channel includes the newest messages
	// of the thread, which then need not be read again.
	for _, s := range sections {
		if s.Section.Source() == assemble.SourceChannel {
			if err := r.window(ctx, s.WithDefaults()); err != nil {
				return err
			}
		}
	}
	for _, s := range sections {
		if err := r.section(ctx, s.WithDefaults()); err != nil {
			return err
		}
	}
	if r.req.Finder != nil && slices.ContainsFunc(sections, func(s assemble.Section) bool { return s.Section.Source() == assemble.SourceSearch }) {
		if err := r.recall(ctx, zone); err != nil {
			return err
		}
	}
	if err := r.linked(ctx); err != nil {
		return err
	}
	if err := r.parents(ctx); err != nil {
		return err
	}
	if err := r.beginnings(ctx); err != nil {
		return err
	}
	if err := r.openThread(ctx); err != nil || !r.isLog() {
		return err
	}
	return WithReactors(ctx, r.store, r.scope, r.messages)
}

// section reads the messages of one section, except those of the channel and of
// the search, which read reads itself.
func (r *reader) section(ctx context.Context, s assemble.Section) error {
	switch s.Section.Source() {
	case assemble.SourceThread:
		return r.thread(ctx, s)
	case assemble.SourceConversation:
		return r.transcript(ctx, s)
	case assemble.SourceNeighbours:
		return r.snapshot(ctx, s)
	case assemble.SourceReplies:
		return r.chain(ctx, s)
	case assemble.SourceChanges:
		return r.delta(ctx, s)
	case assemble.SourceShown:
		if slices.ContainsFunc(r.req.Policy.Later, func(s assemble.Section) bool { return s.Section.Source() == assemble.SourceChanges }) {
			return nil // read with these
		}
		_, err := r.changes(ctx, func(earshot.Message) bool { return false })
		return err
	case assemble.SourceNone, assemble.SourceChannel, assemble.SourceSearch:
		return nil
	}
	return fmt.Errorf("nothing reads the source %q of the section %s", s.Section.Source(), s.Section)
}

// byID keeps messages by id, tombstones too. Empty ids and ids that are not
// stored are skipped.
func (r *reader) byID(ctx context.Context, ids ...earshot.MessageID) error {
	var missing []earshot.MessageID
	for _, id := range ids {
		if id != "" && !r.kept[id] {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	list, err := r.store.ByID(ctx, r.scope, missing...)
	r.keep(list...)
	return err
}

// maxLinking is how many of the newest messages are looked at for permalinks.
const maxLinking = 50

// linked keeps the messages of the channel that permalinks in the question, in the root
// of its thread and in the newest messages lead to.
func (r *reader) linked(ctx context.Context) error {
	newest := slices.SortedFunc(slices.Values(r.messages), func(x, y earshot.Message) int { return y.Position().Compare(x.Position()) })
	newest = newest[:min(len(newest), maxLinking)]
	if root := r.anchorsRoot(); root >= 0 {
		newest = append(newest, r.messages[root])
	}
	var ids []earshot.MessageID
	for _, m := range newest {
		for _, l := range assemble.Permalinks(m.Text) {
			ids = append(ids, l.Message)
		}
	}
	return r.byID(ctx, ids...)
}

// maxBeside bounds how many messages beside a thread are read for the answer to its root.
const maxBeside = 20

// answersBeside keeps the agent's answers to the root of the anchor's thread that stand
// outside of it: those by reference, and in a DM what follows the root, up to what
// somebody else says. A session has them.
func (r *reader) answersBeside(ctx context.Context) error {
	root := r.anchorsRoot()
	if root < 0 || r.later() || r.messages[root].Deleted || r.messages[root].Root() != "" || r.req.Identity.Is(r.messages[root].Author.ID) {
		return nil
	}
	asked := r.messages[root]
	if r.req.Channel.Kind != earshot.KindDM {
		replies, err := r.store.Replying(ctx, r.scope, r.end, asked.ID)
		for _, m := range replies {
			if m.Root() == "" && r.req.Identity.Is(m.Author.ID) {
				r.keep(m)
			}
		}
		return err
	}
	read := 0
	for m, err := range r.store.Range(ctx, r.scope, earshot.TopLevel(), asked.Position(), r.end) {
		if err != nil {
			return err
		}
		if m.ID == asked.ID || m.Author.Kind == earshot.System {
			continue
		}
		r.keep(m)
		if read++; read == maxBeside || !r.req.Identity.Is(m.Author.ID) {
			break
		}
	}
	return nil
}

// recordedAnchors keeps the anchors of the first and the last recorded turn: the
// assembler needs their positions to tell what was said before the conversation
// began and what is new to it.
func (r *reader) recordedAnchors(ctx context.Context) error {
	if n := len(r.state.Turns); n > 0 {
		return r.byID(ctx, r.state.Turns[0].Anchor, r.state.Turns[n-1].Anchor)
	}
	return nil
}

// sharers keeps the messages that shared the files which the epoch before had, for
// the first turn of an epoch: it gives them again, however long ago that was. The
// files that no message has any more are dropped.
func (r *reader) sharers(ctx context.Context) error {
	if len(r.state.Attached) == 0 || !r.req.Policy.Session || r.later() {
		return nil
	}
	shown := slices.Concat(r.ended, r.state.Shown)
	ids := make([]earshot.MessageID, 0, len(shown))
	for _, x := range shown[max(0, len(shown)-maxShown):] {
		ids = append(ids, x.ID)
	}
	list, err := r.store.ByID(ctx, r.scope, ids...)
	if err != nil {
		return err
	}
	given := map[earshot.ArtifactID]bool{}
	for _, a := range r.state.Attached {
		given[a.ID] = true
	}
	shared := map[earshot.ArtifactID]bool{}
	for _, m := range list {
		for _, f := range m.Files {
			if given[f.ID] && !m.Deleted {
				shared[f.ID] = true
				r.keep(m)
			}
		}
	}
	if len(r.state.Session) == 0 { // nothing of a deleted message's file gets into the input
		r.state.Attached = slices.DeleteFunc(slices.Clone(r.state.Attached), func(a earshot.AttachedFile) bool { return !shared[a.ID] })
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
	whole, err := r.fill(ctx, part, r.quotaOf(s))
	if err != nil || whole {
		return err
	}
	return r.count(ctx, root, part)
}

// count adds to the input how much of a part is stored, once for each thread; ""
// as thread means the channel.
func (r *reader) count(ctx context.Context, thread earshot.MessageID, part earshot.ChannelPart) error {
	for _, s := range r.stored {
		if s.Thread == thread {
			return nil
		}
	}
	c, err := r.store.Count(ctx, r.scope, part, r.end)
	if err != nil {
		return err
	}
	r.stored = append(r.stored, assemble.StoredCount{Thread: thread, Count: c.Count, From: c.From, To: c.To})
	return nil
}

// transcript reads the newest messages of the conversation, and how many there
// are.
func (r *reader) transcript(ctx context.Context, s assemble.Section) error {
	root := r.anchor.Root()
	part := earshot.ThreadOf(root)
	// The transcript leaves out what the section thread shows, so that many more
	// are read.
	for _, t := range r.req.Policy.First {
		if t.Section.Source() == assemble.SourceThread && root != "" {
			t = t.WithDefaults()
			if t.Messages > 0 {
				s.Messages += t.Messages
			}
			s.Tokens += t.Tokens
		}
	}
	q := r.quotaOf(s)
	if s.AddressedOnly {
		q.counts, q.keepOthers, q.maxRead = r.addressedFilter(), true, max(maxPast, 4*s.Messages)
	}
	whole, err := r.fill(ctx, part, q)
	if err != nil {
		return err
	}
	if root == "" { // answers stand in the threads of their questions
		var answers []earshot.MessageID
		for _, a := range r.state.Turns {
			if r.kept[a.Anchor] {
				answers = append(answers, a.Replies...)
			}
		}
		if err := r.byID(ctx, answers...); err != nil {
			return err
		}
		if err := r.ownAnswers(ctx); err != nil {
			return err
		}
		part = earshot.Whole()
	}
	if whole {
		return nil
	}
	return r.count(ctx, root, part)
}

// ownAnswers keeps the agent's answers that stand in the threads of questions at the
// top level, of the newest questions for which no turn with an answer is recorded.
func (r *reader) ownAnswers(ctx context.Context) error {
	answered := map[earshot.MessageID]bool{r.anchor.ID: true}
	for _, a := range r.state.Turns {
		answered[a.Anchor] = answered[a.Anchor] || len(a.Replies) > 0
	}
	replies, err := r.activity(ctx, r.messages)
	if err != nil {
		return err
	}
	asked := slices.DeleteFunc(slices.Clone(r.messages), func(m earshot.Message) bool { return answered[m.ID] || replies[m.ID].Count == 0 })
	slices.SortFunc(asked, func(x, y earshot.Message) int { return y.Position().Compare(x.Position()) })
	for _, m := range asked[:min(len(asked), maxAnswers)] {
		if err := r.answer(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// addressedFilter returns a test for the messages that a transcript of what was
// addressed shows: the agent's own, those that mention it and those that it
// answered; in a DM all.
func (r *reader) addressedFilter() func(earshot.Message) bool {
	answered := map[earshot.MessageID]bool{}
	for _, a := range r.state.Turns {
		answered[a.Anchor] = len(a.Replies) > 0
	}
	self := r.req.Identity
	return func(m earshot.Message) bool {
		return r.req.Channel.Kind == earshot.KindDM || self.Is(m.Author.ID) || answered[m.ID] || self.MentionedIn(&m)
	}
}

// snapshot reads the anchor's neighbours at the top level of the channel, and
// how many replies each has.
func (r *reader) snapshot(ctx context.Context, s assemble.Section) error {
	root := r.anchor.Root()
	q := r.quotaOf(assemble.Section{Messages: s.Messages, Minutes: s.Minutes})
	q.tokens = 0 // neighbours are shown as snippets, whose cost is bounded
	q.counts = func(m earshot.Message) bool { return m.ID != root }
	if _, err := r.fill(ctx, earshot.TopLevel(), q); err != nil {
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
	activity, err := r.store.Activity(ctx, r.scope, r.end, roots...)
	if err != nil {
		return err
	}
	for i := range r.messages {
		if a, ok := activity[r.messages[i].ID]; ok {
			r.messages[i].Replies = &a
		}
	}
	return nil
}
