package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// append queues what a turn appends to its epoch: to the session, and to the manifest,
// which has the messages shown, the files attached and the names of people. at are the
// conversation's parameters, the epoch and the turn.
func (t *Tx) append(turn earshot.Turn, at []any) error {
	const turnColumns = ` (agent, platform, workspace, channel, conversation, epoch, turn, n, `
	var said, shown, attached, names [][]any
	for n, e := range turn.Session {
		more, err := rule.WriteEntry(e)
		if err != nil {
			return err
		}
		said = append(said, []any{n, string(e.Role), e.Text, more})
	}
	for n, x := range turn.Shown {
		shown = append(shown, []any{n, string(x.ID), int64(x.Revision), x.Seen})
	}
	for n, a := range turn.Attached {
		attached = append(attached, []any{n, string(a.ID), a.SHA256, a.Tokens})
	}
	for n, x := range turn.Names {
		names = append(names, []any{n, string(x.ID), x.Name})
	}
	t.Rows(`session`+turnColumns+`role, text, more)`, at, said)
	t.Rows(`manifest`+turnColumns+`message, revision, seen)`, at, shown)
	t.Rows(`attachment`+turnColumns+`artifact, sha256, tokens)`, at, attached)
	t.Rows(`named`+turnColumns+`author, name)`, at, names)
	return nil
}

// current bounds a read to the conversation's current epoch.
const current = `epoch = (SELECT epoch FROM conversation` + Named + `)`

// Session implements [earshot.Conversations].
func (s *Store) Session(ctx context.Context, id earshot.ConversationID) ([]earshot.SessionEntry, error) {
	id = rule.Conversation(id)
	var out []earshot.SessionEntry
	err := s.engine.Read(ctx, "read the session", func(a Asker) {
		out = nil
		askSession(a, id, current, &out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func askSession(a Asker, id earshot.ConversationID, which string, out *[]earshot.SessionEntry, more ...any) {
	a.Ask(`SELECT role, text, more FROM session`+OfConversation+` AND `+which+` ORDER BY epoch, turn, n`, AgentParams(id, append([]any{id.Name}, more...)...),
		Gather(out, func(row Row, e *earshot.SessionEntry) error {
			var more string
			if err := row.Scan(&e.Role, &e.Text, &more); err != nil {
				return err
			}
			return rule.ReadEntry(more, e)
		}))
}

// Manifest implements [earshot.Conversations].
func (s *Store) Manifest(ctx context.Context, id earshot.ConversationID) (earshot.Manifest, error) {
	id = rule.Conversation(id)
	var m manifest
	if err := s.engine.Read(ctx, "read the manifest", func(a Asker) { m.ask(a, id, current) }); err != nil {
		return earshot.Manifest{}, err
	}
	return m.whole(), nil
}

// A manifest is a manifest as it was read, with the turn of each row.
type manifest struct {
	shown    []shownRow
	attached []earshot.AttachedFile
	names    []name
}

type shownRow struct {
	earshot.ShownRevision
	turn int
}

type name struct {
	earshot.SessionName
	turn int
}

func (m *manifest) ask(a Asker, id earshot.ConversationID, which string, more ...any) {
	*m = manifest{}
	at := AgentParams(id, append([]any{id.Name}, more...)...)
	const order = ` ORDER BY epoch, turn, n`
	a.Ask(`SELECT turn, message, revision, seen FROM manifest`+OfConversation+` AND `+which+order, at,
		Gather(&m.shown, func(row Row, x *shownRow) error { return row.Scan(&x.turn, &x.ID, &x.Revision, &x.Seen) }))
	a.Ask(`SELECT turn, artifact, sha256, tokens FROM attachment`+OfConversation+` AND `+which+order, at,
		Gather(&m.attached, func(row Row, x *earshot.AttachedFile) error { return row.Scan(&x.Turn, &x.ID, &x.SHA256, &x.Tokens) }))
	a.Ask(`SELECT turn, author, name FROM named`+OfConversation+` AND `+which+order, at,
		Gather(&m.names, func(row Row, x *name) error { return row.Scan(&x.turn, &x.ID, &x.Name) }))
}

func (m *manifest) whole() earshot.Manifest {
	out := earshot.Manifest{Attached: m.attached}
	for _, x := range m.shown {
		out.Shown = append(out.Shown, x.ShownRevision)
	}
	for _, x := range m.names {
		out.Names = append(out.Names, x.SessionName)
	}
	out.Names = rule.Names(out.Names)
	return out
}

// share copies to each turn its rows. turns are in the order of their numbers.
func (m *manifest) share(turns []earshot.Turn) {
	at := func(number int) *earshot.Turn { return &turns[number-turns[0].Number] }
	for _, x := range m.shown {
		t := at(x.turn)
		t.Shown = append(t.Shown, x.ShownRevision)
	}
	for _, x := range m.attached {
		t := at(x.Turn)
		t.Attached = append(t.Attached, x)
	}
	for _, x := range m.names {
		t := at(x.turn)
		t.Names = append(t.Names, x.SessionName)
	}
}
