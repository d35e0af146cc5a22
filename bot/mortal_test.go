package bot_test

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// mortal is the store of a process that may die: after its death it writes nothing.
type mortal struct {
	bot.Store
	p *process
}

func (m mortal) gone() error {
	if m.p.dead.Load() {
		return errDead
	}
	return nil
}

func (m mortal) PutChannel(ctx context.Context, c earshot.Channel) error {
	if err := m.gone(); err != nil {
		return err
	}
	return m.Store.PutChannel(ctx, c)
}

func (m mortal) Record(ctx context.Context, s earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	if err := m.gone(); err != nil {
		return nil, err
	}
	return m.Store.Record(ctx, s, list...)
}

func (m mortal) Accept(ctx context.Context, s earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error) {
	if err := m.gone(); err != nil {
		return earshot.AcceptResult{}, err
	}
	return m.Store.Accept(ctx, s, e, ask)
}

func (m mortal) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	if err := m.gone(); err != nil {
		return earshot.Lease{}, nil, err
	}
	return m.Store.Claim(ctx, agent, owner, now, hold)
}

func (m mortal) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	if err := m.gone(); err != nil {
		return l, err
	}
	return m.Store.Renew(ctx, l, now, hold)
}

func (m mortal) Release(ctx context.Context, l earshot.Lease, notBefore earshot.Time) error {
	if err := m.gone(); err != nil {
		return err
	}
	return m.Store.Release(ctx, l, notBefore)
}

func (m mortal) Begin(ctx context.Context, l earshot.Lease, id earshot.TurnID, p earshot.Prompt) error {
	if err := m.gone(); err != nil {
		return err
	}
	return m.Store.Begin(ctx, l, id, p)
}

func (m mortal) AddStep(ctx context.Context, l earshot.Lease, id earshot.TurnID, s earshot.Step, posts ...earshot.Post) error {
	if err := m.gone(); err != nil {
		return err
	}
	return m.Store.AddStep(ctx, l, id, s, posts...)
}

func (m mortal) PutPost(ctx context.Context, l earshot.Lease, p earshot.Post) error {
	if err := m.gone(); err != nil {
		return err
	}
	return m.Store.PutPost(ctx, l, p)
}

func (m mortal) Confirm(ctx context.Context, s earshot.Scope, key string, id earshot.MessageID) error {
	if err := m.gone(); err != nil {
		return err
	}
	return m.Store.Confirm(ctx, s, key, id)
}

func (m mortal) Finish(ctx context.Context, l earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, t *earshot.Turn, arrived ...earshot.Arrival) error {
	if err := m.gone(); err != nil {
		return err
	}
	return m.Store.Finish(ctx, l, id, state, why, t, arrived...)
}

func (m mortal) Merge(ctx context.Context, l earshot.Lease, into earshot.TurnID, turns ...earshot.TurnID) error {
	if err := m.gone(); err != nil {
		return err
	}
	return m.Store.Merge(ctx, l, into, turns...)
}

func (m mortal) AskApproval(ctx context.Context, l earshot.Lease, a earshot.Approval) (earshot.Approval, error) {
	if err := m.gone(); err != nil {
		return a, err
	}
	return m.Store.AskApproval(ctx, l, a)
}

func (m mortal) AwaitApprovals(ctx context.Context, l earshot.Lease, id earshot.TurnID) (bool, error) {
	if err := m.gone(); err != nil {
		return false, err
	}
	return m.Store.AwaitApprovals(ctx, l, id)
}

func (m mortal) DecideApproval(ctx context.Context, id earshot.ApprovalID, d earshot.Decision) (earshot.Approval, error) {
	if err := m.gone(); err != nil {
		return earshot.Approval{}, err
	}
	return m.Store.DecideApproval(ctx, id, d)
}

func (m mortal) NoteApproval(ctx context.Context, l earshot.Lease, id earshot.ApprovalID, result string) error {
	if err := m.gone(); err != nil {
		return err
	}
	return m.Store.NoteApproval(ctx, l, id, result)
}

// mortalSlate is a mortalBoard that can update posts.
type mortalSlate struct {
	mortalBoard
	s *slate
}

func (m mortalSlate) Update(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	if m.p.dead.Load() {
		return errDead
	}
	return m.s.Update(ctx, d, id)
}

func (m mortalSlate) Remove(ctx context.Context, at bot.Place, id earshot.MessageID) error {
	if m.p.dead.Load() {
		return errDead
	}
	return m.s.Remove(ctx, at, id)
}

func (m mortalSlate) Apologize(ctx context.Context, at bot.Place, text string) error {
	if m.p.dead.Load() {
		return errDead
	}
	return m.s.Apologize(ctx, at, text)
}

// mortalBoard is the platform of such a process.
type mortalBoard struct {
	*board
	p *process
}

func (m mortalBoard) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	if m.p.dead.Load() {
		return earshot.Message{}, errDead
	}
	return m.board.Post(ctx, d)
}
