package main

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type feedbackCmd struct {
	Good   bool  `xor:"verdict" help:"Only of those who found an answer good."`
	Bad    bool  `xor:"verdict" help:"Only of those who found it bad."`
	Turn   int64 `placeholder:"ID" help:"About one turn."`
	Before int64 `placeholder:"ID" help:"About turns before this one."`
	Limit  int   `short:"n" default:"50" help:"The most to list."`

	Channel string `placeholder:"CHANNEL" help:"In one channel."`
}

// A feedbackJSON is what somebody thinks of an answer, as --json writes it.
type feedbackJSON struct {
	Turn        earshot.TurnID      `json:"turn"`
	Good        bool                `json:"good"`
	Author      earshot.AuthorID    `json:"author"`
	AuthorName  string              `json:"author_name,omitempty"`
	Reason      string              `json:"reason,omitempty"`
	Time        string              `json:"time"`
	Platform    earshot.Platform    `json:"platform"`
	Workspace   earshot.WorkspaceID `json:"workspace"`
	Channel     earshot.ChannelID   `json:"channel"`
	ChannelName string              `json:"channel_name"`
	Question    string              `json:"question"` // "" when it was deleted

	minute string
}

func (c *feedbackCmd) Run(ctx context.Context, a *app) error {
	if c.Limit < 1 || c.Turn < 0 || c.Before < 0 {
		return usagef("--limit, --turn and --before must be above 0")
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	q := earshot.FeedbackQuery{Turn: earshot.TurnID(c.Turn), Before: earshot.TurnID(c.Before), Limit: c.Limit}
	if c.Good || c.Bad {
		q.Good = &c.Good
	}
	if q.Scope, err = l.scope(ctx, c.Channel); err != nil {
		return err
	}
	rows, err := l.feedback(ctx, q)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(rows)
	}
	if len(rows) == 0 {
		a.printf("nobody has said what they think of an answer\n")
		return nil
	}
	t := terminal.NewTable("turn", "when", "channel", "who", "", "what they say", "question").Right(0)
	for _, r := range rows {
		t.Row(fmt.Sprint(r.Turn), r.minute, plain.Line(r.ChannelName, 20), plain.Line(nameOr(r.AuthorName, r.Author), 16), verdict(r.Good),
			plain.Line(r.Reason, 60), terminal.Faint(plain.Line(r.Question, 60)))
	}
	a.printf("%s", t.Render(a.width))
	return nil
}

func verdict(good bool) string {
	if good {
		return terminal.Good("good")
	}
	return terminal.Bad("bad")
}

// feedback describes what people think of answers, with their names and the questions.
func (l turnStore) feedback(ctx context.Context, q earshot.FeedbackQuery) ([]feedbackJSON, error) {
	list, err := l.store.Feedback(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, about := []feedbackJSON{}, map[earshot.TurnID]queuedJSON{}
	for _, f := range list {
		s := f.Conversation.Scope
		t, known := about[f.Turn]
		if !known {
			queued, err := l.store.QueuedTurn(ctx, f.Turn)
			if err == nil {
				t, err = l.row(ctx, queued)
			}
			if err != nil {
				return nil, err
			}
			about[f.Turn] = t
		}
		r := feedbackJSON{
			Turn: f.Turn, Good: f.Good, Author: f.Author, Reason: f.Reason, Time: f.Time.String(), Platform: s.Platform, Workspace: s.Workspace, Channel: s.Channel,
			ChannelName: t.ChannelName, Question: t.Question, minute: plain.Minute(f.Time),
		}
		people, err := l.store.Authors(ctx, s.Platform, s.Workspace, f.Author)
		if err != nil {
			return nil, err
		}
		if len(people) > 0 {
			r.AuthorName = people[0].Name
		}
		rows = append(rows, r)
	}
	return rows, nil
}
