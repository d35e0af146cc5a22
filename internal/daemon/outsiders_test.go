package daemon_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// TestTheModelIsToldWhoIsFromOutside: in a channel that another organisation shares, the
// prompt says so, and who is of the other organisation or a guest.
func TestTheModelIsToldWhoIsFromOutside(t *testing.T) {
	server := modeltest.StartScripted(t, slackScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil)
		dana := x.AddUser(simulate.User{DisplayName: "Dana", Team: "T0ACME", TeamName: "ACME"})
		gil := x.AddUser(simulate.User{DisplayName: "Gil (ACME, external)", Guest: true})
		place := x.AddChannel(simulate.Channel{Name: "with-acme", Shared: true, Members: []string{x.ann, dana, gil, x.self}})
		x.start()
		root := x.Say(place, dana, "the import hangs")
		x.Reply(place, root, gil, "here too")
		x.Reply(place, root, x.ann, x.at("why?"))
		x.ends(earshot.TurnDone)
		prompt := x.prompt()
		x.has(prompt, "[a Slack channel, shared with other organisations. You are earshot here.]")
		for _, want := range []string{" Dana (ACME, external): the import hangs\n", " Gil (guest): here too\n"} {
			if !strings.Contains(prompt, want) {
				t.Errorf("no %q in\n%s", want, prompt)
			}
		}
		x.lacks(prompt, "Gil (ACME")
	})
}
