package tables

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// ChannelTables are the tables with a column channel, in both engines; MessageTables have
// one where messages have no place of their own (see [SQL.MessagesIn]). The table channel
// itself, whose column is id, and the erasures are neither.
var (
	ChannelTables = append(slices.Clone(agentTables), "conversation", "outbox", "blob", "blob_file", "draft_reading", "draft", "queued_turn", "reading", "coverage", "barred", "approval", "feedback")
	MessageTables = []string{"event", "reaction", "revision", "thread", "message", "embedding"}
)

// MoveChannel implements [earshot.Store]. Writers of both channels are locked out, and
// open erasures of the workspace, which walk through its channels by their ids. Leases
// are given back: who holds one finds no row of it any more.
func (s *Store) MoveChannel(ctx context.Context, from earshot.Scope, to earshot.ChannelID) error {
	from = rule.Scope(from)
	there := rule.Scope(earshot.Scope{Platform: from.Platform, Workspace: from.Workspace, Channel: to})
	if from == there || to == "" {
		return nil
	}
	return s.engine.Apply(ctx, "move a channel", func(ctx context.Context, t *Tx) error {
		at, target := Args(from), Args(there)
		tables := ChannelTables
		if t.SQL.MessagesIn == In {
			tables = slices.Concat(tables, MessageTables)
		}
		t.Lock(`SELECT 1 FROM erasure WHERE platform = $1 AND workspace = $2 AND ended = 0 ORDER BY id`, at[:2]...)
		both := []earshot.Scope{from, there}
		slices.SortFunc(both, func(x, y earshot.Scope) int { return cmp.Compare(x.Channel, y.Channel) })
		for _, c := range both {
			t.Exclusive(c)
		}
		known, taken := 0, 0
		t.Ask(`SELECT count(*) FROM channel`+OfChannel, at, ScanOne(new(bool), &known))
		for _, table := range tables {
			t.Ask(`SELECT 1 FROM `+table+In+` LIMIT 1`, at, ScanOne(new(bool), &known))
			t.Ask(`SELECT 1 FROM `+table+In+` LIMIT 1`, target, ScanOne(new(bool), &taken))
		}
		for _, table := range MessageTables {
			t.Ask(`SELECT 1 FROM `+table+t.SQL.MessagesIn+` LIMIT 1`, target, ScanOne(new(bool), &taken))
		}
		if err := t.Send(ctx); err != nil {
			return err
		}
		switch {
		case known == 0:
			return nil
		case taken != 0:
			t.moveSpends(from, there)
			return t.join(ctx, from, there)
		}
		t.moveSpends(from, there)
		t.Lock(`SELECT 1 FROM lease`+In+` ORDER BY agent, conversation`, at...)
		t.Lock(`SELECT 1 FROM conversation`+In+` ORDER BY agent, name`, at...)
		t.Lock(`SELECT 1 FROM queued_turn`+In+` ORDER BY id`, at...)
		t.Write(`UPDATE queued_turn SET `+rule.ReleaseSQL+In+` AND `+rule.UnfinishedSQL+` AND `+rule.ReleasedSQL, at...)
		t.Write(`UPDATE lease SET owner = '', until = 0, next = `+rule.FirstInLineSQL+In, at...)
		t.Write(`DELETE FROM channel`+OfChannel, target...) // of which only its name is known
		moved := Args(from, string(to))
		t.Write(`UPDATE channel SET id = $4`+OfChannel, moved...)
		for _, table := range tables {
			t.Write(`UPDATE `+table+` SET channel = $4`+In, moved...)
		}
		t.moveErasures(from, to)
		return nil
	})
}

// moveErasures gives the erasures of a channel its new id. One that walks through the
// workspace begins its phase again, or it would pass over the channel.
func (t *Tx) moveErasures(from earshot.Scope, to earshot.ChannelID) {
	moved := Args(from, string(to))
	t.Write(`UPDATE erasure SET channel = $4, at_channel = CASE WHEN at_channel = '' THEN '' ELSE $4 END`+In, moved...)
	t.Write(`UPDATE erasure SET at_channel = '', at = '' WHERE platform = $1 AND workspace = $2 AND channel = '' AND ended = 0`, moved[:2]...)
}
