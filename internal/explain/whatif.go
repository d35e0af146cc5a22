package explain

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

// A WhatIf is a prompt with something changed: a stored turn's, or where Turn is 0
// what the agent would see for a message. Zero fields change nothing.
type WhatIf struct {
	Turn earshot.TurnID
	At   PreviewRequest // with the policy and the budget of the original

	Policy  string // the name of a built-in policy, or the text of a policy file
	Budget  int    // tokens that the turn may add; at most 32,000, or what the original has
	Session int    // tokens that a session may have; where it is 0 and Budget is not, four times Budget
	// Limits are values of [Controls], by section and limit, of the policy's first
	// and later turns alike. 0 is the limit's default.
	Limits map[assemble.SectionName]map[string]int
}

// A Comparison is two prompts for one message, and what differs.
type Comparison struct {
	Was, Now Explanation
	Rows     []ComparedRow // the messages whose verdict, section or tokens differ, in the order of Position
	Same     bool          // the prompts have the same bytes
	// Since says that the same policy and budget would make another prompt today than
	// they did: messages were edited or became known since, and some of the
	// differences come from that.
	Since bool
}

// A ComparedRow is a message in the ledgers of two prompts. A row without ID is of the
// prompt for which the message was not considered.
type ComparedRow struct {
	Message  earshot.Message
	Was, Now earshot.LedgerRow
}

// notRemadeError returns the answer for a turn whose prompt cannot be made again.
func notRemadeError(why string) error {
	return &visible.Refusal{Kind: visible.Conflict, Code: "changed", Detail: "the prompt cannot be made again, and so not with other settings: " + why}
}

// WhatIf makes the prompt of a turn, or of a message, with another policy, budget or
// limits, from the conversation as it was then. No model is asked, and nothing is
// stored.
func (r *Reader) WhatIf(ctx context.Context, p access.Principal, w WhatIf) (Comparison, error) {
	var out Comparison
	var of earshot.QueuedTurn
	if w.Turn != 0 {
		t, x, err := r.Explain(ctx, p, w.Turn)
		if err != nil {
			return out, err
		}
		if x == nil {
			return out, notRemadeError(t.Changed)
		}
		out.Was, of = *x, t.Queued
	} else {
		x, conversation, err := r.explainMessage(ctx, p, w.At)
		if err != nil {
			return out, err
		}
		out.Was, of.Conversation = x, conversation
	}
	settings, err := w.settings(out.Was.Input)
	if err != nil {
		return out, err
	}
	if w.Turn != 0 { // for a message it was asked
		if err := r.maker.Hold(out.Was.Channel.Scope()); err != nil {
			return out, err
		}
	}
	done, err := r.maker.Work(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	return out, r.change(ctx, &out, of, settings)
}

// change makes the other prompt, and compares.
func (r *Reader) change(ctx context.Context, out *Comparison, of earshot.QueuedTurn, settings contexts.Settings) error {
	was := &out.Was
	out.Now = *was
	out.Same = true
	if settings.Policy != nil || settings.Budget != nil {
		in := was.Input
		if settings.Policy != nil {
			in.Policy = *settings.Policy
		}
		if settings.Budget != nil {
			in.Budget = *settings.Budget
		}
		now := Explanation{Channel: was.Channel, Agent: was.Agent}
		var err error
		if now.Input, now.Result, err = r.gatherAgain(ctx, was, in.Policy, in.Budget); err != nil {
			return err
		}
		if err := r.explain(ctx, newMemo(r.store), &now, of, now.Result.Ledger, nil); err != nil {
			return err
		}
		out.Now, out.Same = now, now.Result.Hash == was.Result.Hash
		if of.ID != 0 {
			_, today, err := r.gatherAgain(ctx, was, was.Input.Policy, was.Input.Budget)
			if err != nil && ctx.Err() != nil {
				return err
			}
			out.Since = err != nil || today.Hash != was.Result.Hash
		}
	}
	out.compare()
	return nil
}

// Again makes the prompt of a turn with another policy and budget, from the conversation
// as it was then. The turn has its prompt; see [Reader.Turn]. No model is asked, and
// nothing is stored. The error is [contexts.OverLimit] where the question alone is too
// long.
func (r *Reader) Again(ctx context.Context, t Turn, policy assemble.Policy, budget assemble.Budget) (assemble.Input, assemble.Result, error) {
	return r.gatherAgain(ctx, &Explanation{Input: *t.Input, Result: *t.Prompt}, policy, budget)
}

// gatherAgain makes a prompt's context with a policy and a budget, from the
// conversation as the prompt had it.
func (r *Reader) gatherAgain(ctx context.Context, was *Explanation, policy assemble.Policy, budget assemble.Budget) (assemble.Input, assemble.Result, error) {
	in := was.Input
	state := in.Conversation
	profiles := slices.ContainsFunc(in.Messages, func(m earshot.Message) bool { return m.Author.AsOf != 0 })
	sums := map[earshot.ArtifactID]string{}
	for _, m := range in.Messages {
		for _, f := range m.Files {
			if f.SHA256 != "" {
				sums[f.ID] = f.SHA256
			}
		}
	}
	return r.maker.Gather(ctx, gather.Request{
		Channel: in.Channel, Anchor: in.Anchor, Identity: in.Identity, Policy: policy, Budget: budget,
		Counter: in.Counter, Instructions: in.Instructions, Attach: in.Attach, State: &state,
		Zone: cmp.Or(in.Zone, "UTC"), AskerZone: cmp.Or(in.AskerZone, in.Zone, "UTC"), AskedBy: in.AskedBy, FileTokens: in.FileTokens, Sums: sums, Finder: r.finderAgain(was), Profiles: profiles,
		Trust: in.Trust, Notices: in.Notices, AllowList: listOf(in),
	})
}

// listOf is the list of who is answered as an input knows it.
func listOf(in assemble.Input) earshot.AllowList {
	not := map[earshot.AuthorID]bool{}
	for _, m := range in.Messages {
		not[m.Author.ID] = not[m.Author.ID] || m.Author.NotAllowed
	}
	return func(context.Context, earshot.Scope, []earshot.AuthorID) (map[earshot.AuthorID]bool, error) {
		return not, nil
	}
}

// compare sets the rows that differ. What only tools returned is in no prompt that
// is made again, and is left out.
func (c *Comparison) compare() {
	rows := map[earshot.MessageID]*ComparedRow{}
	row := func(m earshot.Message) *ComparedRow {
		if rows[m.ID] == nil {
			rows[m.ID] = &ComparedRow{Message: m}
		}
		return rows[m.ID]
	}
	was := &Explanation{Input: c.Was.Input}
	was.candidates(c.Was.Result.Ledger, nil)
	for _, x := range was.Candidates {
		row(x.Message).Was = x.Row
	}
	for _, x := range c.Now.Candidates {
		row(x.Message).Now = x.Row
	}
	for _, r := range rows {
		if a, b := r.Was, r.Now; a.ID != b.ID && (a.Verdict != earshot.Out && a.ID != "" || b.Verdict != earshot.Out && b.ID != "") ||
			a.ID == b.ID && (a.Verdict != b.Verdict || a.Section != b.Section || a.Tokens != b.Tokens) {
			c.Rows = append(c.Rows, *r)
		}
	}
	slices.SortFunc(c.Rows, func(a, b ComparedRow) int { return a.Message.Position().Compare(b.Message.Position()) })
}

// finderAgain finds what the search found for a prompt, where its policy asked it;
// else it searches. The neighbours of a hit are those that the prompt's input has.
func (r *Reader) finderAgain(was *Explanation) gather.Finder {
	list, later := was.Input.Policy.First, sessionOf(was.Input, was.Result) > 0
	if later {
		list = was.Input.Policy.Later
	}
	anew := r.maker.Finder()
	if !slices.ContainsFunc(list, func(x assemble.Section) bool { return x.Section == assemble.Recall }) {
		return anew
	}
	return recordedHits{was, later, anew}
}

// recordedHits are the hits that a prompt's input has.
type recordedHits struct {
	of    *Explanation
	later bool          // the prompt is of a later turn
	anew  gather.Finder // for a question that was not searched for
}

// nearHit is how many messages on each side of a hit are its neighbours.
const nearHit = 5

// Search implements [gather.Finder].
func (f recordedHits) Search(ctx context.Context, at earshot.Scope, q search.Query) ([]search.Hit, error) {
	if f.later && !index.Searchable(q.Text) { // asked now, because the prompt begins a session
		return f.anew.Search(ctx, at, q)
	}
	messages := f.of.Input.Messages
	var hits []search.Hit
	for _, r := range f.of.Input.Recalled {
		i := slices.IndexFunc(messages, func(m earshot.Message) bool { return m.ID == r.ID })
		if i < 0 {
			continue
		}
		h := search.Hit{Hit: index.Hit{ID: r.ID, Time: messages[i].Time, Score: r.Score, Cover: r.Cover}, Message: messages[i]}
		for name, value := range r.Parts {
			h.Parts = append(h.Parts, index.Part{Name: name, Value: value})
		}
		slices.SortFunc(h.Parts, func(a, b index.Part) int { return strings.Compare(a.Name, b.Name) })
		for _, m := range messages[max(0, i-nearHit):min(len(messages), i+nearHit+1)] {
			if m.ID != r.ID {
				h.Near = append(h.Near, m.ID)
			}
		}
		hits = append(hits, h)
	}
	return hits, nil
}
