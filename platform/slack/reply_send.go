package slack

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/recent"
	"github.com/earshot-ai/earshot/platform/slack/markup"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// An apiCaller is [slackapi.Client.Call] or [slackapi.Client.Try].
type apiCaller func(ctx context.Context, method string, args url.Values) (json.RawMessage, error)

// send calls a method with a text and what stands below it: the text as a block of
// Markdown, and where that is refused as mrkdwn. A block, unlike the argument
// markdown_text, can be combined with metadata and a text for notifications
// (docs.slack.dev, chat.postMessage, markdown_text_conflict).
func (p *Platform) send(ctx context.Context, call apiCaller, method string, args url.Values, b markup.Body, below ...block) (json.RawMessage, error) {
	args.Set("text", b.Mrkdwn)
	// Otherwise chat.update looks for names and links itself.
	args.Set("parse", "none")
	args.Set("link_names", "false")
	if p.replies.allowed(method, p.o.Now()) {
		args.Set("blocks", encoded(append([]block{markdownBlock(b.Markdown)}, below...)))
		raw, err := call(ctx, method, args)
		switch {
		case err == nil:
			p.replies.acceptedBlock(method)
			return raw, nil
		case slackapi.IsRefused(err, "invalid_blocks", "invalid_blocks_format"):
			p.o.Log.Warn("slack refuses a block of Markdown", "method", method, "err", err)
			p.replies.refusedBlock(method, p.o.Now())
		case !slackapi.IsRefused(err, "msg_blocks_too_long", "msg_blocks_too_many", "msg_too_long"):
			return nil, err
		}
		args.Del("blocks")
	}
	switch {
	case len(below) > 0:
		parts := sections(b.Mrkdwn)
		args.Set("text", strings.Join(parts, "\n")) // word for word what the blocks show, which is read as one then
		var blocks []block
		for _, s := range parts {
			blocks = append(blocks, sectionBlock(s))
		}
		args.Set("blocks", encoded(append(blocks, below...)))
	case method == slackapi.Update:
		// Without it the message keeps the blocks that it has, buttons included
		// (github.com/slack-go/slack/issues/1214).
		args.Set("blocks", "[]")
	}
	return call(ctx, method, args)
}

// Bounds of what is remembered about posting.
const (
	retryAfter = time.Hour // until what was refused is tried again
	maxStates  = 1024      // channels and streams that are remembered
	growEvery  = 3 * time.Second
	growBurst  = 5
)

// replies is the state of what goes out: what Slack has accepted and refused, the
// streams and status lines that are shown, and the calls that are reserved. It is
// safe for concurrent use.
type replies struct {
	// growing limits the updates of unfinished texts, so that a long one does not
	// use up a minute's calls in its first seconds.
	growing *rate.Limiter
	until   recent.Map[string, time.Time] // what was refused is not tried before
	streams recent.Map[streamKey, *stream]
	shown   sync.WaitGroup // those who show status lines, each until its line is cleared

	mu       sync.Mutex // guards what follows
	since    earshot.Time
	taken    map[string]bool        // methods that have accepted a block of Markdown
	status   map[string]*status     // by channel and anchor
	reserved map[string]reservation // by channel and anchor
}

func newReplies(now time.Time) *replies {
	return &replies{
		growing: rate.NewLimiter(rate.Every(growEvery), growBurst), until: recent.Map[string, time.Time]{Most: maxStates}, streams: recent.Map[streamKey, *stream]{Most: maxStates}, since: earshot.TimeOf(now),
		taken: map[string]bool{}, status: map[string]*status{}, reserved: map[string]reservation{},
	}
}

// missEvents notes that events may have been missed until then.
func (o *replies) missEvents(until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.since = max(o.since, earshot.TimeOf(until))
}

// heardSince returns since when no event was missed.
func (o *replies) heardSince() earshot.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.since
}

// allowed reports whether something is not paused.
func (o *replies) allowed(what string, now time.Time) bool {
	until, _ := o.until.Get(what)
	return !now.Before(until)
}

// acceptedBlock notes that a method has accepted a block of Markdown.
func (o *replies) acceptedBlock(method string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken[method] = true
}

// refusedBlock notes that a method has refused a block of Markdown. A method that has
// accepted one before refuses only this text; others are not tried for an hour.
func (o *replies) refusedBlock(method string, now time.Time) {
	o.mu.Lock()
	taken := o.taken[method]
	o.mu.Unlock()
	if !taken {
		o.until.Put(method, now.Add(retryAfter))
	}
}
