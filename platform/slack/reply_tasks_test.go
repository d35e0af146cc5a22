package slack_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// What is done before an answer is written is a task card of its stream. Where Slack takes none
// the text streams all the same.
func TestWhatIsDoneIsATaskCardOfTheStream(t *testing.T) {
	t.Parallel()
	step := func(id, title, status string) simulate.Task {
		return simulate.Task{ID: id, Title: title, Status: status}
	}
	first, second := "searching in the channel", "calling tracker"
	for _, c := range []struct {
		name  string
		fault *simulate.Fault
		want  []simulate.Task
	}{
		{name: "one after the other", want: []simulate.Task{step("step-1", first, "complete"), step("step-2", second, "complete")}},
		{name: "and an answer is lost", fault: &simulate.Fault{Kind: simulate.LostResponse, On: "chat.appendStream", Times: 1}, want: []simulate.Task{step("step-1", first, "complete"), step("step-2", second, "complete")}},
		{name: "and Slack takes none", fault: &simulate.Fault{Kind: simulate.APIError, Error: "invalid_chunks", On: "chat.appendStream", Times: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			now := time.Now()
			x := newSpeaker(t, func(_ *simulate.SlackOptions, o *slack.Options) {
				o.Reply = slack.ReplyStream
				o.Now = func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					now = now.Add(2 * time.Second) // nothing comes too early
					return now
				}
			})
			d := bot.Draft{Place: x.asked(t, x.general, "", "why?"), Text: "…", Key: "pKEY", Growing: true}
			m, err := x.Post(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			if c.fault != nil {
				x.slack.Inject(*c.fault)
			}
			for _, on := range []string{first, second} {
				x.Working(t.Context(), d.Place, on)
				x.AwaitStream(d.Place)
			}
			d.Text, d.Growing = "because of it", false
			if err := x.Update(t.Context(), d, m.ID); err != nil {
				t.Fatal(err)
			}
			x.wantReply(t, d, m, "because of it")
			if diff := cmp.Diff(x.slack.Tasks(x.general, string(m.ID)), c.want); diff != "" {
				t.Errorf("cards: -got +want\n%s", diff)
			}
			if n := x.called()["chat.update"]; n > 0 {
				t.Errorf("the stream did not become the reply: %v", x.called())
			}
		})
	}
}
