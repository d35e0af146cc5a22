package tables

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
)

var errUnsupported = errors.New("unsupported yet")

func (s *Store) AskApproval(ctx context.Context, l earshot.Lease, a earshot.Approval) (earshot.Approval, error) {
	return a, errUnsupported
}
func (s *Store) AwaitApprovals(ctx context.Context, l earshot.Lease, id earshot.TurnID) (bool, error) {
	return false, errUnsupported
}
func (s *Store) DecideApproval(ctx context.Context, id earshot.ApprovalID, d earshot.Decision) (earshot.Approval, error) {
	return earshot.Approval{}, errUnsupported
}
func (s *Store) NoteApproval(ctx context.Context, l earshot.Lease, id earshot.ApprovalID, result string) error {
	return errUnsupported
}
func (s *Store) Approval(ctx context.Context, id earshot.ApprovalID) (earshot.Approval, error) {
	return earshot.Approval{}, errUnsupported
}
func (s *Store) Approvals(ctx context.Context, q earshot.ApprovalQuery) ([]earshot.Approval, error) {
	return nil, errUnsupported
}
func (s *Store) StopTurn(ctx context.Context, id earshot.TurnID, by earshot.AuthorID) (earshot.QueuedTurn, error) {
	return earshot.QueuedTurn{}, errUnsupported
}
func (s *Store) PutFeedback(ctx context.Context, f earshot.Feedback) error { return errUnsupported }
func (s *Store) RemoveFeedback(ctx context.Context, id earshot.TurnID, by earshot.AuthorID) error {
	return errUnsupported
}
func (s *Store) Feedback(ctx context.Context, q earshot.FeedbackQuery) ([]earshot.Feedback, error) {
	return nil, errUnsupported
}

// ForgetDeeds implements [rule.Eraser].
func (e Eraser) ForgetDeeds(ctx context.Context, s earshot.Scope, id earshot.AuthorID, until earshot.Time) error {
	return nil
}
