package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// A message is one of a channel. Its body is what Slack serves but for what
// depends on its thread: that is added by view.
type message struct {
	ts, root  string // root is "" for what stands in the channel
	body      object
	streaming bool // a stream that was not stopped
	tasks     []Task
}

func (m *message) is(subtype string) bool { return m.body["subtype"] == subtype }

func (m *message) text() string { return str(m.body["text"]) }

// author is the user who wrote m, "" for a bot that has none.
func (m *message) author() string { return str(m.body["user"]) }

func str(v any) string {
	s, _ := v.(string)
	return s
}

// stamp makes the next ts of a channel: the time in microseconds, later than
// every ts before it.
func (s *Slack) stamp(c *channel) string {
	c.last = max(c.last+1, s.o.Now().UnixMicro())
	return formatTS(c.last)
}

func formatTS(micros int64) string { return fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6) }

// TS returns a time as Slack's ts: seconds, and six digits of microseconds.
func TS(t time.Time) string { return formatTS(t.UnixMicro()) }

// micros reads a ts, or the seconds that oldest and latest also take.
func micros(ts string) (int64, bool) {
	whole, part, _ := strings.Cut(ts, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(part) > 6 {
		return 0, false
	}
	frac, err := strconv.ParseInt((part + "000000")[:6], 10, 64)
	if err != nil {
		return 0, false
	}
	return sec*1e6 + frac, true
}

func byTS(m *message, ts string) int { return strings.Compare(m.ts, ts) }

// message returns the message at ts, nil when there is none.
func (c *channel) message(ts string) *message {
	if i, ok := slices.BinarySearchFunc(c.messages, ts, byTS); ok {
		return c.messages[i]
	}
	return nil
}

// add puts m in its place.
func (c *channel) add(m *message) {
	put := func(list []*message) []*message {
		i, _ := slices.BinarySearchFunc(list, m.ts, byTS)
		return slices.Insert(list, i, m)
	}
	c.messages = put(c.messages)
	if m.root != "" {
		c.threads[m.root] = put(c.threads[m.root])
	}
	if at, ok := micros(m.ts); ok {
		c.last = max(c.last, at)
	}
}

// remove takes m out of the channel.
func (c *channel) remove(m *message) {
	out := func(list []*message) []*message {
		return slices.DeleteFunc(list, func(o *message) bool { return o == m })
	}
	c.messages = out(c.messages)
	if m.root != "" {
		c.threads[m.root] = out(c.threads[m.root])
	}
}

// view is m as history shows it, thread fields included.
func (c *channel) view(m *message, metadata bool) object {
	o := maps.Clone(m.body)
	o["type"], o["ts"] = "message", m.ts
	if !metadata {
		delete(o, "metadata")
	}
	if m.root != "" {
		o["thread_ts"] = m.root
		root := c.message(m.root)
		if root != nil && root.author() != "" {
			o["parent_user_id"] = root.author()
		}
		if root != nil && m.is("thread_broadcast") {
			o["root"] = c.view(root, false)
		}
		return o
	}
	replies := c.threads[m.ts]
	if len(replies) == 0 {
		return o
	}
	var people []any
	for _, r := range replies {
		if who := r.author(); who != "" && !slices.Contains(people, any(who)) {
			people = append(people, who)
		}
	}
	o["thread_ts"] = m.ts
	o["reply_count"], o["reply_users_count"] = len(replies), len(people)
	o["latest_reply"] = replies[len(replies)-1].ts
	o["reply_users"] = fake.List(people[:min(len(people), 5)])
	o["is_locked"], o["subscribed"] = false, false
	return o
}

// eventMessage returns m as an event has it.
func (c *channel) eventMessage(m *message) object {
	o := c.view(m, true)
	for _, k := range []string{"reply_count", "reply_users_count", "latest_reply", "reply_users", "is_locked", "subscribed", "reactions"} {
		delete(o, k)
	}
	if m.root == "" {
		delete(o, "thread_ts")
	}
	return o
}

// richText is the block that Slack makes of what a person writes.
func richText(text string) []any {
	var parts []any
	for text != "" {
		open := strings.IndexByte(text, '<')
		length := -1
		if open >= 0 {
			length = strings.IndexByte(text[open:], '>')
		}
		if length < 0 {
			open, length = len(text), 0
		}
		if open > 0 {
			parts = append(parts, object{"type": "text", "text": unescape.Replace(text[:open])})
		}
		if length == 0 {
			break
		}
		parts = append(parts, richLink(text[open+1:open+length]))
		text = text[open+length+1:]
	}
	if len(parts) == 0 {
		return nil
	}
	section := object{"type": "rich_text_section", "elements": parts}
	return []any{object{"type": "rich_text", "block_id": "sim", "elements": []any{section}}}
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// richLink is the element of what stood between < and >.
func richLink(inner string) object {
	target, label, _ := strings.Cut(inner, "|")
	switch {
	case strings.HasPrefix(target, "@"):
		return object{"type": "user", "user_id": target[1:]}
	case strings.HasPrefix(target, "#"):
		return object{"type": "channel", "channel_id": target[1:]}
	case strings.HasPrefix(target, "!subteam^"):
		return object{"type": "usergroup", "usergroup_id": strings.TrimPrefix(target, "!subteam^")}
	case strings.HasPrefix(target, "!"):
		return object{"type": "broadcast", "range": target[1:]}
	}
	o := object{"type": "link", "url": target}
	if label != "" {
		o["text"] = unescape.Replace(label)
	}
	return o
}
