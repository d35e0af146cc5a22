package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/words"
)

// choiceOf returns the choice that a text is, and the words after it; "" for any other text.
func choiceOf(text string) (choice, why string) {
	text = strings.Trim(strings.TrimSpace(text), ".!")
	first, rest, _ := strings.Cut(strings.Replace(text, "、", ",", 1), ",")
	switch {
	case words.Means(text, words.SaidYes):
		return chooseDo, ""
	case words.Means(text, words.SaidNo):
		return chooseDont, ""
	case words.Means(first, words.SaidNo):
		return chooseDont, strings.TrimSpace(rest)
	}
	return "", ""
}

// chooseByWord decides an approval by a message to the agent that says yes or no, where one
// is open in its conversation and its author may: a message that calls the agent, that is
// direct, or that replies to the question by reference. A yes to somebody else is none. Such
// a message asks for nothing else. It may be a repeat of one that decided before.
func (b *Bot) chooseByWord(ctx context.Context, e Event) (taken bool, err error) {
	m := e.Message
	if e.By.Emoji != "" || e.Known || m.Deleted || m.Edited != 0 || b.identity.Is(m.Author.ID) || m.Author.Kind == earshot.Bot {
		return false, nil
	}
	choice, why := choiceOf(b.identity.WithoutMentions(m.Text))
	if choice == "" {
		return false, nil
	}
	scope := e.Channel.Scope()
	called := e.Channel.Kind == earshot.KindDM || b.identity.CalledIn(&m)
	replied, err := b.askedIn(ctx, scope, m.ReplyTo)
	if err != nil || !called && replied == "" {
		return false, err
	}
	id, err := gather.ConversationOf(ctx, b.store, e.Channel, m, b.identity)
	if err != nil {
		return false, fmt.Errorf("look up what was asked: %w", err)
	}
	since := m.Time - earshot.Time(b.opts.Approve.Expire/time.Microsecond)
	list, err := b.store.Approvals(ctx, earshot.ApprovalQuery{Agent: b.agent, Scope: &scope, Limit: maxApprovals, States: []earshot.ApprovalState{
		earshot.ApprovalOpen, earshot.ApprovalAgreed, earshot.ApprovalRefused}})
	if err != nil {
		return false, fmt.Errorf("look up what was asked: %w", err)
	}
	var open []earshot.Approval
	for _, a := range list {
		if a.Tool == AskTool || a.Asked < since || a.Asked > m.Time || replied != "" && a.ID != replied || replied == "" && a.Conversation != id {
			continue
		}
		if a.State != earshot.ApprovalOpen && a.By == m.Author.ID && a.Decided == m.Time {
			return true, nil // this message decided it
		}
		if a.State == earshot.ApprovalOpen {
			open = append(open, a)
		}
	}
	if len(open) != 1 {
		return false, nil
	}
	c := Chosen{Scope: scope, Key: string(open[0].ID), Choice: choice, By: m.Author, Words: why}
	if may, err := b.mayDecide(ctx, open[0], c); err != nil || !may {
		return false, err
	}
	d := earshot.Decision{State: earshot.ApprovalAgreed, SHA256: open[0].SHA256, By: m.Author.ID, Why: why, Time: m.Time}
	if choice == chooseDont {
		d.State = earshot.ApprovalRefused
	}
	_, err = b.decide(ctx, open[0].ID, d)
	return err == nil, err
}

// askedIn returns the approval that a message of the bot asks for; "" where it asks for none.
func (b *Bot) askedIn(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.ApprovalID, error) {
	if id == "" {
		return "", nil
	}
	q, err := b.store.Posted(ctx, s, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look up what was asked: %w", err)
	}
	posts, err := b.store.Posts(ctx, q.ID)
	if err != nil {
		return "", fmt.Errorf("look up what was asked: %w", err)
	}
	for _, p := range ofKind(posts, kindApproval) {
		if p.Message == id {
			return earshot.ApprovalID(p.Key), nil
		}
	}
	return "", nil
}
