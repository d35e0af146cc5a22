package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// addHistory adds the routes of what was said before, and of what is known of it.
func (s *server) addHistory(a huma.API) {
	addStrict(s, a, huma.Operation{
		OperationID: "post-history", Method: http.MethodPost, Path: "/v1/history", Summary: "Tell what was said before: pages of Slack's or Discord's history, or messages",
		Description: "The messages are stored as POST /v1/events stores them, and the time that they are all of is known from then on, so that contexts no longer say that it is missing. What was told before changes nothing, so a page may be sent again. All messages are checked first: when one is refused, nothing is stored. " +
			"With platform slack, page is the answer of conversations.history as it came, or with thread that of conversations.replies; has_more says whether it was all, and oldest and latest are those that Slack was asked with. A page that a cursor brought begins where the page before ended: next says with which oldest or latest. " +
			"With platform discord, page is the list of messages as it came, with the before or after and the limit that Discord was asked with. Otherwise give messages, and from and to: the time that they are all of.",
	}, s.recall)
	addStrict(s, a, huma.Operation{
		OperationID: "post-coverage", Method: http.MethodPost, Path: "/v1/coverage", Summary: "Say what is known of a channel or a thread, and what is not",
		Description: "missing and stale say a gap, as after a time in which your bot was not connected; contexts and tools tell the model. known says that a stretch, or without from and to all until now, was told or is empty: of a channel it holds for its threads too, and without to it says that the channel's events are told from now on. The later word stands.",
	}, s.cover)
	addRoute(s, a, huma.Operation{
		OperationID: "get-coverage", Method: http.MethodGet, Path: "/v1/channels/{channel}/coverage", Summary: "What is missing of a channel, or of a thread",
		Description: "With thread, also what is not known of it by itself: its root or replies that are told of and not stored.",
	}, s.getCoverage)
}

// A historyBody is the body of POST /v1/history.
type historyBody struct {
	Platform  string              `json:"platform,omitempty" maxLength:"64" doc:"slack or discord with page; default: that of the stored channel, else api"`
	Workspace string              `json:"workspace,omitempty" maxLength:"128" doc:"default: that of the stored channel, else the key's only one"`
	Channel   eventChannel        `json:"channel" doc:"its id, or an object with it; with platform discord also the channel or thread as Discord describes it"`
	Thread    string              `json:"thread,omitempty" maxLength:"512" doc:"the id of its root, where this is a thread's history"`
	Page      rawPage             `json:"page,omitempty" doc:"of slack and discord: the answer of the platform as it came"`
	Messages  []*contract.Message `json:"messages,omitempty" maxItems:"1000" doc:"in place of page, of any platform"`
	Oldest    string              `json:"oldest,omitempty" maxLength:"64" doc:"of slack: what Slack was asked with"`
	Latest    string              `json:"latest,omitempty" maxLength:"64" doc:"of slack: what Slack was asked with; default: now"`
	Before    string              `json:"before,omitempty" maxLength:"64" doc:"of discord: what Discord was asked with"`
	After     string              `json:"after,omitempty" maxLength:"64" doc:"of discord: what Discord was asked with"`
	Limit     int                 `json:"limit,omitempty" doc:"of discord: what Discord was asked with, 1 to 100; default: 50"`
	From      string              `json:"from,omitempty" maxLength:"64" doc:"of messages: they are all that was said since; default: the first of them"`
	To        string              `json:"to,omitempty" maxLength:"64" doc:"of messages: they are all that was said until then; default: now"`
	Whole     bool                `json:"whole,omitempty" doc:"of messages: nothing was said before them"`
}

// A rawPage is what a platform answered.
type rawPage struct{ jsontext.Value }

// Schema implements [huma.SchemaProvider].
func (rawPage) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeObject, AdditionalProperties: true, Description: "of Slack"},
		{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}, Description: "of Discord"},
	}}
}

// A toldHistory is the answer.
type toldHistory struct {
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"`
	Channel   earshot.ChannelID   `json:"channel"`
	Thread    earshot.MessageID   `json:"thread,omitempty"`
	Messages  int                 `json:"messages" doc:"how many were told"`
	New       int                 `json:"new" doc:"how many of them were not stored yet"`
	Known     *knownStretch       `json:"known,omitempty" doc:"the time that is known by it; absent where none is, as by an empty page of which there is more"`
	Missing   []coverageEntry     `json:"missing" doc:"what is still missing or stale of the thread, or of the channel's own history"`
	Next      *nextPage           `json:"next,omitempty" doc:"with what to ask the platform for the next page; absent where this was the last"`
}

type knownStretch struct {
	From string `json:"from,omitempty" doc:"absent: from the beginning"`
	To   string `json:"to"`
}

type nextPage struct {
	Oldest string `json:"oldest,omitempty" doc:"of conversations.replies"`
	Latest string `json:"latest,omitempty" doc:"of conversations.history"`
	Before string `json:"before,omitempty" doc:"of Discord"`
	After  string `json:"after,omitempty" doc:"of Discord"`
}

func (s *server) recall(ctx context.Context, p access.Principal, b *historyBody) (*struct{ Body toldHistory }, error) {
	at, raw, err := b.past()
	if err != nil {
		return nil, err
	}
	var done sidecar.Recalled
	switch b.Platform {
	case string(earshot.Slack), string(earshot.Discord):
		if len(b.Page.Value) > 0 {
			if done, err = s.recallPage(ctx, p, b, at, raw); err != nil {
				return nil, err
			}
			return &struct{ Body toldHistory }{toldHistoryOf(done)}, nil
		}
	}
	if done, err = s.recallMessages(ctx, p, b, at); err != nil {
		return nil, err
	}
	return &struct{ Body toldHistory }{toldHistoryOf(done)}, nil
}

// past returns of which channel and thread the body tells. raw is the channel as Discord
// describes it, where that is what stands there.
func (b *historyBody) past() (at sidecar.Past, raw []byte, err error) {
	if len(b.Channel.Value) == 0 || b.Channel.Kind() == 'n' {
		return at, nil, &assemble.InputError{Path: "channel", Reason: "is required"}
	}
	at.Thread = earshot.MessageID(b.Thread)
	if b.Platform == string(earshot.Discord) && b.Channel.Kind() == '{' {
		var info struct {
			ID   string `json:"id"`
			Type *int   `json:"type"`
		}
		if json.Unmarshal(b.Channel.Value, &info) == nil && info.Type != nil {
			raw, at.Channel.ID = b.Channel.Value, earshot.ChannelID(info.ID)
		}
	}
	if raw == nil {
		if at.Channel, err = b.Channel.read(); err != nil {
			return at, nil, err
		}
	}
	if b.Platform != "" {
		at.Channel.Platform = earshot.Platform(b.Platform)
	}
	if b.Workspace != "" {
		at.Channel.Workspace = earshot.WorkspaceID(b.Workspace)
	}
	return at, raw, nil
}

// alien refuses fields of the body that are of another form of it.
func alien(reason string, fields ...[2]string) error {
	for _, f := range fields {
		if f[1] != "" {
			return &assemble.InputError{Path: f[0], Reason: reason}
		}
	}
	return nil
}

// recallPage stores a page of Slack or Discord.
func (s *server) recallPage(ctx context.Context, p access.Principal, b *historyBody, at sidecar.Past, raw []byte) (sidecar.Recalled, error) {
	const neutral, slack, discord = "belongs to messages, not to a page", "belongs to a page of Slack", "belongs to a page of Discord"
	if b.Messages != nil {
		return sidecar.Recalled{}, &assemble.InputError{Path: "messages", Reason: "and page exclude each other"}
	}
	whole := ""
	if b.Whole {
		whole = "true"
	}
	if err := alien(neutral, [2]string{"from", b.From}, [2]string{"to", b.To}, [2]string{"whole", whole}); err != nil {
		return sidecar.Recalled{}, err
	}
	if b.Platform == string(earshot.Discord) {
		if err := alien(slack, [2]string{"oldest", b.Oldest}, [2]string{"latest", b.Latest}); err != nil {
			return sidecar.Recalled{}, err
		}
		return s.Service.DiscordHistory(ctx, p, at, raw, b.Page.Value, sidecar.DiscordCall{Before: b.Before, After: b.After, Limit: b.Limit})
	}
	if err := b.notDiscords(discord); err != nil {
		return sidecar.Recalled{}, err
	}
	r, err := rangeOf("oldest", b.Oldest, "latest", b.Latest)
	if err != nil {
		return sidecar.Recalled{}, err
	}
	return s.Service.SlackHistory(ctx, p, at, b.Page.Value, r)
}

// notDiscords refuses what belongs to Discord's pages.
func (b *historyBody) notDiscords(reason string) error {
	limit := ""
	if b.Limit != 0 {
		limit = "set"
	}
	return alien(reason, [2]string{"before", b.Before}, [2]string{"after", b.After}, [2]string{"limit", limit})
}

// recallMessages stores messages of any platform.
func (s *server) recallMessages(ctx context.Context, p access.Principal, b *historyBody, at sidecar.Past) (sidecar.Recalled, error) {
	switch {
	case len(b.Page.Value) > 0:
		return sidecar.Recalled{}, &assemble.InputError{Path: "page", Reason: "needs the platform slack or discord; of others give messages"}
	case b.Messages == nil:
		return sidecar.Recalled{}, &assemble.InputError{Path: "messages", Reason: "is required, or page with the platform slack or discord"}
	case len(b.Messages) > sidecar.MaxEvents:
		return sidecar.Recalled{}, &assemble.InputError{Path: "messages", Reason: fmt.Sprintf("must be at most %d", sidecar.MaxEvents)}
	}
	const page = "belongs to page; messages have from and to"
	if err := alien(page, [2]string{"oldest", b.Oldest}, [2]string{"latest", b.Latest}); err != nil {
		return sidecar.Recalled{}, err
	}
	if err := b.notDiscords(page); err != nil {
		return sidecar.Recalled{}, err
	}
	r, err := rangeOf("from", b.From, "to", b.To)
	if err != nil {
		return sidecar.Recalled{}, err
	}
	var list []earshot.Message
	for i, w := range b.Messages {
		path := fmt.Sprintf("messages[%d]", i)
		if w == nil {
			return sidecar.Recalled{}, &assemble.InputError{Path: path, Reason: "must not be null"}
		}
		m, err := w.Read(path)
		if err != nil {
			return sidecar.Recalled{}, err
		}
		list = append(list, m)
	}
	return s.Service.History(ctx, p, at, list, r, b.Whole)
}

// rangeOf reads two times.
func rangeOf(fromName, from, toName, to string) (r sidecar.Range, err error) {
	if r.From, err = readTime(fromName, from); err != nil {
		return r, err
	}
	if r.To, err = readTime(toName, to); err != nil {
		return r, err
	}
	if r.From != 0 && r.To != 0 && r.To < r.From {
		return r, &assemble.InputError{Path: toName, Reason: "lies before " + fromName}
	}
	return r, nil
}

func toldHistoryOf(x sidecar.Recalled) toldHistory {
	out := toldHistory{
		Platform: x.Channel.Platform, Workspace: x.Channel.Workspace, Channel: x.Channel.ID, Thread: x.Thread,
		Messages: len(x.Told), Missing: coverageOf(x.Open),
	}
	for _, t := range x.Told {
		if t.Change == earshot.New {
			out.New++
		}
	}
	if x.Known.State != "" {
		out.Known = &knownStretch{To: x.Known.To.String()}
		if x.Known.From > 1 {
			out.Known.From = x.Known.From.String()
		}
	}
	if x.Next != (sidecar.Going{}) {
		out.Next = &nextPage{x.Next.Oldest, x.Next.Latest, x.Next.Before, x.Next.After}
	}
	return out
}

// A coverageEntry says what is known of a stretch of a channel's history, or of a
// thread's.
type coverageEntry struct {
	Thread string                `json:"thread,omitempty" maxLength:"512" doc:"the id of its root; absent: the channel itself"`
	From   string                `json:"from,omitempty" maxLength:"64" doc:"absent: from the beginning"`
	To     string                `json:"to,omitempty" maxLength:"64" doc:"absent: until now"`
	State  earshot.CoverageState `json:"state" enum:"known,missing,stale"`
	Why    string                `json:"why,omitempty" maxLength:"1000" doc:"for people; no model sees it"`
}

// read returns the entry.
func (w coverageEntry) read(at string) (c earshot.Coverage, err error) {
	switch w.State {
	case earshot.Known, earshot.Missing, earshot.Stale:
	default:
		return c, &assemble.InputError{Path: at + ".state", Reason: "must be known, missing or stale"}
	}
	c = earshot.Coverage{Thread: earshot.MessageID(w.Thread), State: w.State, Why: w.Why}
	if c.From, err = readTime(at+".from", w.From); err == nil {
		c.To, err = readTime(at+".to", w.To)
	}
	return c, err
}

// coverageOf writes entries of coverage.
func coverageOf(list []earshot.Coverage) []coverageEntry {
	out := []coverageEntry{}
	for _, c := range list {
		out = append(out, coverageEntry{string(c.Thread), c.From.String(), c.To.String(), c.State, c.Why})
	}
	return out
}

// A coverageBody is the body of POST /v1/coverage.
type coverageBody struct {
	Channel  eventChannel     `json:"channel" doc:"its id, or an object with it; workspace and platform where the id is not enough"`
	Coverage []*coverageEntry `json:"coverage" minItems:"1" maxItems:"100" doc:"in their order: thread is the id of a root, absent for the channel; from is absent from the beginning on, to until now"`
}

// A covered is the answer.
type covered struct {
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"`
	Channel   earshot.ChannelID   `json:"channel"`
	Missing   []coverageEntry     `json:"missing" doc:"what is missing or stale, of threads too"`
}

func coveredOf(c earshot.Channel, open []earshot.Coverage) *struct{ Body covered } {
	return &struct{ Body covered }{covered{c.Platform, c.Workspace, c.ID, coverageOf(open)}}
}

func (s *server) cover(ctx context.Context, p access.Principal, b *coverageBody) (*struct{ Body covered }, error) {
	if len(b.Channel.Value) == 0 || b.Channel.Kind() == 'n' {
		return nil, &assemble.InputError{Path: "channel", Reason: "is required"}
	}
	c, err := b.Channel.read()
	if err != nil {
		return nil, err
	}
	var said []earshot.Coverage
	for i, w := range b.Coverage {
		at := fmt.Sprintf("coverage[%d]", i)
		if w == nil {
			return nil, &assemble.InputError{Path: at, Reason: "must not be null"}
		}
		x, err := w.read(at)
		if err != nil {
			return nil, err
		}
		said = append(said, x)
	}
	c, open, err := s.Service.Cover(ctx, p, c, said)
	if err != nil {
		return nil, err
	}
	return coveredOf(c, open), nil
}

type getCoverageInput struct {
	Place
	Thread string `query:"thread" maxLength:"512" doc:"the id of its root"`
}

func (s *server) getCoverage(ctx context.Context, p access.Principal, in *getCoverageInput) (*struct{ Body covered }, error) {
	c, err := s.resolve(ctx, p, in.Place)
	if err != nil {
		return nil, err
	}
	open, err := s.Service.Open(ctx, c.Scope(), earshot.MessageID(in.Thread))
	if err != nil {
		return nil, err
	}
	return coveredOf(c, open), nil
}
