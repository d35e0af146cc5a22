package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// ofAgent bounds a statement to the rows of an agent in a scope, ofConversation to
// those of a conversation. In the table conversation its name is the column name.
const ofAgent = ` WHERE agent = ? AND platform = ? AND workspace = ? AND channel = ?`

const ofConversation = ofAgent + ` AND conversation = ?`

// own returns the parameters of ofAgent and appends more.
func own(id earshot.ConversationID, more ...any) []any {
	return append([]any{string(id.Agent), string(id.Scope.Platform), string(id.Scope.Workspace), string(id.Scope.Channel)}, more...)
}

// conversation returns the conversation with this value in column, which is name or
// idempotency_key, or [earshot.ErrNotFound]. A key counts in the whole workspace.
func (t *tx) conversation(id earshot.ConversationID, column, value string) (rule.ConversationRow, error) {
	c := rule.NewConversationRow(id)
	query, a, fields := `SELECT `+rule.ConversationColumns+` FROM conversation`+ofAgent+` AND name = ?`, own(id, value), c.Fields()
	if column == "idempotency_key" {
		query = `SELECT ` + rule.KeyedColumns + rule.ConversationColumns + ` FROM conversation WHERE agent = ? AND workspace = ? AND idempotency_key = ? AND idempotency_key <> ''`
		a, fields = []any{string(id.Agent), string(id.Scope.Workspace), value}, c.KeyedFields()
	}
	found, err := t.one(query, a, fields)
	if err != nil {
		return c, err
	}
	if !found {
		return c, rule.NoConversation(id)
	}
	return c, c.ReadMetadata()
}

// OpenConversation implements [earshot.Conversations].
func (s *Store) OpenConversation(ctx context.Context, id earshot.ConversationID, idempotencyKey string) (earshot.Conversation, bool, error) {
	return s.CreateConversation(ctx, earshot.Conversation{ID: id}, idempotencyKey)
}

// CreateConversation implements [earshot.Conversations].
func (s *Store) CreateConversation(ctx context.Context, in earshot.Conversation, idempotencyKey string) (earshot.Conversation, bool, error) {
	in, key, err := rule.CheckCreate(in, idempotencyKey)
	if err != nil {
		return earshot.Conversation{}, false, err
	}
	var out rule.ConversationRow
	created := false
	err = s.apply(ctx, "open conversation", func(t *tx) (err error) {
		out, created, err = t.open(in, key, earshot.TimeOf(s.now()))
		return err
	})
	if err != nil {
		return earshot.Conversation{}, false, err
	}
	return out.Conversation, created, nil
}

// open opens a conversation; in is what is stored of one that is created.
func (t *tx) open(in earshot.Conversation, key string, now earshot.Time) (c rule.ConversationRow, created bool, err error) {
	id := in.ID
	var keyed rule.ConversationRow
	var byKey, byName bool
	if key != "" {
		if keyed, byKey, err = t.found(id, "idempotency_key", key); err != nil {
			return c, false, err
		}
	}
	if c, byName, err = t.found(id, "name", id.Name); err != nil {
		return c, false, err
	}
	what, err := rule.Open(id, key, byKey, byName, c.Key)
	switch {
	case err != nil || what == rule.OpenByName:
		return c, false, err
	case what == rule.OpenByKey:
		return keyed, false, nil
	case what == rule.OpenTakesKey:
		return c, false, t.exec(`UPDATE conversation SET idempotency_key = ?`+ofAgent+` AND name = ?`, append([]any{key}, own(id, id.Name)...)...)
	}
	metadata, about, err := rule.Scrubbed{Metadata: in.Metadata, About: in.About}.Columns()
	if err != nil {
		return c, false, err
	}
	in.Created, in.Updated = now, now
	c = rule.ConversationRow{Conversation: in}
	return c, true, t.exec(`INSERT INTO conversation (agent, platform, workspace, channel, `+rule.ConversationColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0, ?, ?, ?, ?)`, own(id, id.Name, key, metadata, about, int64(now), int64(now))...)
}

// found is conversation, but reports whether there is one in place of ErrNotFound.
func (t *tx) found(id earshot.ConversationID, column, value string) (rule.ConversationRow, bool, error) {
	c, err := t.conversation(id, column, value)
	if errors.Is(err, earshot.ErrNotFound) {
		return rule.ConversationRow{}, false, nil
	}
	return c, err == nil, err
}

// Conversation implements [earshot.Conversations].
func (s *Store) Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error) {
	id = rule.Conversation(id)
	c := rule.NewConversationRow(id)
	err := s.row(ctx, `SELECT `+rule.ConversationColumns+` FROM conversation`+ofAgent+` AND name = ?`, own(id, id.Name), c.Fields()...)
	if err == nil {
		err = c.ReadMetadata()
	}
	if err != nil {
		return earshot.Conversation{}, missing(err, "read a conversation", rule.NoConversation(id))
	}
	return c.Conversation, nil
}

// missing returns none if err says that a read found no row. To any other error it
// adds what was being done.
func missing(err error, what string, none error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return none
	}
	return fmt.Errorf("%s: %w", what, err)
}

// MergeMetadata implements [earshot.Conversations].
func (s *Store) MergeMetadata(ctx context.Context, id earshot.ConversationID, patch map[string]*string) (earshot.Conversation, error) {
	id = rule.Conversation(id)
	var c rule.ConversationRow
	err := s.apply(ctx, "merge metadata", func(t *tx) (err error) {
		if c, err = t.conversation(id, "name", id.Name); err != nil {
			return err
		}
		next, err := rule.MergeMetadata(c.Metadata, patch)
		if err != nil || maps.Equal(next, c.Metadata) {
			return err
		}
		text, err := json.Marshal(next)
		if err != nil {
			return err
		}
		c.Metadata, c.Updated = next, earshot.TimeOf(s.now())
		return t.exec(`UPDATE conversation SET metadata = ?, updated = ?`+ofAgent+` AND name = ?`,
			append([]any{string(text), int64(c.Updated)}, own(id, id.Name)...)...)
	})
	if err != nil {
		return earshot.Conversation{}, err
	}
	return c.Conversation, nil
}

// AdvanceCursor implements [earshot.Conversations].
func (s *Store) AdvanceCursor(ctx context.Context, id earshot.ConversationID, seq int64) error {
	id = rule.Conversation(id)
	return s.apply(ctx, "advance cursor", func(t *tx) error {
		c, err := t.conversation(id, "name", id.Name)
		if err != nil || seq <= c.Cursor {
			return err
		}
		return t.exec(`UPDATE conversation SET cursor = ?, updated = ?`+ofAgent+` AND name = ?`,
			append([]any{seq, int64(earshot.TimeOf(s.now()))}, own(id, id.Name)...)...)
	})
}
