// Package tables is what the stores in SQLite and in PostgreSQL have in common:
// whatever is the same text for both, over what an engine can do ([Engine], [Conn]).
//
// A method queues the queries that it depends on, sends them, asks package rule what
// they mean, and queues what is to be written. In PostgreSQL the queue is a batch, a
// round trip; SQLite runs a statement when it is queued, and Send only returns the
// first error. So a variable that Ask fills is read after Send, and no callback
// queues anything.
//
// Statements have numbered parameters, which both engines know. What they write
// differently in the middle of a statement is in [SQL]; a statement that is another
// one altogether is a method of Conn, in the engine.
package tables

import (
	"context"
	"math"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A Row is a row of an answer.
type Row interface {
	Scan(dest ...any) error
}

// An Asker runs queries.
type Asker interface {
	// Ask queues a query. Every row of its answer is passed to each, which stops the
	// answer by an error.
	Ask(query string, args []any, each func(Row) error)
}

// A Conn is an engine's transaction. After an error it does nothing until Send has
// returned that error.
type Conn interface {
	Asker
	// Write queues a statement.
	Write(query string, args ...any)
	// Count queues a statement, and adds to n how many rows it changed.
	Count(n *int, query string, args ...any)
	// Rows queues the insertion of rows into a table, named with its columns. Each
	// row begins with the values of fixed. A row that is there already stays.
	Rows(into string, fixed []any, rows [][]any)
	// Send sends what is queued and reads the answers.
	Send(ctx context.Context) error

	// Lock queues a query whose rows are locked against other transactions.
	Lock(query string, args ...any)
	// Shared locks a channel against changes of its messages, Exclusive against all
	// other writers.
	Shared(s earshot.Scope)
	Exclusive(s earshot.Scope)
	// Naming locks the names of an agent's conversations in a workspace.
	Naming(id earshot.ConversationID)
	// Lax lets the commit not wait for the disk.
	Lax()
	// Erased says that text was deleted, which the engine's files may still hold.
	Erased()

	// WriteBatch writes the changes of a batch of messages, with the erasures that
	// deletions cause.
	WriteBatch(ctx context.Context, s earshot.Scope, b *rule.Batch) error
	// Blobs locks a channel's blobs.
	Blobs(s earshot.Scope)
	// InsertBlob stores a new blob; DeleteBlobs deletes those of a channel that which
	// selects, and adds to n how many.
	InsertBlob(s earshot.Scope, b earshot.Blob, put earshot.Time)
	DeleteBlobs(n *int, which string, args ...any)
	// Beginning locks the beginning of erasures.
	Beginning()
	// RaiseErased keeps the ids of the turns that which selects from being given again.
	RaiseErased(which string, args ...any)
	// RaiseDrafts does so for ids of drafts, which List made.
	RaiseDrafts(ids any)
}

// An Engine runs transactions and reads.
type Engine interface {
	// Apply runs f in a transaction and commits it, unless f returns an error. f may
	// run more than once, so it resets what it sets outside of itself. what is what is
	// done, for errors.
	Apply(ctx context.Context, what string, f func(context.Context, *Tx) error) error
	// Volatile is Apply for writes that the end of the process does not undo, but the
	// end of the machine may.
	Volatile(ctx context.Context, what string, f func(context.Context, *Tx) error) error
	// Read runs the queries that build queues. build may run more than once.
	Read(ctx context.Context, what string, build func(Asker)) error
	// Idle reports whether a query finds nothing, where it is cheaper to ask first
	// than to begin a transaction; elsewhere false.
	Idle(ctx context.Context, query string, args []any) (bool, error)
	// Keep records messages that were prepared, in one transaction.
	Keep(ctx context.Context, s earshot.Scope, messages []rule.Message) ([]earshot.RecordResult, error)
}

// SQL is what the engines write differently within a statement.
type SQL struct {
	Lock          string // ends a query whose rows are locked
	Skip          string // ends a query that locks its rows and passes over locked ones
	Greatest      string // the function for the greatest of some values
	NoIndex       string // before a column whose index is not to be used
	ByIndex       string // before the name of the index to use; "" where the engine knows best
	NextTurn      string // a query of the next turn's id
	OwnID         string // before VALUES, where a row brings the id that the table would give
	Channel       string // the columns that name a channel in the tables of messages and events
	ChannelValues string // their values; $1 to $3
	MessagesIn    string // bounds a statement to a channel in the tables of messages and events; $1 to $3
	MessagesIn4   string // MessagesIn of the channel $4 in the workspace of $1 and $2
	ToChannel     string // in those tables, sets the channel to $4
	ToSeq         string // sets a message's sequence to what it is and $5; with ToChannel
	OfChannelC    string // the same to the channel of the row c
	OtherChannels string // bounds a query of messages to the channels of a workspace but one; $1 to $3
	BySeq         string // MessagesIn, of messages with a sequence above $4 and up to $5
	InSeq         string // the order of BySeq
	AllEarly      string // ends a query of all channels with early reactions: the bounds of their index
	NoBytes       string // bytes of none
	Find          string // the function for where in a text another one stands, from 1
	JoinMessage   bool   // a message is read as one text: each column of a row costs

	PruneRows int // how many rows one transaction prunes: some ten milliseconds

	// Among is a condition: a column has one of the values that a query finds.
	Among func(column, query string) string
	// Any is a condition: a column has one of the values of parameter n, which List made
	// of a slice of strings or of int64.
	Any  func(column string, n int) string
	List func(list any) any
}

// A Tx is a transaction.
type Tx struct {
	Conn
	SQL   *SQL
	Now   func() time.Time
	Tally earshot.ErasureCounts // what deletions have removed

	Answers earshot.MessageID // the anchor of the turn that is committed
}

func (t *Tx) now() earshot.Time { return earshot.TimeOf(t.Now()) }

// Store has the methods of an [earshot.Store] that are the same for both engines.
type Store struct {
	engine Engine
	sql    *SQL
	now    func() time.Time
}

// New returns the methods over an engine. now is the store's clock.
func New(e Engine, sql *SQL, now func() time.Time) Store { return Store{engine: e, sql: sql, now: now} }

func (s *Store) stamp() earshot.Time { return earshot.TimeOf(s.now()) }

// In bounds a statement to the rows of a channel, OfChannel to its row in the table
// channel. What follows counts its parameters from $4.
const (
	In        = ` WHERE platform = $1 AND workspace = $2 AND channel = $3`
	OfChannel = ` WHERE platform = $1 AND workspace = $2 AND id = $3`
)

// Args returns the parameters of a scope and appends more.
func Args(s earshot.Scope, more ...any) []any {
	return append([]any{string(s.Platform), string(s.Workspace), string(s.Channel)}, more...)
}

// OfAgent bounds a statement to the rows of an agent in a scope. Named selects a
// conversation in the table conversation, OfConversation its rows in the others;
// what follows these two counts its parameters from $6.
const (
	OfAgent        = ` WHERE agent = $1 AND platform = $2 AND workspace = $3 AND channel = $4`
	Named          = OfAgent + ` AND name = $5`
	OfConversation = OfAgent + ` AND conversation = $5`
)

// AgentParams returns the parameters of OfAgent and appends more.
func AgentParams(id earshot.ConversationID, more ...any) []any {
	return append([]any{string(id.Agent), string(id.Scope.Platform), string(id.Scope.Workspace), string(id.Scope.Channel)}, more...)
}

// ScanOne returns a function for Ask that scans a single row into dest and sets found.
func ScanOne(found *bool, dest ...any) func(Row) error {
	return func(row Row) error {
		*found = true
		return row.Scan(dest...)
	}
}

// Gather returns a function for Ask that scans every row and appends it to out.
func Gather[T any](out *[]T, scan func(Row, *T) error) func(Row) error {
	return func(row Row) error {
		var v T
		if err := scan(row, &v); err != nil {
			return err
		}
		*out = append(*out, v)
		return nil
	}
}

// Scan reads a row of one column.
func Scan[T any](row Row, v *T) error { return row.Scan(v) }

// List reads all rows of a query, each with scan.
func List[T any](ctx context.Context, e Engine, what, query string, args []any, scan func(Row, *T) error) ([]T, error) {
	var out []T
	err := e.Read(ctx, what, func(a Asker) {
		out = nil
		a.Ask(query, args, Gather(&out, scan))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// readFirst reads the first row of a query, or returns none where there is no row.
func readFirst[T any](ctx context.Context, e Engine, what, query string, args []any, none error, scan func(Row, *T) error) (out T, err error) {
	found, err := List(ctx, e, what, query, args, scan)
	if err == nil && len(found) == 0 {
		err = none
	}
	if err != nil {
		return out, err
	}
	return found[0], nil
}

// limitParam returns a limit as a parameter: all rows if it is not positive. Where a plan
// must not depend on it, the statement adds 0.
func limitParam(limit int) int {
	if limit <= 0 {
		return math.MaxInt32
	}
	return min(limit, math.MaxInt32)
}

// Texts returns a list of ids as texts.
func Texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// Blob returns b as a parameter that is not NULL, even if b is nil.
func Blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// orNil returns b, or nil if b is empty.
func orNil(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}
