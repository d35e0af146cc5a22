package slack_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/simulate"
)

// TestWhoIsNoMemberIsStoredAsSuch: a person of another organisation in a channel that is
// shared with it, and a guest.
func TestWhoIsNoMemberIsStoredAsSuch(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	dana := x.slack.AddUser(simulate.User{DisplayName: "Dana", Team: "T0ACME", TeamName: "ACME"})
	gil := x.slack.AddUser(simulate.User{DisplayName: "Gil", Guest: true})
	place := x.slack.AddChannel(simulate.Channel{Name: "with-acme", Shared: true, Members: []string{x.mara, dana, gil, x.me}})
	for who, want := range map[string]earshot.Author{
		x.mara: {Name: "Mara"},
		dana:   {Name: "Dana", Standing: earshot.External, Team: "ACME"},
		gil:    {Name: "Gil", Standing: earshot.Guest},
	} {
		ts := x.slack.Say(place, who, "hello")
		x.settle()
		a := x.message(place, ts).Author
		if a.Name != want.Name || a.Standing != want.Standing || a.Team != want.Team {
			t.Errorf("got %+v, want %+v", a, want)
		}
	}
	if c, err := x.store.Channel(t.Context(), x.scope(place)); err != nil || !c.Shared {
		t.Errorf("the shared channel: got %+v, %v", c, err)
	}
	x.slack.Say(x.general, x.mara, "hello")
	x.settle()
	if c, err := x.store.Channel(t.Context(), x.scope(x.general)); err != nil || c.Shared {
		t.Errorf("another channel: got %+v, %v", c, err)
	}
}

// TestAStrangerIsExternalWithoutTheirProfile: each of their messages says of which
// workspace they are.
func TestAStrangerIsExternalWithoutTheirProfile(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	x.slack.Grant("app_mentions:read", "channels:history")
	dana := x.slack.AddUser(simulate.User{DisplayName: "Dana", Team: "T0ACME"})
	ts := x.slack.Say(x.general, dana, "hello")
	x.settle()
	if a := x.message(x.general, ts).Author; a.Standing != earshot.External || a.Team != "" {
		t.Errorf("got %+v", a)
	}
}
