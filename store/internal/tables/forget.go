package tables

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A Forgetting erases all other copies of the text of messages that have just become
// tombstones: raw events, prompts, sessions, summaries. The channel is locked
// exclusively, so that no turn reads the messages meanwhile.
type Forgetting struct {
	scope    earshot.Scope
	gone     []earshot.Message
	now      earshot.Time
	anchored []rule.StoredTurn // unfinished turns that would answer one of them
	readings []readingEpoch    // the epochs that have read one of them
	drafted  []readingEpoch    // the conversations of open drafts that show one; no epochs
	summed   []readingEpoch    // the conversations whose summary was made of one; no epochs
	words    map[earshot.MessageID]rule.QuotableWords
	quoting  rule.Quoting // replies that quote one of them
}

// A readingEpoch is an epoch of a conversation that holds a message's text.
type readingEpoch struct {
	message earshot.MessageID
	id      earshot.ConversationID
	epoch   int
}

func compareReadings(a, b readingEpoch) int {
	return cmp.Or(compareIDs(a.id, b.id), cmp.Compare(a.message, b.message), cmp.Compare(a.epoch, b.epoch))
}

// compareIDs compares conversations of one channel.
func compareIDs(a, b earshot.ConversationID) int {
	return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Name, b.Name))
}

// Forget begins the forgetting of messages of a channel that become tombstones in b. It
// deletes their older revisions, and loads what [Forgetting.End] needs to know of them,
// which is called once b is written.
func (t *Tx) Forget(ctx context.Context, s earshot.Scope, b *rule.Batch, gone []earshot.Message) (*Forgetting, error) {
	e := &Forgetting{scope: s, gone: gone, now: t.now(), quoting: rule.Quoting{}}
	if len(gone) == 0 {
		return e, nil
	}
	return e, e.load(ctx, t, b)
}

func (e *Forgetting) ids() []earshot.MessageID {
	out := make([]earshot.MessageID, len(e.gone))
	for i := range e.gone {
		out[i] = e.gone[i].ID
	}
	return out
}

// load deletes the older revisions of the messages, which become tombstones in b, and
// loads what forget needs to know of them.
func (e *Forgetting) load(ctx context.Context, t *Tx, b *rule.Batch) error {
	a := Args(e.scope, t.list(e.ids()))
	var past []earshot.Message
	t.askMessages("revision", e.scope, e.ids(), &past)
	e.askReaders(t)
	t.Count(&t.Tally.Revisions, `DELETE FROM revision`+t.SQL.MessagesIn+` AND `+t.SQL.Any("id", 4), a...)
	if err := t.Send(ctx); err != nil {
		return err
	}
	t.Tally.Messages += len(e.gone)
	revisions := map[earshot.MessageID][]earshot.Message{}
	for _, m := range past {
		revisions[m.ID] = append(revisions[m.ID], m)
	}
	e.words = map[earshot.MessageID]rule.QuotableWords{}
	for _, r := range slices.Concat(e.readings, e.drafted, e.summed) {
		if _, known := e.words[r.message]; !known {
			e.words[r.message] = b.Words(r.message, revisions[r.message])
		}
	}
	return nil
}

// askReaders queries the epochs and drafts that have read one of the messages, and the
// summaries that were made of one.
func (e *Forgetting) askReaders(t *Tx) {
	a := Args(e.scope, t.list(e.ids()))
	ask := func(out *[]readingEpoch, query string) {
		t.Ask(query, a, Gather(out, func(row Row, r *readingEpoch) error {
			r.id.Scope = e.scope
			return row.Scan(&r.message, &r.id.Agent, &r.id.Name, &r.epoch)
		}))
	}
	ask(&e.readings, `SELECT message, agent, conversation, epoch FROM reading`+In+` AND `+t.SQL.Any(`message`, 4))
	ask(&e.drafted, `SELECT r.message, d.agent, d.conversation, 0 FROM draft_reading r JOIN draft d ON d.id = r.draft
		WHERE r.platform = $1 AND r.workspace = $2 AND r.channel = $3 AND `+t.SQL.Any(`r.message`, 4))
	ask(&e.summed, `SELECT message, agent, conversation, 0 FROM summarised`+In+` AND `+t.SQL.Any(`message`, 4))
}

// End erases the other copies, and then the replies that quote the messages.
func (e *Forgetting) End(ctx context.Context, t *Tx) error {
	if len(e.gone) == 0 {
		return nil
	}
	for _, step := range []func(context.Context, *Tx) error{e.events, e.drop, e.conversations} {
		if err := step(ctx, t); err != nil {
			return fmt.Errorf("erase what is deleted: %w", err)
		}
	}
	if len(e.quoting) == 0 {
		return nil
	}
	t.Tally.Replies += len(e.quoting)
	return t.keep(ctx, e.scope, e.quoting.Tombstones())
}

// keep records messages that were prepared: tombstones, and our own that arrived.
func (t *Tx) keep(ctx context.Context, s earshot.Scope, messages []rule.Message) error {
	if len(messages) == 0 {
		return nil
	}
	b, err := t.Batch(ctx, s, messages, nil)
	if err != nil {
		return err
	}
	for _, m := range messages {
		b.Add(m)
	}
	return t.WriteBatch(ctx, s, b)
}

// messages reads messages by their ids.
func (t *Tx) messages(ctx context.Context, s earshot.Scope, ids []earshot.MessageID) (out []earshot.Message, err error) {
	t.askMessages("message", s, ids, &out)
	err = t.Send(ctx)
	return out, err
}

// list returns ids as the parameter of [SQL.Any].
func (t *Tx) list(ids []earshot.MessageID) any { return t.SQL.List(Texts(ids)) }

// eraseRaws removes the bytes of a channel's deliveries.
func (t *Tx) eraseRaws(which string, args []any) {
	t.Count(&t.Tally.Events, `UPDATE event SET raw = `+t.SQL.NoBytes+t.SQL.MessagesIn+` AND raw <> `+t.SQL.NoBytes+` AND `+which, args...)
}

// events erases the raw events of the messages and of messages that may quote them,
// and queries the turns that would answer them.
func (e *Forgetting) events(ctx context.Context, t *Tx) error {
	a := Args(e.scope, t.list(e.ids()))
	t.eraseRaws(t.SQL.Any(`message`, 4), a)
	for _, quoting := range []string{t.SQL.Any(`thread`, 4), t.SQL.Any(`reply_to`, 4) + ` AND reply_to <> ''`} {
		t.eraseRaws(t.SQL.Among(`message`, `SELECT id FROM message`+t.SQL.MessagesIn+` AND `+quoting+` AND deleted = 0`), a)
	}
	t.Ask(`SELECT `+rule.QueuedColumns+` FROM queued_turn`+In+` AND `+t.SQL.Any(`anchor`, 4)+` AND NOT `+t.SQL.NoIndex+rule.FinalSQL, a, Gather(&e.anchored, scanQueued))
	return t.Send(ctx)
}

// drop drops the turns that would answer a deleted message, unless one of their
// posts may be visible.
func (e *Forgetting) drop(ctx context.Context, t *Tx) error {
	return t.changeTurns(ctx, e.anchored, rule.DropAnchored)
}

// changeTurns locks the leases of turns of one channel, and changes each as decide says.
func (t *Tx) changeTurns(ctx context.Context, list []rule.StoredTurn, decide func(rule.StoredTurn, []earshot.PostState, earshot.Time) rule.Change) error {
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b rule.StoredTurn) int {
		return cmp.Or(compareIDs(a.Conversation, b.Conversation), cmp.Compare(a.ID, b.ID))
	})
	ids := make([]earshot.ConversationID, len(list))
	turns := make([]int64, len(list))
	for i, q := range list {
		ids[i], turns[i] = q.Conversation, int64(q.ID)
	}
	t.LockLeases(slices.Compact(ids)...)
	posts := map[earshot.TurnID][]earshot.PostState{}
	t.Ask(`SELECT turn, state FROM outbox WHERE `+t.SQL.Any(`turn`, 1), []any{t.SQL.List(turns)}, func(rows Row) error {
		var turn earshot.TurnID
		var state earshot.PostState
		err := rows.Scan(&turn, &state)
		posts[turn] = append(posts[turn], state)
		return err
	})
	if err := t.Send(ctx); err != nil {
		return err
	}
	now := t.now()
	for _, q := range list {
		if err := t.Change(q, decide(q, posts[q.ID], now), now); err != nil {
			return err
		}
	}
	return nil
}

// conversations erases the text of epochs and drafts that have read a deleted message, and the
// summaries that were made of one, with the epochs that may have read the summaries.
func (e *Forgetting) conversations(ctx context.Context, t *Tx) error {
	var ids []earshot.ConversationID
	for _, list := range []*[]readingEpoch{&e.readings, &e.drafted, &e.summed} {
		slices.SortFunc(*list, compareReadings)
		*list = slices.Compact(*list)
		for _, r := range *list {
			ids = append(ids, r.id)
		}
	}
	slices.SortFunc(ids, compareIDs) // the order in which they are locked
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil
	}
	stored := make(map[earshot.ConversationID]*rule.SummaryState, len(ids))
	for _, id := range ids {
		stored[id] = &rule.SummaryState{}
		t.AskSummed(id, stored[id])
	}
	if err := t.Send(ctx); err != nil {
		return err
	}
	for i, r := range e.summed {
		from, to := stored[r.id].Dropped()
		if err := e.quotes(ctx, t, r.message, r.id, from, to+1); err != nil {
			return err
		}
		if i+1 == len(e.summed) || e.summed[i+1].id != r.id {
			t.DropSummary(r.id, *stored[r.id], e.now)
			t.Tally.Summaries++
		}
	}
	for _, r := range e.drafted {
		if err := e.unquote(ctx, t, r.message, r.id); err != nil {
			return err
		}
	}
	if len(e.drafted) > 0 {
		t.eraseDraftsReading(e.scope, e.ids())
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
func (e *Forgetting) unquote(ctx context.Context, t *Tx, message earshot.MessageID, id earshot.ConversationID) error {
	words := e.words[message]
	if len(words) == 0 {
		return nil
	}
	var c Conversation
	c.Ask(t, id, t.SQL.Lock)
	if err := t.Send(ctx); err != nil || !c.Found {
		return err
	}
	said := rule.ScrubbedValues{Metadata: c.Metadata, About: c.About}
	if next, less := said.Without(func(v string) bool { return len(words.In(v)) > 0 }); less {
		return t.PutScrubbed(id, next, e.now)
	}
	return nil
}

// quotes finds the replies of a conversation's epochs, both ends counted, that quote a
// message, and removes what is said of the conversation that does.
func (e *Forgetting) quotes(ctx context.Context, t *Tx, message earshot.MessageID, id earshot.ConversationID, from, to int) error {
	words := e.words[message]
	if len(words) == 0 {
		return nil
	}
	if err := e.unquote(ctx, t, message, id); err != nil {
		return err
	}
	var replies, shown []earshot.MessageID
	a := AgentParams(id, id.Name, from, to)
	t.Ask(`SELECT `+rule.TurnColumns+` FROM turn`+OfConversation+` AND epoch >= $6 AND epoch <= $7`, a, func(rows Row) error {
		var turn earshot.Turn
		err := rule.ScanTurn(rows.Scan, &turn)
		replies, shown = append(replies, turn.Answer.Replies...), append(shown, turn.Answer.Anchor)
		return err
	})
	t.Ask(`SELECT o.message, q.anchor FROM queued_turn q JOIN outbox o ON o.turn = q.id
		WHERE q.agent = $1 AND q.platform = $2 AND q.workspace = $3 AND q.channel = $4 AND q.conversation = $5 AND q.epoch >= $6 AND q.epoch <= $7`, a, func(rows Row) error {
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
	written, err := t.messages(ctx, e.scope, rule.IDs(replies))
	if err != nil {
		return err
	}
	quoting, err := rule.QuotedBy(words, written, func() ([]earshot.Message, error) {
		t.Ask(`SELECT message FROM manifest`+OfConversation+` AND epoch >= $6 AND epoch <= $7`, a,
			Gather(&shown, Scan[earshot.MessageID]))
		if err := t.Send(ctx); err != nil {
			return nil, err
		}
		return t.messages(ctx, e.scope, rule.IDs(shown))
	})
	e.quoting.Add(quoting)
	return err
}

// EraseTurnsOf erases the text of the turns of a conversation's epochs, both ends
// counted, and that of the conversation's drafts, which may have read the same.
func (t *Tx) EraseTurnsOf(id earshot.ConversationID, from, to int) {
	t.eraseDrafts(`SELECT id FROM draft`+OfConversation, AgentParams(id, id.Name)...)
	a := AgentParams(id, id.Name, from, to)
	const epochs = OfConversation + ` AND epoch >= $6 AND epoch <= $7`
	t.Ask(`SELECT count(*) FROM queued_turn q`+epochs+` AND (input <> `+t.SQL.NoBytes+` OR EXISTS (SELECT 1 FROM journal WHERE turn = q.id AND erased = 0)
		OR NOT `+rule.BegunSQL+` AND EXISTS (SELECT 1 FROM outbox o WHERE o.turn = q.id AND text <> ''))`, a, func(row Row) error {
		var n int
		err := row.Scan(&n)
		t.Tally.Turns += n
		return err
	})
	t.eraseTurns(t.SQL.Among(`id`, `SELECT id FROM queued_turn`+epochs), a...)
}

// EraseTurn erases the text of a turn.
func (t *Tx) EraseTurn(id earshot.TurnID) { t.eraseTurns(`id = $1`, int64(id)) }

// eraseTurns erases the text of turns. The texts of a turn's posts stay while the turn
// is about to post them, until it ends or begins again.
func (t *Tx) eraseTurns(which string, a ...any) {
	of := func(more string) string { return t.SQL.Among(`turn`, `SELECT id FROM queued_turn WHERE `+which+more) }
	t.Write(`UPDATE queued_turn SET input = `+t.SQL.NoBytes+` WHERE `+which+` AND input <> `+t.SQL.NoBytes, a...)
	t.Write(`UPDATE queued_turn SET why = `+rule.WithoutReasonSQL+` WHERE `+which+` AND `+rule.SilentSQL, a...)
	t.Write(`UPDATE journal SET data = `+t.SQL.NoBytes+`, erased = 1 WHERE `+of(``)+` AND erased = 0`, a...)
	t.Write(`UPDATE outbox SET text = '' WHERE `+of(` AND NOT `+rule.BegunSQL)+` AND text <> ''`, a...)
	t.eraseWords(of(``), a...)
	t.Erased()
}

// eraseDraftsReading erases the open drafts that show one of the messages.
func (t *Tx) eraseDraftsReading(s earshot.Scope, ids []earshot.MessageID) {
	t.eraseDrafts(`SELECT draft FROM draft_reading`+In+` AND `+t.SQL.Any(`message`, 4), Args(s, t.list(ids))...)
}

// eraseDrafts erases the open ones of drafts.
func (t *Tx) eraseDrafts(which string, a ...any) {
	t.Count(&t.Tally.Turns, `UPDATE draft SET `+rule.EraseDraftSQL+` WHERE `+t.SQL.Among(`id`, which)+` AND `+rule.ErasableDraftSQL, a...)
	t.endAsks(t.SQL.Among(`turn`, `SELECT id FROM draft WHERE `+t.SQL.Among(`id`, which)+` AND erased = 1`), a...)
	t.Write(`DELETE FROM draft_reading WHERE `+t.SQL.Among(`draft`, `SELECT id FROM draft WHERE `+t.SQL.Among(`id`, which)+` AND erased = 1`), a...)
	t.Erased()
}

// askDeleted queries whether one of the messages is a tombstone; else it leaves gone as
// it is.
func (t *Tx) askDeleted(s earshot.Scope, ids []earshot.MessageID, gone *bool) {
	if len(ids) > 0 {
		t.Ask(`SELECT 1 FROM message`+t.SQL.MessagesIn+` AND `+t.SQL.Any(`id`, 4)+` AND `+t.SQL.NoIndex+`deleted = 1 LIMIT 1`, Args(s, t.list(ids)), ScanOne(gone, new(int)))
	}
}
