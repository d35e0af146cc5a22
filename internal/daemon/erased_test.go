package daemon_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

var deletions = flag.Int("deletions", 40, "how many messages TestNothingIsLeftOfWhatWasErased deletes on the platform")

// The canaries: words that stand in what is deleted, in what is erased, and in what
// stays. Each message has one of its own, with its number behind it.
const (
	deletedCanary = "quokkadel"
	erasedCanary  = "wombatera"
	nameCanary    = "Numbatname"
	keptCanary    = "platypuskept"
)

// A bot answers on a fake Slack, quotes what people say, reads their files, and its
// conversations are summarised. Then the platform deletes all but a few of the
// messages, and a person is erased: within ten seconds no table of the store holds a
// word of it, and neither do the raw bytes of a SQLite store's files.
func TestNothingIsLeftOfWhatWasErased(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return "" },
		"postgres": func(t *testing.T) string { return pgtest.Spec(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nothingIsLeft(t, spec(t))
		})
	}
}

func nothingIsLeft(t *testing.T, spec string) {
	n := *deletions
	var environ []string
	contents := "blob_data" // the table of files' contents
	if spec != "" {
		environ, contents = append(environ, "EARSHOT_DB="+spec), "blob"
	}
	x := newSlackWorld(t, modeltest.StartScripted(t, quotingScript(t, n)), byHTTP, nil, environ...)
	if spec == "" {
		spec = "sqlite:" + x.db
	}
	carl := x.AddUser(simulate.User{Name: strings.ToLower(nameCanary), RealName: nameCanary + " Carl"})
	private := x.AddChannel(simulate.Channel{Name: "private", Members: []string{x.ann, carl, x.self}})
	x.lasts = enough + time.Duration(n)*time.Second
	x.start()

	var gone []string
	for i := range n {
		gone = append(gone, x.deletable(i))
		x.breathes(i)
	}
	x.Say(x.general, x.bob, keptCanary+" stays")
	x.personal(private, carl)
	x.settled()
	x.summarised(private)
	x.outside(x.general, gone[1], carl, fmt.Sprint(deletedCanary, 1))
	x.outside(private, x.Say(private, x.bob, "who wrote that?"), carl, nameCanary+" Carl")
	x.holds(deletedCanary, "message", "event", "session", "journal", "outbox", "blob", contents, "summary", "conversation", "draft", "queued_turn")
	x.holds(erasedCanary, "message", "event", "session", "blob", "summary")
	x.holds(nameCanary, "author", "message", "named", "conversation", "draft")

	for i, id := range gone {
		x.Delete(x.general, id)
		x.breathes(i)
	}
	x.settled()
	if lost := x.Undelivered(); len(lost) > 0 {
		t.Fatalf("%d events were given up, such as %+v", len(lost), lost[0])
	}
	x.nowhere(deletedCanary, strings.ToUpper(deletedCanary))

	// The command has a store of its own over the same database.
	st, err := store.Open(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	of := earshot.ErasureOf{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(x.Team().ID), User: earshot.AuthorID(carl)}
	plan, err := st.PlanErasure(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	e, err := st.BeginErasure(t.Context(), of)
	if err == nil {
		e, err = erasure.Run(t.Context(), st, e.ID, nil)
	}
	if err == nil {
		err = erasure.Scrub(t.Context(), st, 10*time.Second)
	}
	if err != nil || e.Ended == 0 {
		t.Fatalf("the erasure %+v: %v", e, err)
	}
	t.Logf("%d deletions; of the person %+v (planned %+v)", n, e.Removed, plan)
	if plan.Messages == 0 || e.Removed.Messages < plan.Messages || e.Removed.Files == 0 || e.Removed.Names != 1 || e.Removed.Replies == 0 {
		t.Errorf("removed %+v, planned %+v", e.Removed, plan)
	}
	x.nowhere(erasedCanary, strings.ToUpper(erasedCanary), nameCanary, strings.ToLower(nameCanary))
	x.holds(keptCanary, "message")

	root := x.Say(x.general, x.bob, x.at("still there?"))
	x.ends(earshot.TurnDone)
	x.wantSaid(root, "Noted.")
}

// A daemon goes on with what a killed command has left in the middle.
func TestADaemonEndsAnErasureThatWasLeft(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	st, err := store.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := earshot.Scope{Platform: earshot.Local, Workspace: "local", Channel: "general"}
	_, err = st.Record(t.Context(), s, earshot.Message{ID: "1.000001", Time: 1_000_001, Text: erasedCanary, Author: earshot.Author{ID: "carl"}})
	if err == nil {
		_, err = st.BeginErasure(t.Context(), earshot.ErasureOf{Platform: s.Platform, Workspace: s.Workspace, User: "carl"})
	}
	if err = errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	d := startWith(t, []string{"EARSHOT_DB=sqlite:" + db})
	for end := time.Now().Add(enough); ; time.Sleep(5 * time.Millisecond) {
		open, err := d.Store.ErasureLog(t.Context(), true, 0)
		if err != nil || time.Now().After(end) {
			t.Fatalf("still open: %+v, %v", open, err)
		}
		if len(open) == 0 {
			break
		}
	}
	for p, err := range d.Store.Locate(t.Context(), erasedCanary, nil) {
		if err != nil || p.Table != "" {
			t.Errorf("left: %+v, %v", p, err)
		}
	}
}

// quotingScript has the model quote the canary of each question. The last question
// stands last in a prompt, so that its fixture stands first.
func quotingScript(t *testing.T, n int) string {
	t.Helper()
	type fixture struct {
		Match    map[string]string `json:"match"`
		Response map[string]string `json:"response"`
	}
	quoting := func(word string) fixture {
		return fixture{map[string]string{"userMessage": "what of " + word + "?"}, map[string]string{"content": "As you said: what of " + word + "."}}
	}
	fixtures := []fixture{{map[string]string{"userMessage": "still there?"}, map[string]string{"content": "Noted."}}, quoting(erasedCanary)}
	for i := n - 1; i >= 0; i-- {
		fixtures = append(fixtures, quoting(fmt.Sprint(deletedCanary, i)))
	}
	out, err := json.Marshal(map[string]any{"fixtures": fixtures})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// deletable says the ith of the messages that are deleted: every twentieth is a
// question with a file, some are edited, have a preview, or stand in a thread.
func (x *slackWorld) deletable(i int) (id string) {
	x.t.Helper()
	word := fmt.Sprint(deletedCanary, i)
	if i%20 == 0 {
		f := x.AddFile(simulate.File{Name: word + ".txt", Data: []byte("the file says " + word + "\n" + strings.Repeat("and more\n", i*7%900))})
		id = x.Upload(x.general, x.ann, x.at("what of "+word+"?"), f)
		x.ends(earshot.TurnDone)
		return id
	}
	switch i % 4 {
	case 1:
		id = x.Say(x.general, x.ann, "first "+strings.ToUpper(word))
		x.Edit(x.general, id, "é \"edited\"\n<"+word+"> & more "+strings.Repeat(word+" ", i*i%700))
	case 2:
		root := x.Say(x.general, x.bob, "a root that stays")
		id = x.Reply(x.general, root, x.ann, "a reply with "+word)
		x.React(x.general, id, x.bob, "eyes")
	case 3:
		id = x.Say(x.general, x.bob, word+" is quoted by its platform")
		x.UnfurlEdit(x.general, id, "https://example.com/"+word, "title "+word, "preview "+word)
	default:
		id = x.Say(x.general, x.ann, "plain "+word)
	}
	return id
}

// breathes waits now and then until the daemon has taken what was sent: Slack gives
// up an event that is not acknowledged for three seconds, again and again.
func (x *slackWorld) breathes(i int) {
	x.t.Helper()
	if i%25 == 24 {
		x.settled()
	}
}

// personal is what the person says who is erased, and what others say of them.
func (x *slackWorld) personal(channel, carl string) {
	x.t.Helper()
	for i := range 10 {
		x.Say(channel, carl, fmt.Sprint("in private ", erasedCanary, i, " and ", strings.ToUpper(erasedCanary)))
		x.Say(x.general, carl, fmt.Sprint("in general ", erasedCanary, i))
	}
	f := x.AddFile(simulate.File{Name: erasedCanary + ".txt", Data: []byte("the file of " + erasedCanary)})
	root := x.Upload(channel, carl, x.at("what of "+erasedCanary+"?"), f)
	x.ends(earshot.TurnDone)
	x.Reply(channel, root, x.ann, "thanks <@"+carl+">")
	x.Forward(x.general, x.ann, "look", channel, root)
	x.Reply(channel, root, carl, x.at("what of "+erasedCanary+"?"))
	x.ends(earshot.TurnDone)
}

// summarised stores a summary of every conversation that has a turn, made of the
// messages with the canary of its channel: private has the person's.
func (x *slackWorld) summarised(private string) {
	x.t.Helper()
	ctx := x.t.Context()
	st := x.daemon.Store
	turns, err := st.QueuedTurns(ctx, earshot.TurnQuery{Limit: 1})
	if err != nil || len(turns) == 0 {
		x.t.Fatalf("no turns: %v", err)
	}
	made := 0
	for {
		c, err := st.ClaimSummary(ctx, turns[0].Conversation.Agent, "test", 0, earshot.TimeOf(time.Now()), time.Minute)
		if err != nil {
			break
		}
		var of []earshot.MessageID
		canary := deletedCanary
		if c.Conversation.Scope.Channel == earshot.ChannelID(private) {
			canary = erasedCanary
		}
		list, err := st.Newest(ctx, c.Conversation.Scope, earshot.Whole(), earshot.Position{}, 10_000)
		if err != nil {
			x.t.Fatal(err)
		}
		for _, m := range list {
			if strings.Contains(m.Text, canary) {
				of = append(of, m.ID)
			}
		}
		err = st.PutSummary(ctx, c, earshot.Summary{Text: "They spoke of " + canary, From: 1, To: earshot.TimeOf(time.Now()), Turns: c.Next, By: earshot.ByDigest}, of...)
		if err != nil {
			x.t.Fatal(err)
		}
		made++
	}
	if made == 0 {
		x.t.Fatal("nothing was summarised")
	}
}

// outside has another agent answer a message from outside, once committed and once
// not, in a conversation that somebody owns; a word stands wherever it can.
func (x *slackWorld) outside(channel, anchor, owner, word string) {
	x.t.Helper()
	ctx := x.t.Context()
	st := x.daemon.Store
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(x.Team().ID), Channel: earshot.ChannelID(channel)}
	x.eventually("the daemon has heard of the message", func() bool {
		list, err := st.ByID(ctx, scope, earshot.MessageID(anchor))
		return err != nil || len(list) > 0
	})
	for i, name := range []string{"committed", "open"} {
		id := earshot.ConversationID{Agent: earshot.AgentID("outside " + name), Scope: scope, Name: anchor}
		about := earshot.About{Title: "of " + word, Client: "web", Owner: owner, Tags: []string{word}}
		_, _, err := st.CreateConversation(ctx, earshot.Conversation{ID: id, About: about, Metadata: map[string]string{"of": word}}, "")
		if err != nil {
			x.t.Fatal(err)
		}
		session := []earshot.SessionEntry{{Role: earshot.User, Text: "session of " + word}}
		d, err := st.OpenDraft(ctx, earshot.Draft{
			Conversation: id, Anchor: earshot.MessageID(anchor), Opener: owner, Expires: earshot.TimeOf(time.Now().Add(time.Hour)),
			Prompt: earshot.Prompt{Input: []byte("input of " + word), Hash: "hash"}, Turn: earshot.Turn{Session: session, Names: []earshot.SessionName{{ID: earshot.AuthorID(owner), Name: word}}},
		})
		if err == nil && i == 0 {
			_, err = st.CommitDraft(ctx, d.ID, d.Turn, earshot.TimeOf(time.Now()))
		}
		if err != nil {
			x.t.Fatal(err)
		}
	}
}

// places returns where a text is found, by table; "" are the raw bytes of files.
func (x *slackWorld) places(text string) map[string][]earshot.Place {
	x.t.Helper()
	out := map[string][]earshot.Place{}
	for p, err := range x.daemon.Store.Locate(x.t.Context(), text, nil) {
		if err != nil {
			x.t.Fatal(err)
		}
		out[p.Table] = append(out[p.Table], p)
	}
	return out
}

// holds checks that a text stands in the tables.
func (x *slackWorld) holds(text string, tables ...string) {
	x.t.Helper()
	found := x.places(text)
	for _, table := range tables {
		if len(found[table]) == 0 {
			x.t.Errorf("%q is not in %s", text, table)
		}
	}
}

// nowhere waits until none of the texts is found.
func (x *slackWorld) nowhere(texts ...string) {
	x.t.Helper()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		texts = slices.DeleteFunc(texts, func(text string) bool { return len(x.places(text)) == 0 })
		if len(texts) == 0 {
			return
		}
		if time.Since(began) < enough {
			continue
		}
		for _, text := range texts {
			for table, places := range x.places(text) {
				x.t.Errorf("%q is left in %q: %d places, such as %+v", text, table, len(places), places[0])
			}
		}
		return
	}
}
