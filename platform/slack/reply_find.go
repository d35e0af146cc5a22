package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// maxLook is how many pages are searched for a post.
const maxLook = 20

// Find implements [bot.Finder]. It searches the thread, or the top level, from the
// question on: an answer is never older, and both times are Slack's own. If the
// thread is gone Slack may have posted the answer into the channel, so Find searches
// there.
func (p *Platform) Find(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	args := url.Values{
		"channel": {string(d.Channel.ID)}, "oldest": {string(d.Anchor.ID)}, "limit": {"200"}, "include_all_metadata": {"true"},
	}
	in := d.Place
	in.Where = "" // who posted it may have had another setting
	if root := threadOf(in); root != "" {
		args.Set("ts", string(root))
		m, err := p.look(ctx, slackapi.Replies, args, d)
		elsewhere := d.Thread == "" && errors.Is(err, earshot.ErrNotFound)
		if !elsewhere && !slackapi.IsRefused(err, "thread_not_found", "message_not_found") {
			return m, err
		}
		args.Del("ts")
	}
	return p.look(ctx, slackapi.History, args, d)
}

// look searches the pages of a method for a draft's message.
func (p *Platform) look(ctx context.Context, method string, args url.Values, d bot.Draft) (earshot.Message, error) {
	var begun earshot.Message
	for range maxLook {
		raw, err := p.client.Call(ctx, method, args)
		if slackapi.IsRefused(err, "thread_not_found", "message_not_found") {
			return earshot.Message{}, err
		}
		if err != nil {
			return earshot.Message{}, postError(err) // a refusal, as for a missing scope, is final
		}
		var page struct {
			Messages []json.RawMessage `json:"messages"`
			Next     struct {
				Cursor string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := json.Unmarshal(raw, &page); err != nil || page.Messages == nil {
			return earshot.Message{}, fmt.Errorf("%s: %w: it has no messages", method, slackapi.ErrAnswer)
		}
		for _, raw := range page.Messages {
			switch m, key := p.answerTo(raw, d); {
			case m.ID == "":
			case key == d.Key:
				return m, nil
			case key == "" && d.Growing && p.o.Reply == ReplyStream && len(m.Files) == 0:
				begun = m // a stream has no key before its end, and neither has a file that we sent
			}
		}
		if page.Next.Cursor == "" {
			if begun.ID == "" {
				return earshot.Message{}, fmt.Errorf("%s: post %s: %w", method, d.Key, earshot.ErrNotFound)
			}
			return begun, nil
		}
		args.Set("cursor", page.Next.Cursor)
	}
	return earshot.Message{}, errors.New(method + ": too much was said since the question to look through")
}

// answerTo decodes a message and its key, where it is ours and newer than the
// question. Otherwise m is zero.
func (p *Platform) answerTo(raw json.RawMessage, d bot.Draft) (m earshot.Message, key string) {
	decoded, err := slackmsg.Decode(raw, slackmsg.Names{})
	if err != nil || decoded.Message.Deleted || decoded.Message.Time <= d.Anchor.Time || !p.identity.Is(decoded.Message.Author.ID) {
		return earshot.Message{}, ""
	}
	m = earshot.Message{ID: decoded.Message.ID, Time: decoded.Message.Time, Thread: decoded.Message.Thread, Files: decoded.Message.Files}
	return m, slackmsg.Key(raw)
}
