package simulate

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// startStream answers chat.startStream. In a channel it must say whom it is
// for, and it always replies to something.
func (s *Slack) startStream(r *request, c *channel) (object, error) {
	root := s.rootOf(c, r.args["thread_ts"])
	switch {
	case root == "":
		return nil, fail("message_not_found")
	case c.Kind != DM && r.args["recipient_user_id"] == "":
		return nil, fail("missing_recipient_user_id")
	case c.Kind != DM && r.args["recipient_team_id"] == "":
		return nil, fail("missing_recipient_team_id")
	}
	m := &message{streaming: true}
	text, err := r.streamed(m)
	if err != nil {
		return nil, err
	}
	m.body = object{"team": s.o.Team.ID, "text": text}
	m.body["streaming_state"] = "in_progress"
	s.postAs(c, m, root)
	s.tellNew(c, m)
	return object{"channel": c.ID, "ts": m.ts}, nil
}

// streamed reads the text of a stream's call: markdown_text, or the text
// chunks of chunks.
func (r *request) streamed(m *message) (string, error) {
	text := r.args["markdown_text"]
	if raw := r.args["chunks"]; raw != "" {
		var chunks []struct{ Type, Text, ID, Title, Status string }
		if json.Unmarshal([]byte(raw), &chunks) != nil {
			return "", fail("invalid_chunks")
		}
		for _, c := range chunks {
			switch c.Type {
			case "markdown_text":
				text += c.Text
			case "task_update":
				if c.ID == "" || !slices.Contains([]string{"", "pending", "in_progress", "complete", "error"}, c.Status) {
					return "", fail("invalid_chunks")
				}
				m.task(Task{c.ID, c.Title, c.Status})
			}
		}
	}
	if utf8.RuneCountInString(text) > maxMarkdown {
		return "", fail("msg_too_long")
	}
	return text, nil
}

// A Task is a task card of a message that is or was streamed.
type Task struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"` // pending, in_progress, complete or error
}

// task adds a task card, or changes the one with its id.
func (m *message) task(t Task) {
	for i := range m.tasks {
		if x := &m.tasks[i]; x.ID == t.ID {
			x.Title, x.Status = cmp.Or(t.Title, x.Title), cmp.Or(t.Status, x.Status)
			return
		}
	}
	m.tasks = append(m.tasks, t)
}

// cards are the task cards as blocks (docs.slack.dev, Task card block).
func (m *message) cards() []any {
	var out []any
	for _, t := range m.tasks {
		out = append(out, object{"type": "task_card", "task_id": t.ID, "title": t.Title, "status": t.Status})
	}
	return out
}

// Tasks returns the task cards of a message, in order.
func (s *Slack) Tasks(channel, ts string) []Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m, err := s.find(channel, ts)
	check(err)
	return slices.Clone(m.tasks)
}

// stream returns the stream that a call goes on with.
func (s *Slack) stream(r *request) (*channel, *message, error) {
	c, m, err := findOwnMessage("message_not_owned_by_app")(s, r)
	if err == nil && !m.streaming {
		return nil, nil, fail("message_not_in_streaming_state")
	}
	return c, m, err
}

// appendStream answers chat.appendStream. What is sent twice stands there
// twice.
func (s *Slack) appendStream(r *request, c *channel, m *message) (object, error) {
	text, err := r.streamed(m)
	if err != nil {
		return nil, err
	}
	if text == "" && r.args["chunks"] == "" {
		return nil, fail("no_text")
	}
	s.changeMessage(c, m, func(now *channelChange) { now.body["text"] = str(now.body["text"]) + text })
	return object{"channel": c.ID, "ts": m.ts}, nil
}

// stopStream answers chat.stopStream: the message is one like others then.
func (s *Slack) stopStream(r *request, c *channel, m *message) (object, error) {
	text, err := r.streamed(m)
	if err != nil {
		return nil, err
	}
	own, err := r.list("blocks", "invalid_blocks_format")
	if err == nil {
		err = checkBlocks(own)
	}
	if err != nil {
		return nil, err
	}
	extra := object{}
	if err := r.metadata(extra); err != nil {
		return nil, err
	}
	m.streaming = false
	s.changeMessage(c, m, func(now *channelChange) {
		now.body["text"] = str(now.body["text"]) + text
		now.body["streaming_state"] = "completed"
		setBlocks(now.body, slices.Concat(m.cards(), richText(str(now.body["text"])), own))
		if extra["metadata"] != nil {
			now.body["metadata"] = extra["metadata"]
		}
	})
	return object{"channel": c.ID, "ts": m.ts, "message": c.view(m, true)}, nil
}

// A place is a thread, or with no thread a channel.
type place struct{ channel, thread string }

// A status is what assistant.threads.setStatus shows.
type status struct {
	text string
	at   time.Time
}

// statusLasts is how long Slack shows a status that no message ends.
const statusLasts = 2 * time.Minute

func (s *Slack) setStatus(r *request) (object, error) {
	if _, err := s.threadNote(r); err != nil {
		return nil, err
	}
	c := s.channel(r.args["channel_id"])
	at := place{c.ID, s.rootOf(c, r.args["thread_ts"])}
	s.statuses[at] = status{r.args["status"], s.o.Now()}
	if strings.TrimSpace(r.args["status"]) == "" {
		delete(s.statuses, at)
	}
	return object{}, nil
}

// threadNote answers the methods that only decorate a thread.
func (s *Slack) threadNote(r *request) (object, error) {
	c := s.channel(r.args["channel_id"])
	switch {
	case c == nil || !c.has(s.o.App.UserID):
		return nil, fail("channel_not_found")
	case s.rootOf(c, r.args["thread_ts"]) == "":
		return nil, fail("invalid_thread_ts")
	}
	return object{}, nil
}

// Status returns the status line that people see in a thread: "" after a post of the
// app, or two minutes after it was last set.
func (s *Slack) Status(channel, thread string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.statuses[place{channel, thread}]
	if !ok || s.o.Now().Sub(st.at) >= statusLasts {
		return ""
	}
	return st.text
}

// Ephemerals returns what only one person saw, in order.
func (s *Slack) Ephemerals() []Ephemeral {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ephemerals)
}
