package inspect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// A chatWorld is a local platform with a bot that answers, and an inspector over it.
// Its channels are ops and hr, and C1 of a Slack workspace beside it.
type chatWorld struct {
	world
	chat  *local.Chat
	ended chan bot.Report
}

// refusing is a model whose provider refuses everything.
type refusing struct{ llm.Offline }

func (refusing) Generate(context.Context, llm.Request, func(llm.Event)) (llm.Response, error) {
	return llm.Response{}, &llm.Error{Provider: "offline", Err: errors.New("no <b>credit</b>")}
}

func newChat(t *testing.T, model llm.Model, change func(*inspect.Options)) chatWorld {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return newChatOver(t, st, st, model, change)
}

// newChatOver is newChat over a store, which the bot calls own.
func newChatOver(t *testing.T, st, own earshot.Store, model llm.Model, change func(*inspect.Options)) chatWorld {
	t.Helper()
	return newChatWith(t, st, bot.Options{Store: own, Model: model}, change)
}

// newChatWith is newChat over a store, with a bot of these options.
func newChatWith(t *testing.T, st earshot.Store, o bot.Options, change func(*inspect.Options)) chatWorld {
	t.Helper()
	p, err := local.Open(t.Context(), st, nil)
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	w := chatWorld{ended: make(chan bot.Report, 10)}
	o.Platform, o.Counter, o.Identity, o.Done = p, counter, p.Agent(), func(r bot.Report) { w.ended <- r }
	b := bot.New(o)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- b.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-ran
	})
	w.chat = p.Chat(b.Handle, b.Choose)
	for _, name := range []string{"ops", "hr"} {
		if _, err := w.chat.Channel(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.PutChannel(t.Context(), slackChannel); err != nil {
		t.Fatal(err)
	}
	w.world = newWorldOver(t, st, func(o *inspect.Options) {
		o.Chat, o.Identity = w.chat, p.Agent()
		if change != nil {
			change(o)
		}
	})
	return w
}

var slackChannel = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "far", Kind: earshot.KindChannel}

func forAll(o *inspect.Options) { o.Open = true }

// newWorldOver is an inspector over a store.
func newWorldOver(t testing.TB, st earshot.Store, change func(*inspect.Options)) world {
	t.Helper()
	gate, err := access.Open(st, access.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := inspect.Options{Reader: explain.New(st, search.New(st, nil), explain.Options{}), Gate: gate, Token: secret.New(token)}
	change(&o)
	return world{st, gate, serve(t, inspect.New(o))}
}

// in is where a form of a channel comes back to.
func in(channel string, pairs ...string) url.Values {
	v := url.Values{"back": {"platform=local&workspace=local&channel=" + channel}}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// post sends a form and wants a status of the page that it leads to.
func (w world) post(t *testing.T, path string, form url.Values, want int, header ...string) string {
	t.Helper()
	status, body := w.do(t, http.DefaultClient, "POST", path, form, header...)
	if status != want {
		t.Fatalf("POST %s %v: got %d, want %d\n%s", path, form, status, want, body)
	}
	return body
}

func (w world) get(t *testing.T, path string, want int, header ...string) string {
	t.Helper()
	status, body := w.do(t, http.DefaultClient, "GET", path, nil, header...)
	if status != want {
		t.Fatalf("GET %s: got %d, want %d\n%s", path, status, want, body)
	}
	return body
}

// A said is a message of a page's JSON.
type said struct {
	ID     earshot.MessageID
	Author struct {
		ID, Name, Kind string
	}
	Text, Edited, Context, Link string
	Thread                      earshot.MessageID
	Choices                     []struct{ ID, Label, Words string }
	Deleted                     bool
	Reactions                   []struct {
		Name  string
		Count int
	}
	Files []struct {
		Name, Type string
	}
	ReplyTo   *struct{ Says, Link string } `json:"reply_to"`
	Revisions []struct{ Text string }
	Turn      *struct {
		ID               earshot.TurnID
		State, Why, Link string
		Answer           bool
		Draft            string
	}
	Replies *struct {
		Count  int
		Link   string
		Newest []said
	}
}

// A talked is a page's JSON.
type talked struct {
	Channels     []struct{ ID, Name, Kind string }
	Channel      struct{ ID string }
	Messages     []said
	Older, Newer string
	Thread       *struct {
		Messages []said
		RootGone bool `json:"root_gone"`
	}
	Writes bool
	Reason string
	As     string
	People []struct{ ID, Name string }
}

// read reads the JSON of a page of the chat.
func (w world) read(t *testing.T, query string, header ...string) talked {
	t.Helper()
	var d talked
	body := w.get(t, "/chat.json?"+query, http.StatusOK, header...)
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return d
}

// hang is when something hangs: no speed of a machine needs so long.
const hang = 5 * time.Minute

// end waits until a turn has ended.
func (w chatWorld) end(t *testing.T) bot.Report {
	t.Helper()
	select {
	case r := <-w.ended:
		return r
	case <-time.After(hang):
		t.Fatal("no turn has ended")
	}
	return bot.Report{}
}

func TestTwoPeopleTalkAndTheAnswerLeadsToItsTurn(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "the lock is on row 7\r\nsince noon"), http.StatusOK)
	body := w.post(t, "/chat/say", in("ops", "as", "ada", "new", "Bob", "text", "@earshot where is the lock?"), http.StatusOK)
	if !strings.Contains(body, `<b class="mention">@earshot</b> where is the lock?`) || !strings.Contains(body, `<option value="bob" selected>Bob</option>`) {
		t.Errorf("the page after Bob's question: %s", body)
	}
	w.end(t)
	d := w.read(t, "channel=ops")
	if len(d.Messages) != 2 || d.Messages[0].Text != "the lock is on row 7\nsince noon" || d.Messages[0].Author.Name != "Ada" || d.Messages[0].Turn != nil || d.As != "bob" {
		t.Fatalf("the channel has %+v", d)
	}
	question := d.Messages[1]
	if question.Turn == nil || question.Turn.State != "done" || question.Turn.Answer || question.Replies == nil || question.Replies.Count != 1 {
		t.Fatalf("the question is %+v", question)
	}
	answer := question.Replies.Newest[0]
	if answer.Turn == nil || !answer.Turn.Answer || answer.Turn.Link != fmt.Sprintf("/turns/%d", question.Turn.ID) || answer.Author.Kind != "bot" || !strings.Contains(answer.Text, "row 7") {
		t.Errorf("the answer is %+v", answer)
	}
	if want := "/context?channel=ops&message=" + string(d.Messages[0].ID) + "&platform=local&workspace=local"; d.Messages[0].Context != want || answer.Context != "" {
		t.Errorf("what the bot would see: %q, %q; want %q and nothing", d.Messages[0].Context, answer.Context, want)
	}
	for name, path := range map[string]string{"the channel": "/chat?channel=ops", "the thread": html.UnescapeString(question.Replies.Link)} {
		if body := w.get(t, path, http.StatusOK); !strings.Contains(body, `href="`+answer.Turn.Link+`"`) || !strings.Contains(body, "What the bot read for this answer") {
			t.Errorf("%s has no why", name)
		}
	}
	if thread := w.read(t, "channel=ops&thread="+string(question.ID)).Thread; thread == nil || len(thread.Messages) != 2 {
		t.Errorf("the thread is %+v", thread)
	}
}

func TestAQuestionWithoutAnAnswerSaysWhy(t *testing.T) {
	t.Parallel()
	w := newChat(t, refusing{}, forAll)
	w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "@earshot where?"), http.StatusOK)
	w.end(t)
	body := w.get(t, "/chat?channel=ops", http.StatusOK)
	if !strings.Contains(body, "The bot did not answer: ") || !strings.Contains(body, "no &lt;b&gt;credit") || !strings.Contains(body, `href="/turns/1"`) {
		t.Errorf("the page is %s", body)
	}
}

func TestAnAnswerThatIsWrittenIsShown(t *testing.T) {
	t.Parallel()
	w := newChat(t, held{}, forAll)
	written := make(chan struct{})
	var once sync.Once
	stop := w.chat.Watch(func(u local.Update) {
		if u.Draft != nil && u.Draft.Text == "It is <i>on" {
			once.Do(func() { close(written) })
		}
	})
	defer stop()
	w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "@earshot where?"), http.StatusOK)
	select {
	case <-written:
	case <-t.Context().Done():
		t.Fatal("the answer was never seen growing")
	}
	d := w.read(t, "channel=ops")
	if q := d.Messages[0].Turn; q == nil || q.Draft != "It is <i>on" {
		t.Errorf("the turn is %+v", q)
	}
	if body := w.get(t, "/chat?channel=ops", http.StatusOK); !strings.Contains(body, `data-draft>It is &lt;i&gt;on</div>`) || !strings.Contains(body, `aria-live="polite"`) {
		t.Errorf("the page is %s", body)
	}
}

// held is a model that begins its answer and does not end it until its turn is cancelled.
type held struct{}

func (held) Generate(ctx context.Context, _ llm.Request, stream func(llm.Event)) (llm.Response, error) {
	if stream != nil {
		stream(llm.Event{Text: "It is <i>on"})
	}
	<-ctx.Done()
	return llm.Response{}, ctx.Err()
}

func TestAPersonChangesTheirOwnMessage(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "one"), http.StatusOK)
	id := w.read(t, "channel=ops").Messages[0].ID
	of := func(pairs ...string) url.Values {
		return in("ops", append([]string{"message", string(id)}, pairs...)...)
	}

	if body := w.get(t, "/chat?channel=ops&as=ada&edit="+string(id), http.StatusOK); !strings.Contains(body, `action="/chat/edit"`) {
		t.Errorf("Ada is offered no form: %s", body)
	}
	w.post(t, "/chat/say", in("hr", "new", "Eve", "text", "elsewhere"), http.StatusOK)
	if body := w.get(t, "/chat?channel=ops&as=eve&edit="+string(id), http.StatusOK); !strings.Contains(body, `value="eve" selected`) || strings.Contains(body, `action="/chat/edit"`) || strings.Contains(body, `action="/chat/delete"`) {
		t.Errorf("Eve is offered to change it: %s", body)
	}
	w.post(t, "/chat/edit", of("as", "ada", "text", "two @earshot"), http.StatusOK)
	m := w.read(t, "channel=ops&revisions="+string(id)).Messages[0]
	if m.Edited == "" || len(m.Revisions) != 2 || m.Revisions[0].Text != "one" || m.Turn == nil {
		t.Errorf("after an edit that adds a mention, and so asks: %+v", m)
	}
	if body := w.post(t, "/chat/edit", of("as", "Eve", "text", "mine <b>now"), http.StatusForbidden); !strings.Contains(body, `role="alert"`) {
		t.Errorf("Eve's edit: %s", body)
	}
	if body := w.post(t, "/chat/edit", of("as", "ada", "text", " "), http.StatusUnprocessableEntity); !strings.Contains(body, "bytes of text") || !strings.Contains(body, `role="alert"`) {
		t.Errorf("an empty edit: %s", body)
	}
	w.post(t, "/chat/delete", of("as", "Eve"), http.StatusForbidden)
	w.post(t, "/chat/delete", of("as", "ada"), http.StatusOK)
	if m := w.read(t, "channel=ops").Messages; len(m) != 1 || !m[0].Deleted || m[0].Text != "" {
		t.Errorf("after a deletion: %+v", m)
	}
	if body := w.get(t, "/chat?channel=ops", http.StatusOK); !strings.Contains(body, "A message was deleted") {
		t.Errorf("the page is %s", body)
	}
	w.post(t, "/chat/edit", of("as", "ada", "text", "back"), http.StatusNotFound)
}

func TestReactionsAreShown(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "one"), http.StatusOK)
	id := w.read(t, "channel=ops").Messages[0].ID
	if _, err := w.chat.React(t.Context(), "ops", id, "ada", "eyes"); err != nil {
		t.Fatal(err)
	}
	if m := w.read(t, "channel=ops").Messages[0]; len(m.Reactions) != 1 || m.Reactions[0].Name != "eyes" || m.Reactions[0].Count != 1 {
		t.Errorf("the reactions are %+v", m.Reactions)
	}
	if body := w.get(t, "/chat?channel=ops", http.StatusOK); !strings.Contains(body, "<li>:eyes: 1</li>") {
		t.Errorf("the page is %s", body)
	}
}

func TestWhatWasTypedIsKept(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	body := w.post(t, "/chat/say", in("ops", "new", "earshot", "text", "typed </textarea><b>"), http.StatusForbidden)
	for _, want := range []string{`role="alert" id="say-problem">not allowed: earshot is the bot<`, `>typed &lt;/textarea&gt;&lt;b&gt;</textarea>`, `aria-errormessage="say-problem"`, `value="earshot"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s: %s", want, body)
		}
	}
	w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "  "), http.StatusUnprocessableEntity)
	w.post(t, "/chat/say", in("ops", "new", "Ada", "text", strings.Repeat("x", 300<<10)), http.StatusUnprocessableEntity)
	w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "x", "thread", "no such"), http.StatusNotFound)
	if d := w.read(t, "channel=ops"); len(d.Messages) != 0 {
		t.Errorf("something was said: %+v", d.Messages)
	}
}

func TestAFormThatIsSentTwiceIsOneMessage(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	for range 2 {
		w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "once", "client", "k1"), http.StatusOK)
	}
	if d := w.read(t, "channel=ops"); len(d.Messages) != 1 {
		t.Errorf("there are %d messages", len(d.Messages))
	}
}

// naughty are names and texts that try to become markup, or to break a page.
var naughty = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)`, `</textarea><svg onload=alert(1)>`, `</title><b>`,
	`{{constructor.constructor('alert(1)')()}}`, "\u202eevil\u202c", "a\u0000b\u0007", "﷽﷽﷽", "<@ada|<b>x</b>>", "<https://x.example/\"><script>|y>", "\xff\xfe", strings.Repeat("W", 5000), "`code` *bold* _it_",
}

// attribute has ids as they are, which nobody sees.
var attribute = regexp.MustCompile(`="[^"]*"`)

func TestNaughtyTextsAndNamesStayText(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	scope := w.chat.Place("ops")
	for i, s := range naughty {
		m := earshot.Message{
			ID: earshot.MessageID(fmt.Sprintf("%d%s", i, s[:min(len(s), 100)])), Time: earshot.Time(int64(i+1) * 1e6), Text: s,
			Author: earshot.Author{ID: earshot.AuthorID("u" + s[:min(len(s), 100)]), Name: s, Kind: earshot.Human}, Reactions: []earshot.Reaction{{Name: s, Count: 1}},
			Files:  []earshot.File{{ID: "f", Name: s, Type: s}},
			Shared: []earshot.SharedContent{{Kind: earshot.Forward, Author: s, Place: s, Text: s}},
		}
		if i > 0 {
			m.ReplyTo = earshot.MessageID(fmt.Sprintf("%d%s", i-1, naughty[i-1][:min(len(naughty[i-1]), 100)]))
		}
		if _, err := w.store.Record(t.Context(), scope, m); err != nil {
			t.Fatal(err)
		}
		if err := w.store.PutAuthors(t.Context(), scope.Platform, scope.Workspace, m.Author); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.store.PutChannel(t.Context(), earshot.Channel{Platform: scope.Platform, Workspace: scope.Workspace, ID: "x", Name: naughty[1], Topic: naughty[0], Kind: earshot.KindChannel}); err != nil {
		t.Fatal(err)
	}
	id := url.QueryEscape(string(w.read(t, "channel=ops").Messages[0].ID))
	for _, path := range []string{"/chat?channel=ops", "/chat?channel=ops&thread=" + id, "/chat?channel=ops&at=" + id, "/chat?channel=x", "/chat?channel=ops&as=" + url.QueryEscape(naughty[1]), "/chat?channel=ops&full=" + id} {
		body := w.get(t, path, http.StatusOK)
		for _, bad := range []string{"<script>alert", "<img src=x", "<svg onload", "</title><b>", "onmouseover='alert(1)\"", "<b>x</b>", "href=\"javascript:"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
		if shown := attribute.ReplaceAllString(body, ""); strings.ContainsAny(shown, "\u202e\u0000\u0007") {
			t.Errorf("%s shows a character that controls", path)
		}
		if strings.Count(body, "<textarea") != strings.Count(body, "</textarea>") {
			t.Errorf("%s: a text area is closed by a text", path)
		}
	}
}

func TestTheChatIsWrittenByWhoMay(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, nil)
	viewer := []string{"Authorization", "Bearer " + w.key(t, access.KeySpec{Name: "viewer", ReadOnly: true})}
	ops := []string{"Authorization", "Bearer " + w.key(t, access.KeySpec{Name: "ops", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}})}
	body := w.get(t, "/chat?channel=ops", http.StatusOK, viewer...)
	if !strings.Contains(body, "<fieldset disabled>") || !strings.Contains(body, "a key that may only read") || strings.Contains(body, `action="/chat/delete"`) {
		t.Errorf("a viewer's page: %s", body)
	}
	for _, path := range []string{"/chat/say", "/chat/edit", "/chat/delete", "/chat/choose"} {
		w.post(t, path, in("ops", "as", "ada", "text", "x", "name", "new"), http.StatusForbidden, viewer...)
		w.post(t, path, in("ops", "as", "ada", "text", "x", "name", "new"), http.StatusUnauthorized)
	}
	w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "allowed"), http.StatusOK, ops...)
	w.post(t, "/chat/say", in("hr", "new", "Ada", "text", "foreign"), http.StatusNotFound, ops...)
	foreign, unknown := w.get(t, "/chat?channel=hr", http.StatusNotFound, ops...), w.get(t, "/chat?channel=none", http.StatusNotFound, ops...)
	if strings.ReplaceAll(foreign, "channel=hr", "channel=none") != unknown {
		t.Errorf("a foreign channel differs from one that is not there: %s", foreign)
	}
	if body := w.get(t, "/chat", http.StatusOK, ops...); strings.Contains(body, "#hr") {
		t.Errorf("a foreign channel is listed: %s", body)
	}
	if n, err := w.store.Count(t.Context(), w.chat.Place("hr"), earshot.Whole(), earshot.Position{}); err != nil || n.Count != 0 {
		t.Errorf("%d messages in hr, %v", n.Count, err)
	}
}

func TestAPostOfAnotherSiteSaysNothing(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	for _, h := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "x"), http.StatusForbidden, h...)
	}
	w.get(t, "/chat/say?as=ada&text=x&channel=ops", http.StatusNotFound)
	if d := w.read(t, "channel=ops"); len(d.Messages) != 0 {
		t.Errorf("it was said: %+v", d.Messages)
	}
}

func TestAnotherPlatformIsReadOnly(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	body := w.get(t, "/chat?channel=C1", http.StatusOK)
	if strings.Contains(body, "<textarea") || !strings.Contains(body, "not of the workspace in which people write here") {
		t.Errorf("a channel of Slack: %s", body)
	}
	w.post(t, "/chat/say", url.Values{"back": {"channel=C1"}, "as": {"ada"}, "text": {"x"}}, http.StatusNotFound)
	without := newWorldOver(t, w.store, forAll)
	if body := without.get(t, "/chat?channel=C1", http.StatusOK); strings.Contains(body, "<textarea") || !strings.Contains(body, "People write on Slack") {
		t.Errorf("without a local platform: %s", body)
	}
	without.post(t, "/chat/say", in("ops", "as", "ada", "text", "x"), http.StatusNotFound)
}

func TestTheBotAnswersEverythingInDirectMessages(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "hello"), http.StatusOK)
	if _, err := w.chat.DM(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	if body := w.get(t, "/chat?channel=dm-ada", http.StatusOK); !strings.Contains(body, "The bot answers everything here") {
		t.Errorf("direct messages: %s", body)
	}
	w.post(t, "/chat/say", in("dm-ada", "as", "ada", "text", "and here?"), http.StatusOK)
	w.end(t)
	if m := w.read(t, "platform=local&workspace=local&channel=dm-ada").Messages; len(m) != 2 || m[1].Turn == nil || !m[1].Turn.Answer {
		t.Errorf("the direct messages are %+v", m)
	}
}

func TestFilesAreNamedAndNotServed(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	said, err := w.chat.Say(t.Context(), local.NewMessage{Channel: "ops", As: "Ada", Files: []local.Upload{{Name: "page <b>.html", Data: []byte("<script>alert(1)</script>")}}})
	if err != nil {
		t.Fatal(err)
	}
	if files := w.read(t, "channel=ops").Messages[0].Files; len(files) != 1 || files[0].Name != "page <b>.html" {
		t.Fatalf("the message has %+v", files)
	}
	body := w.get(t, "/chat?channel=ops", http.StatusOK)
	if !strings.Contains(body, "page &lt;b&gt;.html") || strings.Contains(body, "alert(1)") {
		t.Errorf("the page is %s", body)
	}
	w.get(t, "/chat/file?channel=ops&message="+string(said.Message.ID)+"&file="+string(said.Message.Files[0].ID), http.StatusNotFound)
}

func TestTheChatIsReadByPages(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	scope := w.chat.Place("ops")
	for n := range 120 {
		m := earshot.Message{ID: earshot.MessageID(fmt.Sprintf("m%03d", n)), Time: earshot.Time(int64(n+1) * 1e6), Author: earshot.Author{ID: "ada", Name: "Ada", Kind: earshot.Human}, Text: fmt.Sprintf("number %d", n)}
		if n == 100 {
			m.Thread = "gone"
		}
		if _, err := w.store.Record(t.Context(), scope, m); err != nil {
			t.Fatal(err)
		}
	}
	d := w.read(t, "channel=ops")
	if len(d.Messages) != 50 || d.Messages[49].ID != "m119" || d.Newer != "" {
		t.Fatalf("the newest page has %d messages, newer %q", len(d.Messages), d.Newer)
	}
	d = w.read(t, strings.TrimPrefix(d.Older, "/chat?"))
	if d.Messages[49].ID != "m068" || d.Newer == "" || d.Older == "" {
		t.Errorf("the page before ends with %s, newer %q", d.Messages[49].ID, d.Newer)
	}
	if d = w.read(t, strings.TrimPrefix(d.Newer, "/chat?")); d.Messages[49].ID != "m119" {
		t.Errorf("back at the newest: %s", d.Messages[49].ID)
	}
	body := w.get(t, "/chat?channel=ops&at=m010", http.StatusOK)
	if !strings.Contains(body, `aria-current="true"`) || !strings.Contains(body, "number 10") || strings.Contains(body, "number 60") {
		t.Errorf("the place of a message: %s", body)
	}
	// A reply whose root was never stored stands in its thread.
	if d = w.read(t, "channel=ops&at=m100"); d.Thread == nil || !d.Thread.RootGone || len(d.Thread.Messages) != 1 {
		t.Errorf("a thread without a root: %+v", d.Thread)
	}
	for _, path := range []string{"/chat?channel=ops&thread=none", "/chat?channel=ops&before=none", "/chat?channel=ops&at=none"} {
		w.get(t, path, http.StatusNotFound)
	}
}

// BenchmarkChat opens a channel with 100,000 messages.
func BenchmarkChat(b *testing.B) {
	st, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "chat.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	p, err := local.Open(b.Context(), st, nil)
	if err != nil {
		b.Fatal(err)
	}
	scope := p.Place("general")
	var list []earshot.Message
	for n := range 100_000 {
		m := earshot.Message{
			ID: earshot.MessageID(fmt.Sprintf("m%06d", n)), Time: earshot.Time(int64(n+1) * 1e6), Text: fmt.Sprintf("message %d is about the deploy, the lock and the row that it holds", n),
			Author: earshot.Author{ID: earshot.AuthorID(fmt.Sprintf("u%d", n%40)), Name: fmt.Sprintf("Person %d", n%40), Kind: earshot.Human},
		}
		if n%5 == 4 {
			m.Thread = earshot.MessageID(fmt.Sprintf("m%06d", n-4))
		}
		if list = append(list, m); len(list) == 1000 {
			if _, err := st.Record(b.Context(), scope, list...); err != nil {
				b.Fatal(err)
			}
			list = list[:0]
		}
	}
	w := newWorldOver(b, st, func(o *inspect.Options) { o.Open, o.Chat = true, p.Chat(nil, nil) })
	for name, path := range map[string]string{"newest": "/chat?channel=general", "middle": "/chat?channel=general&before=m050000", "place": "/chat?channel=general&at=m050004"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, w.url+path, nil)
				if err != nil {
					b.Fatal(err)
				}
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				var all bytes.Buffer
				if _, err := all.ReadFrom(res.Body); err != nil || res.StatusCode != http.StatusOK {
					b.Fatalf("%d, %v", res.StatusCode, err)
				}
				_ = res.Body.Close()
			}
		})
	}
}

// serve serves a handler until the test ends.
func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestTheChatOpensWherePeopleCanWrite(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	newest := earshot.Message{ID: "9", Time: 4e15, Author: earshot.Author{ID: "sam", Kind: earshot.Human}, Text: "newer than all"}
	if _, err := w.store.Record(t.Context(), slackChannel.Scope(), newest); err != nil {
		t.Fatal(err)
	}
	body := w.page(t, "/chat")
	if !strings.Contains(body, `id="say-text"`) || strings.Contains(body, "newer than all") {
		t.Error("the chat opens a channel of another platform, in which nobody can write here")
	}
}
