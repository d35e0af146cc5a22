package slack

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/earshot-ai/earshot/platform/internal/tolerant"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// What an agent or a tool is doing is a task card of the stream that answers: one after the
// other, the last one open until there is text or the next (docs.slack.dev, chat.appendStream,
// task_update chunks). A card is known by its id, so that telling it twice shows it once.

// taskCards are the cards of a stream.
type taskCards struct {
	n    int    // how many there are
	open string // the title of the last one; "" where it is complete
	none bool   // Slack takes no cards
}

// maxTaskTitle bounds the title of a card, in characters.
const maxTaskTitle = 150

// Statuses of a card.
const (
	taskUnderWay = "in_progress"
	taskComplete = "complete"
)

func (c *taskCards) chunk(title, status string) block {
	return block{"type": "task_update", "id": "step-" + strconv.Itoa(c.n), "title": title, "status": status}
}

// next returns the chunks that end the open card and begin another.
func (c *taskCards) next(title string) []block {
	var list []block
	if c.open != "" {
		list = append(list, c.chunk(c.open, taskComplete))
	}
	c.n, c.open = c.n+1, title
	return append(list, c.chunk(title, taskUnderWay))
}

// close adds a text to the arguments of a call, "" for none, and ends the open card with it.
func (c *taskCards) close(args url.Values, text string) {
	switch {
	case c.open == "" && text != "":
		args.Set("markdown_text", text)
	case c.open != "":
		list := []block{c.chunk(c.open, taskComplete)}
		if c.open = ""; text != "" {
			list = append(list, block{"type": "markdown_text", "text": text})
		}
		args.Set("chunks", encoded(list))
	}
}

// showTask shows what is done before an answer is written, as a card of its stream. It does not
// block, and what is not shown is no loss.
func (p *Platform) showTask(ctx context.Context, s *stream, on string) {
	select {
	case s.writing <- struct{}{}:
	default:
		return // a call is under way
	}
	title := tolerant.CutRunes(on, maxTaskTitle)
	if now := p.o.Now(); s.stalled || s.cards.none || title == "" || title == s.cards.open || now.Before(s.next) {
		<-s.writing
		return
	}
	s.next = p.o.Now().Add(appendEvery)
	go func() {
		defer func() { <-s.writing }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), appendTime)
		defer cancel()
		was := s.cards
		_, err := p.client.Try(ctx, slackapi.AppendStream, url.Values{"channel": {string(s.channel)}, "ts": {string(s.id)}, "chunks": {encoded(s.cards.next(title))}})
		var limited *slackapi.LimitedError
		switch {
		case errors.As(err, &limited):
			s.cards, s.next = was, p.o.Now().Add(limited.After)
		case slackapi.IsRefused(err, "invalid_chunks", "invalid_arguments", "no_text", "invalid_blocks"):
			s.cards = taskCards{none: true}
			p.o.Log.Info("slack takes no task cards", "channel", s.channel, "err", err)
		case err != nil: // it may be there: its id is used once more at the end
			p.o.Log.Debug("a task card may not be shown", "channel", s.channel, "message", s.id, "err", err)
		}
	}()
}
