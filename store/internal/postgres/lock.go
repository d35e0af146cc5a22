package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/earshot-ai/earshot"
)

// To avoid deadlocks, locks are taken in this order: the channel's, that of its
// blobs, leases, conversations, other rows, and a resume state last. Locks of one
// kind are taken in the order of their keys.

// Exclusive implements [tables.Conn]. It locks the channel against all other writers until the transaction ends.
// A read after it sees everything that was recorded before.
func (t *tx) Exclusive(s earshot.Scope) {
	t.Write(`SELECT pg_advisory_xact_lock($1)`, t.channelKey(s))
}

// Shared implements [tables.Conn]. It locks the channel against changes of its messages until the transaction
// ends, so that no message that was read is deleted meanwhile.
func (t *tx) Shared(s earshot.Scope) {
	t.Write(`SELECT pg_advisory_xact_lock_shared($1)`, t.channelKey(s))
}

// Naming implements [tables.Conn]. It serialises the opening of an agent's conversations in a workspace, in which
// an idempotency key is unique. It is an advisory lock because a new name or key has no row to lock yet.
func (t *tx) Naming(id earshot.ConversationID) {
	t.Write(`SELECT pg_advisory_xact_lock($1)`,
		t.key("naming", string(id.Agent), string(id.Scope.Workspace)))
}

// channelKey is the key of a channel's lock.
func (t *tx) channelKey(s earshot.Scope) int64 {
	return t.key("channel", string(s.Platform), string(s.Workspace), string(s.Channel))
}

// key returns the key of an advisory lock. Advisory locks are per database, so the
// key includes the schema. No part contains NUL.
func (t *tx) key(parts ...string) int64 {
	sum := sha256.Sum256([]byte(t.store.schema + "\x00" + strings.Join(parts, "\x00")))
	return int64(binary.BigEndian.Uint64(sum[:]))
}
