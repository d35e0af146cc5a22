package sqlite

import (
	"context"
	"database/sql"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Each turn appends to its epoch: to the session, and to the manifest, which has
// the messages shown, the files attached and the names of people.

// putSession writes what a turn appends to the session. at returns the
// conversation's parameters and appends more.
func (t *tx) putSession(turn earshot.Turn, at func(...any) []any) error {
	for n, e := range turn.Session {
		more, err := rule.WriteEntry(e)
		if err != nil {
			return err
		}
		err = t.exec(`INSERT INTO session (agent, platform, workspace, channel, conversation, epoch, turn, n, role, text, more) VALUES `+marks(11, 1),
			at(turn.Epoch, turn.Number, n, string(e.Role), e.Text, more)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// putManifest writes what a turn appends to the manifest.
func (t *tx) putManifest(turn earshot.Turn, at func(...any) []any) error {
	for n, x := range turn.Shown {
		err := t.exec(`INSERT INTO manifest (agent, platform, workspace, channel, conversation, epoch, turn, n, message, revision) VALUES `+marks(10, 1),
			at(turn.Epoch, turn.Number, n, string(x.ID), int64(x.Revision))...)
		if err != nil {
			return err
		}
	}
	for n, a := range turn.Attached {
		err := t.exec(`INSERT INTO attachment (agent, platform, workspace, channel, conversation, epoch, turn, n, artifact, sha256, tokens) VALUES `+marks(11, 1),
			at(turn.Epoch, turn.Number, n, string(a.ID), a.SHA256, a.Tokens)...)
		if err != nil {
			return err
		}
	}
	for n, x := range turn.Names {
		err := t.exec(`INSERT INTO named (agent, platform, workspace, channel, conversation, epoch, turn, n, author, name) VALUES `+marks(10, 1),
			at(turn.Epoch, turn.Number, n, string(x.ID), x.Name)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Session implements [earshot.Conversations].
func (s *Store) Session(ctx context.Context, id earshot.ConversationID) ([]earshot.SessionEntry, error) {
	id = rule.Conversation(id)
	return s.session(ctx, id, current, own(id, id.Name)...)
}

// current bounds a read to the conversation's current epoch.
const current = `epoch = (SELECT epoch FROM conversation` + ofAgent + ` AND name = ?)`

func (s *Store) session(ctx context.Context, id earshot.ConversationID, which string, a ...any) ([]earshot.SessionEntry, error) {
	return list(ctx, s, "read the session", `SELECT role, text, more FROM session`+ofConversation+` AND `+which+` ORDER BY epoch, turn, n`,
		own(id, append([]any{id.Name}, a...)...),
		func(rows *sql.Rows, e *earshot.SessionEntry) error {
			var more string
			if err := rows.Scan(&e.Role, &e.Text, &more); err != nil {
				return err
			}
			return rule.ReadEntry(more, e)
		})
}

// Manifest implements [earshot.Conversations].
func (s *Store) Manifest(ctx context.Context, id earshot.ConversationID) (earshot.Manifest, error) {
	id = rule.Conversation(id)
	m, err := s.manifest(ctx, id, current, own(id, id.Name)...)
	if err != nil {
		return earshot.Manifest{}, err
	}
	m.whole.Names = rule.Names(m.whole.Names)
	return m.whole, nil
}

// A manifest is a manifest as it was read, with the turn of each row.
type manifest struct {
	whole    earshot.Manifest
	shown    map[int][]earshot.Shown
	attached map[int][]earshot.Attached
	names    map[int][]earshot.Named
}

func (s *Store) manifest(ctx context.Context, id earshot.ConversationID, which string, a ...any) (manifest, error) {
	type row struct {
		turn  int
		shown earshot.Shown
		file  earshot.Attached
		named earshot.Named
	}
	m := manifest{shown: map[int][]earshot.Shown{}, attached: map[int][]earshot.Attached{}, names: map[int][]earshot.Named{}}
	rows := func(columns, table string, scan func(*sql.Rows, *row) error) ([]row, error) {
		return list(ctx, s, "read the manifest", `SELECT turn, `+columns+` FROM `+table+ofConversation+` AND `+which+` ORDER BY epoch, turn, n`,
			own(id, append([]any{id.Name}, a...)...), scan)
	}
	shown, err := rows(`message, revision`, `manifest`, func(rows *sql.Rows, r *row) error {
		return rows.Scan(&r.turn, &r.shown.ID, &r.shown.Revision)
	})
	if err != nil {
		return m, err
	}
	attached, err := rows(`artifact, sha256, tokens`, `attachment`, func(rows *sql.Rows, r *row) error {
		return rows.Scan(&r.turn, &r.file.ID, &r.file.SHA256, &r.file.Tokens)
	})
	if err != nil {
		return m, err
	}
	names, err := rows(`author, name`, `named`, func(rows *sql.Rows, r *row) error {
		return rows.Scan(&r.turn, &r.named.ID, &r.named.Name)
	})
	if err != nil {
		return m, err
	}
	for _, r := range shown {
		m.whole.Shown = append(m.whole.Shown, r.shown)
		m.shown[r.turn] = append(m.shown[r.turn], r.shown)
	}
	for _, r := range attached {
		r.file.Turn = r.turn
		m.whole.Attached = append(m.whole.Attached, r.file)
		m.attached[r.turn] = append(m.attached[r.turn], r.file)
	}
	for _, r := range names {
		m.whole.Names = append(m.whole.Names, r.named)
		m.names[r.turn] = append(m.names[r.turn], r.named)
	}
	return m, nil
}

// share copies a turn's rows into it.
func (m *manifest) share(t *earshot.Turn) {
	t.Shown, t.Attached, t.Names = m.shown[t.Number], m.attached[t.Number], m.names[t.Number]
}
