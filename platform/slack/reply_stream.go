package slack

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/markup"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// A stream is a message that is being written (chat.startStream, appendStream,
// stopStream). It stands in a placeholder's stead: it is begun by the post of a
// draft that grows, and ended by the last update. In between it is shown what
// Writing tells, as long as each text goes on where the one before ended. What
// is said at the end is what counts: a stream that has stalled, or that Slack
// has ended by itself (after about five minutes: github.com/slackapi/
// python-slack-sdk/issues/1859), gets the whole text by chat.update.
type stream struct {
	streamKey
	anchor earshot.MessageID

	writing chan struct{} // a semaphore of one, held during a call; guards what follows
	sent    string        // Markdown, as Slack has it
	next    time.Time     // not before
	stalled bool          // nothing more can be appended
}

// A streamKey names a stream: the ids of messages are a channel's own.
type streamKey struct {
	channel earshot.ChannelID
	id      earshot.MessageID
}

// Bounds of writing to a stream.
const (
	appendEvery = time.Second
	appendTime  = 10 * time.Second
)

// begin begins a stream for a draft that grows. begun is false where none
// begins: the draft is then posted.
func (p *Platform) begin(ctx context.Context, d bot.Draft, root earshot.MessageID) (m earshot.Message, begun bool, err error) {
	what := "stream " + string(d.Channel.ID)
	if x, ok := p.out.owing(d.Place); ok && x.method != slackapi.StopStream {
		return m, false, nil // the rate of streams is used up
	}
	if p.o.Reply != ReplyStream || !d.Growing || root == "" || d.Anchor.Author.Kind != earshot.Human || !p.out.may(what, p.o.Now()) {
		return m, false, nil
	}
	p.out.placing(d.Place, slackapi.StopStream)
	raw, err := p.client.Try(ctx, slackapi.StartStream, url.Values{
		"channel": {string(d.Channel.ID)}, "thread_ts": {string(root)},
		"recipient_user_id": {string(d.Anchor.Author.ID)}, "recipient_team_id": {string(p.workspace)},
	})
	var not *bot.PostError
	if err = undone(err); errors.As(err, &not) {
		if not.Retry == 0 {
			p.o.Log.Warn("slack begins no stream", "channel", d.Channel.ID, "err", err)
			p.out.block(what, p.o.Now().Add(notAgain))
		}
		return m, false, nil
	}
	if err != nil {
		return m, true, err
	}
	if m, err = posted(raw); err != nil {
		return m, true, err
	}
	m.Thread = root
	p.out.keep(&stream{streamKey: streamKey{d.Channel.ID, m.ID}, anchor: d.Anchor.ID, writing: make(chan struct{}, 1)})
	return m, true, nil
}

// flow shows a stream's reader how the text goes on. It does not block.
func (p *Platform) flow(ctx context.Context, s *stream, text string) {
	select {
	case s.writing <- struct{}{}:
	default:
		return // a call is under way, and the next text has this one in it
	}
	now := p.o.Now()
	whole := markup.Write(settled(text), "").Markdown
	rest, goesOn := strings.CutPrefix(whole, s.sent)
	s.stalled = s.stalled || !goesOn
	if s.stalled || rest == "" || now.Before(s.next) || utf8.RuneCountInString(text) > markup.MaxText {
		<-s.writing
		return
	}
	s.next = now.Add(appendEvery)
	go func() {
		defer func() { <-s.writing }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), appendTime)
		defer cancel()
		_, err := p.client.Try(ctx, slackapi.AppendStream, url.Values{"channel": {string(s.channel)}, "ts": {string(s.id)}, "markdown_text": {rest}})
		var limited *slackapi.LimitedError
		switch {
		case err == nil:
			s.sent = whole
		case errors.As(err, &limited):
			s.next = p.o.Now().Add(limited.After)
		default: // what came twice would stand there twice
			s.stalled = true
			p.o.Log.Debug("a stream stalls", "channel", s.channel, "message", s.id, "err", err)
		}
	}()
}

// settled returns as much of a text that grows as ends with a whole word: what
// a word is, such as an address, is known at its end.
func settled(text string) string { return text[:strings.LastIndexAny(text, " \n")+1] }

// end ends the stream that a message is, if it is one, and reports whether it
// then is what the draft says, key included.
func (p *Platform) end(ctx context.Context, d bot.Draft, id earshot.MessageID, body markup.Body) bool {
	s := p.out.stream(d.Channel.ID, id)
	if s == nil {
		return false
	}
	p.out.drop(s)
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return false
	}
	rest, whole := strings.CutPrefix(body.Markdown, s.sent)
	whole = whole && !s.stalled
	args := url.Values{"channel": {string(d.Channel.ID)}, "ts": {string(id)}, "metadata": {metadata(d.Key, whole)}}
	if whole && rest != "" {
		args.Set("markdown_text", rest)
	}
	raw, err := p.client.Call(ctx, slackapi.StopStream, args)
	if err != nil {
		p.o.Log.Debug("a stream is not ended", "channel", s.channel, "message", s.id, "err", err)
		return false
	}
	var answer struct {
		Message json.RawMessage `json:"message"`
	}
	return whole && json.Unmarshal(raw, &answer) == nil && slackmsg.Key(answer.Message) == d.Key
}

// close ends a stream of which nothing is known.
func (p *Platform) close(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	_, err := p.client.Call(ctx, slackapi.StopStream, url.Values{"channel": {string(d.Channel.ID)}, "ts": {string(id)}, "metadata": {metadata(d.Key, false)}})
	if slackapi.Refused(err, "message_not_in_streaming_state") {
		return nil
	}
	return err
}

// keep remembers a stream that has begun. Of too many all are forgotten: they
// get their texts at their ends.
func (o *out) keep(s *stream) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.streams) >= maxStates {
		clear(o.streams)
	}
	o.streams[s.streamKey] = s
}

func (o *out) drop(s *stream) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.streams, s.streamKey)
}

// stream returns the stream that a message is, nil where it is none.
func (o *out) stream(channel earshot.ChannelID, id earshot.MessageID) *stream {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.streams[streamKey{channel, id}]
}

// streamOf returns the stream that answers a place's anchor, or nil.
func (o *out) streamOf(at bot.Place) *stream {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.streams {
		if s.channel == at.Channel.ID && s.anchor == at.Anchor.ID {
			return s
		}
	}
	return nil
}
