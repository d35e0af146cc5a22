package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// An Eraser is a transaction as [rule.Eraser]. What looks for text in a channel takes the
// channel's lock first: writers that had not seen the erasure's bar have committed then.
type Eraser struct{ *Tx }

// agentTables hold what belongs to a conversation, besides its own row and the queue.
var agentTables = []string{"lease", "turn", "session", "manifest", "attachment", "named", "ledger", "summary", "summarised"}

// scrubbedConversations is how many conversations one piece of an erasure looks at.
const scrubbedConversations = 200

// NextChannel implements [rule.Eraser].
func (e Eraser) NextChannel(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, after earshot.ChannelID) (id earshot.ChannelID, found bool, err error) {
	var other earshot.ChannelID // of a conversation without messages
	more := false
	at := Args(earshot.Scope{Platform: p, Workspace: w, Channel: after})
	e.Ask(`SELECT id FROM channel WHERE platform = $1 AND workspace = $2 AND id > $3 ORDER BY id LIMIT 1`, at, ScanOne(&found, &id))
	e.Ask(`SELECT channel FROM conversation WHERE platform = $1 AND workspace = $2 AND channel > $3 ORDER BY channel LIMIT 1`, at, ScanOne(&more, &other))
	err = e.Send(ctx)
	if more && (!found || other < id) {
		id, found = other, true
	}
	return id, found, err
}

// Channel implements [rule.Eraser].
func (e Eraser) Channel(ctx context.Context, s earshot.Scope) (c earshot.Channel, err error) {
	e.Ask(`SELECT kind, name, purpose FROM channel`+OfChannel, Args(s), ScanOne(new(bool), &c.Kind, &c.Name, &c.Purpose))
	err = e.Send(ctx)
	return c, err
}

// Author implements [rule.Eraser].
func (e Eraser) Author(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, id earshot.AuthorID) (a earshot.Author, err error) {
	e.Ask(`SELECT name, full_name FROM author WHERE platform = $1 AND workspace = $2 AND id = $3`,
		[]any{string(p), string(w), string(id)}, ScanOne(new(bool), &a.Name, &a.FullName))
	err = e.Send(ctx)
	return a, err
}

// DropConversation implements [rule.Eraser]. It locks as Erase does.
func (e Eraser) DropConversation(ctx context.Context, s earshot.Scope) (bool, error) {
	id := earshot.ConversationID{Scope: s}
	found := false
	e.Exclusive(s)
	e.Ask(`SELECT agent, name FROM conversation`+In+` ORDER BY agent, name LIMIT 1`, Args(s), ScanOne(&found, &id.Agent, &id.Name))
	if err := e.Send(ctx); err != nil || !found {
		return false, err
	}
	a := AgentParams(id, id.Name)
	e.Lock(`SELECT 1 FROM lease`+OfConversation, a...)
	e.Lock(`SELECT 1 FROM conversation`+Named, a...)
	e.Lock(`SELECT 1 FROM queued_turn`+OfConversation+` ORDER BY id`, a...)
	var epochs int
	e.Ask(`SELECT count(DISTINCT epoch) FROM turn`+OfConversation, a, ScanOne(new(bool), &epochs))
	e.RaiseErased(OfConversation, a...)
	e.Write(`DELETE FROM draft_reading WHERE `+e.SQL.Among(`draft`, `SELECT id FROM draft`+OfConversation), a...)
	e.Write(`DELETE FROM approval WHERE `+e.SQL.Among(`turn`, `SELECT id FROM draft`+OfConversation), a...)
	e.Write(`DELETE FROM draft`+OfConversation, a...)
	for _, table := range []string{"journal", "outbox", "approval", "feedback"} {
		e.Write(`DELETE FROM `+table+` WHERE `+e.SQL.Among(`turn`, `SELECT id FROM queued_turn`+OfConversation), a...)
	}
	e.Count(&e.Tally.Turns, `DELETE FROM queued_turn`+OfConversation, a...)
	for _, table := range agentTables {
		n := new(int)
		if table == "summary" {
			n = &e.Tally.Summaries
		}
		e.Count(n, `DELETE FROM `+table+OfConversation, a...)
	}
	e.Write(`DELETE FROM conversation`+Named, a...)
	e.Erased()
	err := e.Send(ctx)
	e.Tally.Sessions += epochs
	return true, err
}

// EndNamed implements [rule.Eraser].
func (e Eraser) EndNamed(ctx context.Context, s earshot.Scope, author earshot.AuthorID) (bool, error) {
	id := earshot.ConversationID{Scope: s}
	found, epoch := false, 0
	e.Shared(s)
	e.Ask(`SELECT agent, conversation, epoch FROM named`+In+` AND author = $4 LIMIT 1`, Args(s, string(author)), ScanOne(&found, &id.Agent, &id.Name, &epoch))
	if err := e.Send(ctx); err != nil || !found {
		return false, err
	}
	e.Lock(`SELECT 1 FROM conversation`+Named, AgentParams(id, id.Name)...)
	e.EraseEpochs(id, epoch, epoch, e.now())
	e.Erased()
	return true, e.Send(ctx)
}

// ScrubMetadata implements [rule.Eraser]. The cursor is an agent and a conversation's
// name.
func (e Eraser) ScrubMetadata(ctx context.Context, s earshot.Scope, holds func(string) bool, after string) (string, bool, error) {
	agent, name, err := rule.CutCursor(after)
	if err != nil {
		return "", false, err
	}
	type said struct {
		id              earshot.ConversationID
		metadata, about string
	}
	if after == "" {
		e.Exclusive(s) // drafts are locked before conversations here
		if err := e.scrubDrafts(ctx, s, holds); err != nil {
			return "", false, err
		}
	}
	var rows []said
	e.Ask(`SELECT agent, name, metadata, about FROM conversation`+In+` AND (agent, name) > ($4, $5) ORDER BY agent, name LIMIT $6 + 0`+e.SQL.Lock, Args(s, agent, name, scrubbedConversations),
		Gather(&rows, func(row Row, r *said) error {
			r.id.Scope = s
			return row.Scan(&r.id.Agent, &r.id.Name, &r.metadata, &r.about)
		}))
	if err := e.Send(ctx); err != nil || len(rows) == 0 {
		return "", false, err
	}
	for _, r := range rows {
		have, err := rule.ReadScrubbedValues(r.metadata, r.about)
		if err != nil {
			return "", false, err
		}
		if next, less := have.Without(holds); less {
			if err := e.PutScrubbed(r.id, next, e.now()); err != nil {
				return "", false, err
			}
		}
	}
	last := rows[len(rows)-1].id
	return rule.Cursor(string(last.Agent), last.Name), len(rows) == scrubbedConversations, e.Send(ctx)
}
