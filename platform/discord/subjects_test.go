package discord_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// subject returns what the thread of a message is called, as "name [tag, tag] post".
func (x *ear) subject(channel, id string) string {
	x.t.Helper()
	m, err := x.store.Message(x.t.Context(), x.scope(channel), earshot.MessageID(id))
	if err != nil {
		x.t.Fatal(err)
	}
	if m.Subject == nil {
		return ""
	}
	s := m.Subject.Name
	if len(m.Subject.Tags) > 0 {
		s += fmt.Sprintf(" [%s]", strings.Join(m.Subject.Tags, ", "))
	}
	if m.Subject.Post {
		s += " post"
	}
	return s
}

// patch changes a channel of the fake as the bot may.
func (x *ear) patch(channel, body string) {
	x.t.Helper()
	req, err := http.NewRequestWithContext(x.t.Context(), http.MethodPatch, x.fake.APIURL()+"/channels/"+channel, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+x.fake.App().Token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		x.t.Fatalf("change channel %s: %s", channel, res.Status)
	}
}

// tags returns the ids of a forum's tags, by name.
func (x *ear) tags(forum string) map[string]string {
	x.t.Helper()
	req, err := http.NewRequestWithContext(x.t.Context(), http.MethodGet, x.fake.APIURL()+"/channels/"+forum, http.NoBody)
	if err != nil {
		x.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+x.fake.App().Token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer res.Body.Close()
	var c struct {
		Tags []struct{ ID, Name string } `json:"available_tags"`
	}
	if err := json.NewDecoder(res.Body).Decode(&c); err != nil {
		x.t.Fatal(err)
	}
	out := map[string]string{}
	for _, tag := range c.Tags {
		out[tag.Name] = tag.ID
	}
	return out
}

func TestThreadsAreCalledWhatDiscordSays(t *testing.T) {
	t.Parallel()
	x := listen(t, func(_ *ear, f *fake.Options, _ *discord.Options) { f.App.Permissions = fake.AllPermissions })
	x.start(nil, "")
	root := x.fake.Say(x.general, x.sam, "it fails again")
	thread := x.fake.Thread(x.general, root, x.mara, "Invoice 4711 refused by SAP")
	x.fake.Say(thread, x.mara, "since noon")
	forum := x.fake.AddChannel(fake.Channel{Name: "help", Type: fake.Forum})
	x.patch(forum, `{"available_tags":[{"name":"solved"},{"name":"bug"}]}`)
	post := x.fake.Open(forum, x.sam, "Printer is out", "nothing since nine")
	x.fake.Say(post, x.mara, "paper?")
	x.settle()
	for _, c := range []struct{ channel, id, want string }{{x.general, root, "Invoice 4711 refused by SAP"}, {forum, post, "Printer is out post"}} {
		if got := x.subject(c.channel, c.id); got != c.want {
			t.Errorf("the thread is called %q, want %q", got, c.want)
		}
	}

	m, err := x.store.Message(t.Context(), x.scope(forum), earshot.MessageID(post))
	if err != nil {
		t.Fatal(err)
	}
	tags := x.tags(forum)
	x.patch(post, `{"applied_tags":["`+tags["bug"]+`","`+tags["solved"]+`"]}`)
	x.settle()
	if got, want := x.subject(forum, post), "Printer is out [bug, solved] post"; got != want {
		t.Errorf("with tags the post is called %q, want %q", got, want)
	}
	if now, err := x.store.Message(t.Context(), x.scope(forum), earshot.MessageID(post)); err != nil || now.Seq <= m.Seq {
		t.Errorf("new tags are no news: %+v, %v", now, err)
	}
	x.patch(post, `{"applied_tags":[]}`)

	x.fake.RenameChannel(thread, "[SOLVED] it was the VPN")
	x.fake.RenameChannel(post, "[SOLVED] Printer is out")
	x.settle()
	for _, c := range []struct{ channel, id, want, text string }{
		{x.general, root, "[SOLVED] it was the VPN", "it fails again"}, {forum, post, "[SOLVED] Printer is out post", "Printer is out\nnothing since nine"},
	} {
		if got := x.subject(c.channel, c.id); got != c.want {
			t.Errorf("after a new name the thread is called %q, want %q", got, c.want)
		}
		if m, err := x.store.Message(t.Context(), x.scope(c.channel), earshot.MessageID(c.id)); err != nil || m.Text != c.text || m.Edited != 0 {
			t.Errorf("after a new name the message is %+v, %v", m, err)
		}
	}
}
