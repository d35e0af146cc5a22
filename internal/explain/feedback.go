package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A FeedbackFilter selects what people think of answers, by falling turn. Zero fields
// select all.
type FeedbackFilter struct {
	Scope  *earshot.Scope // a channel that the caller was found to see
	Turn   earshot.TurnID
	Good   *bool
	Before earshot.TurnID
	Limit  int // at most MaxTurns; 0: 50
}

// A FeedbackRow is what somebody thinks of an answer, with the names of the channel and of
// them.
type FeedbackRow struct {
	earshot.Feedback
	Channel earshot.Channel
	By      earshot.Author // zero where nothing is known of them
}

// maxOpinions bounds what is read of one turn.
const maxOpinions = 1000

// Feedback returns a page of what people think of answers, as far as the caller sees them. A page
// has all of a turn, and so may have more than the limit. before says where the next page
// begins; 0 where there is none. It looks at 5,000 at most for a page.
func (r *Reader) Feedback(ctx context.Context, p access.Principal, f FeedbackFilter) (rows []FeedbackRow, before earshot.TurnID, err error) {
	if p.Fixed != nil {
		return nil, 0, visible.ToolsOnly
	}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	f.Limit = min(f.Limit, MaxTurns)
	mine := r.To(p)
	if f.Scope == nil {
		if only, ok, err := mine.Only(ctx); err != nil {
			return nil, 0, err
		} else if ok {
			f.Scope = &only
		}
	}
	q := earshot.FeedbackQuery{Scope: f.Scope, Turn: f.Turn, Good: f.Good, Before: f.Before, Limit: f.Limit + 1}
	for looked := 0; ; {
		list, more, err := r.feedbackOfWholeTurns(ctx, q)
		if err != nil {
			return nil, 0, err
		}
		for _, x := range list {
			if len(rows) >= f.Limit && rows[len(rows)-1].Turn != x.Turn {
				return rows, rows[len(rows)-1].Turn, r.nameFeedback(ctx, rows)
			}
			switch err := mine.Opens(ctx, x.Conversation); {
			case err == nil:
				rows = append(rows, FeedbackRow{Feedback: x})
			case !errors.Is(err, visible.Absent):
				return nil, 0, err
			}
		}
		if !more {
			return rows, 0, r.nameFeedback(ctx, rows)
		}
		q.Before, q.Limit = list[len(list)-1].Turn, MaxTurns
		if looked += len(list); looked >= MaxLook {
			return rows, q.Before, r.nameFeedback(ctx, rows)
		}
	}
}

// feedbackOfWholeTurns returns what the store has, without the last turn of what was cut
// off; of a turn with more than that, all. more says that there may be older turns.
func (r *Reader) feedbackOfWholeTurns(ctx context.Context, q earshot.FeedbackQuery) (_ []earshot.Feedback, more bool, _ error) {
	if q.Turn != 0 {
		q.Limit = maxOpinions
	}
	list, err := r.store.Feedback(ctx, q)
	if err != nil {
		return nil, false, fmt.Errorf("list feedback: %w", err)
	}
	if len(list) < q.Limit || q.Turn != 0 {
		return list, false, nil
	}
	last := list[len(list)-1].Turn
	if list[0].Turn == last {
		q.Turn, q.Before, q.Limit = last, 0, maxOpinions
		list, err = r.store.Feedback(ctx, q)
		return list, true, err
	}
	for list[len(list)-1].Turn == last {
		list = list[:len(list)-1]
	}
	return list, true, nil
}

// nameFeedback reads the names of rows.
func (r *Reader) nameFeedback(ctx context.Context, rows []FeedbackRow) error {
	as := make([]ApprovalRow, len(rows))
	for i, x := range rows {
		as[i].Conversation, as[i].Asker = x.Conversation, x.Author
	}
	err := r.nameApprovals(ctx, as)
	for i := range rows {
		rows[i].Channel, rows[i].By = as[i].Channel, as[i].AskerBy
	}
	return err
}

// PutFeedback stores what somebody thinks of an answer in place of what they thought before,
// for a caller that may write and sees the turn, and returns it as it is stored.
func (r *Reader) PutFeedback(ctx context.Context, p access.Principal, f earshot.Feedback) (FeedbackRow, error) {
	if len(f.Reason) > earshot.FeedbackBytes {
		return FeedbackRow{}, visible.InvalidField("reason", fmt.Sprintf("is longer than %d bytes", earshot.FeedbackBytes))
	}
	by, err := r.thinks(ctx, p, f.Turn, f.Author)
	if err != nil {
		return FeedbackRow{}, err
	}
	f.Author, f.Time = by, earshot.TimeOf(r.now())
	if err := r.store.PutFeedback(ctx, f); err != nil {
		return FeedbackRow{}, err
	}
	list, err := r.store.Feedback(ctx, earshot.FeedbackQuery{Turn: f.Turn, Limit: maxOpinions})
	if err != nil {
		return FeedbackRow{}, fmt.Errorf("read feedback: %w", err)
	}
	for _, x := range list {
		if x.Author == f.Author {
			rows := []FeedbackRow{{Feedback: x}}
			err := r.nameFeedback(ctx, rows)
			return rows[0], err
		}
	}
	// The person was erased, and nothing of them is kept.
	return FeedbackRow{}, &visible.Refusal{Kind: visible.Conflict, Code: "forgotten", Path: "author", Detail: "was erased, and nothing of them is kept"}
}

// RemoveFeedback removes what somebody thinks of an answer, for a caller that may write and
// sees the turn. It is no error where that is nothing.
func (r *Reader) RemoveFeedback(ctx context.Context, p access.Principal, id earshot.TurnID, by earshot.AuthorID) error {
	by, err := r.thinks(ctx, p, id, by)
	if err != nil {
		return err
	}
	return r.store.RemoveFeedback(ctx, id, by)
}

// thinks returns whose opinion of a turn a caller may write: of a key's, whom it names; of a
// user's token, its subject.
func (r *Reader) thinks(ctx context.Context, p access.Principal, id earshot.TurnID, by earshot.AuthorID) (earshot.AuthorID, error) {
	if p.Fixed != nil {
		return "", visible.ToolsOnly
	}
	q, err := r.store.QueuedTurn(ctx, id)
	if err != nil {
		return "", err
	}
	if err := r.To(p).Opens(ctx, q.Conversation); err != nil {
		return "", err
	}
	switch {
	case p.ReadOnly:
		return "", visible.ReadOnly
	case p.Kind == access.User && by != "" && by != earshot.AuthorID(p.Subject):
		return "", &visible.Refusal{Kind: visible.Forbidden, Code: "foreign_person", Path: "author", Detail: "is not you; a user's token speaks for nobody else"}
	case p.Kind == access.User:
		by = earshot.AuthorID(p.Subject)
	case by == "":
		return "", visible.InvalidField("author", "is required: the id of who thinks so")
	}
	return by, nil
}
