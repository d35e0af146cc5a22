package rule

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// CheckFeedback checks and normalises f.
func CheckFeedback(f earshot.Feedback) (earshot.Feedback, error) {
	f.Author, f.Reason = text(f.Author), Text(f.Reason)
	switch {
	case f.Author == "":
		return f, fmt.Errorf("%w: the feedback has no author", earshot.ErrInvalid)
	case len(f.Author) > MaxID:
		return f, tooLong("author", len(f.Author))
	case len(f.Reason) > earshot.FeedbackBytes:
		return f, fmt.Errorf("%w: the reason has %d bytes, more than %d", earshot.ErrInvalid, len(f.Reason), earshot.FeedbackBytes)
	}
	return f, nil
}

// PutFeedback returns what is stored of a person's feedback after f was put.
func PutFeedback(stored *earshot.Feedback, f earshot.Feedback) earshot.Feedback {
	if f.Reason == "" && stored != nil && stored.Good == f.Good {
		f.Reason = stored.Reason
	}
	return f
}

// CheckFeedbackQuery normalises q and sets its defaults: no bound, 50 entries.
func CheckFeedbackQuery(q earshot.FeedbackQuery) earshot.FeedbackQuery {
	q.Agent = text(q.Agent)
	if q.Scope != nil {
		s := Scope(*q.Scope)
		q.Scope = &s
	}
	if q.Before <= 0 {
		q.Before = 1<<63 - 1
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	return q
}

// FeedbackColumns are those of feedback.
const FeedbackColumns = `turn, author, agent, platform, workspace, channel, conversation, good, reason, time`

// ScanFeedback reads a row of FeedbackColumns into f with the Scan of a row.
func ScanFeedback(scan func(...any) error, f *earshot.Feedback) error {
	good, s := 0, &f.Conversation.Scope
	err := scan(&f.Turn, &f.Author, &f.Conversation.Agent, &s.Platform, &s.Workspace, &s.Channel, &f.Conversation.Name, &good, &f.Reason, &f.Time)
	f.Good = good != 0
	return err
}

// FeedbackValues returns f as parameters for FeedbackColumns.
func FeedbackValues(f earshot.Feedback) []any {
	good, s := 0, f.Conversation.Scope
	if f.Good {
		good = 1
	}
	return []any{int64(f.Turn), string(f.Author), string(f.Conversation.Agent), string(s.Platform), string(s.Workspace), string(s.Channel), f.Conversation.Name, good, f.Reason, int64(f.Time)}
}
