package main

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type channelsCmd struct{}

// topicWidth is from which width of the terminal on topics are shown.
const topicWidth = 120

// channelJSON is a stored channel as --json writes it.
type channelJSON struct {
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"`
	ID        earshot.ChannelID   `json:"id"`
	Name      string              `json:"name"`
	Kind      earshot.ChannelKind `json:"kind"`
	Topic     string              `json:"topic"`
	Purpose   string              `json:"purpose"`
	Messages  int                 `json:"messages"`
	Threads   int                 `json:"threads"`
	First     string              `json:"first"`
	Last      string              `json:"last"`
}

func (c *channelsCmd) Run(ctx context.Context, a *app) error {
	st, list, err := a.channels(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	if a.json {
		out := []channelJSON{}
		for _, c := range list {
			out = append(out, channelJSON{c.Platform, c.Workspace, c.ID, c.Name, c.Kind, c.Topic, c.Purpose,
				c.Messages, c.Threads, c.First.String(), c.Last.String()})
		}
		return a.writeJSON(out)
	}
	head := []string{"channel", "kind", "id", "messages", "threads", "first", "last"}
	topics := a.width >= topicWidth
	if topics {
		head = append(head, "topic")
	}
	t := terminal.NewTable(head...).Right(3, 4)
	total := 0
	labels := channelLabels(list)
	for i, ch := range list {
		total += ch.Messages
		name := plain.ID(labels[i])
		if a.terminal {
			name = terminal.CutWidth(name, 28)
		}
		row := []string{terminal.Strong(name), string(ch.Kind), terminal.Faint(plain.ID(string(ch.ID))),
			plain.Number(ch.Messages), plain.Number(ch.Threads), plain.Day(ch.First), plain.Day(ch.Last)}
		if topics {
			row = append(row, plain.Line(ch.Topic, 60))
		}
		t.Row(row...)
	}
	a.printf("%s", t.Render(a.width))
	a.printf("%s\n", terminal.Faint(plain.Count(total, "message")+" in "+plain.Count(len(list), "channel")))
	return nil
}
