package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/earshot-ai/earshot"
)

// Locks are taken in this order, so that nobody waits in a circle: the
// channel's, that of its blobs, a lease, a conversation, anything else, and a resume state at the very end. What is of one kind is
// taken in the order of its key.

// exclusive waits until nobody else changes the channel or writes what it has
// read of it, and keeps it so until the transaction ends. Whatever is asked
// after it sees all that was recorded before.
func (t *tx) exclusive(s earshot.Scope) {
	t.write(`SELECT pg_advisory_xact_lock($1)`, t.channelKey(s))
}

// shared keeps the channel from being changed until the transaction ends, so
// that what it has read is not deleted meanwhile.
func (t *tx) shared(s earshot.Scope) {
	t.write(`SELECT pg_advisory_xact_lock_shared($1)`, t.channelKey(s))
}

// naming serialises the opening of an agent's conversations in a channel:
// neither a new name nor a new key has a row to lock.
func (t *tx) naming(id earshot.ConversationID) {
	t.write(`SELECT pg_advisory_xact_lock($1)`,
		t.key("naming", string(id.Agent), string(id.Scope.Platform), string(id.Scope.Workspace), string(id.Scope.Channel)))
}

// channelKey is the key of a channel's lock.
func (t *tx) channelKey(s earshot.Scope) int64 {
	return t.key("channel", string(s.Platform), string(s.Workspace), string(s.Channel))
}

// key returns the key of an advisory lock; they are the whole database's, so
// the schema is part of it. No part holds a NUL.
func (t *tx) key(parts ...string) int64 {
	sum := sha256.Sum256([]byte(t.store.schema + "\x00" + strings.Join(parts, "\x00")))
	return int64(binary.BigEndian.Uint64(sum[:]))
}
