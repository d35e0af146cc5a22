package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
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
	a := tables.Args(e.scope, idsOf(e.gone))
	var past []earshot.Message
	t.Ask(`SELECT `+columns+` FROM revision`+in+` AND id = ANY($4)`, a, tables.Gather(&past, scanMessage))
	e.askReaders(t)
	t.Write(`DELETE FROM revision`+in+` AND id = ANY($4)`, a...)
	if err := t.Send(ctx); err != nil {
		return err
	}
	t.Tally.Messages += len(e.gone)
	t.Tally.Revisions += len(past)
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
	a := tables.Args(e.scope, idsOf(e.gone))
	t.Ask(`SELECT message, agent, conversation, epoch FROM reading`+in+` AND message = ANY($4) ORDER BY message, agent, conversation, epoch`, a,
		tables.Gather(&e.readings, func(rows tables.Row, r *reading) error {
			r.id.Scope = e.scope
			return rows.Scan(&r.message, &r.id.Agent, &r.id.Name, &r.epoch)
		}))
	t.Ask(`SELECT DISTINCT r.message, d.agent, d.conversation FROM draft_reading r JOIN draft d ON d.id = r.draft
		WHERE r.platform = $1 AND r.workspace = $2 AND r.channel = $3 AND r.message = ANY($4) ORDER BY r.message, d.agent, d.conversation`, a,
		tables.Gather(&e.drafted, func(rows tables.Row, r *reading) error {
			r.id.Scope = e.scope
			return rows.Scan(&r.message, &r.id.Agent, &r.id.Name)
		}))
	e.summed = map[earshot.ConversationID][]earshot.MessageID{}
	t.Ask(`SELECT agent, conversation, message FROM summarised`+in+` AND message = ANY($4) ORDER BY agent, conversation, message`, a, func(rows tables.Row) error {
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
	t.Tally.Replies += len(e.quoting)
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
	a := tables.Args(e.scope, idsOf(e.gone))
	const raw = `UPDATE event SET raw = ''` + in + ` AND raw <> '' AND message = ANY(`
	t.Count(&t.Tally.Events, raw+`$4)`, a...)
	for _, quoting := range []string{`thread = ANY($4)`, `reply_to = ANY($4) AND reply_to <> ''`} {
		t.Count(&t.Tally.Events, raw+`ARRAY(SELECT id FROM message`+in+` AND `+quoting+` AND deleted = 0))`, a...)
	}
	t.Ask(`SELECT `+rule.QueuedColumns+` FROM queued_turn`+in+` AND anchor = ANY($4) AND `+rule.UnfinishedSQL+` ORDER BY agent, conversation, id`, a, tables.Gather(&e.anchored, tables.ScanQueued))
	return t.Send(ctx)
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
	t.LockLeases(slices.Compact(ids)...)
	posts := map[earshot.TurnID][]earshot.PostState{}
	t.Ask(`SELECT turn, state FROM outbox WHERE turn = ANY($1)`, []any{turns}, func(rows tables.Row) error {
		var turn earshot.TurnID
		var state earshot.PostState
		err := rows.Scan(&turn, &state)
		posts[turn] = append(posts[turn], state)
		return err
	})
	if err := t.Send(ctx); err != nil {
		return err
	}
	for _, q := range e.anchored {
		if err := t.Change(q, rule.DropAnchored(q, posts[q.ID], e.now), e.now); err != nil {
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
		t.AskSummed(id, stored[id])
	}
	if err := t.Send(ctx); err != nil {
		return err
	}
	for _, id := range e.summaries {
		from, to := stored[id].Dropped()
		for _, message := range e.summed[id] {
			if err := e.quotes(ctx, t, message, id, from, to+1); err != nil {
				return err
			}
		}
		t.DropSummary(id, *stored[id], e.now)
		t.Tally.Summaries++
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
		t.EraseEpochs(r.id, r.epoch, r.epoch, e.now)
	}
	return nil
}

// unquote removes what is said of a conversation that quotes a message.
func (e *forgetting) unquote(ctx context.Context, t *tx, message earshot.MessageID, id earshot.ConversationID) error {
	words := e.words[message]
	if len(words) == 0 {
		return nil
	}
	var c tables.Conversation
	c.Ask(t, id, dialect.Lock)
	if err := t.Send(ctx); err != nil || !c.Found {
		return err
	}
	said := rule.Scrubbed{Metadata: c.Metadata, About: c.About}
	if next, less := said.Without(func(v string) bool { return len(words.In(v)) > 0 }); less {
		return t.PutScrubbed(id, next, e.now)
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
	a := tables.Own(id, id.Name, from, to)
	t.Ask(`SELECT `+rule.TurnColumns+` FROM turn`+tables.OfConversation+` AND epoch >= $6 AND epoch <= $7`, a, func(rows tables.Row) error {
		var turn earshot.Turn
		err := rule.ScanTurn(rows.Scan, &turn)
		replies, shown = append(replies, turn.Answer.Replies...), append(shown, turn.Answer.Anchor)
		return err
	})
	t.Ask(`SELECT o.message, q.anchor FROM queued_turn q JOIN outbox o ON o.turn = q.id
		WHERE q.agent = $1 AND q.platform = $2 AND q.workspace = $3 AND q.channel = $4 AND q.conversation = $5 AND q.epoch >= $6 AND q.epoch <= $7`, a, func(rows tables.Row) error {
		var message, anchor earshot.MessageID
		err := rows.Scan(&message, &anchor)
		replies, shown = append(replies, message), append(shown, anchor)
		return err
	})
	if err := t.Send(ctx); err != nil {
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
		t.Ask(`SELECT message FROM manifest`+tables.OfConversation+` AND epoch >= $6 AND epoch <= $7`, a,
			tables.Gather(&shown, tables.Scan[earshot.MessageID]))
		if err := t.Send(ctx); err != nil {
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
	t.Ask(`SELECT `+columns+` FROM message`+in+` AND id = ANY($4)`, tables.Args(scope, texts(rule.IDs(ids))), tables.Gather(&out, scanMessage))
	return out, t.Send(ctx)
}

// EraseTurnsOf implements [tables.Conn].
func (t *tx) EraseTurnsOf(id earshot.ConversationID, from, to int) {
	t.eraseDraftsOf(id)
	a := tables.Own(id, id.Name, from, to)
	const epochs = tables.OfConversation + ` AND epoch >= $6 AND epoch <= $7`
	t.Ask(`SELECT count(*) FROM queued_turn q`+epochs+` AND (input <> '' OR EXISTS (SELECT 1 FROM journal WHERE turn = q.id AND erased = 0)
		OR NOT `+rule.BegunSQL+` AND EXISTS (SELECT 1 FROM outbox o WHERE o.turn = q.id AND text <> ''))`, a, func(rows tables.Row) error {
		var n int
		err := rows.Scan(&n)
		t.Tally.Turns += n
		return err
	})
	t.eraseTurns(`id = ANY(ARRAY(SELECT id FROM queued_turn`+epochs+`))`, a...)
}

// eraseTurns erases the text of turns. The texts of a turn's posts stay while the turn
// is about to post them, until it ends or begins again.
func (t *tx) eraseTurns(which string, a ...any) {
	t.Write(`UPDATE queued_turn SET input = '' WHERE `+which+` AND input <> ''`, a...)
	t.Write(`UPDATE journal SET data = '', erased = 1 WHERE turn = ANY(ARRAY(SELECT id FROM queued_turn WHERE `+which+`)) AND erased = 0`, a...)
	t.erasePosts(which+` AND NOT `+rule.BegunSQL, a...)
}

// erasePosts removes the texts of turns' posts.
func (t *tx) erasePosts(which string, a ...any) {
	t.Write(`UPDATE outbox SET text = '' WHERE turn = ANY(ARRAY(SELECT id FROM queued_turn WHERE `+which+`)) AND text <> ''`, a...)
}
