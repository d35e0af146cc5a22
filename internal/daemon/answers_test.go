package daemon_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/store"
)

// The first answer takes half a minute, unless somebody stops it.
var answersScript = `{"fixtures": [
	{"match": {"userMessage": "tell me all"}, "response": {"content": "One thing after another` + strings.Repeat(", and so on for a long time", 14) + `."}, "latency": 700},
	{"match": {"userMessage": "restart it", "hasToolResult": true}, "response": {"content": "Restarted."}},
	{"match": {"userMessage": "restart it", "hasToolResult": false}, "response": {"toolCalls": [{"name": "ask", "arguments": {"question": "Which one?", "options": ["staging", "production"]}}]}},
	{"match": {"userMessage": "hello"}, "response": {"content": "Hello."}}
]}`

// Who has asked stops the growing answer by its button.
func TestSomebodyStopsAnAnswerOnSlack(t *testing.T) {
	server := modeltest.StartScripted(t, answersScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil)
		x.knows()
		x.start()
		root := x.Say(x.general, x.ann, x.at("tell me all"))
		growing := x.withButton(root, "Stop")
		x.eventually("the answer grows", func() bool {
			said := x.said(root)
			return len(said) == 1 && strings.HasPrefix(said[0], "One ")
		})
		x.Click(x.general, growing.TS, x.bob, "Stop")
		x.eventually("who has not asked is told so", func() bool { return len(x.Ephemerals()) == 1 })
		x.Click(x.general, growing.TS, x.ann, "Stop")
		x.ends(earshot.TurnDropped)
		x.settled()
		said := x.said(root)
		if len(said) != 1 || !strings.HasPrefix(said[0], "One ") || !strings.HasSuffix(said[0], "\n\n(Stopped.)") {
			t.Errorf("said %q", said)
		}
		for _, m := range x.Thread(x.general, root) {
			if len(m.Buttons) > 0 {
				t.Errorf("%q still has buttons", m.Text)
			}
		}
	})
}

// The model asks who asked it, who answers by a button, or by a message without another.
func TestTheModelAsksOnSlack(t *testing.T) {
	server := modeltest.StartScripted(t, answersScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil, "EARSHOT_ANSWER_ASK=*")
		x.knows()
		x.start()
		root := x.Say(x.general, x.ann, x.at("restart it"))
		ask := x.withButton(root, "production")
		if !strings.Contains(ask.Text, "Which one?") || len(ask.Buttons) != 3 {
			t.Fatalf("asked %q with %+v", ask.Text, ask.Buttons)
		}
		x.stop()
		x.start() // another process
		x.Click(x.general, ask.TS, x.ann, "production")
		x.ends(earshot.TurnDone)
		x.settled()
		said := x.said(root)
		if len(said) != 2 || !strings.HasSuffix(said[0], ": `production`") || said[1] != "Restarted." {
			t.Errorf("said %q", said)
		}
	})
}

// Buttons and emoji at an answer are feedback.
func TestPeopleSayWhatTheyThinkOnSlack(t *testing.T) {
	server := modeltest.StartScripted(t, answersScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil, "EARSHOT_FEEDBACK=buttons")
		x.knows()
		x.start()
		root := x.Say(x.general, x.ann, x.at("hello"))
		answer := x.withButton(root, "👎")
		x.ends(earshot.TurnDone)
		x.Click(x.general, answer.TS, x.ann, "👎")
		x.Submit(x.ann, "it is not the time")
		x.React(x.general, answer.TS, x.bob, "+1")
		st, err := store.Open(t.Context(), x.db, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		var list []earshot.Feedback
		x.eventually("two say what they think", func() bool {
			list, err = st.Feedback(t.Context(), earshot.FeedbackQuery{})
			return err == nil && len(list) == 2
		})
		for _, f := range list {
			if f.Good != (f.Author == earshot.AuthorID(x.bob)) || f.Good == (f.Reason == "it is not the time") {
				t.Errorf("%+v", f)
			}
		}
	})
}
