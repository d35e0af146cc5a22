package tables

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A Conversation is a row of the table, if there was one.
type Conversation struct {
	rule.ConversationRow
	Found bool
}

// Ask queries the row, and locks it if lock is the engine's SQL.Lock.
func (c *Conversation) Ask(a Asker, id earshot.ConversationID, lock string) {
	*c = Conversation{ConversationRow: rule.NewConversationRow(id)}
	a.Ask(`SELECT `+rule.ConversationColumns+` FROM conversation`+Named+lock, AgentParams(id, id.Name), c.scan(c.Fields))
}

func (c *Conversation) scan(fields func() []any) func(Row) error {
	return func(row Row) error {
		if err := row.Scan(fields()...); err != nil {
			return err
		}
		c.Found = true
		return c.ReadMetadata()
	}
}

// orNotFound returns err, or [earshot.ErrNotFound] where there was no row.
func (c *Conversation) orNotFound(err error, id earshot.ConversationID) error {
	if err == nil && !c.Found {
		err = rule.NoConversation(id)
	}
	return err
}

// Locked reads a conversation and locks it until the transaction ends.
func (t *Tx) Locked(ctx context.Context, id earshot.ConversationID) (Conversation, error) {
	var c Conversation
	c.Ask(t, id, t.SQL.Lock)
	return c, c.orNotFound(t.Send(ctx), id)
}

// CreateBare creates a conversation of which nothing is said, unless there is one.
func (t *Tx) CreateBare(id earshot.ConversationID, now earshot.Time) {
	t.Write(`INSERT INTO conversation (agent, platform, workspace, channel, `+rule.ConversationColumns+`)
		VALUES ($1, $2, $3, $4, $5, '', 0, 0, 0, 0, '{}', '', $6, $6) ON CONFLICT (agent, platform, workspace, channel, name) DO NOTHING`,
		AgentParams(id, id.Name, int64(now))...)
}

// OpenConversation implements [earshot.Conversations].
func (s *Store) OpenConversation(ctx context.Context, id earshot.ConversationID, idempotencyKey string) (earshot.Conversation, bool, error) {
	return s.CreateConversation(ctx, earshot.Conversation{ID: id}, idempotencyKey)
}

// CreateConversation implements [earshot.Conversations]. It reads first: mostly the
// conversation is there.
func (s *Store) CreateConversation(ctx context.Context, in earshot.Conversation, idempotencyKey string) (earshot.Conversation, bool, error) {
	const what = "open conversation"
	in, key, err := rule.CheckCreate(in, idempotencyKey)
	if err != nil {
		return earshot.Conversation{}, false, err
	}
	o := createCall{in: in, key: key}
	if err := s.engine.Read(ctx, what, o.ask); err != nil {
		return earshot.Conversation{}, false, err
	}
	come, err := o.decide()
	if err != nil {
		return earshot.Conversation{}, false, err
	}
	if come == rule.OpenCreates || come == rule.OpenTakesKey {
		err = s.engine.Apply(ctx, what, func(ctx context.Context, t *Tx) error {
			t.Naming(in.ID)
			o.ask(t)
			if err := t.Send(ctx); err != nil {
				return err
			}
			if come, err = o.decide(); err == nil {
				err = o.put(t, come)
			}
			return err
		})
	}
	if err != nil {
		return earshot.Conversation{}, false, err
	}
	if come == rule.OpenByKey {
		return o.byKey.Conversation, false, nil
	}
	return o.byName.Conversation, come == rule.OpenCreates, nil
}

// FindConversations implements [earshot.Conversations].
func (s *Store) FindConversations(ctx context.Context, q earshot.ConversationQuery) ([]earshot.Conversation, error) {
	q = rule.NormaliseConversationQuery(q)
	var p params
	where := ` WHERE agent = ` + p.add(string(q.Agent))
	if q.Platform != "" {
		where += ` AND platform = ` + p.add(string(q.Platform))
	}
	where += anyOf(&p, "workspace", q.Workspaces) + anyOf(&p, "channel", q.Channels)
	if q.After != nil {
		created, at := p.add(int64(q.After.Created)), q.After.ID
		where += ` AND created <= ` + created + ` AND (created < ` + created + ` OR (platform, workspace, channel, name) > (` +
			p.add(string(at.Scope.Platform)) + `, ` + p.add(string(at.Scope.Workspace)) + `, ` + p.add(string(at.Scope.Channel)) + `, ` + p.add(at.Name) + `))`
	}
	where += ` ORDER BY created DESC, platform, workspace, channel, name`
	if q.Limit > 0 {
		where += ` LIMIT ` + p.add(q.Limit)
	}
	return List(ctx, s.engine, "list conversations", `SELECT platform, workspace, channel, `+rule.ConversationColumns+` FROM conversation`+where, p, func(row Row, c *earshot.Conversation) error {
		r := rule.ConversationRow{}
		if err := row.Scan(append([]any{&r.ID.Scope.Platform, &r.ID.Scope.Workspace, &r.ID.Scope.Channel}, r.Fields()...)...); err != nil {
			return err
		}
		r.ID.Agent = q.Agent
		err := r.ReadMetadata()
		*c = r.Conversation
		return err
	})
}

// anyOf bounds a column to a list of values; without values it does not.
func anyOf[T ~string](p *params, column string, values []T) string {
	if len(values) == 0 {
		return ""
	}
	places := make([]string, len(values))
	for i, v := range values {
		places[i] = p.add(string(v))
	}
	return ` AND ` + column + ` IN (` + strings.Join(places, ", ") + `)`
}

// A createCall is a call of CreateConversation with what it found.
type createCall struct {
	in            earshot.Conversation // what is stored of one that is created
	key           string
	byKey, byName Conversation
}

// ask queries by key, which counts in the whole workspace, and by name.
func (o *createCall) ask(a Asker) {
	id := o.in.ID
	o.byKey = Conversation{ConversationRow: rule.NewConversationRow(id)}
	if o.key != "" {
		a.Ask(`SELECT `+rule.KeyedColumns+rule.ConversationColumns+` FROM conversation WHERE agent = $1 AND workspace = $2 AND idempotency_key = $3 AND idempotency_key <> ''`,
			[]any{string(id.Agent), string(id.Scope.Workspace), o.key}, o.byKey.scan(o.byKey.KeyedFields))
	}
	o.byName.Ask(a, id, "")
}

func (o *createCall) decide() (rule.Opening, error) {
	return rule.DecideOpen(o.in.ID, o.key, o.byKey.Found, o.byName.Found, o.byName.Key)
}

// put creates the conversation, or gives the one that is there its key.
func (o *createCall) put(t *Tx, what rule.Opening) error {
	id := o.in.ID
	switch what {
	case rule.OpenTakesKey:
		t.Write(`UPDATE conversation SET idempotency_key = $6`+Named, AgentParams(id, id.Name, o.key)...)
	case rule.OpenCreates:
		metadata, about, err := rule.ScrubbedValues{Metadata: o.in.Metadata, About: o.in.About}.Columns()
		if err != nil {
			return err
		}
		now := t.now()
		o.byName.Conversation = o.in
		o.byName.Created, o.byName.Updated = now, now
		t.Write(`INSERT INTO conversation (agent, platform, workspace, channel, `+rule.ConversationColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0, 0, $7, $8, $9, $9)`, AgentParams(id, id.Name, o.key, metadata, about, int64(now))...)
	}
	return nil
}

// Conversation implements [earshot.Conversations].
func (s *Store) Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error) {
	id = rule.Conversation(id)
	var c Conversation
	err := s.engine.Read(ctx, "read a conversation", func(a Asker) { c.Ask(a, id, "") })
	if err := c.orNotFound(err, id); err != nil {
		return earshot.Conversation{}, err
	}
	return c.Conversation, nil
}

// MergeMetadata implements [earshot.Conversations].
func (s *Store) MergeMetadata(ctx context.Context, id earshot.ConversationID, patch map[string]*string) (earshot.Conversation, error) {
	id = rule.Conversation(id)
	var c Conversation
	err := s.engine.Apply(ctx, "merge metadata", func(ctx context.Context, t *Tx) (err error) {
		if c, err = t.Locked(ctx, id); err != nil {
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
		c.Metadata, c.Updated = next, s.stamp()
		t.Write(`UPDATE conversation SET metadata = $6, updated = $7`+Named, AgentParams(id, id.Name, string(text), int64(c.Updated))...)
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
	return s.engine.Apply(ctx, "advance cursor", func(ctx context.Context, t *Tx) error {
		c, err := t.Locked(ctx, id)
		if err == nil && seq > c.Cursor {
			t.Write(`UPDATE conversation SET cursor = $6, updated = $7`+Named, AgentParams(id, id.Name, seq, int64(s.stamp()))...)
		}
		return err
	})
}

// PutScrubbed replaces what is said of a conversation, of which something was removed.
func (t *Tx) PutScrubbed(id earshot.ConversationID, x rule.ScrubbedValues, now earshot.Time) error {
	metadata, about, err := x.Columns()
	if err != nil {
		return err
	}
	t.Write(`UPDATE conversation SET metadata = $6, about = $7, updated = $8`+Named, AgentParams(id, id.Name, metadata, about, int64(now))...)
	t.Erased()
	return nil
}

// EraseEpochs removes the text that the epochs of a conversation hold, both ends
// counted, and ends them.
func (t *Tx) EraseEpochs(id earshot.ConversationID, from, to int, now earshot.Time) {
	for _, table := range []string{"session", "named"} {
		t.Write(`DELETE FROM `+table+OfConversation+` AND epoch >= $6 AND epoch <= $7`, AgentParams(id, id.Name, from, to)...)
	}
	t.EraseTurnsOf(id, from, to)
	t.endEpoch(id, to, now)
}

// endEpoch ends a conversation's epoch and those before it.
func (t *Tx) endEpoch(id earshot.ConversationID, epoch int, now earshot.Time) {
	t.Count(&t.Tally.Sessions, `UPDATE conversation SET epoch = $6 + 1, updated = $7`+Named+` AND epoch <= $6`, AgentParams(id, id.Name, epoch, int64(now))...)
}

// hasRead records that a conversation's epoch holds the text of messages.
func (t *Tx) hasRead(id earshot.ConversationID, epoch int, ids []earshot.MessageID) {
	t.Rows(`reading (agent, platform, workspace, channel, conversation, epoch, message)`, AgentParams(id, id.Name, epoch), idRows(ids))
}

// copyRead records that a conversation's epoch holds what another one holds.
func (t *Tx) copyRead(id earshot.ConversationID, from, to int) {
	t.Write(`INSERT INTO reading (platform, workspace, channel, message, agent, conversation, epoch)
		SELECT platform, workspace, channel, message, agent, conversation, CAST($7 AS bigint) FROM reading`+OfConversation+` AND epoch = $6 ON CONFLICT DO NOTHING`,
		AgentParams(id, id.Name, from, to)...)
}

// idRows returns ids as rows of one value.
func idRows(ids []earshot.MessageID) [][]any {
	out := make([][]any, len(ids))
	for i, id := range ids {
		out[i] = []any{string(id)}
	}
	return out
}
