package slack_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// spoken is an event of a person's message.
func (x *inbox) spoken(i int, user, text string) string {
	return fmt.Sprintf(`{"type":"event_callback","event_id":"Ev%d","event":{"type":"message","channel":%q,"channel_type":"channel","user":%q,"text":%q,"ts":"1700000000.%06d"}}`, i, x.general, user, text, i)
}

func TestManyMessagesOfAStrangerAskOnce(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if got := x.send(x.spoken(i, x.mara, "hi <@"+x.mara+">")); got != http.StatusOK {
				t.Errorf("got status %d", got)
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff([]string{"conversations.info", "users.info"}, x.called()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for i := range 50 {
		if m := x.message(x.general, fmt.Sprintf("1700000000.%06d", i)); m.Author.Name != "Mara" {
			t.Errorf("message %d is by %q", i, m.Author.Name)
		}
	}
}

// A name is worth a second, and a message is worth more than a name.
func TestANameThatDoesNotComeDelaysNoMessage(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	x.slack.Inject(simulate.Fault{Kind: simulate.HungResponse, On: "users.info"}, simulate.Fault{Kind: simulate.ServerError, On: "conversations.info"})
	first := x.slack.Say(x.general, x.mara, "<@"+x.me+"> one")
	x.settle()
	for _, d := range x.slack.Deliveries() {
		if d.Tries != 1 {
			t.Errorf("%s came %d times, want once", d.Type, d.Tries)
		}
	}
	if m := x.message(x.general, first); m.Author.ID != earshot.AuthorID(x.mara) || m.Author.Name != "" {
		t.Errorf("author: got %+v, want an id and no name", m.Author)
	}
	if diff := cmp.Diff([]string{first}, x.turns()); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	x.slack.Heal()
	later.Store(int64(2 * time.Minute))
	second := x.slack.Say(x.general, x.mara, "two")
	x.settle()
	if m := x.message(x.general, second); m.Author.Name != "Mara" {
		t.Errorf("author: got %+v", m.Author)
	}
	if c, err := x.store.Channel(t.Context(), x.scope(x.general)); err != nil || c.Name != "general" {
		t.Errorf("channel: got %+v, %v", c, err)
	}
}

// Without a scope there are ids, and no call for each message.
func TestWhatSlackDoesNotTellIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	x.slack.Grant("app_mentions:read", "channels:history")
	group := x.slack.AddGroup(simulate.UserGroup{Handle: "devs"})
	for range 10 {
		x.slack.Say(x.general, x.mara, "<!subteam^"+group+"> hello")
	}
	x.settle()
	if diff := cmp.Diff([]string{"conversations.info", "usergroups.list", "users.info"}, x.called()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
