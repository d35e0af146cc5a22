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

// An erasure erases all other copies of the text of messages that have just become
// tombstones: raw events, prompts, sessions, summaries. The channel is locked
// exclusively, so that no turn reads the messages meanwhile.
type erasure struct {
	scope    earshot.Scope
	gone     []earshot.Message
	now      earshot.Time
	anchored []rule.Queued // unfinished turns that would answer one of them
	readings []reading     // the epochs that have read one of them
}

// A reading is an epoch of a conversation that holds a message's text.
type reading struct {
	message earshot.MessageID
	id      earshot.ConversationID
	epoch   int
}

func (t *tx) forget(ctx context.Context, scope earshot.Scope, gone []earshot.Message) error {
	e := &erasure{scope: scope, gone: gone, now: earshot.TimeOf(t.store.now())}
	for _, step := range []func(context.Context, *tx) error{e.events, e.drop, e.conversations} {
		if err := step(ctx, t); err != nil {
			return fmt.Errorf("erase what is deleted: %w", err)
		}
	}
	return nil
}

// events erases the raw events of the messages and of messages that may quote them,
// and queries the turns and epochs that hold their text.
func (e *erasure) events(ctx context.Context, t *tx) error {
	a := args(e.scope, idsOf(e.gone))
	const raw = `UPDATE event SET raw = ''` + in + ` AND raw <> '' AND message = ANY(`
	t.write(raw+`$4)`, a...)
	for _, quoting := range []string{`thread = ANY($4)`, `reply_to = ANY($4) AND reply_to <> ''`} {
		t.write(raw+`ARRAY(SELECT id FROM message`+in+` AND `+quoting+` AND deleted = 0))`, a...)
	}
	t.ask(`SELECT `+rule.QueuedColumns+` FROM queued_turn`+in+` AND anchor = ANY($4) AND `+rule.UnfinishedSQL+` ORDER BY agent, conversation, id`, a, gather(&e.anchored, scanQueued))
	t.ask(`SELECT message, agent, conversation, epoch FROM reading`+in+` AND message = ANY($4) ORDER BY message, agent, conversation, epoch`, a,
		gather(&e.readings, func(rows pgx.Rows, r *reading) error {
			r.id.Scope = e.scope
			return rows.Scan(&r.message, &r.id.Agent, &r.id.Name, &r.epoch)
		}))
	return t.send(ctx)
}

// drop drops the turns that would answer a deleted message, unless one of their
// posts may be visible.
func (e *erasure) drop(ctx context.Context, t *tx) error {
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

// A reader is a conversation that has read something that is deleted.
type reader struct {
	conversation conversation
	summary      earshot.Summary
	summed       bool
}

// conversations erases the text of epochs that have read a deleted message, and the
// summaries that cover it, with the later epochs that may have read the summaries.
func (e *erasure) conversations(ctx context.Context, t *tx) error {
	readers := map[earshot.ConversationID]*reader{}
	ordered := slices.Clone(e.readings)
	slices.SortStableFunc(ordered, func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.id.Agent, b.id.Agent), cmp.Compare(a.id.Name, b.id.Name))
	})
	for _, r := range ordered {
		if readers[r.id] != nil {
			continue
		}
		x := &reader{}
		readers[r.id] = x
		t.ask(`SELECT `+rule.ConversationColumns+` FROM conversation`+named+` FOR UPDATE`, own(r.id, r.id.Name), x.conversation.into(r.id))
		t.ask(`SELECT from_time, to_time FROM summary`+ofConversation, own(r.id, r.id.Name), one(&x.summed, &x.summary.From, &x.summary.To))
	}
	if len(readers) == 0 {
		return nil
	}
	if err := t.send(ctx); err != nil {
		return err
	}
	for _, m := range e.gone {
		covered := map[earshot.ConversationID]bool{}
		for _, r := range e.readings {
			if r.message != m.ID {
				continue
			}
			x := readers[r.id]
			if x.summed && rule.Covers(x.summary, m.Time) {
				covered[r.id], x.summed = true, false
				t.write(`DELETE FROM summary`+ofConversation, own(r.id, r.id.Name)...)
			}
			to := rule.ErasedTo(r.epoch, x.conversation.Epoch, covered[r.id])
			t.eraseEpochs(r.id, r.epoch, to, e.now)
			x.conversation.Epoch = max(x.conversation.Epoch, to+1)
		}
	}
	return nil
}

// eraseEpochs removes the text that the epochs of a conversation hold, both
// ends counted, and ends them.
func (t *tx) eraseEpochs(id earshot.ConversationID, from, to int, now earshot.Time) {
	a := own(id, id.Name, from, to)
	const epochs = ofConversation + ` AND epoch >= $6 AND epoch <= $7`
	t.write(`DELETE FROM session`+epochs, a...)
	t.write(`DELETE FROM named`+epochs, a...)
	t.eraseTurns(`id = ANY(ARRAY(SELECT id FROM queued_turn`+epochs+`))`, a...)
	t.endEpoch(id, to, now)
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
	t.write(`UPDATE conversation SET epoch = $6 + 1, updated = $7`+named+` AND epoch <= $6`, own(id, id.Name, epoch, int64(now))...)
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
