package counted

import (
	"context"
	"iter"
	"time"

	"github.com/earshot-ai/earshot"
)

// Reads, which count what they return.

func (st *Store) Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error) {
	x, err := st.step().Channel(ctx, s)
	return x, st.read(1, err)
}

func (st *Store) Channels(ctx context.Context) ([]earshot.ChannelInfo, error) {
	x, err := st.step().Channels(ctx)
	return x, st.read(len(x), err)
}

func (st *Store) FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error) {
	x, err := st.step().FindChannels(ctx, q)
	return x, st.read(len(x), err)
}

func (st *Store) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	x, err := st.step().Authors(ctx, p, w, ids...)
	return x, st.read(len(x), err)
}

func (st *Store) Reactors(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error) {
	x, err := st.step().Reactors(ctx, s, ids...)
	return x, st.read(len(x), err)
}

func (st *Store) Message(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.Message, error) {
	x, err := st.step().Message(ctx, s, id)
	return x, st.read(1, err)
}

func (st *Store) ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	x, err := st.step().ByID(ctx, s, ids...)
	return x, st.read(len(x), err)
}

func (st *Store) Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	x, err := st.step().Newest(ctx, s, part, upTo, limit)
	return x, st.read(len(x), err)
}

func (st *Store) Range(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error] {
	return countRows(st, st.step().Range(ctx, s, part, from, to))
}

func (st *Store) Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error) {
	x, err := st.step().Since(ctx, s, seq, limit)
	return x, st.read(len(x), err)
}

func (st *Store) Replying(ctx context.Context, s earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error) {
	x, err := st.step().Replying(ctx, s, upTo, ids...)
	return x, st.read(len(x), err)
}

func (st *Store) Revisions(ctx context.Context, s earshot.Scope, id earshot.MessageID) ([]earshot.Message, error) {
	x, err := st.step().Revisions(ctx, s, id)
	return x, st.read(len(x), err)
}

func (st *Store) Activity(ctx context.Context, s earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	x, err := st.step().Activity(ctx, s, upTo, roots...)
	return x, st.read(len(x), err)
}

func (st *Store) Count(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position) (earshot.Count, error) {
	x, err := st.step().Count(ctx, s, part, upTo)
	return x, st.read(1, err)
}

func (st *Store) Coverage(ctx context.Context, s earshot.Scope) ([]earshot.Coverage, error) {
	x, err := st.step().Coverage(ctx, s)
	return x, st.read(len(x), err)
}

func (st *Store) Covered(ctx context.Context, why string) ([]earshot.Scope, error) {
	x, err := st.step().Covered(ctx, why)
	return x, st.read(len(x), err)
}

func (st *Store) Terms(ctx context.Context, s earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error] {
	return countRows(st, st.step().Terms(ctx, s, seq))
}

func (st *Store) Embeddings(ctx context.Context, s earshot.Scope, model string, after int64) iter.Seq2[earshot.Embedding, error] {
	return countRows(st, st.step().Embeddings(ctx, s, model, after))
}

func (st *Store) EmbeddingsOf(ctx context.Context, s earshot.Scope, model string, ids ...earshot.MessageID) ([]earshot.Embedding, error) {
	x, err := st.step().EmbeddingsOf(ctx, s, model, ids...)
	return x, st.read(len(x), err)
}

func (st *Store) PutEmbeddings(ctx context.Context, s earshot.Scope, model string, list ...earshot.Embedding) error {
	return st.step().PutEmbeddings(ctx, s, model, list...)
}

func (st *Store) Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error) {
	x, err := st.step().Conversation(ctx, id)
	return x, st.read(1, err)
}

func (st *Store) Manifest(ctx context.Context, id earshot.ConversationID) (earshot.Manifest, error) {
	x, err := st.step().Manifest(ctx, id)
	return x, st.read(1, err)
}

func (st *Store) Session(ctx context.Context, id earshot.ConversationID) ([]earshot.SessionEntry, error) {
	x, err := st.step().Session(ctx, id)
	return x, st.read(len(x), err)
}

func (st *Store) ClaimSummary(ctx context.Context, agent earshot.AgentID, owner string, over int, now earshot.Time, hold time.Duration) (earshot.SummaryClaim, error) {
	x, err := st.step().ClaimSummary(ctx, agent, owner, over, now, hold)
	return x, st.read(1, err)
}

func (st *Store) Summary(ctx context.Context, id earshot.ConversationID) (earshot.Summary, error) {
	x, err := st.step().Summary(ctx, id)
	return x, st.read(1, err)
}

func (st *Store) Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	x, err := st.step().Turns(ctx, id, limit)
	return x, st.read(len(x), err)
}

func (st *Store) Turn(ctx context.Context, id earshot.ConversationID, number int) (earshot.Turn, error) {
	x, err := st.step().Turn(ctx, id, number)
	return x, st.read(1, err)
}

func (st *Store) FileBlob(ctx context.Context, s earshot.Scope, id earshot.ArtifactID) (earshot.Blob, error) {
	x, err := st.step().FileBlob(ctx, s, id)
	return x, st.read(1, err)
}

func (st *Store) Blob(ctx context.Context, s earshot.Scope, sha256 string) (earshot.Blob, error) {
	x, err := st.step().Blob(ctx, s, sha256)
	return x, st.read(1, err)
}

func (st *Store) Resume(ctx context.Context, p earshot.Platform, key string) ([]byte, error) {
	x, err := st.step().Resume(ctx, p, key)
	return x, st.read(1, err)
}

func (st *Store) Events(ctx context.Context, s earshot.Scope, id earshot.MessageID) ([]earshot.Event, error) {
	x, err := st.step().Events(ctx, s, id)
	return x, st.read(len(x), err)
}

func (st *Store) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	lease, turns, err := st.step().Claim(ctx, agent, owner, now, hold)
	return lease, turns, st.read(len(turns), err)
}

func (st *Store) Steps(ctx context.Context, id earshot.TurnID) ([]earshot.Step, error) {
	x, err := st.step().Steps(ctx, id)
	return x, st.read(len(x), err)
}

func (st *Store) Posts(ctx context.Context, id earshot.TurnID) ([]earshot.Post, error) {
	x, err := st.step().Posts(ctx, id)
	return x, st.read(len(x), err)
}

func (st *Store) Posted(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error) {
	x, err := st.step().Posted(ctx, s, id)
	return x, st.read(1, err)
}

func (st *Store) QueuedTurn(ctx context.Context, id earshot.TurnID) (earshot.QueuedTurn, error) {
	x, err := st.step().QueuedTurn(ctx, id)
	return x, st.read(1, err)
}

func (st *Store) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	x, err := st.step().QueuedTurns(ctx, q)
	return x, st.read(len(x), err)
}

func (st *Store) Depth(ctx context.Context, states ...earshot.TurnState) (map[earshot.TurnState]int, error) {
	x, err := st.step().Depth(ctx, states...)
	return x, st.read(len(x), err)
}

func (st *Store) Draft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	x, err := st.step().Draft(ctx, id)
	return x, st.read(1, err)
}

func (st *Store) Claimed(ctx context.Context, d earshot.Draft) error {
	return st.read(0, st.step().Claimed(ctx, d))
}

func (st *Store) OpenDrafts(ctx context.Context, opener string, now earshot.Time, expired bool, limit int) ([]earshot.Draft, error) {
	x, err := st.step().OpenDrafts(ctx, opener, now, expired, limit)
	return x, st.read(len(x), err)
}

func (st *Store) LastDraft(ctx context.Context, of earshot.ConversationID, anchor earshot.MessageID, not earshot.TurnID, posting bool) (earshot.Draft, error) {
	x, err := st.step().LastDraft(ctx, of, anchor, not, posting)
	return x, st.read(1, err)
}

func (st *Store) Calls(ctx context.Context, since earshot.Time) ([]earshot.CallCount, error) {
	x, err := st.step().Calls(ctx, since)
	return x, st.read(len(x), err)
}

func (st *Store) Notes(ctx context.Context, prefix string, limit int) ([]earshot.Note, error) {
	x, err := st.step().Notes(ctx, prefix, limit)
	return x, st.read(len(x), err)
}

func (st *Store) PlanErasure(ctx context.Context, of earshot.ErasureOf) (earshot.ErasureCounts, error) {
	x, err := st.step().PlanErasure(ctx, of)
	return x, st.read(1, err)
}

func (st *Store) Erasure(ctx context.Context, id earshot.ErasureID) (earshot.Erasure, error) {
	x, err := st.step().Erasure(ctx, id)
	return x, st.read(1, err)
}

func (st *Store) ErasureLog(ctx context.Context, open bool, limit int) ([]earshot.Erasure, error) {
	x, err := st.step().ErasureLog(ctx, open, limit)
	return x, st.read(len(x), err)
}

func (st *Store) Locate(ctx context.Context, text string, looked func(what string, n int64)) iter.Seq2[earshot.Place, error] {
	return countRows(st, st.step().Locate(ctx, text, looked))
}

// Writes.

func (st *Store) PutChannel(ctx context.Context, c earshot.Channel) error {
	return st.step().PutChannel(ctx, c)
}

func (st *Store) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	return st.step().PutAuthors(ctx, p, w, authors...)
}

func (st *Store) Record(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error) {
	return st.step().Record(ctx, s, messages...)
}

func (st *Store) Tell(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error) {
	return st.step().Tell(ctx, s, messages...)
}

func (st *Store) React(ctx context.Context, s earshot.Scope, x earshot.ReactionEvent) (earshot.RecordResult, error) {
	return st.step().React(ctx, s, x)
}

func (st *Store) PutCoverage(ctx context.Context, s earshot.Scope, list ...earshot.Coverage) error {
	return st.step().PutCoverage(ctx, s, list...)
}

func (st *Store) OpenConversation(ctx context.Context, id earshot.ConversationID, idempotencyKey string) (earshot.Conversation, bool, error) {
	return st.step().OpenConversation(ctx, id, idempotencyKey)
}

func (st *Store) FindConversations(ctx context.Context, q earshot.ConversationQuery) ([]earshot.Conversation, error) {
	x, err := st.step().FindConversations(ctx, q)
	return x, st.read(len(x), err)
}

func (st *Store) CreateConversation(ctx context.Context, c earshot.Conversation, idempotencyKey string) (earshot.Conversation, bool, error) {
	return st.step().CreateConversation(ctx, c, idempotencyKey)
}

func (st *Store) MergeMetadata(ctx context.Context, id earshot.ConversationID, patch map[string]*string) (earshot.Conversation, error) {
	return st.step().MergeMetadata(ctx, id, patch)
}

func (st *Store) AdvanceCursor(ctx context.Context, id earshot.ConversationID, seq int64) error {
	return st.step().AdvanceCursor(ctx, id, seq)
}

func (st *Store) PutSummary(ctx context.Context, c earshot.SummaryClaim, s earshot.Summary, of ...earshot.MessageID) error {
	return st.step().PutSummary(ctx, c, s, of...)
}

func (st *Store) ReleaseSummary(ctx context.Context, c earshot.SummaryClaim, notBefore earshot.Time) error {
	return st.step().ReleaseSummary(ctx, c, notBefore)
}

func (st *Store) CommitTurn(ctx context.Context, id earshot.ConversationID, t earshot.Turn) (int, error) {
	return st.step().CommitTurn(ctx, id, t)
}

func (st *Store) AddReply(ctx context.Context, id earshot.ConversationID, number int, have []earshot.MessageID, reply earshot.ShownRevision) error {
	return st.step().AddReply(ctx, id, number, have, reply)
}

func (st *Store) PutBlob(ctx context.Context, s earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, b earshot.Blob) error {
	return st.step().PutBlob(ctx, s, of, id, b)
}

func (st *Store) Accept(ctx context.Context, s earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error) {
	return st.step().Accept(ctx, s, e, ask)
}

func (st *Store) PruneEvents(ctx context.Context, before earshot.Time) (int, error) {
	return st.step().PruneEvents(ctx, before)
}

func (st *Store) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	return st.step().Renew(ctx, l, now, hold)
}

func (st *Store) Release(ctx context.Context, l earshot.Lease, notBefore earshot.Time) error {
	return st.step().Release(ctx, l, notBefore)
}

func (st *Store) Begin(ctx context.Context, l earshot.Lease, id earshot.TurnID, p earshot.Prompt) error {
	return st.step().Begin(ctx, l, id, p)
}

func (st *Store) AddStep(ctx context.Context, l earshot.Lease, id earshot.TurnID, s earshot.Step, posts ...earshot.Post) error {
	return st.step().AddStep(ctx, l, id, s, posts...)
}

func (st *Store) PutPost(ctx context.Context, l earshot.Lease, p earshot.Post) error {
	return st.step().PutPost(ctx, l, p)
}

func (st *Store) Confirm(ctx context.Context, s earshot.Scope, key string, id earshot.MessageID) error {
	return st.step().Confirm(ctx, s, key, id)
}

func (st *Store) Finish(ctx context.Context, l earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, t *earshot.Turn, arrived ...earshot.Arrival) error {
	return st.step().Finish(ctx, l, id, state, why, t, arrived...)
}

func (st *Store) Merge(ctx context.Context, l earshot.Lease, into earshot.TurnID, turns ...earshot.TurnID) error {
	return st.step().Merge(ctx, l, into, turns...)
}

func (st *Store) Reopen(ctx context.Context, id earshot.TurnID) error {
	return st.step().Reopen(ctx, id)
}

func (st *Store) Discard(ctx context.Context, id earshot.TurnID, why string) error {
	return st.step().Discard(ctx, id, why)
}

func (st *Store) PruneTurns(ctx context.Context, before earshot.Time) (int, error) {
	return st.step().PruneTurns(ctx, before)
}

func (st *Store) OpenDraft(ctx context.Context, d earshot.Draft) (earshot.Draft, error) {
	return st.step().OpenDraft(ctx, d)
}

func (st *Store) RenewDraft(ctx context.Context, id earshot.TurnID, now, expires earshot.Time, posting bool) (earshot.Draft, error) {
	return st.step().RenewDraft(ctx, id, now, expires, posting)
}

func (st *Store) CommitDraft(ctx context.Context, id earshot.TurnID, t earshot.Turn, now earshot.Time, arrived ...earshot.Message) (earshot.Draft, error) {
	return st.step().CommitDraft(ctx, id, t, now, arrived...)
}

func (st *Store) AskDraft(ctx context.Context, a earshot.Approval) (earshot.Approval, error) {
	return st.step().AskDraft(ctx, a)
}

func (st *Store) NoteDraft(ctx context.Context, id earshot.ApprovalID, result string) error {
	return st.step().NoteDraft(ctx, id, result)
}

func (st *Store) AbortDraft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	return st.step().AbortDraft(ctx, id)
}

func (st *Store) PruneDrafts(ctx context.Context, before earshot.Time) (int, error) {
	return st.step().PruneDrafts(ctx, before)
}

func (st *Store) AddCalls(ctx context.Context, counts ...earshot.CallCount) error {
	return st.step().AddCalls(ctx, counts...)
}

func (st *Store) BookCalls(ctx context.Context, key string, r earshot.Rate, calls int, now earshot.Time) (earshot.Booking, error) {
	return st.step().BookCalls(ctx, key, r, calls, now)
}

func (st *Store) BlockCalls(ctx context.Context, key string, r earshot.Rate, until earshot.Time) error {
	return st.step().BlockCalls(ctx, key, r, until)
}

func (st *Store) PruneRates(ctx context.Context, before earshot.Time) (int, error) {
	return st.step().PruneRates(ctx, before)
}

func (st *Store) Spend(ctx context.Context, c earshot.SpendChange) (earshot.SpendResult, error) {
	return st.step().Spend(ctx, c)
}

func (st *Store) Spent(ctx context.Context, day earshot.Time) ([]earshot.PurseSum, error) {
	out, err := st.step().Spent(ctx, day)
	return out, st.read(len(out), err)
}

func (st *Store) PruneSpends(ctx context.Context, before earshot.Time) (int, error) {
	return st.step().PruneSpends(ctx, before)
}

func (st *Store) PutNote(ctx context.Context, n earshot.Note) error {
	return st.step().PutNote(ctx, n)
}

func (st *Store) DropNote(ctx context.Context, key string) error {
	return st.step().DropNote(ctx, key)
}

func (st *Store) BeginErasure(ctx context.Context, of earshot.ErasureOf) (earshot.Erasure, error) {
	return st.step().BeginErasure(ctx, of)
}

func (st *Store) StepErasure(ctx context.Context, id earshot.ErasureID) (earshot.Erasure, error) {
	return st.step().StepErasure(ctx, id)
}

func (st *Store) Remember(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, user earshot.AuthorID) error {
	return st.step().Remember(ctx, p, w, user)
}

func (st *Store) Erase(ctx context.Context, s earshot.Scope) error {
	return st.step().Erase(ctx, s)
}

// EraseWorkspace implements [earshot.Store].
func (st *Store) EraseWorkspace(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID) error {
	return st.step().EraseWorkspace(ctx, p, w)
}

func (st *Store) MoveChannel(ctx context.Context, from earshot.Scope, to earshot.ChannelID) error {
	return st.step().MoveChannel(ctx, from, to)
}

func (st *Store) AskApproval(ctx context.Context, l earshot.Lease, a earshot.Approval) (earshot.Approval, error) {
	return st.step().AskApproval(ctx, l, a)
}

func (st *Store) AwaitApprovals(ctx context.Context, l earshot.Lease, id earshot.TurnID) (bool, error) {
	return st.step().AwaitApprovals(ctx, l, id)
}

func (st *Store) DecideApproval(ctx context.Context, id earshot.ApprovalID, d earshot.Decision) (earshot.Approval, error) {
	return st.step().DecideApproval(ctx, id, d)
}

func (st *Store) NoteApproval(ctx context.Context, l earshot.Lease, id earshot.ApprovalID, result string) error {
	return st.step().NoteApproval(ctx, l, id, result)
}

func (st *Store) Approval(ctx context.Context, id earshot.ApprovalID) (earshot.Approval, error) {
	x, err := st.step().Approval(ctx, id)
	return x, st.read(1, err)
}

func (st *Store) Approvals(ctx context.Context, q earshot.ApprovalQuery) ([]earshot.Approval, error) {
	x, err := st.step().Approvals(ctx, q)
	return x, st.read(len(x), err)
}

func (st *Store) StopTurn(ctx context.Context, id earshot.TurnID, by earshot.AuthorID) (earshot.QueuedTurn, error) {
	return st.step().StopTurn(ctx, id, by)
}

func (st *Store) PutFeedback(ctx context.Context, f earshot.Feedback) error {
	return st.step().PutFeedback(ctx, f)
}

func (st *Store) RemoveFeedback(ctx context.Context, id earshot.TurnID, by earshot.AuthorID) error {
	return st.step().RemoveFeedback(ctx, id, by)
}

func (st *Store) Feedback(ctx context.Context, q earshot.FeedbackQuery) ([]earshot.Feedback, error) {
	x, err := st.step().Feedback(ctx, q)
	return x, st.read(len(x), err)
}
