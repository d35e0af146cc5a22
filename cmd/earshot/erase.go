package main

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/desk"
)

type eraseCmd struct {
	Channel string `arg:"" help:"A channel: name, id or workspace/name." predictor:"channel"`
	Message string `arg:"" help:"A message: its id or a link to it. Of a deleted one the whole id."`
	Replies bool   `help:"Erase the bot's replies that may quote it too; earshot where lists them."`
}

func (c *eraseCmd) Help() string {
	return `Erases a message from the store, as if it had been deleted on the platform: its text, the deliveries about it, and what
agents keep of it. With --replies it also erases each of the bot's replies whose model had read the message. This
cannot be undone. The platform keeps its own copy: delete that there.

Examples:

  earshot erase deploys 1773154325.646159 --replies`
}

func (c *eraseCmd) Run(ctx context.Context, a *app) error {
	if c.Message == last {
		return usagef("what is erased is named by its id; earshot thread shows ids")
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	s, m, label, err := l.message(ctx, c.Channel, c.Message)
	if err != nil {
		return err
	}
	w, err := l.where(ctx, s, m, label)
	if err != nil {
		return err
	}
	gone := []earshot.Message{{ID: m.ID, Time: m.Time, Deleted: true}}
	replies := w.replies()
	if c.Replies {
		for _, r := range replies {
			gone = append(gone, earshot.Message{ID: r.Message, Deleted: true})
		}
	}
	done, err := l.store.Record(ctx, s, gone...)
	if err != nil {
		return err
	}
	erased := []earshot.MessageID{}
	for _, r := range done {
		if r.Change == earshot.Gone {
			erased = append(erased, r.ID)
		}
	}
	left := len(replies)
	if c.Replies {
		left = 0
	}
	if a.json {
		return a.writeJSON(map[string]any{"erased": erased, "replies_left": left})
	}
	a.printf("%s erased from the store; what stands on the platform is deleted there\n", desk.Count(len(erased), "message"))
	if left > 0 {
		a.printf("left: %s that may quote it; --replies erases that too\n", desk.Count(left, "answer"))
	}
	return nil
}
