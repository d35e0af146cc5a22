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

// A stream is a message that is written piece by piece (chat.startStream,
// appendStream, stopStream), in place of a placeholder: the post of a draft that
// grows begins it, and the final update ends it. In between, Writing appends to it,
// as long as each text continues the one before. A stream that has stalled, or that
// Slack has ended by itself (after about five minutes:
// github.com/slackapi/python-slack-sdk/issues/1859), gets its whole text by
// chat.update.
type stream struct {
	streamKey
	anchor earshot.MessageID

	writing chan struct{} // a semaphore of one, held during a call; guards what follows
	sent    string        // Markdown, as Slack has it
	next    time.Time     // not before
	stalled bool          // nothing more can be appended
	cards   taskCards
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

// startStream begins a stream for a draft that grows. begun is false where it does
// not: the draft is then posted.
func (p *Platform) startStream(ctx context.Context, d bot.Draft, root earshot.MessageID) (m earshot.Message, begun bool, err error) {
	what := "stream " + string(d.Channel.ID)
	if x, ok := p.replies.reservation(d.Place); ok && x.method != slackapi.StopStream {
		return m, false, nil // the rate of streams is used up
	}
	// A stream can show no buttons before it is stopped: its text has none to stop it by.
	if p.o.Reply != ReplyStream || !d.Growing || root == "" || d.Asker().Kind != earshot.Human || !p.replies.allowed(what, p.o.Now()) {
		return m, false, nil
	}
	p.replies.notePlaceholder(d.Place, slackapi.StopStream)
	raw, err := p.client.Try(ctx, slackapi.StartStream, url.Values{
		"channel": {string(d.Channel.ID)}, "thread_ts": {string(root)},
		"recipient_user_id": {string(d.Asker().ID)}, "recipient_team_id": {string(p.workspace)},
	})
	var not *bot.PostError
	if err = postError(err); errors.As(err, &not) {
		if not.Retry == 0 {
			p.o.Log.Warn("slack begins no stream", "channel", d.Channel.ID, "err", err)
			p.replies.until.Put(what, p.o.Now().Add(retryAfter))
		}
		return m, false, nil
	}
	if err != nil {
		return m, true, err
	}
	if m, err = decodePosted(raw); err != nil {
		return m, true, err
	}
	m.Thread = root
	key := streamKey{d.Channel.ID, m.ID}
	p.replies.streams.Put(key, &stream{streamKey: key, anchor: d.Anchor.ID, writing: make(chan struct{}, 1)})
	return m, true, nil
}

// appendToStream appends what is new in a text to its stream. It does not block.
func (p *Platform) appendToStream(ctx context.Context, s *stream, text string) {
	select {
	case s.writing <- struct{}{}:
	default:
		return // a call is under way; the next text contains this one
	}
	now := p.o.Now()
	said := earshot.Message{Text: wholeWords(text)}
	whole := markup.Write(said.Text, said.Called()...).Markdown
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
		args := url.Values{"channel": {string(s.channel)}, "ts": {string(s.id)}}
		s.cards.close(args, rest)
		_, err := p.client.Try(ctx, slackapi.AppendStream, args)
		var limited *slackapi.LimitedError
		switch {
		case err == nil:
			s.sent = whole
		case errors.As(err, &limited):
			s.next = p.o.Now().Add(limited.After)
		default: // repeating the call could show the text twice
			s.stalled = true
			p.o.Log.Debug("a stream stalls", "channel", s.channel, "message", s.id, "err", err)
		}
	}()
}

// wholeWords returns a growing text up to its last whole word: whether a word is an
// address, for example, shows only at its end.
func wholeWords(text string) string { return text[:strings.LastIndexAny(text, " \n")+1] }

// stopStream ends the stream of a message, if it has one, and reports whether the
// message then has the draft's whole text and its key.
func (p *Platform) stopStream(ctx context.Context, d bot.Draft, id earshot.MessageID, body markup.Body) bool {
	s, ok := p.replies.streams.Get(streamKey{d.Channel.ID, id})
	if !ok {
		return false
	}
	p.replies.streams.Drop(s.streamKey)
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return false
	}
	rest, whole := strings.CutPrefix(body.Markdown, s.sent)
	whole = whole && !s.stalled
	args := url.Values{"channel": {string(d.Channel.ID)}, "ts": {string(id)}, "metadata": {metadata(d.Key, whole)}}
	if whole {
		s.cards.close(args, rest)
	}
	if whole && len(d.Choices) > 0 {
		args.Set("blocks", encoded(buttons(d))) // below the text (docs.slack.dev, chat.stopStream)
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

// stopForeignStream ends a stream that another process began.
func (p *Platform) stopForeignStream(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	_, err := p.client.Call(ctx, slackapi.StopStream, url.Values{"channel": {string(d.Channel.ID)}, "ts": {string(id)}, "metadata": {metadata(d.Key, false)}})
	if slackapi.IsRefused(err, "message_not_in_streaming_state") {
		return nil
	}
	return err
}

// streamByPlace returns the stream that answers a place's anchor, nil where there is
// none.
func (o *replies) streamByPlace(at bot.Place) *stream {
	for _, key := range o.streams.Keys(func(_ streamKey, s *stream) bool { return s.channel == at.Channel.ID && s.anchor == at.Anchor.ID }) {
		s, _ := o.streams.Get(key)
		return s
	}
	return nil
}
