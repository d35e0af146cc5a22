package sqlite

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// ofChannels selects the channels that an erasure concerns.
const ofChannels = ` WHERE c.platform = ? AND c.workspace = ? AND (? = '' OR c.id = ?)`

func channelsArgs(of earshot.ErasureOf) []any {
	return []any{string(of.Platform), string(of.Workspace), string(of.Channel), string(of.Channel)}
}

// bySpeaker selects a channel's messages that are not deleted, of an author or of
// everybody.
func bySpeaker(of earshot.ErasureOf) (string, []any) {
	if of.User == "" {
		return `place = c.place AND deleted = 0`, nil
	}
	return `place = c.place AND author = ? AND deleted = 0`, []any{string(of.User)}
}

// AskSpoken implements [tables.Conn].
func (t *tx) AskSpoken(of earshot.ErasureOf, until earshot.Time, n *int) {
	which, a := bySpeaker(of)
	t.Ask(`SELECT coalesce(sum((SELECT count(*) FROM message WHERE `+which+` AND time <= ?)), 0) FROM channel c`+ofChannels,
		append(append(a, int64(until)), channelsArgs(of)...), tables.One(new(bool), n))
}

// LastSpoken implements [tables.Conn].
func (t *tx) LastSpoken(_ context.Context, of earshot.ErasureOf) (last earshot.Time, err error) {
	which, a := bySpeaker(of)
	_, err = t.one(`SELECT coalesce(max((SELECT max(time) FROM message WHERE `+which+`)), 0) FROM channel c`+ofChannels,
		append(a, channelsArgs(of)...), []any{&last})
	return last, err
}

// Knows implements [tables.Conn].
func (t *tx) Knows(ctx context.Context, of earshot.ErasureOf) error {
	scope := earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel}
	var one int
	if of.User != "" {
		last, err := t.LastSpoken(ctx, of)
		if err != nil || last != 0 {
			return err
		}
		named := false
		if of.Channel == "" {
			if named, err = t.one(`SELECT 1 FROM author WHERE platform = ? AND workspace = ? AND id = ?`, tables.Args(earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: earshot.ChannelID(of.User)}), []any{&one}); err != nil {
				return err
			}
		}
		if !named {
			named, err = t.one(`SELECT 1 FROM conversation WHERE platform = ? AND workspace = ? AND (? = '' OR channel = ?) AND about <> '' AND instr(about, ?) > 0 ORDER BY channel LIMIT 1`,
				append(channelsArgs(of), rule.OwnerNeedle(of.User)), []any{&one})
			if err != nil {
				return err
			}
		}
		if !named {
			named, err = t.one(`SELECT 1 FROM channel c JOIN reaction r ON r.place = c.place AND r.author = ? AND r.author <> ''`+ofChannels+` LIMIT 1`,
				append([]any{string(of.User)}, channelsArgs(of)...), []any{&one})
			if err != nil {
				return err
			}
		}
		if !named {
			return rule.NothingOf(of.User)
		}
		return nil
	}
	known, err := t.one(`SELECT 1 FROM channel`+ofChannel, tables.Args(scope), []any{&one})
	if err != nil {
		return err
	}
	if !known {
		return rule.NoChannel(of.Channel)
	}
	for _, id := range of.Messages {
		known, err := t.one(`SELECT 1 FROM message`+inID, tables.Args(scope, string(id)), []any{&one})
		if err != nil {
			return err
		}
		if !known {
			return rule.NoMessage(id)
		}
	}
	return nil
}

// ForgetAuthors implements [tables.Conn].
func (t *tx) ForgetAuthors(_ context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	for _, id := range ids {
		last, err := t.LastSpoken(context.Background(), earshot.ErasureOf{Platform: p, Workspace: w, User: id})
		if err != nil {
			return err
		}
		if last != 0 {
			continue
		}
		n, err := t.affected(`DELETE FROM author WHERE platform = ? AND workspace = ? AND id = ?`, string(p), string(w), string(id))
		if err := errors.Join(err, t.needScrub()); err != nil {
			return err
		}
		t.Tally.Names += n
	}
	return nil
}

// StepErasure implements [earshot.Erasures]. A power cut may undo steps, which are then
// done again; the end of an erasure it cannot undo.
func (s *Store) StepErasure(ctx context.Context, id earshot.ErasureID) (earshot.Erasure, error) {
	var x rule.Erasure
	err := s.do(ctx, "step an erasure", &job{heavy: true, volatile: true, apply: func(t *tx) error {
		found, err := all(t, `SELECT id, `+rule.ErasureColumns+` FROM erasure WHERE id = ?`, []any{int64(id)}, tables.ScanErasure)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return rule.NoErasure(id)
		}
		if x = found[0]; x.Ended != 0 {
			return nil
		}
		t.Tally = earshot.ErasureCounts{}
		if err := t.did(x.Work(context.Background(), tables.Eraser{Tx: &t.Tx}, earshot.TimeOf(s.now()), rule.StepBudget())); err != nil {
			return err
		}
		rule.AddCounts(&x.Removed, t.Tally)
		v, err := rule.ErasureValues(x)
		if err != nil {
			return err
		}
		return t.exec(`UPDATE erasure SET (`+rule.ErasureColumns+`) = `+marks(rule.ErasureColumnCount, 1)+` WHERE id = ?`, append(v, int64(id))...)
	}})
	if err != nil || x.Ended == 0 {
		return x.Erasure, err
	}
	return x.Erasure, s.apply(ctx, "end an erasure", func(t *tx) error {
		return t.exec(`UPDATE erasure SET ended = ? WHERE id = ?`, int64(x.Ended), int64(id))
	})
}

// nameless reports whether an author is erased from a workspace and has said nothing
// there since: then no name is stored of them.
func (t *tx) nameless(p earshot.Platform, w earshot.WorkspaceID, id earshot.AuthorID) (bool, error) {
	var one int
	erased, err := t.one(`SELECT 1 FROM barred WHERE platform = ? AND workspace = ? AND channel = '' AND author = ?`,
		[]any{string(p), string(w), string(id)}, []any{&one})
	if err != nil || !erased {
		return false, err
	}
	last, err := t.LastSpoken(context.Background(), earshot.ErasureOf{Platform: p, Workspace: w, User: id})
	return last == 0, err
}
