package discord_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/simulate/discord"
)

// order gives an order over HTTP, as a script does.
func (w *world) order(act, body string) object {
	w.t.Helper()
	res, err := http.Post(w.URL()+"/simulate/"+act, "application/json", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer object
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		w.t.Fatal(err)
	}
	if ok := answer["ok"] == true; ok != (res.StatusCode == http.StatusOK) {
		w.t.Errorf("%s: status %d with %v", act, res.StatusCode, answer)
	}
	return answer
}

func TestPeopleAreOrderedAboutOverHTTP(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.AddChannel(discord.Channel{Name: "help", Type: discord.Forum})
	g := w.connect(allOf)
	id, _ := w.order("say", `{"channel":"general","user":"mara","text":"hello"}`)["id"].(string)
	for _, c := range []struct{ act, body, event string }{
		{"reply", `{"channel":"#general","user":"sam","id":"ID","text":"hi"}`, "MESSAGE_CREATE"},
		{"edit", `{"channel":"general","id":"ID","text":"hello!"}`, "MESSAGE_UPDATE"},
		{"embed", `{"channel":"general","id":"ID","embed":{"type":"link","title":"a page"}}`, "MESSAGE_UPDATE"},
		{"react", `{"channel":"general","id":"ID","user":"sam","emoji":"👍"}`, "MESSAGE_REACTION_ADD"},
		{"unreact", `{"channel":"general","id":"ID","user":"sam","emoji":"👍"}`, "MESSAGE_REACTION_REMOVE"},
		{"forward", `{"channel":"general","user":"sam","from":"general","id":"ID"}`, "MESSAGE_CREATE"},
		{"upload", `{"channel":"general","user":"sam","name":"a.txt","content":"text"}`, "MESSAGE_CREATE"},
		{"type", `{"channel":"general","user":"` + w.sam + `"}`, "TYPING_START"},
		{"thread", `{"channel":"general","user":"mara","id":"ID","name":"about"}`, "THREAD_CREATE MESSAGE_UPDATE MESSAGE_CREATE"},
		{"post", `{"channel":"help","user":"mara","name":"how?","text":"like this?"}`, "THREAD_CREATE MESSAGE_CREATE"},
		{"webhook", `{"channel":"general","name":"news","text":"news"}`, "MESSAGE_CREATE"},
		{"proxy", `{"channel":"general","user":"mara","name":"Luna","text":"it is me"}`, "MESSAGE_CREATE MESSAGE_CREATE MESSAGE_DELETE"},
		{"say", `{"channel":"@mara","user":"mara","text":"in private"}`, "MESSAGE_CREATE"},
		{"rename", `{"channel":"general","name":"everything"}`, "CHANNEL_UPDATE"},
		{"rename", `{"user":"mara","name":"M. V."}`, "GUILD_MEMBER_UPDATE"},
		{"user", `{"name":"ada","text":"Ada"}`, "GUILD_MEMBER_ADD"},
		{"leave", `{"user":"ada"}`, "GUILD_MEMBER_REMOVE"},
		{"join", `{"user":"ada"}`, "GUILD_MEMBER_ADD"},
		{"channel", `{"name":"more"}`, "CHANNEL_CREATE"},
		{"delete", `{"channel":"everything","id":"ID"}`, "MESSAGE_DELETE"},
		{"kick", `{}`, "GUILD_DELETE"},
	} {
		if answer := w.order(c.act, strings.ReplaceAll(c.body, "ID", id)); answer["ok"] != true {
			t.Errorf("%s %s: %v", c.act, c.body, answer)
			continue
		}
		for kind := range strings.FieldsSeq(c.event) {
			for {
				p := g.read()
				if p.Op == 0 && p.T == "MESSAGE_CREATE" && p.data(t)["id"] == id {
					continue // of the first order
				}
				if p.T != kind {
					t.Fatalf("%s causes %s, want %s", c.act, p.T, kind)
				}
				break
			}
		}
	}
}

func TestAWrongOrderIsRefusedWithAReason(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	for _, c := range []struct{ act, body, want string }{
		{"sing", `{}`, "there is no act"},
		{"say", `{"channel":"nowhere","user":"mara","text":"x"}`, "there is no channel"},
		{"say", `{"channel":"general","user":"nobody","text":"x"}`, "there is no user"},
		{"say", `{"loud":true}`, "not understood"},
		{"edit", `{"channel":"general","id":"7","text":"x"}`, "there is no such message"},
		{"inject", `{"fault":"storm"}`, "there is no fault"},
		{"disconnect", `{"code":7}`, "no close code"},
		{"post", `{"channel":"general","user":"mara","name":"x","text":"y"}`, "there is no forum"},
		{"bulk_delete", `{"channel":"general","ids":["1"]}`, "two messages"},
	} {
		if answer := w.order(c.act, c.body); answer["ok"] != false || !strings.Contains(answer["error"].(string), c.want) {
			t.Errorf("%s %s: %v, want something of %q", c.act, c.body, answer, c.want)
		}
	}
	if answer := w.order("heal", ""); answer["ok"] != true {
		t.Errorf("an act that takes nothing is given nothing: %v", answer)
	}
	res, err := http.Post(w.URL()+"/simulate/say", "text/plain", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("an order that a page could send ends with %d", res.StatusCode)
	}
}

func TestAScriptSeesWhatHappened(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.Say(w.general, w.mara, "hello")
	w.post(w.general, object{"content": "hi", "nonce": "n1"})
	for _, c := range []struct {
		what string
		n    int
		want string
	}{
		{"messages?channel=general", 2, "hello"},
		{"calls", 1, "create_message"},
		{"events", 0, ""},
		{"users", 3, "Mara Vos"},
		{"channels", 1, "general"},
	} {
		res, err := http.Get(w.URL() + "/simulate/" + c.what)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			List []any `json:"list"`
		}
		if err := json.Unmarshal(data, &answer); err != nil || len(answer.List) != c.n || !strings.Contains(string(data), c.want) {
			t.Errorf("%s: %s (%v)", c.what, data, err)
		}
		if strings.Contains(string(data), w.token) {
			t.Errorf("%s shows the token", c.what)
		}
	}
}

func TestAnAttachmentIsThereForADay(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	w := start(t, &discord.Options{Unlimited: true, Now: c.Now})
	id := w.Upload(w.general, w.mara, "", discord.File{Name: "über.txt", Data: []byte("text")})
	link := func() string {
		m, _ := w.call("GET", path("channels", w.general, "messages", id), nil).(object)
		a, _ := m["attachments"].([]any)[0].(object)
		if a["size"] != 4.0 || a["filename"] != "über.txt" {
			t.Errorf("the attachment is %v", a)
		}
		return a["url"].(string)
	}
	fetch := func(at string) (int, string) {
		res, err := http.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(data)
	}
	old := link()
	if status, text := fetch(old); status != 200 || text != "text" {
		t.Errorf("status %d, %q", status, text)
	}
	bare, _, _ := strings.Cut(old, "?")
	if status, _ := fetch(bare); status != 404 {
		t.Errorf("without its signature the status is %d, want 404", status)
	}
	c.pass(25 * time.Hour)
	if status, _ := fetch(old); status != 404 {
		t.Errorf("a day later the status is %d, want 404", status)
	}
	if status, _ := fetch(link()); status != 200 {
		t.Errorf("a new address ends with %d", status)
	}
}
