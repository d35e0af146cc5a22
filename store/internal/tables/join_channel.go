package tables

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// twicePage is how many messages that two channels have are joined at a time.
const twicePage = 500

// join makes one channel of two, under the id of the second. Both are locked.
//
// Sequences are made one: first come those of the channel that moves, above all that the
// other one has given, then the other one's. So what somebody has read of the other one,
// a search index for instance, finds all as what became known since, and cursors move with
// what they stand behind.
func (t *Tx) join(ctx context.Context, from, to earshot.Scope) error {
	both := []earshot.Scope{from, to}
	slices.SortFunc(both, func(x, y earshot.Scope) int { return cmp.Compare(x.Channel, y.Channel) })
	for _, s := range both {
		t.Write(OpenChannel, Args(s)...)
		t.Blobs(s)
		t.Lock(`SELECT 1 FROM lease`+In+` ORDER BY agent, conversation`, Args(s)...)
		t.Lock(`SELECT 1 FROM conversation`+In+` ORDER BY agent, name`, Args(s)...)
		t.Lock(`SELECT 1 FROM queued_turn`+In+` ORDER BY id`, Args(s)...)
	}
	for _, x := range [][2]earshot.Scope{{to, from}, {from, to}} { // a refusal is no turn where there is one
		t.Write(`DELETE FROM queued_turn`+In+` AND `+rule.RefusedSQL+` AND EXISTS (SELECT 1 FROM queued_turn o`+inOther+` AND o.anchor = queued_turn.anchor AND o.agent = queued_turn.agent)`,
			Args(x[0], string(x[1].Channel))...)
	}
	conversations, err := t.mayJoin(ctx, from, to)
	if err != nil {
		return err
	}
	if err := t.buryTwice(ctx, from, to); err != nil {
		return err
	}
	var was, is int64
	t.Ask(`SELECT seq FROM channel`+OfChannel, Args(from), ScanOne(new(bool), &was))
	t.Ask(`SELECT seq FROM channel`+OfChannel, Args(to), ScanOne(new(bool), &is))
	if err := t.Send(ctx); err != nil {
		return err
	}
	twice, err := t.takeTwice(ctx, from, to, was+is)
	if err != nil {
		return err
	}
	t.shift(to, to, was+is)
	t.shift(from, to, is)
	t.joinConversations(conversations, to)
	if err := t.joinTables(ctx, from, to); err != nil {
		return err
	}
	t.recount(to, was+is+is)
	for page := range slices.Chunk(twice, twicePage) {
		if err := t.joinTwice(ctx, to, page); err != nil {
			return err
		}
	}
	t.Write(`UPDATE queued_turn SET `+rule.ReleaseSQL+In+` AND `+rule.UnfinishedSQL+` AND `+rule.ReleasedSQL, Args(to)...)
	t.Write(`UPDATE lease SET owner = '', until = 0, next = `+rule.FirstInLineSQL+In, Args(to)...)
	t.moveErasures(from, to.Channel)
	return t.Send(ctx)
}

// inOther bounds a query of a table o to the channel $4.
const inOther = ` WHERE o.platform = $1 AND o.workspace = $2 AND o.channel = $4`

// mayJoin returns the conversations that both channels have, or why they cannot be joined.
func (t *Tx) mayJoin(ctx context.Context, from, to earshot.Scope) ([]rule.JoinedConversation, error) {
	x := rule.JoinState{From: from, To: to}
	at := Args(from, string(to.Channel))
	const side = `c.turns, CASE WHEN c.idempotency_key <> '' OR c.about <> '' OR c.metadata NOT IN ('', '{}') THEN 1 ELSE 0 END,
		(SELECT count(*) FROM queued_turn q WHERE q.agent = c.agent AND q.platform = c.platform AND q.workspace = c.workspace AND q.channel = c.channel
			AND q.conversation = c.name AND NOT q.` + rule.FinalSQL + ` AND q.from_epoch >= 0)`
	ask := func(which, other string, each func(id earshot.ConversationID, s rule.ConversationSide)) {
		t.Ask(`SELECT c.agent, c.name, `+side+` FROM conversation c WHERE c.platform = $1 AND c.workspace = $2 AND c.channel = `+which+`
			AND EXISTS (SELECT 1 FROM conversation o WHERE o.agent = c.agent AND o.platform = $1 AND o.workspace = $2 AND o.channel = `+other+` AND o.name = c.name)
			ORDER BY c.agent, c.name`, at, func(row Row) error {
			id := earshot.ConversationID{Scope: from}
			var s rule.ConversationSide
			var said, begun int
			err := row.Scan(&id.Agent, &id.Name, &s.Turns, &said, &begun)
			s.Said, s.Begun = said != 0, begun != 0
			each(id, s)
			return err
		})
	}
	ask(`$3`, `$4`, func(id earshot.ConversationID, s rule.ConversationSide) {
		x.Conversations = append(x.Conversations, rule.JoinedConversation{ID: id, Was: s})
	})
	n := 0
	ask(`$4`, `$3`, func(_ earshot.ConversationID, s rule.ConversationSide) {
		x.Conversations[n].Is = s
		n++
	})
	for _, table := range []string{"turn", "queued_turn"} {
		t.Ask(`SELECT agent, conversation, anchor FROM `+table+In+` AND EXISTS (SELECT 1 FROM `+table+` o`+inOther+` AND o.anchor = `+table+`.anchor AND o.agent = `+table+`.agent)
			ORDER BY agent, anchor LIMIT 1`, at, func(row Row) error {
			x.Twice = &earshot.ConversationID{Scope: from}
			return row.Scan(&x.Twice.Agent, &x.Twice.Name, &x.Anchor)
		})
	}
	t.Ask(`SELECT key FROM outbox`+In+` AND key <> '' AND key IN (SELECT o.key FROM outbox o`+inOther+` AND o.key <> '') ORDER BY key LIMIT 1`, at, ScanOne(new(bool), &x.Post))
	t.askOwnBars(from, &x.Was.Bars)
	t.askOwnBars(to, &x.Is.Bars)
	if err := t.Send(ctx); err != nil {
		return nil, err
	}
	t.askReached(from, x.Was.Bars, x.Is.Bars, &x.Was.Reached)
	t.askReached(to, x.Is.Bars, x.Was.Bars, &x.Is.Reached)
	if err := t.Send(ctx); err != nil {
		return nil, err
	}
	return x.Conversations, x.Check()
}

// askReached queries which bars a channel lacks that reach something it has: see
// [rule.Bar.Reaches].
func (t *Tx) askReached(s earshot.Scope, mine, others []rule.Bar, out *[]rule.Bar) {
	for _, b := range rule.Unbarred(mine, others) {
		which, a := `time <= $4 OR time < $5`, Args(s, int64(b.Until), int64(b.Floor))
		if b.Author != "" {
			labelled, quoted := rule.Needles(b.Author)
			which = `time <= $4 AND (author = $5 OR ` + t.SQL.Find + `(text, $6) > 0 OR ` + t.SQL.Find + `(lists, $6) > 0) OR ` + t.SQL.Find + `(lists, $7) > 0`
			a = Args(s, int64(b.Until), string(b.Author), labelled, quoted)
		}
		t.Ask(`SELECT 1 FROM message`+t.SQL.MessagesIn+` AND deleted = 0 AND (`+which+`) LIMIT 1`, a, func(Row) error {
			*out = append(*out, b)
			return nil
		})
	}
}

// askOwnBars queries the bars of a channel alone.
func (t *Tx) askOwnBars(s earshot.Scope, out *[]rule.Bar) {
	t.Ask(`SELECT author, until, floor FROM barred`+In+` ORDER BY author`, Args(s), Gather(out, func(row Row, x *rule.Bar) error { return row.Scan(&x.Author, &x.Until, &x.Floor) }))
}

// buryTwice deletes the messages of a channel that the one that moves has as tombstones,
// and what has read them.
func (t *Tx) buryTwice(ctx context.Context, from, to earshot.Scope) error {
	var ids []earshot.MessageID
	t.Ask(`SELECT id FROM message`+t.SQL.MessagesIn+` AND deleted = 0 AND id IN (SELECT id FROM message`+t.SQL.MessagesIn4+` AND deleted = 1) ORDER BY id`,
		Args(to, string(from.Channel)), Gather(&ids, Scan[earshot.MessageID]))
	if err := t.Send(ctx); err != nil {
		return err
	}
	for page := range slices.Chunk(ids, twicePage) {
		gone := rule.Tombstones(page)
		b, err := t.Batch(ctx, to, gone, nil)
		if err != nil {
			return err
		}
		for _, m := range gone {
			b.Add(m)
		}
		if err := t.WriteBatch(ctx, to, b); err != nil {
			return err
		}
	}
	return nil
}

// A twice is a message that both channels have, or reactions to, as the second has it.
type twice struct {
	id      earshot.MessageID
	message *earshot.Message // nil where it has only reactions
	copies  []rule.Message
	gave    []rule.Gave
}

// takeTwice removes from a channel what the one that moves has too, and returns it in the
// order in which it became known. by is added to sequences.
func (t *Tx) takeTwice(ctx context.Context, from, to earshot.Scope, by int64) ([]twice, error) {
	var ids []earshot.MessageID
	has := func(column, table string) string { return `SELECT ` + column + ` FROM ` + table + t.SQL.MessagesIn }
	other := ` IN (SELECT id FROM message` + t.SQL.MessagesIn4 + ` UNION SELECT message FROM reaction` + t.SQL.MessagesIn4 + `)`
	t.Ask(has(`id`, `message`)+` AND id`+other+` UNION `+has(`message`, `reaction`)+` AND message`+other+` ORDER BY 1`, Args(to, string(from.Channel)), Gather(&ids, Scan[earshot.MessageID]))
	if err := t.Send(ctx); err != nil {
		return nil, err
	}
	var out []twice
	for page := range slices.Chunk(ids, twicePage) {
		var messages, past []earshot.Message
		var gave []rule.Gave
		t.askMessages("message", to, page, &messages)
		t.askMessages("revision", to, page, &past)
		t.askGave(to, page, &gave)
		if err := t.Send(ctx); err != nil {
			return nil, err
		}
		for _, x := range []struct{ table, column string }{{"message", "id"}, {"revision", "id"}, {"reaction", "message"}} {
			t.Write(`DELETE FROM `+x.table+t.SQL.MessagesIn+` AND `+t.SQL.Any(x.column, 4), Args(to, t.list(page))...)
		}
		for _, id := range page {
			x := twice{id: id}
			for i := range messages {
				if messages[i].ID == id {
					x.message = &messages[i]
				}
			}
			x.copies = rule.Copies(id, past, x.message, by)
			for _, g := range gave {
				if g.Message == id {
					x.gave = append(x.gave, g)
				}
			}
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b twice) int { return int(a.seq() - b.seq()) })
	return out, nil
}

func (x twice) seq() int64 {
	if x.message == nil {
		return 0
	}
	return x.message.Seq
}

// joinTwice records again what takeTwice took.
func (t *Tx) joinTwice(ctx context.Context, to earshot.Scope, list []twice) error {
	var asked []rule.Message
	for _, x := range list {
		asked = append(append(asked, x.copies...), rule.Stub(earshot.ReactionEvent{Message: x.id}))
	}
	b, err := t.Batch(ctx, to, asked, nil)
	if err != nil {
		return err
	}
	for _, x := range list {
		var counts []earshot.Reaction
		if x.message != nil {
			counts = x.message.Reactions
		}
		b.Join(x.id, x.copies, x.gave, counts)
	}
	return t.WriteBatch(ctx, to, b)
}

// shift gives what is stored of a channel's messages to another channel, or the same, and
// adds to all sequences and to cursors, which stand behind one.
func (t *Tx) shift(from, to earshot.Scope, by int64) {
	a := Args(from, string(to.Channel), by)
	t.Write(`UPDATE message SET `+t.SQL.ToChannel+`, `+t.SQL.ToSeq+t.SQL.MessagesIn, a...)
	t.Write(`UPDATE revision SET `+t.SQL.ToChannel+`, seq = CASE WHEN seq > 0 THEN seq + $5 ELSE 0 END`+t.SQL.MessagesIn, a...)
	t.Write(`UPDATE embedding SET `+t.SQL.ToChannel+`, seq = seq + $5`+t.SQL.MessagesIn, a...)
	for _, table := range []string{"conversation", "turn"} {
		t.Write(`UPDATE `+table+` SET cursor = cursor + $4`+In+` AND cursor > 0`, Args(from, by)...)
	}
}

// joinConversations leaves one row of each conversation that both channels have.
func (t *Tx) joinConversations(list []rule.JoinedConversation, to earshot.Scope) {
	for _, c := range list {
		is := c.ID
		is.Scope = to
		bare := c.ID
		if c.KeepsOld() {
			bare = is
		}
		t.Write(`DELETE FROM conversation`+Named, AgentParams(bare, bare.Name)...)
		t.Write(`UPDATE lease SET fence = `+t.SQL.Greatest+`(fence, coalesce((SELECT o.fence FROM lease o WHERE o.agent = $1 AND o.platform = $2 AND o.workspace = $3 AND o.channel = $6 AND o.conversation = $5), 0))`+OfConversation,
			AgentParams(is, is.Name, string(c.ID.Scope.Channel))...)
		t.Write(`DELETE FROM lease`+OfConversation+` AND EXISTS (SELECT 1 FROM lease o WHERE o.agent = $1 AND o.platform = $2 AND o.workspace = $3 AND o.channel = $6 AND o.conversation = $5)`,
			AgentParams(c.ID, is.Name, string(to.Channel))...)
	}
}

// joinTables moves the rows of all tables that have no sequences, and the channel's row.
func (t *Tx) joinTables(ctx context.Context, from, to earshot.Scope) error {
	at, there := Args(from, string(to.Channel)), Args(to)
	var was, is channelRow
	var covered, covers []earshot.Coverage
	var barred, bars []rule.Bar
	var dropped []string
	for _, x := range []struct {
		scope    earshot.Scope
		row      *channelRow
		coverage *[]earshot.Coverage
		bars     *[]rule.Bar
	}{{from, &was, &covered, &barred}, {to, &is, &covers, &bars}} {
		x.row.ask(t, x.scope)
		t.Ask(`SELECT thread, from_time, to_time, state, why FROM coverage`+In+` ORDER BY thread, from_time, to_time`, Args(x.scope), Gather(x.coverage, scanCoverage))
		t.askOwnBars(x.scope, x.bars)
	}
	t.Write(`DELETE FROM event`+t.SQL.MessagesIn+` AND delivery <> '' AND delivery IN (SELECT delivery FROM event`+t.SQL.MessagesIn4+`)`, at...)
	t.Write(`DELETE FROM thread`+t.SQL.MessagesIn, Args(from)...) // see recount
	for _, table := range []string{"event", "reaction"} {
		t.Write(`UPDATE `+table+` SET `+t.SQL.ToChannel+t.SQL.MessagesIn, at...)
	}
	t.Ask(`DELETE FROM blob_file`+In+` AND EXISTS (SELECT 1 FROM blob_file o`+inOther+` AND o.message = blob_file.message AND o.artifact = blob_file.artifact) RETURNING sha256`,
		at, Gather(&dropped, Scan[string]))
	t.Write(`DELETE FROM reading`+In+` AND EXISTS (SELECT 1 FROM reading o`+inOther+` AND o.message = reading.message AND o.agent = reading.agent AND o.conversation = reading.conversation AND o.epoch = reading.epoch)`, at...)
	if err := t.Send(ctx); err != nil {
		return err
	}
	if err := t.dropUnlinked(ctx, from, dropped); err != nil {
		return err
	}
	t.DeleteBlobs(new(int), ` AND sha256 IN (SELECT o.sha256 FROM blob o`+inOther+`)`, at...)
	for _, table := range []string{"coverage", "barred"} {
		t.Write(`DELETE FROM `+table+In, Args(from)...)
		t.Write(`DELETE FROM `+table+In, there...)
	}
	var rows [][]any
	for _, c := range coverage.Join(covered, covers) {
		rows = append(rows, []any{string(c.Thread), int64(c.From), int64(c.To), string(c.State), c.Why})
	}
	t.Rows(`coverage (platform, workspace, channel, thread, from_time, to_time, state, why)`, there, rows)
	rows = nil
	for _, b := range rule.JoinBars(barred, bars) {
		rows = append(rows, []any{string(b.Author), int64(b.Until), int64(b.Floor)})
	}
	t.Rows(`barred (platform, workspace, channel, author, until, floor)`, there, rows)
	for _, table := range ChannelTables {
		t.Write(`UPDATE `+table+` SET channel = $4`+In, at...)
	}
	t.Write(`DELETE FROM channel`+OfChannel, Args(from)...)
	is.Channel, is.told = rule.JoinChannelInfo(was.Channel, is.Channel, was.told, is.told)
	is.early = max(is.early, was.early)
	is.put(t, to)
	return t.Send(ctx)
}

// recount counts a channel's messages and replies anew, and sets its last sequence.
func (t *Tx) recount(s earshot.Scope, seq int64) {
	t.Write(`DELETE FROM thread`+t.SQL.MessagesIn, Args(s)...)
	t.Write(`INSERT INTO thread (`+t.SQL.Channel+`, root, replies) SELECT `+t.SQL.ChannelValues+`, thread, count(*) FROM message`+t.SQL.MessagesIn+`
		AND deleted = 0 AND thread <> '' GROUP BY thread`, Args(s)...)
	of := `(SELECT count(*) FROM message` + t.SQL.MessagesIn + ` AND deleted = 0`
	t.Write(`UPDATE channel SET seq = $4, messages = `+of+`), top = `+of+` AND thread = ''), threads = (SELECT count(*) FROM thread`+t.SQL.MessagesIn+` AND replies > 0)`+OfChannel,
		Args(s, seq)...)
}

// A channelRow is what is known of a channel, without what is counted of it.
type channelRow struct {
	earshot.Channel
	told  rule.ChannelTimes
	early earshot.Time
}

func (r *channelRow) ask(a Asker, s earshot.Scope) {
	a.Ask(`SELECT name, kind, topic, purpose, shared <> 0, name_as_of, kind_as_of, topic_as_of, purpose_as_of, early FROM channel`+OfChannel, Args(s),
		ScanOne(new(bool), &r.Name, &r.Kind, &r.Topic, &r.Purpose, &r.Shared, &r.told.Name, &r.told.Kind, &r.told.Topic, &r.told.Purpose, &r.early))
}

func (r *channelRow) put(t *Tx, s earshot.Scope) {
	shared := int64(0)
	if r.Shared {
		shared = 1
	}
	t.Write(`UPDATE channel SET name = $4, kind = $5, topic = $6, purpose = $7, shared = $8, name_as_of = $9, kind_as_of = $10, topic_as_of = $11, purpose_as_of = $12, early = $13`+OfChannel,
		Args(s, r.Name, string(r.Kind), r.Topic, r.Purpose, shared, int64(r.told.Name), int64(r.told.Kind), int64(r.told.Topic), int64(r.told.Purpose), int64(r.early))...)
}
