package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// ofAgent bounds a statement to the rows of an agent in a scope. named selects a
// conversation in the table conversation, ofConversation its rows in the others;
// what follows these two counts its parameters from $6.
const (
	ofAgent        = ` WHERE agent = $1 AND platform = $2 AND workspace = $3 AND channel = $4`
	named          = ofAgent + ` AND name = $5`
	ofConversation = ofAgent + ` AND conversation = $5`
)

// own returns the parameters of ofAgent and appends more.
func own(id earshot.ConversationID, more ...any) []any {
	return append([]any{string(id.Agent), string(id.Scope.Platform), string(id.Scope.Workspace), string(id.Scope.Channel)}, more...)
}

// A conversation is a row of the table, if there was one.
type conversation struct {
	rule.ConversationRow
	found bool
}

// into returns a function for ask that scans a row of rule.ConversationColumns into
// c.
func (c *conversation) into(id earshot.ConversationID) func(pgx.Rows) error {
	*c = conversation{ConversationRow: rule.NewConversationRow(id)}
	return c.scan(c.Fields)
}

func (c *conversation) scan(fields func() []any) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		if err := rows.Scan(fields()...); err != nil {
			return err
		}
		c.found = true
		return c.ReadMetadata()
	}
}

// orNotFound returns err, or [earshot.ErrNotFound] where there was no row.
func (c *conversation) orNotFound(err error, id earshot.ConversationID) error {
	if err == nil && !c.found {
		err = rule.NoConversation(id)
	}
	return err
}

// locked reads a conversation and locks it until the transaction ends.
func (t *tx) locked(ctx context.Context, id earshot.ConversationID) (conversation, error) {
	var c conversation
	t.ask(`SELECT `+rule.ConversationColumns+` FROM conversation`+named+` FOR UPDATE`, own(id, id.Name), c.into(id))
	return c, c.orNotFound(t.send(ctx), id)
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
	o := opening{in: in, key: key}
	if err := s.read(ctx, o.ask); err != nil {
		return earshot.Conversation{}, false, fmt.Errorf("open conversation: %w", err)
	}
	what, err := o.decide()
	if err != nil {
		return earshot.Conversation{}, false, err
	}
	if what == rule.OpenCreates || what == rule.OpenTakesKey {
		err = s.apply(ctx, "open conversation", func(ctx context.Context, t *tx) error {
			t.naming(in.ID)
			o.ask(t)
			if err := t.send(ctx); err != nil {
				return err
			}
			if what, err = o.decide(); err == nil {
				err = o.put(t, what, earshot.TimeOf(s.now()))
			}
			return err
		})
	}
	if err != nil {
		return earshot.Conversation{}, false, err
	}
	if what == rule.OpenByKey {
		return o.byKey.Conversation, false, nil
	}
	return o.byName.Conversation, what == rule.OpenCreates, nil
}

// An opening is a call of CreateConversation with what it found.
type opening struct {
	in            earshot.Conversation // what is stored of one that is created
	key           string
	byKey, byName conversation
}

// ask queries by key, which counts in the whole workspace, and by name.
func (o *opening) ask(t *tx) {
	id := o.in.ID
	o.byKey = conversation{ConversationRow: rule.NewConversationRow(id)}
	t.ask(`SELECT `+rule.KeyedColumns+rule.ConversationColumns+` FROM conversation WHERE agent = $1 AND workspace = $2 AND idempotency_key = $3 AND idempotency_key <> ''`,
		[]any{string(id.Agent), string(id.Scope.Workspace), o.key}, o.byKey.scan(o.byKey.KeyedFields))
	t.ask(`SELECT `+rule.ConversationColumns+` FROM conversation`+named, own(id, id.Name), o.byName.into(id))
}

func (o *opening) decide() (rule.Opening, error) {
	return rule.Open(o.in.ID, o.key, o.byKey.found, o.byName.found, o.byName.Key)
}

// put creates the conversation, or gives the one that is there its key.
func (o *opening) put(t *tx, what rule.Opening, now earshot.Time) error {
	id := o.in.ID
	switch what {
	case rule.OpenTakesKey:
		t.write(`UPDATE conversation SET idempotency_key = $6`+named, own(id, id.Name, o.key)...)
	case rule.OpenCreates:
		metadata, about, err := rule.Scrubbed{Metadata: o.in.Metadata, About: o.in.About}.Columns()
		if err != nil {
			return err
		}
		o.byName.Conversation = o.in
		o.byName.Created, o.byName.Updated = now, now
		t.write(`INSERT INTO conversation (agent, platform, workspace, channel, `+rule.ConversationColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0, 0, $7, $8, $9, $9)`, own(id, id.Name, o.key, metadata, about, int64(now))...)
	}
	return nil
}

// Conversation implements [earshot.Conversations].
func (s *Store) Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error) {
	id = rule.Conversation(id)
	var c conversation
	err := s.read(ctx, func(t *tx) {
		t.ask(`SELECT `+rule.ConversationColumns+` FROM conversation`+named, own(id, id.Name), c.into(id))
	})
	if err := c.orNotFound(err, id); err != nil {
		return earshot.Conversation{}, err
	}
	return c.Conversation, nil
}

// MergeMetadata implements [earshot.Conversations].
func (s *Store) MergeMetadata(ctx context.Context, id earshot.ConversationID, patch map[string]*string) (earshot.Conversation, error) {
	id = rule.Conversation(id)
	var c conversation
	err := s.apply(ctx, "merge metadata", func(ctx context.Context, t *tx) (err error) {
		if c, err = t.locked(ctx, id); err != nil {
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
		t.write(`UPDATE conversation SET metadata = $6, updated = $7`+named, own(id, id.Name, string(text), int64(c.Updated))...)
		return nil
	})
	if err != nil {
		return earshot.Conversation{}, err
	}
	return c.Conversation, nil
}

// AdvanceCursor implements [earshot.Conversations].
func (s *Store) AdvanceCursor(ctx context.Context, id earshot.ConversationID, seq int64) error {
	id = rule.Conversation(id)
	return s.apply(ctx, "advance cursor", func(ctx context.Context, t *tx) error {
		c, err := t.locked(ctx, id)
		if err == nil && seq > c.Cursor {
			t.write(`UPDATE conversation SET cursor = $6, updated = $7`+named, own(id, id.Name, seq, int64(earshot.TimeOf(s.now())))...)
		}
		return err
	})
}
