package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// A forgetting erases all other copies of the text of messages that have just become
// tombstones: raw events, prompts, sessions, summaries. The channel is locked
// exclusively, so that no turn reads the messages meanwhile.
type forgetting struct {
	scope    earshot.Scope
	gone     []earshot.Message
	now      earshot.Time
	anchored []rule.Queued // unfinished turns that would answer one of them
	readings []reading     // the epochs that have read one of them
	drafted  []reading     // the conversations of open drafts that show one; no epochs
	// Whose summary was made of one of them, in order, with the messages.
	summaries []earshot.ConversationID
	summed    map[earshot.ConversationID][]earshot.MessageID
	words     map[earshot.MessageID]rule.Words
	quoting   rule.Quoting // replies that quote one of them
}

// A reading is an epoch of a conversation that holds a message's text.
type reading struct {
	message earshot.MessageID
	id      earshot.ConversationID
	epoch   int
}

// load deletes the older revisions of the messages, which become tombstones in b, and
// loads what forget needs to know of them.
func (e *forgetting) load(ctx context.Context, t *tx, b *rule.Batch) error {
	a := args(e.scope, idsOf(e.gone))
	var past []earshot.Message
	t.ask(`SELECT `+columns+` FROM revision`+in+` AND id = ANY($4)`, a, gather(&past, scanMessage))
	e.askReaders(t)
	t.write(`DELETE FROM revision`+in+` AND id = ANY($4)`, a...)
	if err := t.send(ctx); err != nil {
		return err
	}
	t.tally.Messages += len(e.gone)
	t.tally.Revisions += len(past)
	revisions := map[earshot.MessageID][]earshot.Message{}
	for _, m := range past {
		revisions[m.ID] = append(revisions[m.ID], m)
	}
	e.words = map[earshot.MessageID]rule.Words{}
	read := func(id earshot.MessageID) {
		if _, known := e.words[id]; !known {
			e.words[id] = b.Words(id, revisions[id])
		}
	}
	for _, r := range slices.Concat(e.readings, e.drafted) {
		read(r.message)
	}
	for _, list := range e.summed {
		for _, id := range list {
			read(id)
		}
	}
	return nil
}

// askReaders queries the epochs that have read one of the messages, and the summaries
// that were made of one.
func (e *forgetting) askReaders(t *tx) {
	a := args(e.scope, idsOf(e.gone))
	t.ask(`SELECT message, agent, conversation, epoch FROM reading`+in+` AND message = ANY($4) ORDER BY message, agent, conversation, epoch`, a,
		gather(&e.readings, func(rows pgx.Rows, r *reading) error {
			r.id.Scope = e.scope
			return rows.Scan(&r.message, &r.id.Agent, &r.id.Name, &r.epoch)
		}))
	t.ask(`SELECT DISTINCT r.message, d.agent, d.conversation FROM draft_reading r JOIN draft d ON d.id = r.draft
		WHERE r.platform = $1 AND r.workspace = $2 AND r.channel = $3 AND r.message = ANY($4) ORDER BY r.message, d.agent, d.conversation`, a,
		gather(&e.drafted, func(rows pgx.Rows, r *reading) error {
			r.id.Scope = e.scope
			return rows.Scan(&r.message, &r.id.Agent, &r.id.Name)
		}))
	e.summed = map[earshot.ConversationID][]earshot.MessageID{}
	t.ask(`SELECT agent, conversation, message FROM summarised`+in+` AND message = ANY($4) ORDER BY agent, conversation, message`, a, func(rows pgx.Rows) error {
		id := earshot.ConversationID{Scope: e.scope}
		var message earshot.MessageID
		err := rows.Scan(&id.Agent, &id.Name, &message)
		if e.summed[id] == nil {
			e.summaries = append(e.summaries, id)
		}
		e.summed[id] = append(e.summed[id], message)
		return err
	})
}

// forget erases the other copies, and then the replies that quote the messages.
func (e *forgetting) forget(ctx context.Context, t *tx) error {
	for _, step := range []func(context.Context, *tx) error{e.events, e.drop, e.conversations} {
		if err := step(ctx, t); err != nil {
			return fmt.Errorf("erase what is deleted: %w", err)
		}
	}
	if len(e.quoting) == 0 {
		return nil
	}
	t.tally.Replies += len(e.quoting)
	return t.bury(ctx, e.scope, e.quoting.Tombstones())
}

// bury records tombstones.
func (t *tx) bury(ctx context.Context, scope earshot.Scope, tombstones []rule.Message) error {
	b, err := t.batchOf(ctx, scope, tombstones, nil)
	if err != nil {
		return err
	}
	for _, m := range tombstones {
		b.Add(m)
	}
	return t.writeBatch(ctx, scope, b)
}

// events erases the raw events of the messages and of messages that may quote them,
// and queries the turns that would answer them.
func (e *forgetting) events(ctx context.Context, t *tx) error {
	a := args(e.scope, idsOf(e.gone))
	const raw = `UPDATE event SET raw = ''` + in + ` AND raw <> '' AND message = ANY(`
	t.counted(&t.tally.Events, raw+`$4)`, a...)
	for _, quoting := range []string{`thread = ANY($4)`, `reply_to = ANY($4) AND reply_to <> ''`} {
		t.counted(&t.tally.Events, raw+`ARRAY(SELECT id FROM message`+in+` AND `+quoting+` AND deleted = 0))`, a...)
	}
	t.ask(`SELECT `+rule.QueuedColumns+` FROM queued_turn`+in+` AND anchor = ANY($4) AND `+rule.UnfinishedSQL+` ORDER BY agent, conversation, id`, a, gather(&e.anchored, scanQueued))
	return t.send(ctx)
}

// drop drops the turns that would answer a deleted message, unless one of their
// posts may be visible.
func (e *forgetting) drop(ctx context.Context, t *tx) error {
	if len(e.anchored) == 0 {
		return nil
	}
	ids := make([]earshot.ConversationID, len(e.anchored))
	turns := make([]int64, len(e.anchored))
	for i, q := range e.anchored {
		ids[i], turns[i] = q.Conversation, int64(q.ID)
	}
	t.lockLeases(slices.Compact(ids))
	posts := map[earshot.TurnID][]earshot.PostState{}
	t.ask(`SELECT turn, state FROM outbox WHERE turn = ANY($1)`, []any{turns}, func(rows pgx.Rows) error {
		var turn earshot.TurnID
		var state earshot.PostState
		err := rows.Scan(&turn, &state)
		posts[turn] = append(posts[turn], state)
		return err
	})
	if err := t.send(ctx); err != nil {
		return err
	}
	for _, q := range e.anchored {
		if err := t.change(q, rule.DropAnchored(q, posts[q.ID], e.now), e.now); err != nil {
			return err
		}
	}
	return nil
}

// conversations erases the text of epochs and drafts that have read a deleted message, and the
// summaries that were made of one, with the epochs that may have read the summaries.
func (e *forgetting) conversations(ctx context.Context, t *tx) error {
	var ids []earshot.ConversationID
	for _, r := range slices.Concat(e.readings, e.drafted) {
		ids = append(ids, r.id)
	}
	ids = append(ids, e.summaries...)
	slices.SortFunc(ids, func(a, b earshot.ConversationID) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Name, b.Name))
	})
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil
	}
	stored := make(map[earshot.ConversationID]*rule.Summed, len(ids))
	for _, id := range ids {
		stored[id] = &rule.Summed{}
		t.askSummed(id, stored[id])
	}
	if err := t.send(ctx); err != nil {
		return err
	}
	for _, id := range e.summaries {
		from, to := stored[id].Dropped()
		for _, message := range e.summed[id] {
			if err := e.quotes(ctx, t, message, id, from, to+1); err != nil {
				return err
			}
		}
		t.dropSummary(id, *stored[id], e.now)
		t.tally.Summaries++
	}
	for _, r := range e.drafted {
		if err := e.unquote(ctx, t, r.message, r.id); err != nil {
			return err
		}
	}
	if len(e.drafted) > 0 {
		t.eraseDraftsReading(e.scope, idsOf(e.gone))
	}
	for _, r := range e.readings {
		if err := e.quotes(ctx, t, r.message, r.id, r.epoch, r.epoch); err != nil {
			return err
		}
		t.eraseEpochs(r.id, r.epoch, r.epoch, e.now)
	}
	return nil
}

// unquote removes what is said of a conversation that quotes a message.
func (e *forgetting) unquote(ctx context.Context, t *tx, message earshot.MessageID, id earshot.ConversationID) error {
	words := e.words[message]
	if len(words) == 0 {
		return nil
	}
	var c conversation
	t.ask(`SELECT `+rule.ConversationColumns+` FROM conversation`+named+` FOR UPDATE`, own(id, id.Name), c.into(id))
	if err := t.send(ctx); err != nil || !c.found {
		return err
	}
	said := rule.Scrubbed{Metadata: c.Metadata, About: c.About}
	if next, less := said.Without(func(v string) bool { return len(words.In(v)) > 0 }); less {
		return t.putScrubbed(id, next, e.now)
	}
	return nil
}

// quotes finds the replies of a conversation's epochs, both ends counted, that quote a
// message, and removes what is said of the conversation that does.
func (e *forgetting) quotes(ctx context.Context, t *tx, message earshot.MessageID, id earshot.ConversationID, from, to int) error {
	words := e.words[message]
	if len(words) == 0 {
		return nil
	}
	if err := e.unquote(ctx, t, message, id); err != nil {
		return err
	}
	var replies, shown []earshot.MessageID
	a := own(id, id.Name, from, to)
	t.ask(`SELECT `+rule.TurnColumns+` FROM turn`+ofConversation+` AND epoch >= $6 AND epoch <= $7`, a, func(rows pgx.Rows) error {
		var turn earshot.Turn
		err := rule.ScanTurn(rows.Scan, &turn)
		replies, shown = append(replies, turn.Answer.Replies...), append(shown, turn.Answer.Anchor)
		return err
	})
	t.ask(`SELECT o.message, q.anchor FROM queued_turn q JOIN outbox o ON o.turn = q.id
		WHERE q.agent = $1 AND q.platform = $2 AND q.workspace = $3 AND q.channel = $4 AND q.conversation = $5 AND q.epoch >= $6 AND q.epoch <= $7`, a, func(rows pgx.Rows) error {
		var message, anchor earshot.MessageID
		err := rows.Scan(&message, &anchor)
		replies, shown = append(replies, message), append(shown, anchor)
		return err
	})
	if err := t.send(ctx); err != nil {
		return err
	}
	if len(replies) == 0 {
		return nil
	}
	written, err := t.messages(ctx, e.scope, replies)
	if err != nil {
		return err
	}
	quoting, err := rule.QuotedBy(words, written, func() ([]earshot.Message, error) {
		t.ask(`SELECT message FROM manifest`+ofConversation+` AND epoch >= $6 AND epoch <= $7`, a,
			gather(&shown, func(rows pgx.Rows, id *earshot.MessageID) error { return rows.Scan(id) }))
		if err := t.send(ctx); err != nil {
			return nil, err
		}
		return t.messages(ctx, e.scope, shown)
	})
	e.quoting.Add(quoting)
	return err
}

// messages reads messages by their ids.
func (t *tx) messages(ctx context.Context, scope earshot.Scope, ids []earshot.MessageID) ([]earshot.Message, error) {
	var out []earshot.Message
	t.ask(`SELECT `+columns+` FROM message`+in+` AND id = ANY($4)`, args(scope, texts(rule.IDs(ids))), gather(&out, scanMessage))
	return out, t.send(ctx)
}

// putScrubbed replaces what is said of a conversation.
func (t *tx) putScrubbed(id earshot.ConversationID, x rule.Scrubbed, now earshot.Time) error {
	metadata, about, err := x.Columns()
	if err != nil {
		return err
	}
	t.write(`UPDATE conversation SET metadata = $6, about = $7, updated = $8`+named, own(id, id.Name, metadata, about, int64(now))...)
	return nil
}

// eraseEpochs removes the text that the epochs of a conversation hold, both
// ends counted, and ends them.
func (t *tx) eraseEpochs(id earshot.ConversationID, from, to int, now earshot.Time) {
	a := own(id, id.Name, from, to)
	const epochs = ofConversation + ` AND epoch >= $6 AND epoch <= $7`
	t.write(`DELETE FROM session`+epochs, a...)
	t.write(`DELETE FROM named`+epochs, a...)
	t.eraseTurnsOf(id, from, to)
	t.endEpoch(id, to, now)
}

// eraseTurnsOf erases the text of the turns of a conversation's epochs, both ends
// counted, and that of the conversation's drafts, which may have read the same.
func (t *tx) eraseTurnsOf(id earshot.ConversationID, from, to int) {
	t.eraseDraftsOf(id)
	a := own(id, id.Name, from, to)
	const epochs = ofConversation + ` AND epoch >= $6 AND epoch <= $7`
	t.ask(`SELECT count(*) FROM queued_turn q`+epochs+` AND (input <> '' OR EXISTS (SELECT 1 FROM journal WHERE turn = q.id AND erased = 0)
		OR NOT `+rule.BegunSQL+` AND EXISTS (SELECT 1 FROM outbox o WHERE o.turn = q.id AND text <> ''))`, a, func(rows pgx.Rows) error {
		var n int
		err := rows.Scan(&n)
		t.tally.Turns += n
		return err
	})
	t.eraseTurns(`id = ANY(ARRAY(SELECT id FROM queued_turn`+epochs+`))`, a...)
}

// eraseTurns erases the text of turns. The texts of a turn's posts stay while the turn
// is about to post them, until it ends or begins again.
func (t *tx) eraseTurns(which string, a ...any) {
	t.write(`UPDATE queued_turn SET input = '' WHERE `+which+` AND input <> ''`, a...)
	t.write(`UPDATE journal SET data = '', erased = 1 WHERE turn = ANY(ARRAY(SELECT id FROM queued_turn WHERE `+which+`)) AND erased = 0`, a...)
	t.erasePosts(which+` AND NOT `+rule.BegunSQL, a...)
}

// erasePosts removes the texts of turns' posts.
func (t *tx) erasePosts(which string, a ...any) {
	t.write(`UPDATE outbox SET text = '' WHERE turn = ANY(ARRAY(SELECT id FROM queued_turn WHERE `+which+`)) AND text <> ''`, a...)
}

// endEpoch ends a conversation's epoch and those before it.
func (t *tx) endEpoch(id earshot.ConversationID, epoch int, now earshot.Time) {
	t.counted(&t.tally.Sessions, `UPDATE conversation SET epoch = $6 + 1, updated = $7`+named+` AND epoch <= $6`, own(id, id.Name, epoch, int64(now))...)
}

// askDeleted queries whether one of the messages is a tombstone.
func (t *tx) askDeleted(scope earshot.Scope, ids []earshot.MessageID, gone *bool) {
	if len(ids) == 0 {
		return
	}
	t.ask(`SELECT 1 FROM message`+in+` AND id = ANY($4) AND deleted = 1 LIMIT 1`, args(scope, texts(ids)), one(gone, new(int)))
}

// hasRead records that a conversation's epoch holds the text of messages.
func (t *tx) hasRead(id earshot.ConversationID, epoch int, messages []earshot.MessageID) {
	if len(messages) == 0 {
		return
	}
	t.write(`INSERT INTO reading (platform, workspace, channel, message, agent, conversation, epoch)
		SELECT $1::text, $2::text, $3::text, unnest($4::text[]), $5::text, $6::text, $7::bigint ON CONFLICT DO NOTHING`,
		args(id.Scope, texts(messages), string(id.Agent), id.Name, epoch)...)
}
