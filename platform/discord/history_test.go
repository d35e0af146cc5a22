package discord_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// always is a window that has everything.
func always(limit int) backfill.Window {
	return backfill.Window{Oldest: 1, Latest: earshot.TimeOf(time.Now().Add(time.Hour)), Limit: limit}
}

// pages reads all pages of a window.
func (x *mouth) pages(read func(w backfill.Window) (backfill.Page, error), w backfill.Window) (list []backfill.HistoryMessage, pages int) {
	x.t.Helper()
	for {
		page, err := read(w)
		if err != nil {
			x.t.Fatal(err)
		}
		if pages++; !page.NewestFirst || pages > 100 {
			x.t.Fatalf("page %d: %+v", pages, page)
		}
		list = append(list, page.Messages...)
		if w.Cursor = page.Cursor; w.Cursor == "" {
			return list, pages
		}
	}
}

func (x *mouth) history(channel string) func(w backfill.Window) (backfill.Page, error) {
	return func(w backfill.Window) (backfill.Page, error) { return x.History(x.t.Context(), x.channel(channel), w) }
}

func (x *mouth) replies(channel, root string) func(w backfill.Window) (backfill.Page, error) {
	return func(w backfill.Window) (backfill.Page, error) {
		return x.Replies(x.t.Context(), x.channel(channel), earshot.MessageID(root), w)
	}
}

// shown prints what history shows.
func shown(list []backfill.HistoryMessage, names ...string) string {
	var b strings.Builder
	for _, f := range list {
		if f.Unread {
			fmt.Fprintf(&b, "%s unread\n", f.Message.ID)
			continue
		}
		b.WriteString(line(f.Message))
		if a := f.Message.Replies; a != nil {
			fmt.Fprintf(&b, " (%d, the last at %s)", a.Count, a.Last)
		}
		b.WriteByte('\n')
	}
	return strings.NewReplacer(names...).Replace(b.String())
}

func TestAChannelsHistoryIsReadInPages(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	start := time.Now().Add(-time.Hour)
	var ids []string
	for i := range 250 {
		ids = append(ids, x.fake.Post(fake.PostedMessage{Channel: x.general, User: x.mara, Text: fmt.Sprint("talk ", i), At: start.Add(time.Duration(i) * time.Second)}))
	}
	list, pages := x.pages(x.history(x.general), always(0))
	if len(list) != 250 || pages != 3 {
		t.Fatalf("%d messages on %d pages", len(list), pages)
	}
	for i, f := range list {
		if at, _ := discordmsg.TimeOf(ids[249-i]); string(f.Message.ID) != ids[249-i] || f.Message.Time != at || len(f.Raw) == 0 {
			t.Fatalf("message %d is %+v", i, f)
		}
	}
	t.Run("both ends of a window are in it", func(t *testing.T) {
		t.Parallel()
		w := backfill.Window{Oldest: list[200].Message.Time, Latest: list[50].Message.Time, Limit: 40}
		got, pages := x.pages(x.history(x.general), w)
		if len(got) != 151 || pages != 4 || got[0].Message.ID != list[50].Message.ID || got[150].Message.ID != list[200].Message.ID {
			t.Errorf("%d messages on %d pages", len(got), pages)
		}
	})
	t.Run("a window before the first message is empty", func(t *testing.T) {
		t.Parallel()
		got, _ := x.pages(x.history(x.general), backfill.Window{Oldest: 1, Latest: list[249].Message.Time - 1000})
		if len(got) != 0 {
			t.Errorf("got %v", shown(got))
		}
	})
}

func TestWhatHistoryShowsOfAChannel(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	a := x.fake.Say(x.general, x.mara, "deploys hang")
	th := x.fake.Thread(x.general, a, x.mara, "the hang")
	b := x.fake.Say(th, x.mara, "since noon")
	c := x.fake.Reply(x.general, a, x.mara, "again")
	own := x.fake.Say(x.general, x.fake.App().UserID, "drafted")
	at := x.question(x.general, "", "what?")
	x.record(at, earshot.Message{ID: earshot.MessageID(own), Time: at.Anchor.Time - 1}, "as it was written")
	x.fake.Delete(x.general, string(at.Anchor.ID))
	last, _ := discordmsg.TimeOf(b)
	names := []string{a, "A", b, "B", c, "C", own, "OWN", last.String(), "THEN"}
	list, _ := x.pages(x.history(x.general), always(0))
	want := "OWN (bot) earshot: \"as it was written\"\nC to A Mara: \"again\"\nA Mara: \"deploys hang\" (1, the last at THEN)\n"
	if diff := cmp.Diff(want, shown(list, names...)); diff != "" {
		t.Error(diff)
	}
	list, _ = x.pages(x.replies(x.general, th), always(0))
	if diff := cmp.Diff("B in A Mara: \"since noon\"\n", withoutUnread(shown(list, names...))); diff == "" {
		t.Error("the first message of the thread is not there")
	}
	if diff := cmp.Diff("B in A Mara: \"since noon\"\nA Mara: \"deploys hang\" (1, the last at THEN)\n", withoutUnread(shown(list, names...))); diff != "" {
		t.Error(diff)
	}
	begins, err := x.ReadRoot(t.Context(), x.channel(x.general), earshot.MessageID(a))
	if err != nil || shown(begins, names...) != "A Mara: \"deploys hang\" (1, the last at THEN)\n" {
		t.Errorf("the root: %s, %v", shown(begins, names...), err)
	}
}

// withoutUnread leaves out what is no message, such as a thread's starter.
func withoutUnread(s string) string {
	list := slices.DeleteFunc(strings.SplitAfter(s, "\n"), func(s string) bool { return strings.HasSuffix(s, "unread\n") })
	return strings.Join(list, "")
}

func TestAForumsHistoryIsItsPosts(t *testing.T) {
	t.Parallel()
	x := speak(t, hurry)
	forum := x.fake.AddChannel(fake.Channel{Name: "help", Type: fake.Forum})
	var want []string
	for i := range 30 {
		post := x.fake.Open(forum, x.mara, fmt.Sprint("title ", i), "body")
		want = append(want, post)
		if i%3 == 0 {
			x.fake.Archive(post, true)
		}
	}
	x.fake.Say(want[29], x.mara, "an answer")
	x.fake.Delete(want[28], want[28])
	x.fake.Say(x.general, x.mara, "elsewhere")
	list, pages := x.pages(x.history(forum), always(0))
	if len(list) != 30 || pages != 2 {
		t.Fatalf("%d posts on %d pages", len(list), pages)
	}
	slices.Reverse(list)
	for i, f := range list {
		m := f.Message
		if string(m.ID) != want[i] || m.Root() != "" || (m.Replies != nil) != (i == 29) || i != 28 && m.Text != fmt.Sprintf("title %d\nbody", i) || (i == 28) != m.Deleted {
			t.Errorf("post %d is %+v", i, m)
		}
	}
	if n := list[29].Message.Replies.Count; n != 1 {
		t.Errorf("%d replies", n)
	}
	got, _ := x.pages(x.replies(forum, want[29]), always(0))
	if diff := cmp.Diff("C in B Mara: \"an answer\"\nB in B Mara: \"title 29\\nbody\"\n", withoutUnread(shown(got, want[29], "B", string(got[0].Message.ID), "C"))); diff != "" {
		t.Error(diff)
	}
	w := always(0)
	w.Oldest, w.Latest = list[10].Message.Time, list[12].Message.Time
	if got, _ := x.pages(x.history(forum), w); len(got) < 3 || got[len(got)-1].Message.ID != list[10].Message.ID && got[len(got)-1].Message.Time < list[10].Message.Time {
		t.Errorf("a window has %s", shown(got))
	}
}

func TestAPrivateThreadIsOneThread(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	th := x.fake.PrivateThread(x.general, x.mara, "hush", x.mara, x.fake.App().UserID)
	b := x.fake.Say(th, x.mara, "nobody knows")
	if list, _ := x.pages(x.history(th), always(0)); len(list) != 0 {
		t.Errorf("its top level has %s", shown(list))
	}
	list, _ := x.pages(x.replies(th, th), always(0))
	if got := withoutUnread(shown(list, b, "B", th, "T")); got != "B in T Mara: \"nobody knows\"\n" {
		t.Errorf("got %s", got)
	}
}

// A thread can be started from no message: it begins with its name, as the channel tells
// it. Where that is gone, no first message was deleted, and Discord is asked once. One whose first message was deleted begins with a message that
// stands for it.
func TestAThreadThatNoMessageBegan(t *testing.T) {
	t.Parallel()
	x := speak(t, hurry)
	named := x.fake.Thread(x.general, "", x.mara, "name")
	bare := x.fake.Thread(x.general, "", x.mara, "talk")
	notes := x.fake.Messages(x.general)
	x.fake.Delete(x.general, notes[len(notes)-1].ID)
	root := x.fake.Say(x.general, x.mara, "root")
	began := x.fake.Thread(x.general, root, x.mara, "more talk")
	for _, th := range []string{bare, began} {
		x.fake.Say(th, x.mara, "hi")
	}
	x.fake.Delete(x.general, root)
	c := x.channel(x.general)
	list := []gather.Reference{{ID: earshot.MessageID(bare), Thread: earshot.MessageID(bare), Root: true}, {ID: earshot.MessageID(root), Thread: earshot.MessageID(root), Root: true}}
	begins, err := x.ReadRoot(t.Context(), c, earshot.MessageID(named))
	if err != nil || len(begins) != 1 || begins[0].Message.Text != "name" || begins[0].Message.ID != earshot.MessageID(named) {
		t.Fatalf("the thread with a name begins with %+v, %v", begins, err)
	}
	// The channel's history tells the same, page by page, and not what is stored.
	first := begins[0].Message
	in := func() (n int) {
		list, _ := x.pages(x.history(x.general), backfill.Window{Oldest: 1, Latest: always(0).Latest, Limit: 1})
		for _, f := range list {
			if f.Message.ID == first.ID && cmp.Equal(f.Message, first) || f.Message.Author.Kind == earshot.System {
				n++
			}
		}
		return n
	}
	if n := in(); n != 1 {
		t.Errorf("history tells it %d times", n)
	}
	if _, err := x.store.Record(t.Context(), c.Scope(), first); err != nil {
		t.Fatal(err)
	}
	if n := in(); n != 0 {
		t.Errorf("history tells it %d times again", n)
	}
	asked := 0
	for i := range 3 {
		if err := x.FetchReferences(t.Context(), c, list); err != nil {
			t.Fatal(err)
		}
		for _, th := range []string{bare, began} {
			var last earshot.Message
			got, _ := x.pages(x.replies(x.general, th), always(0))
			for _, f := range got {
				if string(f.Message.ID) == th {
					last = f.Message
				}
			}
			begins, err := x.ReadRoot(t.Context(), c, earshot.MessageID(th))
			if err != nil {
				t.Fatal(err)
			}
			if deleted := len(begins) == 1 && begins[0].Message.Deleted; deleted != (th == began) || th == bare && last.ID != "" {
				t.Errorf("thread %s begins with %+v and %+v", th, begins, last)
			}
		}
		n := len(x.fake.Calls("get_message"))
		if i > 0 && n-asked > 1 { // the deleted one's root, asked for by the test
			t.Errorf("%d messages were asked for again", n-asked)
		}
		asked = n
	}
	if _, err := x.store.Message(t.Context(), c.Scope(), earshot.MessageID(bare)); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("the thread's first message is known: %v", err)
	}
	if m, err := x.store.Message(t.Context(), c.Scope(), earshot.MessageID(root)); err != nil || !m.Deleted {
		t.Errorf("got %+v, %v, want that it was deleted", m, err)
	}
}

func TestWhatAFailedReadMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(x *mouth) (string, string) // the channel and the thread
		is   func(err error) bool
	}{
		{"a limit", func(x *mouth) (string, string) {
			x.fake.Inject(fake.Fault{Kind: fake.RateLimit, On: "list_messages", Wait: time.Second})
			return x.general, ""
		}, func(err error) bool { var e *backfill.LimitError; return errors.As(err, &e) && e.Wait > 0 }},
		{"a missing permission", func(x *mouth) (string, string) {
			x.fake.Inject(fake.Fault{Kind: fake.Forbidden, On: "list_messages"})
			return x.general, ""
		}, func(err error) bool {
			var e *backfill.ScopeError
			return errors.As(err, &e) && strings.Contains(e.Scope, "Read Message History")
		}},
		{"no such thread", func(x *mouth) (string, string) {
			return x.general, x.fake.Say(x.general, x.mara, "alone")
		}, func(err error) bool { return errors.Is(err, backfill.ErrNotThere) }},
		{"a failure that may pass", func(x *mouth) (string, string) {
			x.fake.Inject(fake.Fault{Kind: fake.ServerError, On: "list_messages"})
			return x.general, ""
		}, func(err error) bool {
			var limit *backfill.LimitError
			var scope *backfill.ScopeError
			return err != nil && !errors.As(err, &limit) && !errors.As(err, &scope) && !errors.Is(err, backfill.ErrNotThere)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := speak(t, nil)
			channel, root := c.do(x)
			read := x.history(channel)
			if root != "" {
				read = x.replies(channel, root)
			}
			if _, err := read(always(0)); !c.is(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReferencesAreFetchedOnce(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	a := x.fake.Say(x.general, x.mara, "the oldest")
	b := x.fake.Reply(x.general, a, x.mara, "below it")
	gone := x.fake.Say(x.general, x.mara, "secret")
	x.fake.Delete(x.general, gone)
	th := x.fake.Thread(x.general, b, x.mara, "talk")
	c := x.fake.Say(th, x.mara, "in the thread")
	forum := x.fake.AddChannel(fake.Channel{Name: "help", Type: fake.Forum})
	post := x.fake.Open(forum, x.mara, "title", "body")
	x.again()
	id := func(s string) earshot.MessageID { return earshot.MessageID(s) }
	asked := 0
	for range 2 {
		asked = len(x.fake.Calls("list_messages", "get_message")) // none more the second time
		if err := x.FetchReferences(t.Context(), x.channel(x.general), []gather.Reference{
			{ID: id(b)}, {ID: id(gone)}, {ID: id(c), Thread: id(th)}, {ID: id(th), Thread: id(th), Root: true},
		}); err != nil {
			t.Fatal(err)
		}
		if err := x.FetchReferences(t.Context(), x.channel(forum), []gather.Reference{{ID: id(post), Thread: id(post), Root: true}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(x.fake.Calls("list_messages", "get_message")); n != asked || n == 0 {
		t.Errorf("%d requests, %d of them the first time", n, asked)
	}
	var got []backfill.HistoryMessage
	for _, channel := range []string{x.general, forum} {
		list, err := x.store.Since(t.Context(), x.channel(channel).Scope(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		sortByID(list)
		for _, m := range list {
			m.Replies = nil
			got = append(got, backfill.HistoryMessage{Event: earshot.Event{Message: m}})
		}
	}
	want := "A Mara: \"the oldest\"\nB to A Mara: \"below it\"\nGONE deleted\nC in B Mara: \"in the thread\"\nPOST Mara: \"title\\nbody\"\n"
	if diff := cmp.Diff(want, shown(got, a, "A", b, "B", c, "C", gone, "GONE", post, "POST")); diff != "" {
		t.Error(diff)
	}
	t.Run("what is refused stays unknown, and ends the search", func(t *testing.T) {
		t.Parallel()
		y := speak(t, nil)
		d, e := y.fake.Say(y.general, y.mara, "d"), y.fake.Say(y.general, y.mara, "e")
		y.fake.Inject(fake.Fault{Kind: fake.Forbidden, On: "list_messages"})
		if err := y.FetchReferences(t.Context(), y.channel(y.general), []gather.Reference{{ID: id(d)}, {ID: id(e)}}); err != nil {
			t.Fatal(err)
		}
		if n := len(y.fake.Calls("list_messages", "get_message")); n != 1 {
			t.Errorf("%d requests", n)
		}
		if list, err := y.store.ByID(t.Context(), y.channel(y.general).Scope(), id(d), id(e)); err != nil || len(list) != 0 {
			t.Errorf("stored: %v, %v", list, err)
		}
	})
}

func TestAFileIsWhereItsMessageSays(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	a := x.fake.Upload(x.general, x.mara, "see", fake.File{Name: "plan.txt", ContentType: "text/plain", Data: []byte("the plan")})
	list, _ := x.pages(x.history(x.general), always(0))
	m := list[0].Message
	if len(m.Files) != 1 {
		t.Fatalf("%+v has no file", m)
	}
	if _, err := x.store.Record(t.Context(), x.channel(x.general).Scope(), m); err != nil {
		t.Fatal(err)
	}
	s, id := x.channel(x.general).Scope(), m.Files[0].ID
	for _, open := range []func() (string, error){
		func() (string, error) {
			f, err := x.OpenFileOf(t.Context(), s, m.ID, id)
			return f.Name + " " + f.URL, err
		},
		func() (string, error) { f, err := x.OpenFile(t.Context(), s, id); return f.Name + " " + f.URL, err },
	} {
		if got, err := open(); err != nil || !strings.HasPrefix(got, "plan.txt http") {
			t.Errorf("got %q, %v", got, err)
		}
	}
	f, err := x.OpenFileOf(t.Context(), s, m.ID, id)
	if err != nil || f.Type != "text/plain" || f.Size != 8 || !f.Token.Empty() || !slices.Equal(f.Hosts, []string{"cdn.discordapp.com", "media.discordapp.net"}) {
		t.Errorf("got %+v, %v", f, err)
	}
	other := x.channel(x.fake.AddChannel(fake.Channel{Name: "other"})).Scope()
	for name, err := range map[string]error{
		"of another channel": second(x.OpenFileOf(t.Context(), other, m.ID, id)),
		"that is not there":  second(x.OpenFileOf(t.Context(), s, m.ID, "1")),
		"of no message":      second(x.OpenFile(t.Context(), s, "1")),
	} {
		if !errors.Is(err, earshot.ErrNotFound) {
			t.Errorf("a file %s: %v", name, err)
		}
	}
	x.fake.Delete(x.general, a)
	if _, err := x.OpenFileOf(t.Context(), s, m.ID, id); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("of a deleted message: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
