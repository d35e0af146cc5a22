package slack

import (
	"context"
	"encoding/json"
	"net/url"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/markup"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// A caller is [client.call] or [client.try].
type caller func(ctx context.Context, method string, args url.Values) (json.RawMessage, error)

// say calls a method with a body: as a block of Markdown, which can stand
// beside metadata and a text of our own for notifications (markdown_text takes
// no text beside it: docs.slack.dev, chat.postMessage, markdown_text_conflict);
// and where that is refused, as the text alone.
func (p *Platform) say(ctx context.Context, call caller, method string, args url.Values, b markup.Body) (json.RawMessage, error) {
	args.Set("text", b.Mrkdwn)
	// chat.update looks for names and links itself unless told otherwise.
	args.Set("parse", "none")
	args.Set("link_names", "false")
	if p.out.may(method, p.o.Now()) {
		args.Set("blocks", block(b.Markdown))
		raw, err := call(ctx, method, args)
		switch {
		case err == nil:
			p.out.took(method)
			return raw, nil
		case slackapi.Refused(err, "invalid_blocks", "invalid_blocks_format"):
			p.o.Log.Warn("slack refuses a block of Markdown", "method", method, "err", err)
			p.out.refused(method, p.o.Now())
		case !slackapi.Refused(err, "msg_blocks_too_long", "msg_blocks_too_many", "msg_too_long"):
			return nil, err
		}
		args.Del("blocks")
	}
	return call(ctx, method, args)
}

func block(markdown string) string {
	raw, err := json.Marshal([]map[string]string{{"type": "markdown", "text": markdown}})
	if err != nil {
		panic("slack: block: " + err.Error()) // strings only
	}
	return string(raw)
}

// Bounds of what is remembered about posting.
const (
	notAgain  = time.Hour // until what was refused is tried again
	maxStates = 1024      // channels and streams that are remembered
	growEvery = 3 * time.Second
	growBurst = 5
)

// out is what the platform has learned about posting. It is safe for
// concurrent use.
type out struct {
	// growing bounds the updates of texts that are not whole, so that a long one
	// does not use up in its first seconds what it may use in a minute.
	growing *rate.Limiter

	mu      sync.Mutex // guards what follows
	since   earshot.Time
	taken   map[string]bool      // methods that have taken a block of Markdown
	until   map[string]time.Time // what was refused is not tried before
	streams map[streamKey]*stream
	status  map[string]*status // by channel and anchor
	owed    map[string]owed    // by channel and anchor
}

func newOut(now time.Time) *out {
	return &out{
		growing: rate.NewLimiter(rate.Every(growEvery), growBurst), since: earshot.TimeOf(now),
		taken: map[string]bool{}, until: map[string]time.Time{}, streams: map[streamKey]*stream{}, status: map[string]*status{}, owed: map[string]owed{},
	}
}

// miss notes that events may have been missed until then.
func (o *out) miss(until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.since = max(o.since, earshot.TimeOf(until))
}

// missed returns since when no event was missed.
func (o *out) missed() earshot.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.since
}

// may reports whether something is worth trying.
func (o *out) may(what string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !now.Before(o.until[what])
}

// took notes that a method has taken a block of Markdown.
func (o *out) took(method string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken[method] = true
}

// refused notes that a method does not take blocks of Markdown. One that has
// taken them before refuses this text only.
func (o *out) refused(method string, now time.Time) {
	o.mu.Lock()
	taken := o.taken[method]
	o.mu.Unlock()
	if !taken {
		o.block(method, now.Add(notAgain))
	}
}

// block notes that something is not worth trying for a while.
func (o *out) block(what string, until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.until) >= maxStates {
		clear(o.until) // each is tried once more
	}
	o.until[what] = until
}
