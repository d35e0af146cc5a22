package postgres

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// bySpeaker selects the messages that are not deleted of an author, in a channel or
// everywhere, or of everybody in a channel.
func bySpeaker(of earshot.ErasureOf) (string, []any) {
	a := []any{string(of.Platform), string(of.Workspace)}
	const which = ` WHERE platform = $1 AND workspace = $2 AND deleted = 0`
	switch {
	case of.User == "":
		return which + ` AND channel = $3`, append(a, string(of.Channel))
	case of.Channel == "":
		return which + ` AND author = $3 AND author <> ''`, append(a, string(of.User))
	}
	return which + ` AND author = $3 AND author <> '' AND channel = $4`, append(a, string(of.User), string(of.Channel))
}

// LastSpoken implements [tables.Conn].
func (t *tx) LastSpoken(ctx context.Context, of earshot.ErasureOf) (last earshot.Time, err error) {
	which, a := bySpeaker(of)
	t.Ask(`SELECT coalesce(max(time), 0) FROM message`+which, a, tables.One(new(bool), &last))
	err = t.Send(ctx)
	return last, err
}

// AskSpoken implements [tables.Conn].
func (t *tx) AskSpoken(of earshot.ErasureOf, until earshot.Time, n *int) {
	which, a := bySpeaker(of)
	t.Ask(`SELECT count(*) FROM message`+which+fmt.Sprintf(` AND time <= $%d`, len(a)+1), append(a, int64(until)), tables.One(new(bool), n))
}

// Knows implements [tables.Conn].
func (t *tx) Knows(ctx context.Context, of earshot.ErasureOf) error {
	scope := earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel}
	var spoke, named, owns, reacted, known bool
	var found []earshot.MessageID
	which, a := bySpeaker(of)
	t.Ask(`SELECT 1 FROM message`+which+` ORDER BY channel, time LIMIT 1`, a, tables.One(&spoke, new(int)))
	t.Ask(`SELECT 1 FROM author WHERE platform = $1 AND workspace = $2 AND id = $3`, []any{string(of.Platform), string(of.Workspace), string(of.User)}, tables.One(&named, new(int)))
	if of.User != "" {
		t.Ask(`SELECT 1 FROM conversation WHERE platform = $1 AND workspace = $2 AND ($3 = '' OR channel = $3) AND about <> '' AND strpos(about, $4) > 0 ORDER BY channel LIMIT 1`,
			tables.Args(scope, rule.OwnerNeedle(of.User)), tables.One(&owns, new(int)))
		t.Ask(`SELECT 1 FROM channel c JOIN reaction r ON r.platform = $1 AND r.workspace = $2 AND r.channel = c.id AND r.author = $4 AND r.author <> ''
			WHERE c.platform = $1 AND c.workspace = $2 AND ($3 = '' OR c.id = $3) LIMIT 1`, tables.Args(scope, string(of.User)), tables.One(&reacted, new(int)))
	}
	t.Ask(`SELECT 1 FROM channel`+tables.OfChannel, tables.Args(scope), tables.One(&known, new(int)))
	t.Ask(`SELECT id FROM message`+in+` AND id = ANY($4) ORDER BY id`, tables.Args(scope, tables.Texts(of.Messages)),
		tables.Gather(&found, tables.Scan[earshot.MessageID]))
	if err := t.Send(ctx); err != nil {
		return err
	}
	switch {
	case of.User != "" && !spoke && !(named && of.Channel == "") && !owns && !reacted:
		return rule.NothingOf(of.User)
	case of.User == "" && !known:
		return rule.NoChannel(of.Channel)
	}
	for i, id := range of.Messages {
		if i >= len(found) || found[i] != id {
			return rule.NoMessage(id)
		}
	}
	return nil
}

// ForgetAuthors implements [tables.Conn].
func (t *tx) ForgetAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	t.Count(&t.Tally.Names, `DELETE FROM author a WHERE platform = $1 AND workspace = $2 AND id = ANY($3)
		AND NOT EXISTS (SELECT 1 FROM message m WHERE m.platform = $1 AND m.workspace = $2 AND m.author = a.id AND m.deleted = 0 AND m.author <> '')`,
		string(p), string(w), tables.Texts(ids))
	return t.Send(ctx)
}

// StepErasure implements [earshot.Erasures]. A step that has changed messages ends
// with their channel, since it has locked it.
func (s *Store) StepErasure(ctx context.Context, id earshot.ErasureID) (earshot.Erasure, error) {
	var x rule.Erasure
	err := s.apply(ctx, "step an erasure", func(ctx context.Context, t *tx) error {
		found := false
		t.Ask(`SELECT id, `+rule.ErasureColumns+` FROM erasure WHERE id = $1 FOR UPDATE`, []any{int64(id)}, func(rows tables.Row) error {
			x, found = rule.Erasure{}, true
			return tables.ScanErasure(rows, &x)
		})
		if err := t.Send(ctx); err != nil {
			return err
		}
		if !found {
			return rule.NoErasure(id)
		}
		if x.Ended != 0 {
			return nil
		}
		enough, at := rule.StepBudget(), x.Channel
		err := x.Work(ctx, tables.Eraser{Tx: &t.Tx}, earshot.TimeOf(s.now()), func() bool {
			moved := t.Tally != earshot.ErasureCounts{} && x.Channel != at
			at = x.Channel
			return enough() || moved
		})
		if err == nil {
			err = t.Send(ctx)
		}
		if err != nil {
			return err
		}
		rule.AddCounts(&x.Removed, t.Tally)
		v, err := rule.ErasureValues(x)
		if err != nil {
			return err
		}
		t.Write(`UPDATE erasure SET (`+rule.ErasureColumns+`) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) WHERE id = $1`, append([]any{int64(id)}, v...)...)
		return nil
	})
	return x.Erasure, err
}
