package daemon_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

// told returns what only the person sees who used a command.
func told(t *testing.T, x simulate.Interaction) string {
	t.Helper()
	var answer struct {
		Kind string `json:"response_type"`
		Text string `json:"text"`
	}
	if x.Outcome != "acked" {
		t.Fatalf("the command is answered %+v", x)
	}
	if len(x.Answer) == 0 {
		return ""
	}
	if err := json.Unmarshal(x.Answer, &answer); err != nil || answer.Kind != "ephemeral" {
		t.Fatalf("%v: the command is answered %s", err, x.Answer)
	}
	return answer.Text
}

// What people do by the app's command and its shortcut, by both transports.
func TestSlackCommands(t *testing.T) {
	server := modeltest.StartScripted(t, yesScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil, "EARSHOT_INSPECT_URL=https://bot.example.com", "EARSHOT_INSPECT=127.0.0.1:0", "EARSHOT_INSPECT_TOKEN=an-inspector-token")
		x.start()
		use := func(who, text string) string { return told(t, x.Command(x.general, who, "/earshot", text)) }

		// A question is posted for all to see, and is the asker's own message.
		before := x.Say(x.general, x.bob, "the importer is down since nine")
		x.settled()
		if got := use(x.ann, "ask what broke & why?"); got != "" {
			t.Errorf("a question is answered in private: %q", got)
		}
		asked := x.newest()
		if want := "<@" + x.ann + ">: what broke &amp; why?"; asked.Text != want && asked.Text != strings.ReplaceAll(want, "&amp;", "&") {
			t.Errorf("posted is %q", asked.Text)
		}
		x.ends(earshot.TurnDone)
		x.settled()
		m := x.stored(asked.TS)
		if m.Author.ID != earshot.AuthorID(x.ann) || m.Author.Name != "Ann" || m.Text != x.at("what broke & why?") || !slices.Equal(m.Mentions, []earshot.AuthorID{earshot.AuthorID(x.self)}) {
			t.Errorf("stored is %+v", m)
		}
		if got := x.turnsOf(asked.TS); !slices.Equal(got, []string{"done"}) {
			t.Errorf("turns of the question: %q", got)
		}

		// What was read for it.
		why := use(x.ann, "why")
		if !strings.Contains(why, "For my last answer to you here I read 2 messages") || !strings.Contains(why, "https://bot.example.com/turns/") {
			t.Errorf("why says %q", why)
		}
		if got := use(x.bob, "WHY"); !strings.Contains(got, "not answered you anything here yet") {
			t.Errorf("why says to somebody who has asked nothing: %q", got)
		}
		if got := use(x.bob, "stop"); got != "I am not answering you anything here." {
			t.Errorf("stop says %q", got)
		}
		for _, text := range []string{"", "help", "ask"} {
			if got := use(x.bob, text); !strings.Contains(got, "`/earshot why`") {
				t.Errorf("%q says %q", text, got)
			}
		}
		// Words that are no command are a question.
		if got := use(x.ann, "why is it slow?"); got != "" || !strings.HasSuffix(x.newest().Text, "why is it slow?") {
			t.Errorf("a question without ask: told %q, posted %q", got, x.newest().Text)
		}

		// The shortcut asks in the message's thread.
		if c := x.Shortcut(x.general, before, x.ann, "earshot_ask"); c.Outcome != "acked" || len(x.Forms()) != 1 || x.Forms()[0].Label != "Your question" {
			t.Fatalf("the shortcut is answered %+v, open are %+v", c, x.Forms())
		}
		if c := x.Submit(x.ann, "is that so?"); c.Outcome != "acked" || len(x.Forms()) != 0 {
			t.Errorf("the form is answered %+v, open are %+v", c, x.Forms())
		}
		x.eventually("the question in the thread is answered", func() bool { return len(x.said(before)) == 2 })
		x.settled()

		// Where the bot is not, nothing is posted or kept.
		other := x.AddChannel(simulate.Channel{Name: "other", Members: []string{x.ann}})
		if got := told(t, x.Command(other, x.ann, "/earshot", "ask anybody here?")); !strings.Contains(got, "not in this channel") {
			t.Errorf("elsewhere: %q", got)
		}
		for _, e := range x.Ephemerals() {
			t.Errorf("told: %+v", e)
		}
	})
}

// forget erases what a person said, after a yes, and nothing of others.
func TestAPersonHasWhatTheySaidErasedOnSlack(t *testing.T) {
	server := modeltest.StartScripted(t, yesScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil, "EARSHOT_LANGUAGE=de")
		x.start()
		hers, his := x.Say(x.general, x.ann, "my secret"), x.Say(x.general, x.bob, "the gate is open")
		x.settled()
		x.Command(x.general, x.ann, "/earshot", "ask wer hat das Tor geöffnet?")
		asked := x.newest().TS
		x.ends(earshot.TurnDone)
		x.settled()
		if got := told(t, x.Command(x.general, x.ann, "/earshot", "forget")); got != "" || len(x.Forms()) != 1 || x.Forms()[0].Title != "Vergiss mich" {
			t.Fatalf("told %q, open are %+v", got, x.Forms())
		}
		if m := x.stored(hers); m.Text != "my secret" {
			t.Fatalf("something is erased before she has said yes: %+v", m)
		}
		done := x.Submit(x.ann, "")
		if done.Outcome != "acked" || !strings.Contains(string(done.Answer), "Ich lösche, was du gesagt hast") {
			t.Errorf("the form is answered %+v", done)
		}

		x.eventually("what she said is gone", func() bool { return x.stored(hers).Text == "" && x.stored(asked).Text == "" })
		if m := x.stored(his); m.Text != "the gate is open" {
			t.Errorf("of his is left %+v", m)
		}
	})
}

// Where nobody knows whether a question was posted, nobody is told to send it again, and it is
// answered once. Who may not ask in a channel is told so, and nothing is posted.
func TestAQuestionThatMayHaveBeenPostedIsNotAskedForAgain(t *testing.T) {
	server := modeltest.StartScripted(t, yesScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil)
		x.configured("channels: [{match: {name: general}, may_ask: [" + x.ann + "]}]\n")
		x.knows()
		x.start()
		root := x.Say(x.general, x.bob, "hello")
		lose := func() { x.Inject(simulate.Fault{Kind: simulate.FailedLate, On: "chat.postMessage", Times: 1}) }
		lose()
		if got := told(t, x.Command(x.general, x.ann, "/earshot", "ask\nis it up?")); !strings.Contains(got, "could not find out whether") {
			t.Errorf("told %q", got)
		}
		x.ends(earshot.TurnDone)
		if got := x.stored(x.Messages(x.general)[1].TS).Text; got != x.at("is it up?") {
			t.Errorf("stored is %q", got)
		}
		x.Shortcut(x.general, root, x.ann, "earshot_ask")
		lose()
		if c := x.Submit(x.ann, "is that so?"); c.Outcome != "acked" || len(x.Forms()) != 0 {
			t.Errorf("the form is answered %+v, open are %+v", c, x.Forms())
		}
		x.ends(earshot.TurnDone)
		x.settled()
		x.eventually("she is told", func() bool { return len(x.Ephemerals()) == 1 })
		if got := x.Ephemerals()[0]; got.User != x.ann || !strings.Contains(got.Text, "could not find out whether") {
			t.Errorf("told %+v", got)
		}
		if got := x.said(root); len(got) != 2 {
			t.Errorf("in the thread stand %q", got)
		}
		n := len(x.Messages(x.general))
		if got := told(t, x.Command(x.general, x.bob, "/earshot", "ask may I?")); !strings.Contains(got, "not among the people") || len(x.Messages(x.general)) != n {
			t.Errorf("who may not ask is told %q", got)
		}
	})
}

// newest returns the newest message of the channel.
func (x *slackWorld) newest() simulate.Message {
	x.t.Helper()
	list := x.Messages(x.general)
	return list[len(list)-1]
}

// stored returns a message as the store has it.
func (x *slackWorld) stored(ts string) (m earshot.Message) {
	x.t.Helper()
	x.inStore(func(st earshot.Store) (err error) {
		m, err = st.Message(x.t.Context(), x.scope(), earshot.MessageID(ts))
		if errors.Is(err, earshot.ErrNotFound) {
			err = nil
		}
		return err
	})
	return m
}

// turnsOf returns the states of the turns of a question.
func (x *slackWorld) turnsOf(ts string) (states []string) {
	x.t.Helper()
	x.inStore(func(st earshot.Store) error {
		list, err := st.QueuedTurns(x.t.Context(), earshot.TurnQuery{})
		for _, q := range list {
			if q.Anchor == earshot.MessageID(ts) {
				states = append(states, string(q.State))
			}
		}
		return err
	})
	return states
}

// inStore reads the daemon's store beside it.
func (x *slackWorld) inStore(read func(earshot.Store) error) {
	x.t.Helper()
	st, err := store.Open(x.t.Context(), x.db, nil)
	if err == nil {
		err = errors.Join(read(st), st.Close())
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// What Slack shows beside messages: the app's home, the welcome of a channel, prompts and titles.
func TestSlackShowsWhatTheBotKnowsOfSomebody(t *testing.T) {
	server := modeltest.StartScripted(t, yesScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, &simulate.SlackOptions{App: simulate.App{AgentView: true}}, "EARSHOT_SLACK_WELCOME=true", "EARSHOT_SLACK_AGENT_VIEW=true", "EARSHOT_RETENTION_DAYS=90")
		x.configured("slack: {prompts: [What did I miss?, Who is on call?]}\n")
		x.start()
		x.Say(x.general, x.ann, "one")
		x.Say(x.general, x.ann, "two")
		x.Say(x.general, x.bob, "three")
		x.settled()
		x.VisitHome(x.ann)
		x.settled()
		home := x.Home(x.ann)
		for _, want := range []string{"2 messages that you wrote", "for 90 days", "`/earshot forget`"} {
			if !strings.Contains(home, want) {
				t.Errorf("her home lacks %q:\n%s", want, home)
			}
		}
		if x.Home(x.bob) != "" {
			t.Errorf("his home is shown, which he has not opened")
		}

		dm := x.OpenHome(x.ann)
		x.settled()
		if got := x.Prompts(dm); !slices.Equal(got, []string{"What did I miss?", "Who is on call?"}) {
			t.Errorf("prompts are %q", got)
		}
		ts := x.Say(dm, x.ann, "is it raining in Rome?")
		x.eventually("the thread has a title", func() bool { return x.Title(dm, ts) == "is it raining in Rome?" })
		x.settled()

		other := x.AddChannel(simulate.Channel{Name: "other", Members: []string{x.ann}})
		for range 2 { // joined twice, as when the event comes again
			x.Join(other, x.self)
			x.settled()
		}
		list := x.Messages(other)
		if got := list[len(list)-1]; !strings.Contains(got.Text, "I record what is said in this channel") || got.Bot == "" {
			t.Errorf("the channel is told %+v", got)
		}
		welcomes := 0
		for _, m := range list {
			if strings.Contains(m.Text, "I record") {
				welcomes++
			}
		}
		if welcomes != 1 {
			t.Errorf("it is welcomed %d times", welcomes)
		}
	})
}

// What an agent is doing is a task card of the stream that becomes its answer, and no part of
// what is stored of it.
func TestWhatAnAgentDoesIsATaskCardOnSlack(t *testing.T) {
	a := startAgent(t)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, "http://127.0.0.1:1", by, nil, a.settings("EARSHOT_SLACK_REPLY=stream")...)
		x.start()
		root := x.Say(x.general, x.ann, x.at("who are you"))
		x.ends(earshot.TurnDone)
		x.settled()
		list := x.Thread(x.general, root)
		last := list[len(list)-1]
		if last.Text != "That is turn 1." || x.stored(last.TS).Text != last.Text {
			t.Errorf("the answer is %+v, stored is %q", last, x.stored(last.TS).Text)
		}
		if got := x.Tasks(x.general, last.TS); len(got) != 1 || got[0].Title != "looking into it" || got[0].Status != "complete" {
			t.Errorf("the cards are %+v", got)
		}
	})
}
