package slack

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
	"github.com/earshot-ai/earshot/platform/slack/markup"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// homeTime is how long what is shown beside messages may take. Where it fails, people see what
// they saw before.
const homeTime = 5 * time.Second

// homeOpened shows who opens the app's tab Home what the bot has of them, and offers who opens
// its direct messages some questions.
func (p *Platform) homeOpened(ctx context.Context, x delivery) error {
	ctx, cancel := context.WithTimeout(ctx, homeTime)
	defer cancel()
	e := x.Event
	switch {
	case e.User == "" || p.Refused(ctx, e.User) != "":
	case e.Tab == "home" && p.o.Command != nil:
		by, _ := p.names.author(ctx, e.User)
		by.ID = e.User
		text, err := p.o.Command(ctx, bot.Command{Name: bot.CommandHome, Scope: p.scope(""), By: by, Prefix: "/earshot "})
		if err == nil {
			_, err = p.client.Call(ctx, "views.publish", url.Values{"user_id": {string(e.User)}, "view": {encoded(block{"type": "home", "blocks": homeBlocks(text)})}})
		}
		p.decorates("home", err)
	case e.Tab == "messages" && len(p.o.Prompts) > 0 && e.Channel.ID != "":
		list := []block{}
		for _, q := range p.o.Prompts[:min(len(p.o.Prompts), maxPrompts)] {
			list = append(list, block{"title": tolerant.CutRunes(q, maxPromptTitle), "message": q})
		}
		_, err := p.client.Call(ctx, "assistant.threads.setSuggestedPrompts", url.Values{"channel_id": {string(e.Channel.ID)}, "prompts": {encoded(list)}})
		p.decorates("prompts", err)
	}
	return nil
}

// Bounds of what is shown (docs.slack.dev, assistant.threads.setSuggestedPrompts and setTitle).
const (
	maxPrompts     = 4
	maxPromptTitle = 60
	maxThreadTitle = 60
)

// homeBlocks shows a text on the app's tab Home, which takes no block of Markdown.
func homeBlocks(text string) []block {
	out := []block{}
	for part := range strings.SplitSeq(text, "\n\n") {
		for _, s := range sections(markup.Write(part).Mrkdwn) {
			out = append(out, sectionBlock(s))
		}
	}
	return out
}

// decorates notes that something beside messages is not shown.
func (p *Platform) decorates(what string, err error) {
	if err != nil {
		p.o.Log.Info("something beside the messages is not shown", "what", what, "err", err)
	}
}

// title gives a thread of an agent's direct messages its first question as the title. It waits
// for nothing: the answer begins meanwhile.
func (p *Platform) title(ctx context.Context, c earshot.Channel, m earshot.Message) {
	if c.Kind != earshot.KindDM || m.Thread != m.ID || !p.agent.Load() {
		return
	}
	title, _, _ := strings.Cut(strings.TrimSpace(p.identity.WithoutMentions(m.Text)), "\n")
	if title = tolerant.CutRunes(title, maxThreadTitle); title == "" {
		return
	}
	p.replies.shown.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), homeTime)
		defer cancel()
		_, err := p.client.Try(ctx, "assistant.threads.setTitle", url.Values{"channel_id": {string(c.ID)}, "thread_ts": {string(m.ID)}, "title": {title}})
		p.decorates("title", err)
	})
}

// welcome says what is recorded in a channel that the bot was added to: once, and not at all
// where it is not known whether it arrived.
func (p *Platform) welcome(ctx context.Context, c earshot.ChannelID) error {
	if !p.o.Welcome {
		return nil
	}
	known, err := p.o.Store.Notes(ctx, p.welcomed(c), 1)
	if err == nil && len(known) == 0 {
		err = p.o.Store.PutNote(ctx, earshot.Note{Key: p.welcomed(c), Data: []byte("{}")})
	}
	if err != nil || len(known) > 0 {
		return err
	}
	text := p.say(ctx, c, words.Welcome, "name", p.identity.Name, "forget", "/earshot "+bot.CommandForget)
	args := url.Values{"channel": {string(c)}, "unfurl_links": {"false"}, "unfurl_media": {"false"}}
	if _, err := p.send(ctx, p.client.Call, slackapi.Post, args, markup.Write(text)); err != nil {
		p.o.Log.Warn("a channel is not told what is recorded there", "channel", c, "err", err)
	}
	return nil
}

// welcomed is the key of what remembers that a channel was told. The line at its end keeps it
// from being the beginning of another.
func (p *Platform) welcomed(c earshot.ChannelID) string {
	return fmt.Sprintf("slack/welcomed/%s/%s/", p.workspace, c)
}
