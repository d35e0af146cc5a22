package main

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type diffCmd struct {
	From int64 `arg:"" name:"turn" help:"The earlier turn."`
	To   int64 `arg:"" name:"other" help:"The later turn, of the same channel."`
}

// A ledgerChange lists the messages that entered and left between two ledgers.
type ledgerChange struct {
	Entered []ledgerRowJSON `json:"entered"`
	Left    []ledgerRowJSON `json:"left"` // as the later ledger has them; as the earlier, where that does not know them
	Changed []ledgerRowJSON `json:"changed"`
	Kept    int             `json:"kept"`
}

// isReadByModel reports whether the model could read the message, in this turn's prompt or
// in the session before it.
func isReadByModel(r earshot.LedgerRow) bool {
	return r.Verdict != earshot.Out || r.Reason == "shown" || r.Reason == "own-recorded"
}

// changeOf compares two ledgers.
func changeOf(from, to earshot.Ledger) ledgerChange {
	before := map[earshot.MessageID]earshot.LedgerRow{}
	for _, r := range from {
		before[r.ID] = r
	}
	c := ledgerChange{Entered: []ledgerRowJSON{}, Left: []ledgerRowJSON{}, Changed: []ledgerRowJSON{}}
	known := map[earshot.MessageID]bool{}
	for _, r := range to {
		known[r.ID] = true
		was, ok := before[r.ID]
		switch {
		case isReadByModel(r) && !(ok && isReadByModel(was)):
			c.Entered = append(c.Entered, ledgerRowJSON(r))
		case !isReadByModel(r) && ok && isReadByModel(was):
			c.Left = append(c.Left, ledgerRowJSON(r))
		case isReadByModel(r) && r.Verdict != was.Verdict && r.Verdict != earshot.Out && was.Verdict != earshot.Out:
			c.Changed = append(c.Changed, ledgerRowJSON(r))
		case isReadByModel(r):
			c.Kept++
		}
	}
	for _, r := range from {
		if !known[r.ID] && isReadByModel(r) {
			c.Left = append(c.Left, ledgerRowJSON(r))
		}
	}
	return c
}

func (c *diffCmd) Run(ctx context.Context, a *app) error {
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	var of [2]wholeTurn
	for i, id := range []int64{c.From, c.To} {
		if of[i], err = l.whole(ctx, id); err != nil {
			return err
		}
		if of[i].Ledger() == nil {
			return usagef("turn %d has no ledger: %s", id, of[i].Changed)
		}
	}
	s := of[0].Queued.Conversation.Scope
	if s != of[1].Queued.Conversation.Scope {
		return usagef("turn %d is of #%s and turn %d of #%s; two turns of one channel can be compared", c.From, of[0].row.ChannelName, c.To, of[1].row.ChannelName)
	}
	diff := changeOf(of[0].Ledger(), of[1].Ledger())
	if a.json {
		return a.writeJSON(struct {
			From int64 `json:"from"`
			To   int64 `json:"to"`
			ledgerChange
		}{c.From, c.To, diff})
	}
	a.printf("from turn %d to turn %d in #%s\n", c.From, c.To, plain.Line(of[0].row.ChannelName, 40))
	diff.show(ctx, a, l, s)
	return nil
}

func (c ledgerChange) show(ctx context.Context, a *app, l turnStore, s earshot.Scope) {
	a.printf("%s entered, %s left, %s are shown in another length, %s stayed\n",
		plain.Number(len(c.Entered)), plain.Number(len(c.Left)), plain.Number(len(c.Changed)), plain.Number(c.Kept))
	t := terminal.NewTable("", "id", "author", "section", "reason", "tokens", "first words").Right(5)
	rows := 0
	for _, part := range []struct {
		sign string
		list []ledgerRowJSON
	}{{terminal.Good("+"), c.Entered}, {terminal.Bad("-"), c.Left}, {terminal.Mark("~"), c.Changed}} {
		for _, r := range part.list {
			m, err := l.store.Message(ctx, s, r.ID)
			if err != nil {
				m = earshot.Message{}
			}
			rows++
			t.Row(part.sign, terminal.Faint(plain.ID(string(r.ID))), plain.Line(m.Author.Name, 16), r.Section, r.Reason, plain.Number(r.Tokens), plain.Line(m.Text, 200))
		}
	}
	if rows > 0 {
		a.printf("%s", t.Render(a.width))
	}
}
