package simulate

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"
)

// readable returns the channel that a call reads. A private one that the app
// is not in does not exist for it.
func (s *Slack) readable(r *request) (*channel, error) {
	c := s.channel(r.args["channel"])
	switch {
	case c == nil:
		return nil, fail("channel_not_found")
	case c.has(s.o.App.UserID):
		return c, nil
	case c.Kind == Public:
		return nil, fail("not_in_channel")
	}
	return nil, fail("channel_not_found")
}

// A span is the part of a history that a call asks for, in microseconds.
type span struct {
	oldest, latest       int64 // both included
	hasOldest, hasLatest bool
	limit                int
	next                 int64 // where the cursor goes on; 0 without
}

// span reads oldest, latest, inclusive, limit and cursor.
func (r *request) span(ordinary, most int) (span, error) {
	p := span{latest: math.MaxInt64}
	var err error
	if p.limit, err = r.limit(ordinary, most); err != nil {
		return p, err
	}
	inclusive := r.bool("inclusive")
	if text := r.args["oldest"]; text != "" && text != "0" {
		if p.oldest, p.hasOldest = micros(text); !p.hasOldest {
			return p, fail("invalid_ts_oldest")
		}
		if !inclusive {
			p.oldest++
		}
	}
	if text := r.args["latest"]; text != "" && text != "now" {
		if p.latest, p.hasLatest = micros(text); !p.hasLatest {
			return p, fail("invalid_ts_latest")
		}
		if !inclusive {
			p.latest--
		}
	}
	if text := r.args["cursor"]; text != "" {
		if p.next, err = readCursor("next_ts", text); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p span) has(m *message) bool {
	at, _ := micros(m.ts)
	return p.oldest <= at && at <= p.latest
}

// limit reads how many items a page may have.
func (r *request) limit(ordinary, most int) (int, error) {
	text := r.args["limit"]
	if text == "" || text == "0" {
		return min(ordinary, most), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fail("invalid_limit")
	}
	return min(n, most), nil
}

func writeCursor(kind string, at int64) string {
	return base64.StdEncoding.EncodeToString([]byte(kind + ":" + strconv.FormatInt(at, 10)))
}

func readCursor(kind, cursor string) (int64, error) {
	raw, err := base64.StdEncoding.DecodeString(cursor)
	text, ok := strings.CutPrefix(string(raw), kind+":")
	at, err2 := strconv.ParseInt(text, 10, 64)
	if err != nil || err2 != nil || !ok {
		return 0, fail("invalid_cursor")
	}
	return at, nil
}

// history answers conversations.history: what stands in the channel, newest
// first, without the replies.
func (s *Slack) history(r *request, c *channel) (object, error) {
	p, err := r.span(100, s.most(999))
	if err != nil {
		return nil, err
	}
	var found []*message
	for _, m := range slices.Backward(c.messages) {
		if (m.root == "" || m.is("thread_broadcast")) && p.has(m) {
			found = append(found, m)
		}
	}
	forward := s.o.HistoryForward && p.hasOldest && !p.hasLatest
	if forward {
		slices.Reverse(found)
	}
	page, next := cutPage(found, p, forward)
	if forward {
		page = slices.Clone(page)
		slices.Reverse(page)
	}
	o := object{"messages": c.views(page, r.bool("include_all_metadata")), "has_more": next != "", "pin_count": 0, "channel_actions_ts": nil, "channel_actions_count": 0}
	for _, k := range []string{"oldest", "latest"} {
		if r.args[k] != "" {
			o[k] = r.args[k]
		}
	}
	if next != "" {
		o["response_metadata"] = object{"next_cursor": next}
	}
	return o, nil
}

// cutPage takes the page at the cursor out of what was found, and says where the
// next one starts. Messages that came or went in between move no page.
func cutPage(found []*message, p span, ascending bool) (page []*message, next string) {
	if p.next != 0 {
		i := slices.IndexFunc(found, func(m *message) bool {
			at, _ := micros(m.ts)
			return ascending && at >= p.next || !ascending && at <= p.next
		})
		if i < 0 {
			i = len(found)
		}
		found = found[i:]
	}
	if len(found) <= p.limit {
		return found, ""
	}
	at, _ := micros(found[p.limit].ts)
	return found[:p.limit], writeCursor("next_ts", at)
}

func (c *channel) views(list []*message, metadata bool) []any {
	out := []any{}
	for _, m := range list {
		out = append(out, c.view(m, metadata))
	}
	return out
}

// replies answers conversations.replies: the root and its replies, oldest
// first. The root stands at the head of a page even where oldest or the
// cursor lies after it. The ts of a reply gives that reply alone
// (https://github.com/slackapi/bolt-python/issues/783).
func (s *Slack) replies(r *request, c *channel) (object, error) {
	p, err := r.span(1000, s.most(1000))
	if err != nil {
		return nil, err
	}
	root := c.message(r.args["ts"])
	if root == nil {
		return nil, fail("thread_not_found")
	}
	found := []*message{}
	for _, m := range append([]*message{root}, c.threads[root.ts]...) {
		if p.has(m) {
			found = append(found, m)
		}
	}
	page, next := cutPage(found, p, true)
	first := p.next == 0
	if !slices.Contains(page, root) && (first || !s.o.RootOnFirstPageOnly) {
		page = append([]*message{root}, page...)
	}
	o := object{"messages": c.views(page, r.bool("include_all_metadata")), "has_more": next != ""}
	if next != "" {
		o["response_metadata"] = object{"next_cursor": next}
	}
	return o, nil
}
