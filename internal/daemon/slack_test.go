package daemon_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// TestSlack runs the real daemon on a fake Slack, over both transports.
func TestSlack(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, slackScript)
	for _, c := range []struct {
		name string
		test func(t *testing.T, server string, by transport)
	}{
		{"each row of the scenario table", scenarios},
		{"an edit, a deletion and a late message reach the next turn", changes},
		{"two people of one name and another bot are told apart", people},
		{"a long thread shows its newest", longThread},
		{"190 messages that did not fit are counted", unseen},
		{"messages of a downtime are read from history", downtime},
		{"a permanent failure is reported once", failsForGood},
	} {
		t.Run(c.name, func(t *testing.T) {
			transports(t, func(t *testing.T, by transport) { c.test(t, server, by) })
		})
	}
}

// TestSlackWithAimock answers on the fake Slack with the model server that was
// written elsewhere.
func TestSlackWithAimock(t *testing.T) {
	t.Parallel()
	server := modeltest.Aimock(t, slackScript)
	t.Run("each row of the scenario table", func(t *testing.T) {
		transports(t, func(t *testing.T, by transport) { scenarios(t, server, by) })
	})
}

// scenarios is the table of context.md §3, under the policy delta.
func scenarios(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil, "EARSHOT_POLICY=delta")
	// A thread that the app itself began before the daemon ran.
	alert := x.Post(simulate.PostedMessage{Channel: x.general, User: x.App().BotID, Text: "disk of db1 is at 91%", Mute: true})
	x.knows()
	x.start()

	root := x.Say(x.general, x.ann, x.at("is it raining?"))
	x.ends(earshot.TurnDone)
	x.want("a mention at the top level", x.prompt(), "@earshot is it raining?")
	x.want("how far it was processed", x.processed(root), root)
	x.wantSaid(root, "Noted.")

	root = x.Say(x.general, x.ann, "the build is red")
	x.Reply(x.general, root, x.bob, "since an hour")
	x.Reply(x.general, root, x.ann, x.at("why?"))
	x.ends(earshot.TurnDone)
	x.want("a mention in a thread, for the first time", x.prompt(),
		"Previous conversation:\n---\nAnn: the build is red\nBob: since an hour\n---\nCurrent question: @earshot why?")
	x.wantSaid(root, "Noted.")

	x.Reply(x.general, root, x.bob, "I have reverted it")
	again := x.Reply(x.general, root, x.bob, x.at("and now?"))
	x.ends(earshot.TurnDone)
	x.want("how far it was processed", x.processed(root), again)
	x.want("a mention in that thread again", x.prompt(),
		"Since your last message, the following conversation took place (last 1 messages):\n---\nBob: I have reverted it\n---\nCurrent question: @earshot and now?")
	x.wantSaid(root, "Noted.", "Noted.")

	before := len(x.prompts())
	x.Reply(x.general, root, x.ann, "thanks, does it hold?")
	x.settled()

	dm := x.OpenDM(x.ann)
	x.Say(dm, x.ann, "what is new?")
	x.ends(earshot.TurnDone)
	if n := len(x.prompts()) - before; n != 1 {
		t.Errorf("%d turns, want that of the DM only: a reply without a mention is not answered", n)
	}
	x.want("a DM", x.prompt(), "what is new?")

	top := x.Say(dm, x.ann, "a thread of its own?")
	x.ends(earshot.TurnDone)
	x.Reply(dm, top, x.ann, "does it go on?")
	x.ends(earshot.TurnDone)
	x.Reply(dm, top, x.ann, "and on?")
	x.ends(earshot.TurnDone)
	x.want("a thread in a DM, again", x.prompt(), "and on?")

	x.Reply(x.general, alert, x.bob, x.at("which one?"))
	x.ends(earshot.TurnDone)
	if got := x.prompt(); !strings.Contains(got, "earshot: disk of db1 is at 91%") {
		t.Errorf("the first question in the bot's own thread lacks its root: %s", got)
	}
}

// processed returns the conversation's last_processed_ts.
func (x *slackWorld) processed(root string) string {
	x.t.Helper()
	c, err := x.daemon.Store.Conversation(x.t.Context(), earshot.ConversationID{
		Agent: earshot.AgentID(x.self), Name: root,
		Scope: earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(x.Team().ID), Channel: earshot.ChannelID(x.general)},
	})
	if err != nil {
		x.t.Fatal(err)
	}
	return c.Metadata["last_processed_ts"]
}

func (x *slackWorld) wantSaid(root string, want ...string) {
	x.t.Helper()
	if diff := cmp.Diff(x.said(root), want); diff != "" {
		x.t.Errorf("the bot's posts in the thread: -got +want\n%s", diff)
	}
}

func changes(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil, "EARSHOT_POLICY=delta")
	x.knows()
	x.start()
	root := x.Say(x.general, x.ann, "the release is on monday")
	secret := x.Reply(x.general, root, x.bob, "the password is swordfish")
	x.Reply(x.general, root, x.ann, x.at("when is it?"))
	x.ends(earshot.TurnDone)
	if !strings.Contains(x.prompt(), "swordfish") {
		t.Errorf("the first prompt lacks what was said: %s", x.prompt())
	}
	x.Edit(x.general, root, "the release is on tuesday")
	x.UnfurlEdit(x.general, root, "https://example.com", "A page", "with a preview")
	x.settled()
	x.Reply(x.general, root, x.ann, x.at("and now?"))
	x.ends(earshot.TurnDone)
	if got := x.prompt(); !strings.Contains(got, "Ann: (edited) the release is on tuesday") {
		t.Errorf("the edit is not told: %s", got)
	}
	x.Delete(x.general, secret)
	x.settled()
	x.Reply(x.general, root, x.ann, x.at("what was it?"))
	x.ends(earshot.TurnDone)
	list := x.wire.recorded(t)
	last := list[len(list)-1]
	if all := last.text("user") + last.text("assistant"); strings.Contains(all, "swordfish") || !strings.Contains(all, "tuesday") {
		t.Errorf("after the deletion the model reads: %s", all)
	}
	x.wantSaid(root, "Noted.", "Noted.", "Noted.")
}

func people(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil)
	other := x.AddUser(simulate.User{Name: "ann2", RealName: "Ann"})
	ci := x.AddBot(simulate.Bot{Name: "ci"})
	x.start()
	root := x.Say(x.general, x.ann, "I start the import")
	x.Reply(x.general, root, other, "wait for me")
	x.Post(simulate.PostedMessage{Channel: x.general, Thread: root, User: ci, Text: "build 7 is green"})
	x.Reply(x.general, root, x.bob, x.at("who waits?"))
	x.ends(earshot.TurnDone)
	got := x.prompt()
	for _, want := range []string{"Ann: I start the import", "Ann (2): wait for me", "ci (bot): build 7 is green"} {
		if !regexp.MustCompile(`\n[0-2]\d:[0-5]\d ` + regexp.QuoteMeta(want) + `\n`).MatchString(got) {
			t.Errorf("%q is not a line of the prompt: %s", want, got)
		}
	}
}

func longThread(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil, "EARSHOT_POLICY=delta")
	root := x.Post(simulate.PostedMessage{Channel: x.general, User: x.ann, Text: "the long story", Mute: true, At: time.Now().Add(-3 * time.Hour)})
	replies := 2500
	if testing.Short() {
		replies = 400 // of several pages too
	}
	for i := range replies {
		x.Post(simulate.PostedMessage{
			Channel: x.general, Thread: root, User: x.bob, Text: fmt.Sprintf("part %d", i), Mute: true,
			At: time.Now().Add(-3*time.Hour + time.Duration(i+1)*4*time.Second),
		})
	}
	x.start()
	x.ForgetCalls()
	x.Reply(x.general, root, x.ann, x.at("how did it end?"))
	x.ends(earshot.TurnDone)
	got := x.prompt()
	for _, want := range []string{"Ann: the long story", fmt.Sprintf("Bob: part %d\n", replies-1), fmt.Sprintf("Bob: part %d\n", replies-40)} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the prompt: %.600s", want, got)
		}
	}
	if n := len(x.Calls("conversations.replies")); n > 40 {
		t.Errorf("%d calls of conversations.replies for one turn", n)
	}
}

func unseen(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil, "EARSHOT_POLICY=delta")
	x.start()
	root := x.Say(x.general, x.ann, x.at("shall we begin?"))
	x.ends(earshot.TurnDone)
	for i := range 190 {
		x.Reply(x.general, root, x.bob, fmt.Sprintf("step %d", i))
	}
	x.settled()
	x.ForgetCalls()
	x.Reply(x.general, root, x.ann, x.at("where are we?"))
	x.ends(earshot.TurnDone)
	got := x.prompt()
	if want := "(last 50 of 190 messages; 140 earlier ones were left out):"; !strings.Contains(got, want) {
		t.Errorf("%q is not in the prompt: %.300s", want, got)
	}
	if !strings.Contains(got, "Bob: step 189\n") || strings.Contains(got, "Bob: step 139\n") {
		t.Errorf("not the newest 50 are shown: %s", got)
	}
}

func downtime(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil, "EARSHOT_POLICY=delta")
	old := x.Post(simulate.PostedMessage{Channel: x.general, User: x.bob, Text: x.at("from long ago?"), Mute: true, At: time.Now().Add(-time.Hour)})
	x.start()
	root := x.Say(x.general, x.ann, x.at("shall we begin?"))
	x.ends(earshot.TurnDone)
	x.settled()
	x.stop()
	// Said while no daemon runs.
	x.Post(simulate.PostedMessage{Channel: x.general, Thread: root, User: x.bob, Text: "we have begun", Mute: true})
	missed := x.Post(simulate.PostedMessage{Channel: x.general, User: x.bob, Text: x.at("did you hear?"), Mute: true})
	x.start()
	x.ends(earshot.TurnDone)
	x.wantSaid(missed, "Noted.")
	x.Reply(x.general, root, x.ann, x.at("are we done?"))
	x.ends(earshot.TurnDone)
	if got := x.prompt(); !strings.Contains(got, "Bob: we have begun\n") {
		t.Errorf("what was said in the meantime is not known: %s", got)
	}
	if got := x.said(old); len(got) != 0 {
		t.Errorf("an old question was answered: %v", got)
	}
}

func failsForGood(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil)
	x.start()
	root := x.Say(x.general, x.ann, x.at("what is forbidden?"))
	r := x.ends(earshot.TurnFailed)
	x.settled()
	n := len(x.said(root)) + len(x.Ephemerals())
	if n != 1 || !strings.Contains(r.Turn.Why, "400") {
		t.Errorf("the person was told %d times, %q; want once", n, r.Turn.Why)
	}
	x.want("how far it was processed", x.processed(root), "")
}
