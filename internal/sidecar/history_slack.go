package sidecar

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// A slackPage is what conversations.history and conversations.replies answer.
type slackPage struct {
	OK       *bool            `json:"ok"`
	Error    string           `json:"error"`
	Messages []jsontext.Value `json:"messages"`
	More     *bool            `json:"has_more"`
	Limited  bool             `json:"is_limited"` // the plan hides older messages
	Oldest   string           `json:"oldest"`
	Latest   string           `json:"latest"`
}

// SlackHistory stores a page of Slack's conversations.history, or with a thread of
// conversations.replies, as it came, as History does. The range is what Slack was asked
// for, as oldest and latest, both ends left out; where it is open, the page's own counts.
func (s *Service) SlackHistory(ctx context.Context, p access.Principal, at Past, raw []byte, r Range) (Recalled, error) {
	page, err := readSlackPage(raw, &r)
	if err != nil {
		return Recalled{}, err
	}
	id, _ := json.Marshal(map[string]string{"id": string(at.Channel.ID)})
	if c, ok := slackmsg.Channel(id); !ok {
		return Recalled{}, visible.InvalidField("channel.id", "is no channel's id of Slack")
	} else if at.Channel.Kind == "" {
		at.Channel.Kind = c.Kind // of a DM, whose id begins with D
	}
	at.Channel.Platform = earshot.Slack
	if at, err = s.placed(ctx, p, at); err != nil {
		return Recalled{}, err
	}
	h := stretch{Past: at, batch: batch{of: "page.messages"}}
	for i, m := range page.Messages {
		e := Event{Type: Nameless, Channel: at.Channel}
		if e, err = s.slackMessage(ctx, e, m, false, fmt.Sprintf("page.messages[%d]", i)); err != nil {
			return Recalled{}, err
		}
		m := &e.Message
		if e.Type == Said && at.Thread != "" && m.ID != at.Thread && m.Root() != at.Thread {
			return Recalled{}, visible.InvalidField(fmt.Sprintf("page.messages[%d].thread_ts", i), "is another thread than the one that is told")
		}
		asOf(m, s.now())
		h.events = append(h.events, e)
	}
	h.known, h.next = page.known(at.Thread, r, s.now())
	return s.recall(ctx, p, h)
}

// asOf notes that a message's reactions are all that there were at a time.
func asOf(m *earshot.Message, now earshot.Time) {
	if m.Reactions == nil {
		return
	}
	by := earshot.Reactors{AsOf: now}
	if m.Reactors != nil {
		by.List = m.Reactors.List
	}
	m.Reactors = &by
}

// readSlackPage reads a page. What the caller does not tell of the range, and the page
// does, is taken from there.
func readSlackPage(raw []byte, r *Range) (slackPage, error) {
	var page slackPage
	if err := json.Unmarshal(raw, &page, jsontext.AllowInvalidUTF8(true)); err != nil {
		return page, visible.InvalidField("page", "is no answer of Slack's conversations.history or conversations.replies")
	}
	switch {
	case page.OK != nil && !*page.OK:
		return page, visible.InvalidField("page", "is a refusal of Slack, not a page: see its error")
	case page.Messages == nil:
		return page, visible.InvalidField("page.messages", "is required: pass on the whole answer of Slack")
	}
	if at, err := earshot.ParseTime(page.Oldest); err == nil && r.From == 0 && at > 0 {
		r.From = at
	}
	if at, err := earshot.ParseTime(page.Latest); err == nil && r.To == 0 {
		r.To = at
	}
	return page, nil
}

// known returns the stretch that a page shows all of, and how it goes on. History comes
// newest first, replies oldest first; what Slack does not tell counts as cut.
func (page slackPage) known(thread earshot.MessageID, r Range, now earshot.Time) (coverage.Span, Going) {
	out := coverage.Span{From: coverage.Dawn, To: now}
	if r.From != 0 {
		out.From = r.From + 1
	}
	if r.To != 0 {
		out.To = r.To - 1
	}
	more := page.More == nil || *page.More
	var oldest, newest earshot.Time
	for _, m := range page.Messages {
		id, at, ok := slackmsg.Stamp(m)
		if !ok || thread != "" && id == thread {
			continue
		}
		if oldest == 0 || at < oldest {
			oldest = at
		}
		newest = max(newest, at)
	}
	switch {
	case thread == "" && (more || page.Limited):
		if oldest == 0 {
			return nothing, Going{}
		}
		out.From = oldest
		if more {
			return out, Going{Latest: oldest.TS()}
		}
	case thread != "" && more:
		if newest == 0 {
			return nothing, Going{}
		}
		out.To = newest
		return out, Going{Oldest: newest.TS()}
	}
	return out, Going{}
}
