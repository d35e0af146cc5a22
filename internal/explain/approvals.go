package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// An ApprovalFilter selects approvals, newest first. Zero fields select all.
type ApprovalFilter struct {
	Scope  *earshot.Scope // a channel that the caller was found to see
	Turn   earshot.TurnID
	States []earshot.ApprovalState
	Before earshot.ApprovalID // one that the caller sees
	Limit  int                // at most MaxTurns; 0: 50
}

// An ApprovalRow is an approval with the names of its channel and its people.
type ApprovalRow struct {
	earshot.Approval
	Channel       earshot.Channel
	AskerBy, ByBy earshot.Author // who asked the question, and who decided; zero where nothing is known of them
}

// Approvals returns a page of what people were asked, as far as the caller sees it. more
// says that there are older ones. It looks at 5,000 at most, and refuses to look further
// where the caller sees none of them.
func (r *Reader) Approvals(ctx context.Context, p access.Principal, f ApprovalFilter) (rows []ApprovalRow, more bool, err error) {
	if p.Fixed != nil {
		return nil, false, visible.ToolsOnly
	}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	f.Limit = min(f.Limit, MaxTurns)
	mine := r.To(p)
	if f.Before != "" {
		if _, err := r.approval(ctx, p, f.Before); errors.Is(err, visible.Absent) {
			return nil, false, visible.InvalidField("cursor", "is not one that a page of this list gave")
		} else if err != nil {
			return nil, false, err
		}
	}
	if f.Scope == nil {
		if only, ok, err := mine.Only(ctx); err != nil {
			return nil, false, err
		} else if ok {
			f.Scope = &only
		}
	}
	q := earshot.ApprovalQuery{Scope: f.Scope, Turn: f.Turn, States: f.States, Before: f.Before, Limit: f.Limit + 1}
	for looked := 0; len(rows) <= f.Limit; {
		list, err := r.store.Approvals(ctx, q)
		if err != nil {
			return nil, false, fmt.Errorf("list approvals: %w", err)
		}
		for _, a := range list {
			switch err := mine.Opens(ctx, a.Conversation); {
			case err == nil:
				rows = append(rows, ApprovalRow{Approval: a})
			case !errors.Is(err, visible.Absent):
				return nil, false, err
			}
		}
		if len(list) < q.Limit {
			break
		}
		if looked += len(list); looked >= MaxLook && len(rows) <= f.Limit {
			if len(rows) == 0 {
				return nil, false, visible.InvalidField("channel", fmt.Sprintf("is required: of the newest %d approvals you see none", looked))
			}
			return rows, true, r.nameApprovals(ctx, rows)
		}
		q.Before, q.Limit = list[len(list)-1].ID, MaxTurns
	}
	if more = len(rows) > f.Limit; more {
		rows = rows[:f.Limit]
	}
	return rows, more, r.nameApprovals(ctx, rows)
}

// Approval returns one approval.
func (r *Reader) Approval(ctx context.Context, p access.Principal, id earshot.ApprovalID) (ApprovalRow, error) {
	a, err := r.approval(ctx, p, id)
	if err != nil {
		return ApprovalRow{}, err
	}
	return r.named(ctx, a)
}

// Named adds names to approvals that the caller was found to see.
func (r *Reader) Named(ctx context.Context, list []earshot.Approval) ([]ApprovalRow, error) {
	rows := make([]ApprovalRow, len(list))
	for i, a := range list {
		rows[i].Approval = a
	}
	return rows, r.nameApprovals(ctx, rows)
}

// named adds the names to an approval.
func (r *Reader) named(ctx context.Context, a earshot.Approval) (ApprovalRow, error) {
	rows, err := r.Named(ctx, []earshot.Approval{a})
	return rows[0], err
}

// approval returns an approval that the caller sees. What it may not see is refused as what
// is not there.
func (r *Reader) approval(ctx context.Context, p access.Principal, id earshot.ApprovalID) (earshot.Approval, error) {
	if p.Fixed != nil {
		return earshot.Approval{}, visible.ToolsOnly
	}
	a, err := r.store.Approval(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) || err == nil && !p.Sees(a.Conversation.Scope) {
		err = visible.Absent
	}
	if err == nil {
		err = r.To(p).Opens(ctx, a.Conversation)
	}
	if err != nil {
		return earshot.Approval{}, err
	}
	return a, nil
}

// nameApprovals reads the names of rows: one query for each channel and each workspace.
func (r *Reader) nameApprovals(ctx context.Context, rows []ApprovalRow) error {
	channels := map[earshot.Scope]earshot.Channel{}
	people := map[earshot.Scope][]earshot.AuthorID{} // by workspace
	workspace := func(s earshot.Scope) earshot.Scope { s.Channel = ""; return s }
	for i := range rows {
		s := rows[i].Conversation.Scope
		c, ok := channels[s]
		if !ok {
			var err error
			if c, err = r.store.Channel(ctx, s); errors.Is(err, earshot.ErrNotFound) {
				c = earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel}
			} else if err != nil {
				return err
			}
			channels[s] = c
		}
		rows[i].Channel = c
		for _, id := range []earshot.AuthorID{rows[i].Asker, rows[i].By} {
			if w := workspace(s); id != "" && !slices.Contains(people[w], id) {
				people[w] = append(people[w], id)
			}
		}
	}
	for w, ids := range people {
		list, err := r.store.Authors(ctx, w.Platform, w.Workspace, ids...)
		if err != nil {
			return fmt.Errorf("read who was asked: %w", err)
		}
		for i := range rows {
			x := &rows[i]
			if workspace(x.Conversation.Scope) != w {
				continue
			}
			for _, who := range list {
				if who.ID == x.Asker {
					x.AskerBy = who
				}
				if who.ID == x.By {
					x.ByBy = who
				}
			}
		}
	}
	return nil
}

// A Deciding is how somebody decides an approval.
type Deciding struct {
	Agree  bool
	SHA256 string           // of the arguments that are agreed to; "": those that are stored
	By     earshot.AuthorID // who did, as their platform's event says; "": the caller, as an operator
	Reason string
}

// A Decided is the error of deciding what is decided otherwise, or has expired.
type Decided struct {
	ApprovalRow        // as it is stored
	Code        string // decided, expired, withdrawn or other_arguments
}

// Error implements error.
func (d *Decided) Error() string {
	switch d.Code {
	case "other_arguments":
		return "sha256 is not that of the arguments that are asked for; nothing has changed"
	case "expired":
		return "the time in which somebody could decide this is over; nothing is done"
	case "withdrawn":
		return "this is not asked any more: its turn has ended, or has begun anew"
	}
	return fmt.Sprintf("this is %s already, which stays", d.State)
}

// Is reports that a Decided is an [earshot.ErrConflict].
func (*Decided) Is(target error) bool { return target == earshot.ErrConflict }

// Decide decides an approval for a caller that may write and sees it. The same decision
// again returns what is stored; another one is a [*Decided]. Of two at once the first
// counts.
func (r *Reader) Decide(ctx context.Context, p access.Principal, id earshot.ApprovalID, d Deciding) (ApprovalRow, error) {
	if len(d.Reason) > earshot.ApprovalWords {
		return ApprovalRow{}, visible.InvalidField("reason", fmt.Sprintf("is longer than %d bytes", earshot.ApprovalWords))
	}
	a, err := r.approval(ctx, p, id)
	switch {
	case err != nil:
		return ApprovalRow{}, err
	case p.ReadOnly:
		return ApprovalRow{}, visible.ReadOnly
	case p.Kind == access.User && d.By != "" && d.By != earshot.AuthorID(p.Subject):
		return ApprovalRow{}, &visible.Refusal{Kind: visible.Forbidden, Code: "foreign_person", Path: "by", Detail: "is not you; a user's token decides for nobody else"}
	case p.Kind == access.User: // the issuer says who they are, not that they operate
		d.By = earshot.AuthorID(p.Subject)
	}
	if d.Agree && a.Tool == bot.AskTool && d.Reason == "" {
		return ApprovalRow{}, visible.InvalidField("reason", "is required: the model asks a question, and this is the answer")
	}
	if d.By != "" {
		if may, err := r.mayDecide(ctx, a, d.By); err != nil {
			return ApprovalRow{}, err
		} else if !may {
			return ApprovalRow{}, &visible.Refusal{Kind: visible.Forbidden, Code: "not_asked", Path: "by", Detail: "may not decide this; approve.by in the settings says who may"}
		}
	}
	decision := earshot.Decision{State: earshot.ApprovalRefused, SHA256: a.SHA256, By: d.By, Operator: d.By == "", Why: d.Reason, Time: earshot.TimeOf(r.now())}
	if d.Agree {
		decision.State = earshot.ApprovalAgreed
	}
	if d.SHA256 != "" && d.SHA256 != a.SHA256 {
		row, err := r.named(ctx, a)
		if err != nil {
			return row, err
		}
		return row, &Decided{row, "other_arguments"}
	}
	out, err := r.store.DecideApproval(ctx, a.ID, decision)
	if errors.Is(err, earshot.ErrNotFound) {
		return ApprovalRow{}, visible.Absent // erased meanwhile
	}
	conflict := errors.Is(err, earshot.ErrConflict)
	if err != nil && !conflict {
		return ApprovalRow{}, err
	}
	row, err := r.named(ctx, out)
	if err != nil {
		return row, err
	}
	if conflict {
		if out.State == decision.State && out.By == decision.By && out.Operator == decision.Operator {
			return row, nil // decided twice
		}
		code := "decided"
		if out.State == earshot.ApprovalExpired || out.State == earshot.ApprovalWithdrawn {
			code = string(out.State)
		}
		return row, &Decided{row, code}
	}
	at := a.Conversation.Scope
	r.log.Info("an approval was decided", "approval", string(a.ID), "turn", a.Turn, "tool", a.Tool, "state", string(out.State), "by", string(d.By), "caller", p.ID,
		"platform", string(at.Platform), "workspace", string(at.Workspace), "channel", string(at.Channel))
	return row, nil
}

// mayDecide reports whether somebody may decide an approval, as far as that is known
// here: which groups and roles they have is known to a bot only.
func (r *Reader) mayDecide(ctx context.Context, a earshot.Approval, by earshot.AuthorID) (bool, error) {
	named := a.Tool == bot.AskTool && by == a.Asker || a.Tool != bot.AskTool && slices.ContainsFunc(r.approveBy, func(who string) bool {
		return who == bot.ApproveMembers || who == bot.ApproveAsker && by == a.Asker || who == string(by)
	})
	if !named {
		return false, nil
	}
	s := a.Conversation.Scope
	id := earshot.AuthorID(a.Conversation.Agent)
	agent, err := r.To(access.Principal{ID: "local:approvals", Kind: access.Local}).Agent(ctx, s, id)
	if _, unknown := visible.AsRefusal(err); err != nil && !unknown {
		return false, err
	}
	if by == id || agent.Is(by) {
		return false, nil
	}
	who := earshot.Author{ID: by}
	list, err := r.store.Authors(ctx, s.Platform, s.Workspace, by)
	if err != nil {
		return false, fmt.Errorf("look up who decides: %w", err)
	}
	if len(list) > 0 {
		who = list[0]
	}
	if who.Kind == earshot.Bot || who.Kind == earshot.System {
		return false, nil
	}
	lanes := r.maker.Lanes(s, agent)
	if lanes == nil {
		return true, nil
	}
	of, err := lanes(ctx, []earshot.Message{{Author: who}})
	if err != nil {
		return false, err
	}
	lane, other := of[by]
	return !other || lane == earshot.LaneFull, nil
}
