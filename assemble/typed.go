package assemble

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
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
}

// An AuthorRef names an author.
type AuthorRef struct {
	UserID      string `json:"user_id"`
	DisplayName string `json:"display_name"`
	IsBot       bool   `json:"is_bot"`
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

// A TruncatedRef says what of a thread is shown. OmittedRangeTS is the first
// and the last ts of what is not, or null.
type TruncatedRef struct {
	TotalReplies    int       `json:"total_replies"`
	IncludedReplies int       `json:"included_replies"`
	Strategy        string    `json:"strategy"`
	OmittedRangeTS  *[]string `json:"omitted_range_ts"`
}

// compact writes v as JSON on one line, without HTML escapes.
func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("assemble: typed JSON: " + err.Error()) // only strings, numbers and lists of these
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (t *turn) authorRef(a earshot.Author) AuthorRef {
	return AuthorRef{UserID: oneLine(string(a.ID), maxFileName), DisplayName: t.names.name(a), IsBot: a.Kind == earshot.Bot}
}

func mediaRefs(files []earshot.File) []MediaRef {
	out := []MediaRef{}
	for _, f := range files {
		out = append(out, MediaRef{oneLine(string(f.ID), maxFileName), oneLine(f.Type, maxFileName), FileName(f), f.Size})
	}
	return out
}

// bodyJSON is what m says and quotes, without its files: they stand apart.
func (m *msg) bodyJSON(t *turn) string {
	bare := *m.Message
	bare.Files = nil
	return t.content(&bare)
}

func (t *turn) anchorJSON() AnchorRef {
	m := t.anchor
	ref := AnchorRef{MessageID: string(m.ID), TS: m.Time.String(), Author: t.authorRef(m.Author), Text: m.bodyJSON(t), Media: mediaRefs(m.Files)}
	if root := string(m.Root()); root != "" {
		ref.ThreadID = &root
	}
	return ref
}

func (t *turn) messageJSON(m *msg) MessageRef {
	return MessageRef{string(m.ID), m.Time.String(), t.authorRef(m.Author), m.bodyJSON(t), mediaRefs(m.Files)}
}

func (t *turn) replyJSON(m *msg, text string, truncated bool) ReplyRef {
	return ReplyRef{string(m.ID), m.Time.String(), t.authorRef(m.Author), text, truncated, mediaRefs(m.Files)}
}

// jsonCost is what a row of typed JSON costs.
func (t *turn) jsonCost(v any) int { return t.in.Counter.Count(compact(v)) + 1 }

// cutReply is what a reply costs whose text may have at most limit tokens.
func (t *turn) cutReply(m *msg, limit int) int {
	w := t.words(m)
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

// neighbour is a compact row of the snapshot.
func (t *turn) neighbour(b *block, m *msg) Neighbour {
	n := Neighbour{
		MessageID: string(m.ID), TS: m.Time.String(), Author: t.authorRef(m.Author), Snippet: t.snippet(b, m),
		HasMedia: len(m.Files) > 0, Reactions: reactions(m),
	}
	if a := t.activity(m); a.Count > 0 {
		n.ThreadActivity = &ThreadActivity{a.Count, a.LastHour, a.Last.String()}
	}
	return n
}

// snippet is the beginning of a message on one line.
func (t *turn) snippet(b *block, m *msg) string {
	s := m.Text
	if most := 64 * b.Snippet; len(s) > most {
		s = s[:most]
	}
	s = strings.Join(strings.Fields(t.stored(s)), " ")
	if s == "" {
		s = attach("", m.Files)
	}
	if short := firstGraphemes(s, b.Snippet); short != strings.TrimSpace(s) {
		return short + "…"
	}
	return s
}

// maxReactions is how many kinds of reactions a row shows.
const maxReactions = 20

// reactions writes a message's reactions as ":eyes: 2".
func reactions(m *msg) []string {
	out := []string{}
	for _, r := range m.Reactions[:min(len(m.Reactions), maxReactions)] {
		out = append(out, ":"+emojiName(r.Name)+": "+strconv.Itoa(r.Count))
	}
	return out
}

// emojiName is a reaction's name as one word, without what parts it from
// others.
func emojiName(s string) string {
	s = strings.Trim(oneLine(s, maxName), ":")
	if strings.Contains(s, "::") { // a skin tone: thumbsup::skin-tone-2
		s = strings.ReplaceAll(s, "::", "-")
	}
	return strings.Map(func(r rune) rune {
		if r == ':' || r == ',' || r == ' ' || looksLikeColon(r) {
			return '_'
		}
		return r
	}, s)
}

// activity is what is known of the replies to m at or before the anchor: what
// the input says of a thread that is not loaded, else what is loaded.
func (t *turn) activity(m *msg) earshot.Activity {
	if m.Replies != nil {
		return *m.Replies
	}
	if t.active == nil {
		t.active = map[earshot.MessageID]earshot.Activity{}
		for _, r := range t.upto {
			root := r.Root()
			if root == "" || r.Deleted || r == t.anchor {
				continue
			}
			a := t.active[root]
			a.Count++
			if r.Time > t.anchor.Time-3600_000_000 {
				a.LastHour++
			}
			a.Last = max(a.Last, r.Time)
			t.active[root] = a
		}
	}
	return t.active[m.ID]
}

// fillSnapshot keeps the newest neighbours that fit into room.
func (t *turn) fillSnapshot(b *block, room int) int {
	used := 0
	for i, m := range slices.Backward(b.cands) {
		var n int
		if t.in.Policy.Form == JSON {
			n = t.jsonCost(t.neighbour(b, m))
		} else {
			n = t.countLines(t.neighbourLine(b, m))
		}
		if used+n > room {
			for _, o := range b.cands[:i+1] {
				o.out(Snapshot, reasonBudget)
			}
			b.cands = b.cands[i+1:]
			break
		}
		used += n
		t.keep(b, m, n)
		m.verdict = isSnippet
	}
	b.kept = b.cands
	return used
}

// neighbourLine is a neighbour as a line of text.
func (t *turn) neighbourLine(b *block, m *msg) string {
	n := t.neighbour(b, m)
	s := t.label(m) + ": " + n.Snippet
	var facts []string
	if a := n.ThreadActivity; a != nil {
		facts = append(facts, strconv.Itoa(a.ReplyCount)+" replies, "+strconv.Itoa(a.RepliesLast1h)+" in the last hour")
	}
	if n.HasMedia {
		facts = append(facts, "has files")
	}
	facts = append(facts, n.Reactions...)
	if len(facts) > 0 {
		s += "\n  (" + strings.Join(facts, "; ") + ")"
	}
	return s
}

// snapshotJSON is the anchor among the neighbours that are kept.
func (t *turn) snapshotJSON(b *block) ChannelSnapshot {
	s := ChannelSnapshot{SchemaVersion: SchemaVersion, Anchor: t.anchorJSON(), Adjacent: []Neighbour{},
		Channel: ChannelRef{oneLine(string(t.in.Channel.ID), maxChannelName), t.stored(oneLine(t.in.Channel.Name, maxChannelName)), oneLine(string(t.in.Channel.Platform), maxName)}}
	for _, m := range b.kept {
		s.Adjacent = append(s.Adjacent, t.neighbour(b, m))
	}
	return s
}

// threadJSON is the thread as far as it is kept.
func (t *turn) threadJSON(b *block) ThreadContext {
	th := ThreadRef{ThreadID: string(t.anchor.Root()), Replies: []ReplyRef{}}
	for _, m := range b.kept {
		switch {
		case m == b.must:
			ref := t.messageJSON(m)
			th.Root = &ref
		case m.verdict == isCut:
			th.Replies = append(th.Replies, t.replyJSON(m, m.written.cut, true))
		default:
			th.Replies = append(th.Replies, t.replyJSON(m, m.bodyJSON(t), false))
		}
	}
	th.Truncation = TruncatedRef{b.total - mustCount(b), len(th.Replies), "most_recent", t.omittedRange(b)}
	return ThreadContext{SchemaVersion, th}
}

// omittedRange is the first and last time of the thread's replies that are not
// shown, nil when all are.
func (t *turn) omittedRange(b *block) *[]string {
	if b.omitted() <= 0 {
		return nil
	}
	from, to := b.from, b.to
	for _, m := range t.live {
		if m.Root() == t.anchor.Root() && m != b.must && m.verdict == isOut {
			if from == 0 || m.Time < from {
				from = m.Time
			}
			to = max(to, m.Time)
		}
	}
	if len(b.kept) > mustCount(b) {
		first := b.kept[0]
		if first == b.must {
			first = b.kept[1]
		}
		to = min(to, first.Time)
	}
	return &[]string{from.String(), to.String()}
}
