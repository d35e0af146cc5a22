package slack_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/earshot-ai/earshot"
)

// tells sends events of general, each under an id of its own, in the order of a list of
// their numbers.
func (x *inbox) tells(events []string, order ...int) {
	x.Helper()
	for i, n := range order {
		body := fmt.Sprintf(`{"type":"event_callback","event_id":"EvO%d-%d","event":%s}`, i, n, events[n])
		if got := x.send(body); got != http.StatusOK {
			x.Fatalf("event %d: got status %d", n, got)
		}
	}
	x.settle()
}

// Slack repeats what was not acknowledged for an hour, by then there may be news.
func TestNewsThatComesLateReplacesNothing(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]int{"in order": {0, 1, 2, 3, 4, 5, 6, 7}, "the first again": {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3}, "the other way round": {7, 6, 5, 4, 3, 2, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := listenTo(t)
			said := x.slack.Say(x.general, x.mara, "see https://x.io")
			x.settle()
			message := fmt.Sprintf(`{"type":"message","user":%q,"text":"see https://x.io","ts":%q`, x.mara, said)
			preview := func(text, at string) string {
				return fmt.Sprintf(`{"type":"message","subtype":"message_changed","channel":%q,"channel_type":"channel","event_ts":%q,"ts":%q,"message":%s,"attachments":[{"from_url":"https://x.io","text":%q}]},"previous_message":%s}}`,
					x.general, at, at, message, text, message)
			}
			profile := func(name, at string) string {
				return fmt.Sprintf(`{"type":"user_change","event_ts":%q,"user":{"id":%q,"profile":{"display_name":%q}}}`, at, x.mara, name)
			}
			rename := func(name, at string) string {
				return fmt.Sprintf(`{"type":"channel_rename","event_ts":%q,"channel":{"id":%q,"name":%q,"is_channel":true}}`, at, x.general, name)
			}
			topic := func(text, at string) string {
				return fmt.Sprintf(`{"type":"message","subtype":"channel_topic","user":%q,"channel":%q,"channel_type":"channel","ts":%q,"event_ts":%q,"text":"set the topic","topic":%q}`, x.mara, x.general, at, at, text)
			}
			x.tells([]string{
				preview("first", "2000000001.000100"), rename("first", "2000000002.000100"), profile("Zoe", "2000000003.000100"), topic("first", "2000000004.000100"),
				preview("an update", "2000000005.000100"), rename("ends", "2000000006.000100"), profile("Mara M", "2000000007.000100"), topic("ends", "2000000008.000100"),
			}, order...)
			if m := x.message(x.general, said); len(m.Shared) != 1 || m.Shared[0].Text != "an update" {
				t.Errorf("previews: got %+v", m.Shared)
			}
			c, err := x.store.Channel(t.Context(), x.scope(x.general))
			if err != nil || c.Name != "ends" || c.Topic != "ends" {
				t.Errorf("channel: got %+v, %v", c, err)
			}
			a, err := x.store.Authors(t.Context(), earshot.Slack, x.scope(x.general).Workspace, earshot.AuthorID(x.mara))
			if err != nil || len(a) != 1 || a[0].Name != "Mara M" {
				t.Errorf("author: got %+v, %v", a, err)
			}
		})
	}
}
