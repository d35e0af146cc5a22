package slack_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// TestWhoIsNotOnTheListsIsRefused: the users on one list and the members of the groups on
// the other are answered; what everybody else says is stored.
func TestWhoIsNotOnTheListsIsRefused(t *testing.T) {
	t.Parallel()
	x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) {
		o.Allow = slack.Allow{Users: []string{"U0LISTED"}, Groups: []string{"S0LEADS"}}
	})
	listed := x.slack.AddUser(simulate.User{ID: "U0LISTED", Name: "lea"})
	other := x.slack.AddUser(simulate.User{Name: "otto"})
	for _, who := range []string{listed, other} {
		x.slack.Join(x.general, who)
	}
	x.slack.AddGroup(simulate.UserGroup{ID: "S0LEADS", Handle: "leads", Users: []string{x.mara}})
	question := "<@" + x.me + "> is billing up?"
	theirs := x.slack.Say(x.general, other, question)
	x.wantAsked([]string{"open", "open", "refused not-allowed", ""}, x.slack.Say(x.general, listed, question),
		x.slack.Say(x.general, x.mara, question), theirs, x.slack.Say(x.general, other, "nobody is asked"))
	if m := x.message(x.general, theirs); m.Text == "" {
		t.Errorf("what is not answered is not stored: %+v", m)
	}
}

// TestNobodyIsInAGroupThatCannotBeRead: without the scope the list of groups lets nobody in.
func TestNobodyIsInAGroupThatCannotBeRead(t *testing.T) {
	t.Parallel()
	x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Allow.Groups = []string{"S0LEADS"} })
	x.slack.AddGroup(simulate.UserGroup{ID: "S0LEADS", Handle: "leads", Users: []string{x.mara}})
	x.slack.Grant("app_mentions:read", "channels:history", "channels:read", "chat:write", "users:read")
	x.wantAsked([]string{"refused not-allowed"}, x.slack.Say(x.general, x.mara, "<@"+x.me+"> is billing up?"))
}

// TestWhoIsInAUserGroup: approvals name groups, and clicks tell none.
func TestWhoIsInAUserGroup(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	x.slack.AddGroup(simulate.UserGroup{ID: "S0LEADS", Handle: "leads", Users: []string{x.mara}})
	other := x.slack.AddUser(simulate.User{Name: "otto"})
	for who, want := range map[string]bool{x.mara: true, other: false} {
		got, err := x.platform.InGroups(t.Context(), x.scope(x.general), earshot.AuthorID(who), []string{"asker", "U0OTTO", "S0LEADS"})
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v", who, got, err)
		}
		if got, err := x.platform.InGroups(t.Context(), x.scope(x.general), earshot.AuthorID(who), []string{"S0OTHERS"}); got || err != nil {
			t.Errorf("%s: is in a group that is not there: %v, %v", who, got, err)
		}
	}
}
