package local_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// noon is what the tests' clocks show: it stands still, so that the order of
// what is said is the platform's own doing.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

type world struct {
	store bot.Store
	chat  *local.Chat
}

// open makes a chat over a store in memory, with a bot that hears and is not
// run.
func open(t *testing.T) world {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return over(t, st)
}

func over(t *testing.T, st bot.Store) world {
	t.Helper()
	return overAt(t, st, noon)
}

func overAt(t *testing.T, st bot.Store, clock time.Time) world {
	t.Helper()
	p, err := local.Open(t.Context(), st, &local.Options{Now: func() time.Time { return clock }})
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	b := bot.New(bot.Options{
		Store: st, Model: llm.Offline{}, Platform: p, Counter: counter, Identity: earshot.Identity{ID: "earshot", Name: "earshot"},
		Now: func() earshot.Time { return earshot.TimeOf(noon) },
	})
	return world{st, p.Chat(b.Handle, b.Choose)}
}

func say(t *testing.T, w world, s local.NewMessage) local.ActionResult {
	t.Helper()
	if s.Channel == "" {
		s.Channel = "general"
	}
	h, err := w.chat.Say(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAMentionIsMadeOfANameAsAChatClientMakesIt(t *testing.T) {
	t.Parallel()
	w := open(t)
	say(t, w, local.NewMessage{As: "Sam", Text: "hello"})
	say(t, w, local.NewMessage{As: "Sam Okafor", Text: "hello"})
	for _, c := range []struct{ text, want, why string }{
		{"@earshot hi", "<@earshot|earshot> hi", "mention"},
		{"@Earshot, hi", "<@earshot|earshot>, hi", "mention"},
		{"ask @sam okafor and @Sam.", "ask <@sam-okafor|Sam Okafor> and <@sam|Sam>.", "not-addressed"},
		{"write to bob@earshot now", "write to bob@earshot now", "not-addressed"},
		{"run `ssh root @earshot` there", "run `ssh root @earshot` there", "not-addressed"},
		{"https://example.com/@earshot", "https://example.com/@earshot", "not-addressed"},
		{"@earshots are many", "@earshots are many", "not-addressed"},
		{"é@earshot", "é@earshot", "not-addressed"},
		{"日本 @earshot 語", "日本 <@earshot|earshot> 語", "mention"},
		{"a lone @", "a lone @", "not-addressed"},
	} {
		h := say(t, w, local.NewMessage{As: "bob", Text: c.text})
		if h.Message.Text != c.want || h.Why != c.why || (h.Turn != 0) != (c.why == "mention") {
			t.Errorf("%q: got %q, %s, turn %d; want %q, %s", c.text, h.Message.Text, h.Why, h.Turn, c.want, c.why)
		}
	}
}

func TestTheOrderIsThatOfTheClockAndGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	w := open(t)
	first := say(t, w, local.NewMessage{As: "bob", Text: "one"}).Message
	second := say(t, w, local.NewMessage{As: "bob", Text: "two"}).Message
	third := say(t, over(t, w.store), local.NewMessage{As: "bob", Text: "three"}).Message
	if first.Position().Compare(second.Position()) >= 0 || second.Position().Compare(third.Position()) >= 0 {
		t.Errorf("the order is %v, %v, %v", first.Position(), second.Position(), third.Position())
	}
}

func TestProcessesWhoseClocksDifferKeepTheOrder(t *testing.T) {
	t.Parallel()
	ahead := open(t)
	behind := overAt(t, ahead.store, noon.Add(-time.Hour))
	first := say(t, ahead, local.NewMessage{As: "bob", Text: "one"}).Message
	second := say(t, behind, local.NewMessage{As: "bob", Text: "two"}).Message
	third := say(t, ahead, local.NewMessage{As: "bob", Text: "three"}).Message
	if first.Position().Compare(second.Position()) >= 0 || second.Position().Compare(third.Position()) >= 0 {
		t.Errorf("the order is %v, %v, %v", first.Position(), second.Position(), third.Position())
	}
	for _, edit := range []struct {
		w    world
		text string
	}{{ahead, "z"}, {behind, "y"}, {ahead, "x"}} {
		if _, err := edit.w.chat.Edit(t.Context(), "general", third.ID, "bob", edit.text); err != nil {
			t.Fatal(err)
		}
		if got, err := ahead.store.Message(t.Context(), scope, third.ID); err != nil || got.Text != edit.text {
			t.Errorf("got %q, %v; want the newest edit %q", got.Text, err, edit.text)
		}
	}
}

func TestAPlaceholderBecomesTheAnswer(t *testing.T) {
	t.Parallel()
	w := open(t)
	ask := say(t, w, local.NewMessage{As: "bob", Text: "@earshot hi"}).Message
	ch, err := w.chat.Channel(t.Context(), "general")
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	stop := w.chat.Watch(func(u local.Update) { seen = append(seen, string(u.Change)+" "+u.Message.Text) })
	defer stop()
	d := bot.Draft{Place: bot.Place{Channel: ch, Anchor: ask}, Text: "…", Key: "p1", Growing: true}
	m, err := w.chat.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		text    string
		growing bool
		want    string // what is kept
	}{{"Hel …", true, ""}, {"Hello.", false, "Hello."}, {"Hello.", false, "Hello."}, {"A better one.", false, "A better one."}} {
		d.Text, d.Growing = step.text, step.growing
		if err := w.chat.Update(t.Context(), d, m.ID); err != nil {
			t.Fatal(err)
		}
		if got, err := w.store.Message(t.Context(), scope, m.ID); err != nil || got.Text != step.want || got.Thread != ask.ID {
			t.Errorf("after %q there is %+v, %v; want %q", step.text, got, err, step.want)
		}
	}
	if diff := cmp.Diff(seen, []string{"new Hello.", "edited A better one."}); diff != "" {
		t.Errorf("what people see: -got +want\n%s", diff)
	}
	if _, err := w.store.Record(t.Context(), scope, earshot.Message{ID: m.ID, Deleted: true}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []earshot.MessageID{m.ID, ask.ID, "nowhere"} {
		var never *bot.PostError
		if err := w.chat.Update(t.Context(), d, id); !errors.As(err, &never) || never.Retry != 0 {
			t.Errorf("an update of %s: %v; want that it never will", id, err)
		}
	}
}

func TestTheSameThingSaidTwiceIsOneMessage(t *testing.T) {
	t.Parallel()
	w := open(t)
	s := local.NewMessage{As: "bob", Text: "@earshot hi", Client: "k1"}
	a, b := say(t, w, s), say(t, over(t, w.store), s)
	if a.Message.ID != b.Message.ID || a.Turn == 0 || a.Turn != b.Turn {
		t.Errorf("got %v and %v", a, b)
	}
	s.As = "eve"
	if c := say(t, w, s); c.Message.ID == a.Message.ID {
		t.Error("the key of one person is that of another")
	}
	if n, err := w.store.Count(t.Context(), scope, earshot.Whole(), earshot.Position{}); err != nil || n.Count != 2 {
		t.Errorf("%d messages, %v; want 2", n.Count, err)
	}
}

func TestOnlyTheAuthorEditsAndDeletes(t *testing.T) {
	t.Parallel()
	w := open(t)
	m := say(t, w, local.NewMessage{As: "bob", Text: "one"}).Message
	if _, err := w.chat.Edit(t.Context(), "general", m.ID, "eve", "x"); !errors.Is(err, local.ErrForbidden) {
		t.Errorf("eve's edit: %v", err)
	}
	if err := w.chat.Delete(t.Context(), "general", m.ID, "eve"); !errors.Is(err, local.ErrForbidden) {
		t.Errorf("eve's deletion: %v", err)
	}
	for _, text := range []string{"two", "three"} {
		h, err := w.chat.Edit(t.Context(), "general", m.ID, "bob", text)
		if err != nil || h.Turn != 0 {
			t.Fatalf("bob's edit: %v, %v", h, err)
		}
		if got, err := w.store.Message(t.Context(), scope, m.ID); err != nil || got.Text != text || got.Edited == 0 {
			t.Errorf("got %v, %v; want the text %s", got, err, text)
		}
	}
	if err := w.chat.Delete(t.Context(), "general", m.ID, "bob"); err != nil {
		t.Fatal(err)
	}
	if got, err := w.store.Message(t.Context(), scope, m.ID); err != nil || !got.Deleted || got.Text != "" {
		t.Errorf("got %v, %v; want a tombstone", got, err)
	}
	if _, err := w.chat.Edit(t.Context(), "general", m.ID, "bob", "back"); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("an edit of what is deleted: %v", err)
	}
}

func TestAReactionIsGivenOnceByAPerson(t *testing.T) {
	t.Parallel()
	w := open(t)
	m := say(t, w, local.NewMessage{As: "bob", Text: "one"}).Message
	for _, r := range []struct{ as, name string }{{"eve", "eyes"}, {"eve", ":eyes:"}, {"bob", "eyes"}, {"bob", "+1"}} {
		if _, err := w.chat.React(t.Context(), "general", m.ID, r.as, r.name); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.store.Message(t.Context(), scope, m.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.Reactions, []earshot.Reaction{{Name: "eyes", Count: 2}, {Name: "+1", Count: 1}}); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
}

func TestAReactionIsTakenBackByWhoGaveIt(t *testing.T) {
	t.Parallel()
	w := open(t)
	m := say(t, w, local.NewMessage{As: "bob", Text: "one"}).Message
	for _, as := range []string{"eve", "bob"} {
		if _, err := w.chat.React(t.Context(), "general", m.ID, as, "eyes"); err != nil {
			t.Fatal(err)
		}
	}
	mine, err := w.chat.Reacted(t.Context(), scope, "eve", m.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mine[m.ID], []string{"eyes"}); diff != "" {
		t.Errorf("what eve can take back: -got +want\n%s", diff)
	}
	got, err := w.chat.Unreact(t.Context(), "general", m.ID, "eve", ":eyes:")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.Reactions, []earshot.Reaction{{Name: "eyes", Count: 1}}); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if _, err := w.chat.Unreact(t.Context(), "general", m.ID, "eve", "eyes"); !errors.Is(err, local.ErrForbidden) {
		t.Errorf("a second time: %v", err)
	}
	if got, err = overAt(t, w.store, noon.Add(time.Hour)).chat.Unreact(t.Context(), "general", m.ID, "bob", "eyes"); err != nil || len(got.Reactions) != 0 {
		t.Errorf("in another process, the last one leaves %v, %v", got.Reactions, err)
	}
	if got, err = w.chat.React(t.Context(), "general", m.ID, "eve", "eyes"); err != nil || len(got.Reactions) != 1 {
		t.Errorf("given again: %v, %v", got.Reactions, err)
	}
}

func TestPeopleAreListedByWhoSpokeLast(t *testing.T) {
	t.Parallel()
	w := open(t)
	for _, s := range []local.NewMessage{
		{As: "Zoe", Text: "1"}, {As: "bob", Text: "2"}, {As: "Zoe", Text: "3"}, {As: "build", Bot: true, Text: "4"},
		{As: "eve", Text: "5"}, {As: "Mia", Text: "6", Channel: "ops"}, {As: "Al", Text: "7", Channel: "ops"},
	} {
		if s.Channel == "ops" {
			if _, err := w.chat.Channel(t.Context(), "ops"); err != nil {
				t.Fatal(err)
			}
		}
		say(t, w, s)
	}
	list, err := w.chat.People(t.Context(), "general")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range list {
		names = append(names, a.Name)
	}
	if diff := cmp.Diff(names, []string{"eve", "Zoe", "bob", "Al", "Mia"}); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
}

func TestADraftIsKnownUntilItIsDone(t *testing.T) {
	t.Parallel()
	w := open(t)
	at := func(anchor earshot.MessageID) bot.Place {
		return bot.Place{Channel: channel, Anchor: earshot.Message{ID: anchor}}
	}
	w.chat.Writing(t.Context(), at("1"), "", false)
	w.chat.Writing(t.Context(), at("2"), "Tw", false)
	w.chat.Writing(t.Context(), at("1"), "One", false)
	if diff := cmp.Diff(w.chat.Drafts(scope), []local.Draft{{Anchor: "1", Thread: "1", Text: "One"}, {Anchor: "2", Thread: "2", Text: "Tw"}}); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	w.chat.Writing(t.Context(), at("1"), "One.", true)
	w.chat.Writing(t.Context(), at("3"), "", true)
	if got := w.chat.Drafts(scope); len(got) != 1 || got[0].Anchor != "2" {
		t.Errorf("after the first is done: %v", got)
	}
	elsewhere := scope
	elsewhere.Channel = "elsewhere"
	if got := w.chat.Drafts(elsewhere); len(got) != 0 {
		t.Errorf("in another channel: %v", got)
	}
}

func TestWhatCannotBeSaid(t *testing.T) {
	t.Parallel()
	w := open(t)
	for _, c := range []struct {
		name string
		said local.NewMessage
		want error
	}{
		{"nothing", local.NewMessage{As: "bob", Text: " \n"}, local.ErrInvalid},
		{"too much", local.NewMessage{As: "bob", Text: strings.Repeat("x", 256<<10+1)}, local.ErrInvalid},
		{"by nobody", local.NewMessage{Text: "x"}, local.ErrInvalid},
		{"by the bot", local.NewMessage{As: "Earshot", Text: "x"}, local.ErrForbidden},
		{"by a name that is two lines", local.NewMessage{As: "a\nb", Text: "x"}, local.ErrInvalid},
		{"by a name that could end a mention", local.NewMessage{As: "a|b>", Text: "x"}, local.ErrInvalid},
		{"in no channel", local.NewMessage{Channel: "none", As: "bob", Text: "x"}, earshot.ErrNotFound},
		{"in no thread", local.NewMessage{As: "bob", Text: "x", Thread: "1.2"}, earshot.ErrNotFound},
		{"to nothing", local.NewMessage{As: "bob", Text: "x", ReplyTo: "1.2"}, earshot.ErrNotFound},
	} {
		if c.said.Channel == "" {
			c.said.Channel = "general"
		}
		if _, err := w.chat.Say(t.Context(), c.said); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := w.chat.Channel(t.Context(), "dm-bob"); !errors.Is(err, local.ErrInvalid) {
		t.Errorf("a channel that looks like a DM: %v", err)
	}
}

func TestAMentionInAnAnswerHasTheName(t *testing.T) {
	t.Parallel()
	w := open(t)
	q := say(t, w, local.NewMessage{As: "Bob Berg", Text: "@earshot hi"}).Message
	d := bot.Draft{Place: bot.Place{Channel: channel, Anchor: q}, Text: "<@" + string(q.Author.ID) + ">: <@x>", Key: "key", Mentions: []earshot.AuthorID{q.Author.ID}}
	m, err := w.chat.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	want := "<@" + string(q.Author.ID) + "|Bob Berg>: <@x>"
	if m.Text != want {
		t.Errorf("posted %q, want %q", m.Text, want)
	}
}

func TestAPostIsFoundByItsKeyAndMadeOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	q := say(t, w, local.NewMessage{As: "bob", Text: "@earshot hi"}).Message
	d := bot.Draft{Place: bot.Place{Channel: channel, Anchor: q}, Text: "hello", Key: "key"}
	if _, err := w.chat.Find(t.Context(), d); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("found before it was posted: %v", err)
	}
	var told []earshot.MessageID
	stop := w.chat.Watch(func(u local.Update) { told = append(told, u.Message.ID) })
	first, err := w.chat.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.chat.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	found, err := over(t, w.store).chat.Find(t.Context(), d)
	if err != nil || first.ID != again.ID || first.ID != found.ID || first.Time != found.Time {
		t.Errorf("posted %v, again %v, found %v, %v", first, again, found, err)
	}
	stop()
	d.Key = "another"
	if _, err := w.chat.Post(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(told, []earshot.MessageID{first.ID}); diff != "" {
		t.Errorf("watchers heard -got +want\n%s", diff)
	}
}

func TestWhereAnAnswerStands(t *testing.T) {
	t.Parallel()
	w := open(t)
	dm := channel
	dm.ID, dm.Kind = "dm-bob", earshot.KindDM
	for i, c := range []struct {
		name            string
		place           bot.Place
		thread, replyTo earshot.MessageID
	}{
		{"a question at the top level begins a thread", bot.Place{Channel: channel, Anchor: earshot.Message{ID: "1"}}, "1", ""},
		{"a question in a thread is answered there", bot.Place{Channel: channel, Anchor: earshot.Message{ID: "1", Thread: "0"}, Thread: "0"}, "0", ""},
		{"a reply by reference is answered by one", bot.Place{Channel: channel, Anchor: earshot.Message{ID: "1", ReplyTo: "0"}}, "", "1"},
		{"a direct message is answered after it", bot.Place{Channel: dm, Anchor: earshot.Message{ID: "1"}}, "", ""},
	} {
		m, err := w.chat.Post(t.Context(), bot.Draft{Place: c.place, Text: "x", Key: string(rune('a' + i))})
		if err != nil || m.Thread != c.thread || m.ReplyTo != c.replyTo {
			t.Errorf("%s: got %q, %q, %v; want %q, %q", c.name, m.Thread, m.ReplyTo, err, c.thread, c.replyTo)
		}
	}
}

func TestTheTerminal(t *testing.T) {
	t.Parallel()
	w := open(t)
	in := `hello
/as Bob
@earshot what is up?
/thread 2
in the thread
/thread
/edit 3 changed
/edit 1 not mine
/react 1 eyes
/unreact 1 eyes
/delete 3
/delete nine
/nothing
//slash
/channel ops
in ops
/channel
/dm
direct
/why
/quit
never said
`
	var out strings.Builder
	var waited []earshot.TurnID
	err := w.chat.Terminal(t.Context(), strings.NewReader(in), &out, local.Screen{
		Person: "you", Channel: "general",
		Wait: func(_ context.Context, id earshot.TurnID) error { waited = append(waited, id); return nil },
		Why: func(_ context.Context, w io.Writer, c earshot.Channel) error {
			_, err := io.WriteString(w, "the ledger of "+string(c.ID)+"\n")
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `You are you in #general. Mention @earshot to ask; /help lists what else there is.
[1] you: hello
You are Bob.
[2] Bob: @earshot what is up?
You speak in its thread now; /thread leaves it.
  [3] Bob: in the thread
You left the thread.
  [3] Bob: (edited) changed
not allowed: message 1772452800.000000 is not by Bob
[1] you: hello
    :eyes: 1
[1] you: hello
[3] (deleted)
which message? give the number that stands before it, 1 to 3
there is no /nothing; /help lists what there is
[4] Bob: /slash
You are in #ops.
[5] Bob: in ops
#general  3 messages
#ops  1 message
You write to earshot directly.
[6] Bob: direct
the ledger of dm-bob
`
	if diff := cmp.Diff(plain(out.String()), want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if got, want := len(waited), 2; got != want {
		t.Errorf("%d turns were awaited, want %d", got, want)
	}
}

func TestAnAnswerIsShownWhileItIsWritten(t *testing.T) {
	t.Parallel()
	w := open(t)
	in, typist := io.Pipe()
	var out strings.Builder
	done := make(chan error)
	ready := make(chan struct{})
	go func() {
		done <- w.chat.Terminal(t.Context(), in, writer(func(b []byte) {
			out.Write(b)
			if strings.Contains(string(b), "> ") {
				ready <- struct{}{}
			}
		}), local.Screen{Person: "you", Channel: "general", Live: true})
	}()
	<-ready
	p := bot.Place{Channel: channel, Anchor: earshot.Message{ID: "1"}}
	w.chat.Writing(t.Context(), p, "", false)
	w.chat.Writing(t.Context(), p, "It i", false)
	w.chat.Writing(t.Context(), p, "It is \x1b[31mup.", false)
	if _, err := w.chat.Post(t.Context(), bot.Draft{Place: p, Text: "It is \x1b[31mup.", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	w.chat.Writing(t.Context(), p, "It is up.", true)
	w.chat.Writing(t.Context(), p, "One", false)
	w.chat.Writing(t.Context(), p, "Other", false)
	if _, err := w.chat.Post(t.Context(), bot.Draft{Place: p, Text: "Another", Key: "l"}); err != nil {
		t.Fatal(err)
	}
	if err := typist.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(plain(out.String()), "> ")
	want := "\n… It is [31mup.\n  [1] \n\n… One\n… Other\n  [2] earshot (bot): Another\n"
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

func TestTheHTTPFront(t *testing.T) {
	t.Parallel()
	w := open(t)
	h := w.chat.Handler("secret")
	call := func(method, path, body string, change func(*http.Request)) (int, string) {
		r := httptest.NewRequest(method, "http://127.0.0.1:80"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set("Content-Type", "application/json")
		if change != nil {
			change(r)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code, rec.Body.String()
	}
	header := func(k, v string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(k, v) }
	}
	const messages = "/v1/channels/general/messages"
	for _, c := range []struct {
		name         string
		method, path string
		body         string
		change       func(*http.Request)
		status       int
		want         string
	}{
		{"a question", "POST", messages, `{"as":"bob","text":"@earshot hi","client":"k"}`, nil, 200, `"turn":1,"why":"mention"`},
		{"the same again", "POST", messages, `{"as":"bob","text":"@earshot hi","client":"k"}`, nil, 200, `"turn":1`},
		{"a remark", "POST", messages, `{"as":"bob","text":"ok"}`, nil, 200, `"id":"1772452800.00000`},
		{"the list", "GET", messages + "?since=1&limit=5", "", nil, 200, `"text":"ok"`},
		{"the channels", "GET", "/v1/channels", "", nil, 200, `"id":"general"`},
		{"a channel", "POST", "/v1/channels", `{"name":"ops"}`, nil, 200, `"id":"ops"`},
		{"a DM", "POST", "/v1/channels", `{"dm":"bob"}`, nil, 200, `"kind":"dm"`},
		{"neither", "POST", "/v1/channels", `{}`, nil, 400, "invalid"},
		{"an unknown key", "POST", messages, `{"as":"bob","text":"x","scope":"y"}`, nil, 400, "unknown field"},
		{"two objects", "POST", messages, `{"as":"bob","text":"x"}{}`, nil, 400, "after the object"},
		{"a huge body", "POST", messages, `{"as":"bob","text":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, "larger"},
		{"no JSON by its type", "POST", messages, `{"as":"bob","text":"x"}`, header("Content-Type", "text/plain"), 415, ""},
		{"no channel", "GET", "/v1/channels/none/messages", "", nil, 404, ""},
		{"a bad bound", "GET", messages + "?limit=0", "", nil, 400, ""},
		{"the bot's name", "POST", messages, `{"as":"earshot","text":"x"}`, nil, 403, ""},
		{"no token", "GET", messages, "", header("Authorization", ""), 401, "token"},
		{"a wrong token", "GET", messages, "", header("Authorization", "Bearer secre"), 401, "token"},
		{"a rebound name", "GET", messages, "", func(r *http.Request) { r.Host = "evil.example:80" }, 421, ""},
		{"another site", "POST", messages, `{"as":"bob","text":"x"}`, header("Sec-Fetch-Site", "cross-site"), 403, ""},
		{"a change by GET", "GET", messages + "/1/reactions", "", nil, 405, ""},
		{"by localhost", "GET", "/v1/channels", "", func(r *http.Request) { r.Host = "localhost:99" }, 200, ""},
		{"by IPv6", "GET", "/v1/channels", "", func(r *http.Request) { r.Host = "[::1]:99" }, 200, ""},
	} {
		if status, body := call(c.method, c.path, c.body, c.change); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: got %d %s; want %d and %q", c.name, status, body, c.status, c.want)
		}
	}
	m := say(t, w, local.NewMessage{As: "bob", Text: "mine"}).Message
	at := messages + "/" + string(m.ID)
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", at + "/reactions", `{"as":"eve","name":"eyes"}`, `"reactions":[{"name":"eyes","count":1}]`},
		{"POST", at + "/reactions", `{"as":"bob","name":"eyes"}`, `"reactions":[{"name":"eyes","count":2}]`},
		{"DELETE", at + "/reactions?as=bob&name=eyes", "", `"reactions":[{"name":"eyes","count":1}]`},
		{"PATCH", at, `{"as":"bob","text":"changed"}`, `"text":"changed"`},
		{"DELETE", at + "?as=bob", "", `"deleted":"`},
	} {
		if status, body := call(c.method, c.path, c.body, nil); status != 200 || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: got %d %s; want %q", c.method, c.path, status, body, c.want)
		}
	}
	if _, body := call("GET", messages+"?limit=1000", "", nil); strings.Contains(body, "changed") || !strings.Contains(body, `"deleted":true`) {
		t.Errorf("after the deletion: %s", body)
	}
}
