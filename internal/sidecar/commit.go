package sidecar

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/inputref"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// A Reply is how an open turn was answered.
type Reply struct {
	Text string // as people see it
	// Messages are what the reply became on the platform, in order; none where the
	// caller does not say. They are recorded as the agent's. A zero Time means that of
	// the id, on a platform whose ids are times, else now.
	// Thread and ReplyTo are where the answer belongs, unless Placed is set.
	Messages []earshot.Message
	Placed   bool
	Usage    earshot.Usage
	// Entries are the calls of tools, and what the tools answered, between the
	// prompt and the reply.
	Entries  []earshot.SessionEntry
	Metadata map[string]*string // merged into the conversation's
}

// A CommittedTurn is a turn that has been committed.
type CommittedTurn struct {
	Turn         earshot.TurnID
	Conversation earshot.ConversationID
	Number       int // in its conversation, from 0
	Anchor       earshot.MessageID
	Replies      []earshot.MessageID
	Repeated     bool // it was committed before this call
}

// Why a turn could not be committed.
const (
	Answered = "answered" // the agent has answered the anchor
	Gone     = "deleted"  // the anchor is deleted
	Changed  = "changed"  // the conversation has gone on, or something that the prompt shows was deleted
)

// An Overtaken is the error of a commit that came too late.
type Overtaken struct {
	Reason string   // Answered, Gone or Changed
	Anew   *Context // the context as it is now, with a turn of its own unless the reason is Answered; nil where the anchor is deleted, or the context has to be asked for
}

// Error implements error.
func (c *Overtaken) Error() string {
	switch {
	case c.Reason == Answered:
		return "the question has been answered meanwhile; nothing was committed"
	case c.Reason == Gone:
		return "the question was deleted meanwhile; nothing was committed"
	case c.Anew == nil:
		return "the conversation has changed since the context was made; nothing was committed; make the context anew"
	}
	return "the conversation has changed since the context was made; nothing was committed; answer the context that comes with this"
}

// Is reports that an Overtaken is an [earshot.ErrConflict].
func (c *Overtaken) Is(target error) bool { return target == earshot.ErrConflict }

// Commit ends an open turn with its reply, exactly once: a turn that is committed
// already stays as it is, and a repeat is answered as the first one was. The error is
// an [*OtherReply] where a repeat has another text, ids or usage, and an [*Overtaken]
// where the conversation has changed since the turn was opened.
func (s *Service) Commit(ctx context.Context, p access.Principal, id earshot.TurnID, r Reply) (CommittedTurn, error) {
	d, err := s.draft(ctx, p, id)
	if err != nil {
		return CommittedTurn{}, err
	}
	if d.State == earshot.DraftCommitted {
		return s.answerRepeat(ctx, d, &r)
	}
	if err := r.check(); err != nil {
		return CommittedTurn{}, err
	}
	var again bool
	switch {
	case d.State == earshot.DraftAborted:
		next, ok, err := s.replacement(ctx, d)
		if err != nil {
			return CommittedTurn{}, err
		}
		if !ok {
			return CommittedTurn{}, aborted
		}
		d, again = next, true
	case d.Expires < s.now():
		return CommittedTurn{}, earshot.ErrExpired
	}
	channel, err := s.store.Channel(ctx, d.Conversation.Scope)
	if err != nil {
		return CommittedTurn{}, err
	}
	identity, err := s.to(p).AgentOf(ctx, d.Conversation)
	if err != nil {
		return CommittedTurn{}, err
	}
	anchors, err := s.store.ByID(ctx, d.Conversation.Scope, d.Anchor)
	if err != nil {
		return CommittedTurn{}, err
	}
	if again || len(anchors) == 0 || anchors[0].Deleted {
		return CommittedTurn{}, s.overtaken(ctx, p, d, channel, identity)
	}
	messages := r.messages(channel, d.Conversation, anchors[0], identity, s.now())
	done, err := s.store.CommitDraft(ctx, id, r.turn(d, anchors[0], s.now()), s.now(), messages...)
	switch {
	case errors.Is(err, earshot.ErrConflict):
		return CommittedTurn{}, s.overtaken(ctx, p, d, channel, identity)
	case errors.Is(err, earshot.ErrExpired):
		if now, e := s.store.Draft(ctx, id); e == nil && now.State == earshot.DraftAborted {
			err = aborted // meanwhile
		}
		fallthrough
	case err != nil:
		return CommittedTurn{}, err
	}
	if done.Repeated {
		return s.answerRepeat(ctx, done, &r)
	}
	s.options.Committed(Committed{done, time.Duration(openingOf(d).Took) * time.Microsecond, r.Usage})
	replies := r.ids()
	if len(replies) == 0 {
		if replies, err = s.echoed(ctx, d, done.Turn.Number, anchors[0], identity); err != nil {
			return CommittedTurn{}, err
		}
	}
	return CommittedTurn{done.ID, done.Conversation, done.Turn.Number, done.Anchor, replies, false}, nil
}

// echoed returns which of the stored messages a turn's reply became, which was committed
// without ids.
func (s *Service) echoed(ctx context.Context, d earshot.Draft, number int, anchor earshot.Message, self earshot.Identity) ([]earshot.MessageID, error) {
	post, err := s.posting(ctx, earshot.QueuedTurn{ID: d.ID, Conversation: d.Conversation, Anchor: anchor.ID, Number: number}, anchor, self)
	if err != nil || post == nil {
		return nil, err
	}
	settings, err := decodeSettings(d.Asked)
	if err != nil && !errors.Is(err, errReadAs) {
		return nil, err
	}
	err = s.takeStored(ctx, post, settings.Posted)
	return post.replies, err
}

// aborted is the answer to a commit of a turn that was given up.
var aborted = &visible.Refusal{Kind: visible.Expired, Code: "aborted", Detail: "the turn was aborted; open another one"}

// Abort ends an open turn without a reply. Nothing of its conversation changes.
// Ending one that has ended changes nothing.
func (s *Service) Abort(ctx context.Context, p access.Principal, id earshot.TurnID) (earshot.Draft, error) {
	if _, err := s.draft(ctx, p, id); err != nil {
		return earshot.Draft{}, err
	}
	return s.store.AbortDraft(ctx, id)
}

// draft returns a turn that the caller may end.
func (s *Service) draft(ctx context.Context, p access.Principal, id earshot.TurnID) (earshot.Draft, error) {
	switch {
	case p.Fixed != nil:
		return earshot.Draft{}, visible.ToolsOnly
	case p.ReadOnly:
		return earshot.Draft{}, visible.ReadOnly
	}
	d, err := s.store.Draft(ctx, id)
	if err == nil {
		err = s.to(p).Opens(ctx, d.Conversation)
	}
	return d, err
}

// An OtherReply is the error of a commit of a turn that was committed with another
// reply, which stays.
type OtherReply struct {
	CommittedTurn // the stored reply's
	Text          string
	Usage         earshot.Usage
}

// Error implements error.
func (*OtherReply) Error() string {
	return "the turn was committed with another reply, which stays; nothing was committed; tell a later text of its message as an edit, and open a turn for another answer"
}

// Is reports that an OtherReply is an [earshot.ErrConflict].
func (*OtherReply) Is(target error) bool { return target == earshot.ErrConflict }

// answerRepeat answers a commit of a turn that is committed. What a repeat leaves out, ids
// and usage, it does not contradict.
func (s *Service) answerRepeat(ctx context.Context, d earshot.Draft, r *Reply) (CommittedTurn, error) {
	t, err := s.committed(ctx, d.ID)
	if err != nil {
		return CommittedTurn{}, err
	}
	done := CommittedTurn{d.ID, d.Conversation, t.Number, d.Anchor, t.Answer.Replies, true}
	same := d.Turn.Sum == "" || d.Turn.Sum == r.sum() // "": committed by an earlier version
	same = same && (len(r.Messages) == 0 || slices.Equal(r.ids(), t.Answer.Replies))
	if same = same && (r.Usage == earshot.Usage{} || r.Usage == t.Usage); same {
		return done, nil
	}
	other := &OtherReply{CommittedTurn: done, Usage: t.Usage}
	if other.Text, err = s.replyText(ctx, d.Conversation.Scope, t); err != nil {
		return CommittedTurn{}, err
	}
	return CommittedTurn{}, other
}

// committed returns what a turn that is done recorded.
func (s *Service) committed(ctx context.Context, id earshot.TurnID) (earshot.Turn, error) {
	q, err := s.store.QueuedTurn(ctx, id)
	if err != nil {
		return earshot.Turn{}, fmt.Errorf("read a committed turn: %w", err)
	}
	t, err := s.store.Turn(ctx, q.Conversation, q.Number)
	if err != nil {
		return earshot.Turn{}, fmt.Errorf("read a committed turn: %w", err)
	}
	return t, nil
}

// replyText returns the reply of a turn, as far as it is stored.
func (s *Service) replyText(ctx context.Context, at earshot.Scope, t earshot.Turn) (string, error) {
	if text := t.Reply(); text != "" {
		return text, nil
	}
	stored, err := s.store.ByID(ctx, at, t.Answer.Replies...)
	if err != nil {
		return "", fmt.Errorf("read a committed reply: %w", err)
	}
	var texts []string
	for _, m := range stored {
		texts = append(texts, m.Text)
	}
	return strings.Join(texts, "\n"), nil
}

// ids returns the ids of the messages that the reply became.
func (r *Reply) ids() []earshot.MessageID {
	var ids []earshot.MessageID
	for _, m := range r.Messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// sum returns the hash of what the reply says.
func (r *Reply) sum() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q", r.Text)
	if len(r.Messages) > 1 {
		for _, m := range r.Messages {
			fmt.Fprintf(h, " %q", m.Text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// overtaken returns why a turn could not be committed, with the context anew where
// its anchor still waits for an answer.
func (s *Service) overtaken(ctx context.Context, p access.Principal, d earshot.Draft, channel earshot.Channel, identity earshot.Identity) error {
	if gone, err := contexts.IsGone(ctx, s.store, d.Conversation.Scope, d.Anchor); err != nil {
		return err
	} else if gone {
		return &Overtaken{Reason: Gone}
	}
	answered, err := s.hasOtherTurn(ctx, d)
	if err != nil {
		return err
	}
	late := &Overtaken{Reason: Changed}
	anew := s.replace
	if answered {
		late.Reason, anew = Answered, s.remake // a turn for it could not be committed
	}
	settings, err := decodeSettings(d.Asked)
	if errors.Is(err, errReadAs) {
		return late
	}
	if err != nil {
		return err
	}
	c, err := anew(ctx, p, d, contexts.Request{Settings: settings, Channel: channel, Agent: identity, Anchor: d.Anchor, Conversation: d.Conversation})
	if errors.Is(err, visible.Absent) {
		return &Overtaken{Reason: Gone} // since it was looked at above
	}
	if err != nil {
		return err
	}
	late.Anew = &c
	return late
}

// replace opens a draft in place of one that came too late.
func (s *Service) replace(ctx context.Context, p access.Principal, d earshot.Draft, r contexts.Request) (Context, error) {
	return s.open(ctx, p, r, Claim{Again: d.Again, Hold: openingOf(d).hold(), replaces: d.ID})
}

func (s *Service) remake(ctx context.Context, p access.Principal, _ earshot.Draft, r contexts.Request) (Context, error) {
	return s.makeContext(ctx, p, r)
}

// replacement returns the open draft that was opened in place of one that came too
// late. Its holder did not hear of it, since it commits the first one again.
func (s *Service) replacement(ctx context.Context, d earshot.Draft) (earshot.Draft, bool, error) {
	last, err := s.store.LastDraft(ctx, d.Conversation, d.Anchor, d.ID, false)
	if errors.Is(err, earshot.ErrNotFound) {
		return last, false, nil
	}
	return last, err == nil && last.State == earshot.DraftOpen && openingOf(last).Replaces == d.ID, err
}

// queueLook is how many turns of a channel are looked through for one of an anchor.
const queueLook = 200

// hasOtherTurn reports whether the agent has another turn for a draft's anchor: one of
// the conversation, or one that a bot over the same store has in its queue.
func (s *Service) hasOtherTurn(ctx context.Context, d earshot.Draft) (bool, error) {
	turns, err := s.store.Turns(ctx, d.Conversation, 0)
	if err != nil {
		return false, err
	}
	if d.Again { // then only what was committed since counts
		turns = turns[min(d.Turns, len(turns)):]
	}
	if slices.ContainsFunc(turns, func(t earshot.Turn) bool { return t.Answer.Anchor == d.Anchor }) {
		return true, nil
	}
	if d.Again {
		return false, nil
	}
	queued, err := s.store.QueuedTurns(ctx, earshot.TurnQuery{Agent: d.Conversation.Agent, Scope: &d.Conversation.Scope, Limit: queueLook, States: earshot.AskedStates()})
	return slices.ContainsFunc(queued, func(q earshot.QueuedTurn) bool { return q.Anchor == d.Anchor }), err
}

// metadataKey is what a key of a conversation's metadata looks like.
var metadataKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// metaProcessed is up to when messages have been answered; the bot keeps it too.
const metaProcessed = "last_processed_ts"

// maxReplies is how many messages one reply may have become.
const maxReplies = 100

// check refuses a reply that lacks something.
func (r *Reply) check() error {
	if r.Text == "" {
		return visible.InvalidField("reply.text", "is required; a turn without an answer is aborted")
	}
	if len(r.Messages) > maxReplies {
		return visible.InvalidField("reply.parts", fmt.Sprintf("are more than %d", maxReplies))
	}
	seen := map[earshot.MessageID]bool{}
	for _, m := range r.Messages {
		if m.ID == "" || len(m.ID) > 512 {
			return visible.InvalidField("reply.ids", "must have 1 to 512 bytes each")
		}
		if seen[m.ID] {
			return visible.InvalidField("reply.ids", "must be different")
		}
		if err := assemble.CheckIDs(&m); err != nil {
			return visible.InvalidField("reply.ids", "must be words: "+err.Error())
		}
		seen[m.ID] = true
	}
	for _, key := range slices.Sorted(maps.Keys(r.Metadata)) {
		switch {
		case key == metaProcessed:
			return visible.InvalidField("metadata."+metaProcessed, "is kept by the sidecar")
		case !metadataKey.MatchString(key):
			return visible.InvalidField("metadata", "has a key that is not a letter and then letters, digits and underscores, in lower case, 64 at most")
		}
	}
	return r.checkEntries()
}

// checkEntries refuses entries that could not be sent to a model again.
func (r *Reply) checkEntries() error {
	if len(r.Entries) == 0 {
		return nil
	}
	// A question stands before them, and they end in answers of tools.
	list := []assemble.Message{{Role: earshot.User, Text: "?"}}
	for _, e := range r.Entries {
		if e.Role != earshot.Assistant && e.Role != earshot.ToolRole || len(e.Media) > 0 {
			return visible.InvalidField("entries", "are calls of the assistant and answers of tools, without files")
		}
		list = append(list, assemble.Message{Role: e.Role, Text: e.Text, Calls: e.Calls, Call: e.Call, Failed: e.Failed, Opaque: e.Opaque})
	}
	if _, err := llm.FromResult(assemble.Result{Messages: list}, nil); err != nil {
		return visible.InvalidField("entries", "must be calls of the assistant, and after each of these the answers of its tools, every call answered once")
	}
	return nil
}

// messages returns the reply as messages of the agent.
func (r *Reply) messages(c earshot.Channel, id earshot.ConversationID, anchor earshot.Message, identity earshot.Identity, now earshot.Time) []earshot.Message {
	thread, replyTo := answerPlace(c, id, anchor)
	next := max(now, anchor.Time+1)
	list := slices.Clone(r.Messages)
	for i := range list {
		m := &list[i]
		m.Author = earshot.Author{ID: identity.ID, Name: identity.Name, Kind: earshot.Bot}
		if m.Time == 0 {
			m.Time = next
			if at, ok := timeInID(c.Platform, m.ID, now); ok && at > anchor.Time {
				m.Time = at
			}
		}
		next = m.Time + 1
		if !r.Placed {
			m.Thread, m.ReplyTo = thread, replyTo
		}
	}
	return list
}

// answerPlace returns where an answer belongs: in the question's thread, in a thread
// that begins with the question, or in direct messages after it. A reply by
// reference is answered by one.
func answerPlace(c earshot.Channel, id earshot.ConversationID, anchor earshot.Message) (thread, replyTo earshot.MessageID) {
	switch {
	case anchor.Root() != "":
		return anchor.Root(), ""
	case c.Kind == earshot.KindDM && id.Name == string(anchor.ID):
		return anchor.ID, ""
	case anchor.ReplyTo != "" || c.Platform.Info().References && c.Kind != earshot.KindDM:
		return "", anchor.ID
	case c.Kind == earshot.KindDM || id.Name == gather.TopLevel:
		return "", ""
	}
	return anchor.ID, ""
}

// turn returns what committing records: what the draft has, and the reply.
func (r *Reply) turn(d earshot.Draft, anchor earshot.Message, now earshot.Time) earshot.Turn {
	t := d.Turn
	t.Usage, t.Time = r.Usage, now
	t.Sum, t.Answer.Replies = r.sum(), append(t.Answer.Replies, r.ids()...)
	if anchor.Isolated() {
		return t
	}
	t.Shown = slices.Clone(t.Shown)
	for _, id := range t.Answer.Replies {
		t.Shown = append(t.Shown, earshot.ShownRevision{ID: id, Seen: assemble.Told})
	}
	var read []earshot.MessageID
	for _, e := range r.Entries {
		if e.Role == earshot.ToolRole {
			read = append(read, tools.ShownIDs(e.Text)...)
		}
	}
	t.Ledger = inputref.Ledger(t.Ledger, read...)
	if len(t.Session) > 0 {
		t.Session = append(append(slices.Clone(t.Session), r.Entries...), earshot.SessionEntry{Role: earshot.Assistant, Text: r.Text})
	}
	t.Metadata = maps.Clone(r.Metadata)
	if t.Metadata == nil {
		t.Metadata = map[string]*string{}
	}
	at := anchor.Time.TS()
	t.Metadata[metaProcessed] = &at
	return t
}
