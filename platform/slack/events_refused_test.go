package slack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// asked returns what became of the turns of messages, in the order of the messages.
func (x *inbox) asked(of ...string) []string {
	x.Helper()
	list, err := x.store.QueuedTurns(x.Context(), earshot.TurnQuery{})
	if err != nil {
		x.Fatal(err)
	}
	out := make([]string, len(of))
	for _, q := range list {
		if i := slices.Index(of, string(q.Anchor)); i >= 0 {
			out[i] = strings.TrimSpace(string(q.State) + " " + q.Why)
		}
	}
	return out
}

func (x *inbox) wantAsked(want []string, of ...string) {
	x.Helper()
	x.settle()
	if diff := cmp.Diff(want, x.asked(of...)); diff != "" {
		x.Errorf("turns (-want +got):\n%s", diff)
	}
}

func TestAWorkflowsFormAsksAsAPerson(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	mention := x.slack.Form(x.general, "Access request", "<@"+x.me+"> who grants access to billing?")
	other := x.slack.Form(x.general, "Access request", "somebody asks for access to billing")
	deploy := x.slack.AddBot(simulate.Bot{Name: "deploy", UserID: "U0DEPLOY"})
	_ = deploy
	x.slack.Join(x.general, "U0DEPLOY")
	bot := x.slack.Say(x.general, "U0DEPLOY", "<@"+x.me+"> is this all right?")
	x.wantAsked([]string{"open", "", "refused bot"}, mention, other, bot)
	m := x.message(x.general, mention)
	if m.Author.Name != "Access request" || m.Author.Kind != earshot.Bot {
		t.Errorf("the author is %+v", m.Author)
	}
}

func TestAGroupWithTheBotInItIsAMention(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	helpers := x.slack.AddGroup(simulate.UserGroup{Handle: "helpers", Users: []string{x.mara, x.me}})
	people := x.slack.AddGroup(simulate.UserGroup{Handle: "people", Users: []string{x.mara}})
	ours := x.slack.Say(x.general, x.mara, "<!subteam^"+helpers+"> is billing up?")
	labelled := x.slack.Say(x.general, x.mara, "<!subteam^"+helpers+"|@helpers> and now?")
	theirs := x.slack.Say(x.general, x.mara, "<!subteam^"+people+"> lunch?")
	code := x.slack.Say(x.general, x.mara, "`<!subteam^"+helpers+">` is its name")
	x.wantAsked([]string{"open", "open", "", ""}, ours, labelled, theirs, code)
	asked := 0
	for _, method := range x.called() {
		if method == "usergroups.list" {
			asked++
		}
	}
	if asked > 1 {
		t.Errorf("the groups were read %d times", asked)
	}
}

func TestAGroupThatIsNotAnsweredSaysWhy(t *testing.T) {
	t.Parallel()
	t.Run("groups are off", func(t *testing.T) {
		t.Parallel()
		x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.NoGroups = true })
		helpers := x.slack.AddGroup(simulate.UserGroup{Handle: "helpers", Users: []string{x.me}})
		people := x.slack.AddGroup(simulate.UserGroup{Handle: "people", Users: []string{x.mara}})
		x.wantAsked([]string{"refused group", "", "open"},
			x.slack.Say(x.general, x.mara, "<!subteam^"+helpers+"> is billing up?"),
			x.slack.Say(x.general, x.mara, "<!subteam^"+people+"> lunch?"),
			x.slack.Say(x.general, x.mara, "<!subteam^"+helpers+"> <@"+x.me+"> is billing up?"))
	})
	t.Run("the scope is missing", func(t *testing.T) {
		t.Parallel()
		x := listenTo(t)
		helpers := x.slack.AddGroup(simulate.UserGroup{Handle: "helpers", Users: []string{x.me}})
		x.slack.Grant("app_mentions:read", "channels:history", "channels:read", "chat:write", "users:read")
		x.wantAsked([]string{"refused group-unknown", "open"},
			x.slack.Say(x.general, x.mara, "<!subteam^"+helpers+"> is billing up?"),
			x.slack.Say(x.general, x.mara, "<@"+x.me+"> is billing up?"))
		if !strings.Contains(x.log.String(), "usergroups:read") {
			t.Errorf("the log does not name the scope:\n%s", x.log)
		}
	})
}

func TestAMentionThatAnEditAddsAsks(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	ts := x.slack.Say(x.general, x.mara, "is billing up?")
	x.settle()
	x.slack.Edit(x.general, ts, "<@"+x.me+"> is billing up?")
	x.wantAsked([]string{"open"}, ts)
	x.slack.Edit(x.general, ts, "<@"+x.me+"> is billing up again?")
	x.wantAsked([]string{"open"}, ts)
}

func TestAnEmojiAsks(t *testing.T) {
	t.Parallel()
	x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Reactions = []string{"eyes"} })
	x.slack.AddBot(simulate.Bot{Name: "alerts", UserID: "U0ALERTS"})
	x.slack.Join(x.general, "U0ALERTS")
	alert := x.slack.Say(x.general, "U0ALERTS", "billing is down")
	other := x.slack.Say(x.general, "U0ALERTS", "search is down")
	x.settle()
	x.slack.React(x.general, other, x.mara, "thumbsup")
	x.slack.React(x.general, other, "U0ALERTS", "eyes")
	x.slack.React(x.general, other, x.me, "eyes")
	x.slack.React(x.general, alert, x.mara, "eyes")
	x.wantAsked([]string{"open asked by the emoji eyes of " + x.mara, ""}, alert, other)
	x.slack.Unreact(x.general, alert, x.mara, "eyes")
	x.slack.React(x.general, alert, x.mara, "eyes")
	x.wantAsked([]string{"open asked by the emoji eyes of " + x.mara, ""}, alert, other)
	if got := x.message(x.general, alert).Text; got != "billing is down" {
		t.Errorf("the message says %q", got)
	}
}
