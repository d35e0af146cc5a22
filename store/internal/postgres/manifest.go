package postgres

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// Each turn appends to its epoch: to the session, and to the manifest, which has
// the messages shown, the files attached and the names of people.

// appended returns a statement that appends a turn's rows, numbered from 0. The
// values of the columns are arrays.
func appended(table, columns, values, arrays string) string {
	return `INSERT INTO ` + table + ` (agent, platform, workspace, channel, conversation, epoch, turn, n, ` + columns + `)
		SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::bigint, $7::bigint, v.n - 1, ` + values + `
		FROM unnest(` + arrays + `) WITH ORDINALITY AS v (` + values + `, n)`
}

var (
	appendSession    = appended("session", "role, text, more", "a, b, c", "$8::text[], $9::text[], $10::text[]")
	appendManifest   = appended("manifest", "message, revision", "a, b", "$8::text[], $9::bigint[]")
	appendAttachment = appended("attachment", "artifact, sha256, tokens", "a, b, c", "$8::text[], $9::text[], $10::bigint[]")
	appendNamed      = appended("named", "author, name", "a, b", "$8::text[], $9::text[]")
)

// writeSession queues what a turn appends to the session. at returns the
// conversation's parameters and appends more.
func (t *tx) writeSession(turn earshot.Turn, at func(...any) []any) error {
	if len(turn.Session) == 0 {
		return nil
	}
	var roles, lines, rest []string
	for _, e := range turn.Session {
		more, err := rule.WriteEntry(e)
		if err != nil {
			return err
		}
		roles, lines, rest = append(roles, string(e.Role)), append(lines, e.Text), append(rest, more)
	}
	t.write(appendSession, at(turn.Epoch, turn.Number, roles, lines, rest)...)
	return nil
}

// writeManifest queues what a turn appends to the manifest.
func (t *tx) writeManifest(turn earshot.Turn, at func(...any) []any) {
	if len(turn.Shown) > 0 {
		var ids []string
		var revisions []int64
		for _, x := range turn.Shown {
			ids, revisions = append(ids, string(x.ID)), append(revisions, int64(x.Revision))
		}
		t.write(appendManifest, at(turn.Epoch, turn.Number, ids, revisions)...)
	}
	if len(turn.Attached) > 0 {
		var ids, sums []string
		var counts []int64
		for _, a := range turn.Attached {
			ids, sums, counts = append(ids, string(a.ID)), append(sums, a.SHA256), append(counts, int64(a.Tokens))
		}
		t.write(appendAttachment, at(turn.Epoch, turn.Number, ids, sums, counts)...)
	}
	if len(turn.Names) > 0 {
		var ids, names []string
		for _, x := range turn.Names {
			ids, names = append(ids, string(x.ID)), append(names, x.Name)
		}
		t.write(appendNamed, at(turn.Epoch, turn.Number, ids, names)...)
	}
}

// current bounds a read to the conversation's current epoch.
const current = `epoch = (SELECT epoch FROM conversation` + named + `)`

// Session implements [earshot.Conversations].
func (s *Store) Session(ctx context.Context, id earshot.ConversationID) ([]earshot.SessionEntry, error) {
	id = rule.Conversation(id)
	var out []earshot.SessionEntry
	err := s.read(ctx, func(t *tx) {
		out = nil
		t.askSession(id, current, &out)
	})
	if err != nil {
		return nil, fmt.Errorf("read the session: %w", err)
	}
	return out, nil
}

func (t *tx) askSession(id earshot.ConversationID, which string, out *[]earshot.SessionEntry, more ...any) {
	t.ask(`SELECT role, text, more FROM session`+ofConversation+` AND `+which+` ORDER BY epoch, turn, n`, own(id, append([]any{id.Name}, more...)...),
		gather(out, func(rows pgx.Rows, e *earshot.SessionEntry) error {
			var more string
			if err := rows.Scan(&e.Role, &e.Text, &more); err != nil {
				return err
			}
			return rule.ReadEntry(more, e)
		}))
}

// Manifest implements [earshot.Conversations].
func (s *Store) Manifest(ctx context.Context, id earshot.ConversationID) (earshot.Manifest, error) {
	id = rule.Conversation(id)
	var m manifest
	if err := s.read(ctx, func(t *tx) { m.ask(t, id, current) }); err != nil {
		return earshot.Manifest{}, fmt.Errorf("read the manifest: %w", err)
	}
	return m.whole(), nil
}

// A manifest is a manifest as it was read, with the turn of each row.
type manifest struct {
	shown    []shown
	attached []earshot.Attached
	names    []name
}

type shown struct {
	earshot.Shown
	turn int
}

type name struct {
	earshot.Named
	turn int
}

func (m *manifest) ask(t *tx, id earshot.ConversationID, which string, more ...any) {
	*m = manifest{}
	a := own(id, append([]any{id.Name}, more...)...)
	const order = ` ORDER BY epoch, turn, n`
	t.ask(`SELECT turn, message, revision FROM manifest`+ofConversation+` AND `+which+order, a,
		gather(&m.shown, func(rows pgx.Rows, x *shown) error { return rows.Scan(&x.turn, &x.ID, &x.Revision) }))
	t.ask(`SELECT turn, artifact, sha256, tokens FROM attachment`+ofConversation+` AND `+which+order, a,
		gather(&m.attached, func(rows pgx.Rows, x *earshot.Attached) error { return rows.Scan(&x.Turn, &x.ID, &x.SHA256, &x.Tokens) }))
	t.ask(`SELECT turn, author, name FROM named`+ofConversation+` AND `+which+order, a,
		gather(&m.names, func(rows pgx.Rows, x *name) error { return rows.Scan(&x.turn, &x.ID, &x.Name) }))
}

func (m *manifest) whole() earshot.Manifest {
	out := earshot.Manifest{Attached: m.attached}
	for _, x := range m.shown {
		out.Shown = append(out.Shown, x.Shown)
	}
	for _, x := range m.names {
		out.Names = append(out.Names, x.Named)
	}
	out.Names = rule.Names(out.Names)
	return out
}

// share copies to each turn its rows. turns are in the order of their numbers.
func (m *manifest) share(turns []earshot.Turn) {
	at := func(number int) *earshot.Turn { return &turns[number-turns[0].Number] }
	for _, x := range m.shown {
		t := at(x.turn)
		t.Shown = append(t.Shown, x.Shown)
	}
	for _, x := range m.attached {
		t := at(x.Turn)
		t.Attached = append(t.Attached, x)
	}
	for _, x := range m.names {
		t := at(x.turn)
		t.Names = append(t.Names, x.Named)
	}
}
