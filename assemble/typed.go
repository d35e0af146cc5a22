package assemble

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/earshot-ai/earshot"
)

// SchemaVersion is that of [ChannelSnapshot] and [ThreadContext].
const SchemaVersion = "1.0"

// A ChannelSnapshot is the anchor in full and its neighbours in the channel,
// oldest first, as typed JSON. Every ts is RFC 3339 in UTC.
type ChannelSnapshot struct {
	SchemaVersion string      `json:"schema_version"`
	Channel       ChannelRef  `json:"channel"`
	Anchor        AnchorRef   `json:"anchor"`
	Adjacent      []Neighbour `json:"adjacent"`
}

// A ThreadContext is the anchor's thread without the anchor, as typed JSON.
type ThreadContext struct {
	SchemaVersion string `json:"schema_version"`
	ThreadRef
}

// A ChannelRef names a channel.
type ChannelRef struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Platform string `json:"platform"`
	Shared   bool   `json:"shared,omitempty"` // with other organisations
}

// An AuthorRef names an author.
type AuthorRef struct {
	UserID      string `json:"user_id"`
	DisplayName string `json:"display_name"`
	IsBot       bool   `json:"is_bot"`
	Standing    string `json:"standing,omitempty"` // external or guest
	Team        string `json:"team,omitempty"`     // the organisation of who is external
	Trust       string `json:"trust,omitempty"`    // inert, of whose words are
}

// A MediaRef names a file; ByteLength is 0 when unknown.
type MediaRef struct {
	ArtifactID string `json:"artifact_id"`
	MediaType  string `json:"media_type"`
	Filename   string `json:"filename"`
	ByteLength int64  `json:"byte_length"`
}

// An AnchorRef is the message being answered.
type AnchorRef struct {
	MessageID string     `json:"message_id"`
	TS        string     `json:"ts"`
	Author    AuthorRef  `json:"author"`
	Text      string     `json:"text"`
	Media     []MediaRef `json:"media"`
	ThreadID  *string    `json:"thread_id"` // null at the top level
}

// A Neighbour is a message near the anchor. Snippet is one line of at most 150
// characters; reactions are written as ":eyes: 2".
type Neighbour struct {
	MessageID      string          `json:"message_id"`
	TS             string          `json:"ts"`
	Author         AuthorRef       `json:"author"`
	Snippet        string          `json:"snippet"`
	ThreadActivity *ThreadActivity `json:"thread_activity"` // null without replies
	HasMedia       bool            `json:"has_media"`
	Reactions      []string        `json:"reactions"`
}

// A ThreadActivity is how busy a thread is: replies in all, and in the hour
// before the anchor.
type ThreadActivity struct {
	ReplyCount    int    `json:"reply_count"`
	RepliesLast1h int    `json:"replies_last_1h"`
	LastReplyTS   string `json:"last_reply_ts"`
}

// A ThreadRef is a thread: its root, null where it could not be loaded, and
// its newest replies, oldest first.
type ThreadRef struct {
	ThreadID   string       `json:"thread_id"`
	Name       string       `json:"name,omitempty"` // what it is called, where threads have names
	Tags       []string     `json:"tags,omitempty"`
	Root       *MessageRef  `json:"root"`
	Replies    []ReplyRef   `json:"replies"`
	Truncation TruncatedRef `json:"truncation"`
}

// A MessageRef is a thread's root in full.
type MessageRef struct {
	MessageID string     `json:"message_id"`
	TS        string     `json:"ts"`
	Author    AuthorRef  `json:"author"`
	Text      string     `json:"text"`
	Media     []MediaRef `json:"media"`
}

// A ReplyRef is a reply, its text cut where IsTruncated says so.
type ReplyRef struct {
	MessageID   string     `json:"message_id"`
	TS          string     `json:"ts"`
	Author      AuthorRef  `json:"author"`
	Text        string     `json:"text"`
	IsTruncated bool       `json:"is_truncated"`
	Media       []MediaRef `json:"media"`
}

// A TruncatedRef says how much of a thread is shown. OmittedRangeTS has the first and
// the last ts of the replies that are not, or is null.
type TruncatedRef struct {
	TotalReplies    int       `json:"total_replies"`
	IncludedReplies int       `json:"included_replies"`
	Strategy        string    `json:"strategy"`
	OmittedRangeTS  *[]string `json:"omitted_range_ts"`
}

// A jsonPart is a message and the value that shows it in typed JSON.
type jsonPart struct {
	m     *msg
	value any
}

// compactJSON writes v as JSON on one line, without HTML escapes.
func compactJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("assemble: typed JSON: " + err.Error()) // only strings, numbers and lists of these
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// authorRef is an author as typed JSON.
func (t *turn) authorRef(a earshot.Author) AuthorRef {
	ref := AuthorRef{UserID: oneLine(string(a.ID), maxFileName), DisplayName: t.names.name(a), IsBot: a.Kind == earshot.Bot}
	s := t.names.standing(a)
	if ref.Standing, ref.Team = string(s.is), s.team; s.inert {
		ref.Trust = string(earshot.LaneInert)
	}
	return ref
}

// mediaRefs are files as typed JSON, an empty list for none.
func mediaRefs(files []earshot.File) []MediaRef {
	out := []MediaRef{}
	for _, f := range files {
		out = append(out, MediaRef{oneLine(string(f.ID), maxFileName), oneLine(f.Type, maxFileName), FileName(f), f.Size})
	}
	return out
}

// bodyJSON is the text of m and what it quotes. Its files have a field of their own.
func (m *msg) bodyJSON(t *turn) string {
	bare := *m.Message
	bare.Files = nil
	return t.withLinked(t.content(&bare), m)
}

// anchorJSON is the anchor as typed JSON.
func (t *turn) anchorJSON() AnchorRef {
	m := t.anchor
	ref := AnchorRef{MessageID: string(m.ID), TS: m.Time.String(), Author: t.authorRef(m.Author), Text: m.bodyJSON(t), Media: mediaRefs(m.Files)}
	if root := string(m.Root()); root != "" {
		ref.ThreadID = &root
	}
	return ref
}

// messageJSON is a thread's root as typed JSON.
func (t *turn) messageJSON(m *msg) MessageRef {
	return MessageRef{string(m.ID), m.Time.String(), t.authorRef(m.Author), m.bodyJSON(t), mediaRefs(m.Files)}
}

// replyJSON is a reply as typed JSON, with the text given.
func (t *turn) replyJSON(m *msg, text string, truncated bool) ReplyRef {
	return ReplyRef{string(m.ID), m.Time.String(), t.authorRef(m.Author), text, truncated, mediaRefs(m.Files)}
}

// jsonCost is what a row of typed JSON costs.
func (t *turn) jsonCost(v any) int { return t.in.Counter.Count(compactJSON(v)) + 1 }

// cutReply is what a reply costs with at most limit tokens of its text.
func (t *turn) cutReply(m *msg, limit int) int {
	w := t.writtenOf(m)
	if w.cutCost == 0 {
		body := m.bodyJSON(t)
		text, _ := t.cutText(body, limit)
		if text != body {
			w.cut = text
		}
		w.cutCost = t.jsonCost(t.replyJSON(m, text, text != body))
	}
	return w.cutCost
}
