package rule

import (
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// The rows that both databases have alike: for each table the columns that a
// read loads, and where a row of them is scanned to, in the same order.

// QueuedColumns are those of queued_turn but for the input, which is large.
const QueuedColumns = `id, agent, platform, workspace, channel, conversation, anchor, state, why, tries, ends, opened, updated, from_epoch, epoch, number, hash, began, again, stopped, stopped_by`

// QueuedFields returns where a row of QueuedColumns is scanned to.
func QueuedFields(q *StoredTurn) []any {
	s := &q.Conversation.Scope
	return []any{
		&q.ID, &q.Conversation.Agent, &s.Platform, &s.Workspace, &s.Channel, &q.Conversation.Name, &q.Anchor, &q.State, &q.Why,
		&q.Tries, &q.Ends, &q.Opened, &q.Updated, &q.From, &q.Epoch, &q.Number, &q.Hash, &q.Began, &q.Again, &q.Stopped, &q.StoppedBy,
	}
}

// PostColumns are those of outbox besides its scope.
const PostColumns = `turn, chunk, key, state, message, tries, updated, text`

// PostFields returns where a row of PostColumns is scanned to.
func PostFields(p *earshot.Post) []any {
	return []any{&p.Turn, &p.Chunk, &p.Key, &p.State, &p.Message, &p.Tries, &p.Updated, &p.Text}
}

// CallColumns are those of call_count.
const CallColumns = `hour, platform, workspace, method, calls, limited, failed, waits, waited`

// CallFields returns where a row of CallColumns is scanned to.
func CallFields(c *earshot.CallCount) []any {
	return []any{&c.Hour, &c.Platform, &c.Workspace, &c.Method, &c.Calls, &c.Limited, &c.Failed, &c.Waits, &c.Waited}
}

// CallValues returns c as parameters for CallColumns.
func CallValues(c earshot.CallCount) []any {
	return []any{int64(c.Hour), string(c.Platform), string(c.Workspace), c.Method, c.Calls, c.Limited, c.Failed, c.Waits, int64(c.Waited)}
}

// ConversationColumns are those of conversation besides its agent and scope.
const ConversationColumns = `name, idempotency_key, cursor, epoch, turns, weight, metadata, about, created, updated`

// A ConversationRow is a conversation as a database keeps it. The agent and the
// scope are set by whoever reads the row, since they were asked for.
type ConversationRow struct {
	earshot.Conversation
	Key    string // the idempotency key; "" when there is none
	Turns  int    // how many are committed
	Weight int    // what they count together, see [Weight]

	metadata, about string
}

// NewConversationRow returns a row of the conversation with this id, to be read.
func NewConversationRow(id earshot.ConversationID) ConversationRow {
	return ConversationRow{Conversation: earshot.Conversation{ID: id}}
}

// Fields returns where a row of ConversationColumns is scanned to. After that
// ReadMetadata is called.
func (c *ConversationRow) Fields() []any {
	return []any{&c.ID.Name, &c.Key, &c.Cursor, &c.Epoch, &c.Turns, &c.Weight, &c.metadata, &c.about, &c.Created, &c.Updated}
}

// ReadMetadata sets metadata and about from what was scanned.
func (c *ConversationRow) ReadMetadata() error {
	x, err := ReadScrubbedValues(c.metadata, c.about)
	c.Metadata, c.About = x.Metadata, x.About
	return err
}

// KeyedColumns are the rest of a conversation's id, where it was found by its
// idempotency key, which counts in a whole workspace. They stand before
// ConversationColumns.
const KeyedColumns = `platform, channel, `

// KeyedFields is Fields for KeyedColumns and ConversationColumns.
func (c *ConversationRow) KeyedFields() []any {
	return append([]any{&c.ID.Scope.Platform, &c.ID.Scope.Channel}, c.Fields()...)
}

// TurnColumns are those of turn besides its conversation's.
const TurnColumns = `number, anchor, replies, policy, hash, cursor, epoch, input, output, cache_read, cache_write, time, form, zone`

// TurnValues returns t as parameters for TurnColumns.
func TurnValues(t earshot.Turn) ([]any, error) {
	replies, err := json.Marshal(t.Answer.Replies)
	if err != nil {
		return nil, fmt.Errorf("write the replies: %w", err)
	}
	u := t.Usage
	return []any{
		t.Number, string(t.Answer.Anchor), string(replies), t.Policy, t.Hash, t.Cursor, t.Epoch,
		u.Input, u.Output, u.CacheRead, u.CacheWrite, int64(t.Time), t.Form, t.Zone,
	}, nil
}

// ScanTurn reads a row of TurnColumns into t with the Scan of a row.
func ScanTurn(scan func(...any) error, t *earshot.Turn) error {
	var replies string
	u := &t.Usage
	err := scan(&t.Number, &t.Answer.Anchor, &replies, &t.Policy, &t.Hash, &t.Cursor, &t.Epoch,
		&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &t.Time, &t.Form, &t.Zone)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(replies), &t.Answer.Replies)
}

// MessageColumns are those of message and revision that a read loads.
const MessageColumns = `id, time, thread, reply_to, edited, deleted, seq, tokens, author, author_name, author_kind, lists, text`
