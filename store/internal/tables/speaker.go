package tables

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// speaking selects the messages in a channel c that are not deleted, of an author or of
// everybody, and the channels c that an erasure concerns.
func (t *Tx) speaking(of earshot.ErasureOf) (messages, channels string, args []any) {
	args = Args(earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel})
	messages = ` FROM message WHERE ` + t.SQL.OfChannelC + ` AND deleted = 0`
	if of.User != "" {
		messages += ` AND author = $4 AND author <> ''`
		args = append(args, string(of.User))
	}
	return messages, ` FROM channel c` + channelsC, args
}

// channelsC bounds a statement to a channel c or, if $3 is "", to those of a workspace.
const (
	channelsC = ` WHERE c.platform = $1 AND c.workspace = $2 AND ($3 = '' OR c.id = $3)`
	inC       = ` WHERE platform = c.platform AND workspace = c.workspace AND channel = c.id`
)

// askLast queries when a person, or anybody in a channel, last said something.
func (t *Tx) askLast(of earshot.ErasureOf, last *earshot.Time) {
	messages, channels, a := t.speaking(of)
	t.Ask(`SELECT coalesce(max((SELECT max(time)`+messages+`)), 0)`+channels, a, ScanOne(new(bool), last))
}

// lastSpoken returns what askLast queries; 0 if never.
func (t *Tx) lastSpoken(ctx context.Context, of earshot.ErasureOf) (last earshot.Time, err error) {
	t.askLast(of, &last)
	err = t.Send(ctx)
	return last, err
}

// askSpoken counts what they have said until a time.
func (t *Tx) askSpoken(of earshot.ErasureOf, until earshot.Time, n *int) {
	messages, channels, a := t.speaking(of)
	bound := ` AND time <= $4`
	if of.User != "" {
		bound = ` AND time <= $5`
	}
	t.Ask(`SELECT CAST(coalesce(sum((SELECT count(*)`+messages+bound+`)), 0) AS bigint)`+channels, append(a, int64(until)), ScanOne(new(bool), n))
}

// knows returns [earshot.ErrNotFound] where nothing is stored of what of names.
func (t *Tx) knows(ctx context.Context, of earshot.ErasureOf) error {
	if of.User != "" {
		return t.knowsUser(ctx, of)
	}
	at := earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel}
	known := false
	var found []earshot.MessageID
	t.Ask(`SELECT 1 FROM channel`+OfChannel, Args(at), ScanOne(&known, new(int)))
	t.Ask(`SELECT id FROM message`+t.SQL.MessagesIn+` AND `+t.SQL.Any(`id`, 4), Args(at, t.list(of.Messages)), Gather(&found, Scan[earshot.MessageID]))
	if err := t.Send(ctx); err != nil {
		return err
	}
	if !known {
		return rule.NoChannel(of.Channel)
	}
	for _, id := range of.Messages {
		if !slices.Contains(found, id) {
			return rule.NoMessage(id)
		}
	}
	return nil
}

func (t *Tx) knowsUser(ctx context.Context, of earshot.ErasureOf) error {
	at := earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel}
	var last earshot.Time
	var named, owns, reacted, did bool
	t.askLast(of, &last)
	t.Ask(`SELECT 1 FROM author WHERE platform = $1 AND workspace = $2 AND id = $3`, []any{string(of.Platform), string(of.Workspace), string(of.User)}, ScanOne(&named, new(int)))
	t.Ask(`SELECT 1 FROM conversation WHERE platform = $1 AND workspace = $2 AND ($3 = '' OR channel = $3) AND about <> '' AND `+t.SQL.Find+`(about, $4) > 0 ORDER BY channel LIMIT 1`,
		Args(at, rule.OwnerNeedle(of.User)), ScanOne(&owns, new(int)))
	t.Ask(`SELECT 1 FROM channel c`+channelsC+` AND EXISTS (SELECT 1 FROM reaction WHERE `+t.SQL.OfChannelC+` AND author = $4 AND author <> '') LIMIT 1`,
		Args(at, string(of.User)), ScanOne(&reacted, new(int)))
	t.Ask(`SELECT 1 FROM channel c`+channelsC+` AND (EXISTS (SELECT 1 FROM approval`+inC+` AND decider = $4 AND decider <> '') OR EXISTS (SELECT 1 FROM approval`+inC+` AND asker = $4 AND asker <> '')
		OR EXISTS (SELECT 1 FROM queued_turn`+inC+` AND stopped_by = $4 AND stopped_by <> '') OR EXISTS (SELECT 1 FROM feedback`+inC+` AND author = $4)) LIMIT 1`,
		Args(at, string(of.User)), ScanOne(&did, new(int)))
	err := t.Send(ctx)
	if err == nil && last == 0 && !(named && of.Channel == "") && !owns && !reacted && !did {
		err = rule.UnknownPersonError(of.User)
	}
	return err
}

// ForgetAuthors implements [rule.Eraser].
func (e Eraser) ForgetAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	for _, id := range ids {
		last, err := e.lastSpoken(ctx, earshot.ErasureOf{Platform: p, Workspace: w, User: id})
		if err != nil {
			return err
		}
		if last == 0 {
			e.Count(&e.Tally.Names, `DELETE FROM author WHERE platform = $1 AND workspace = $2 AND id = $3`, string(p), string(w), string(id))
			e.Erased()
		}
	}
	return e.Send(ctx)
}

// nameless returns those of the authors who are erased from a workspace and have said
// nothing there since: then no name is stored of them.
func (t *Tx) nameless(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors []earshot.Author) (map[earshot.AuthorID]bool, error) {
	var ids, barred []earshot.AuthorID
	for _, a := range authors {
		ids = append(ids, a.ID)
	}
	t.Ask(`SELECT author FROM barred WHERE platform = $1 AND workspace = $2 AND channel = '' AND `+t.SQL.Any(`author`, 3),
		[]any{string(p), string(w), t.SQL.List(Texts(ids))}, Gather(&barred, Scan[earshot.AuthorID]))
	if err := t.Send(ctx); err != nil {
		return nil, err
	}
	out := map[earshot.AuthorID]bool{}
	for _, id := range barred {
		last, err := t.lastSpoken(ctx, earshot.ErasureOf{Platform: p, Workspace: w, User: id})
		if err != nil {
			return nil, err
		}
		out[id] = last == 0
	}
	return out, nil
}
