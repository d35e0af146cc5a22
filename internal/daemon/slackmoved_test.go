package daemon_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// A private channel that is shared with another organisation gets another id: the
// conversation goes on there, and nothing is left under the old id.
func TestAChannelThatGetsAnotherIDGoesOn(t *testing.T) {
	server := modeltest.StartScripted(t, slackScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil, "EARSHOT_POLICY=transcript")
		x.general = x.AddChannel(simulate.Channel{Name: "secret", Kind: simulate.Private, Members: []string{x.ann, x.bob, x.self}})
		x.start()
		root := x.Say(x.general, x.ann, x.at("is it raining?"))
		x.ends(earshot.TurnDone)
		x.wantSaid(root, "Noted.")
		// One question waits for Slack while the channel gets its id.
		x.Inject(simulate.Fault{Kind: simulate.ServerError, Status: 503, On: "chat.*", Times: 4})
		x.Reply(x.general, root, x.bob, x.at("is it raining still?"))
		x.eventually("its answer is being posted", func() bool {
			depth, err := x.daemon.Store.Depth(t.Context(), earshot.TurnPosting)
			return err == nil && depth[earshot.TurnPosting] == 1
		})
		old := x.scope()
		x.general = x.ChangeID(x.general)
		x.Heal()
		r := x.ends(earshot.TurnDone)
		if r.Turn.Conversation.Scope != x.scope() || r.Turn.Ends != 0 {
			t.Errorf("the turn is of %+v, with %d deaths", r.Turn.Conversation, r.Turn.Ends)
		}
		x.Reply(x.general, root, x.ann, x.at("what did I ask first?"))
		x.ends(earshot.TurnDone)
		if got := strings.Join(x.said(root), "|"); got != "Noted.|Noted.|Noted." {
			t.Errorf("it said %s", got)
		}
		whole := ""
		for _, m := range x.lastRequest().Body.Messages {
			whole += content(m.Content) + "\n"
		}
		if !strings.Contains(whole, "is it raining?") || !strings.Contains(whole, "is it raining still?") {
			t.Errorf("what was said before is not shown: %s", whole)
		}
		if _, err := x.daemon.Store.Channel(t.Context(), old); !errors.Is(err, earshot.ErrNotFound) {
			t.Errorf("the old id is still stored: %v", err)
		}
	})
}

// What is said under the new id may come before Slack tells of it: the bot answers there,
// and knows what was said before once it is told.
func TestAChannelIsHeardUnderItsNewIDBeforeTheBotIsTold(t *testing.T) {
	server := modeltest.StartScripted(t, slackScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil, "EARSHOT_POLICY=window")
		x.general = x.AddChannel(simulate.Channel{Name: "secret", Kind: simulate.Private, Members: []string{x.ann, x.bob, x.self}})
		x.start()
		root := x.Say(x.general, x.ann, x.at("is it raining?"))
		x.ends(earshot.TurnDone)
		x.wantSaid(root, "Noted.")
		old := x.scope()
		x.Inject(simulate.Fault{Kind: simulate.SwapEvent, On: "channel_id_changed", Times: 1})
		x.general = x.ChangeID(x.general)
		first := x.Say(x.general, x.bob, x.at("is it raining still?"))
		if r := x.ends(earshot.TurnDone); r.Turn.Conversation.Scope != x.scope() {
			t.Errorf("the turn is of %+v", r.Turn.Conversation)
		}
		x.wantSaid(first, "Noted.")
		x.eventually("the channel is one", func() bool {
			_, err := x.daemon.Store.Channel(t.Context(), old)
			return errors.Is(err, earshot.ErrNotFound)
		})
		x.Say(x.general, x.ann, x.at("what did we ask?"))
		x.ends(earshot.TurnDone)
		whole := ""
		for _, m := range x.lastRequest().Body.Messages {
			whole += content(m.Content) + "\n"
		}
		if !strings.Contains(whole, "is it raining?") || !strings.Contains(whole, "is it raining still?") {
			t.Errorf("what was said before is not shown: %s", whole)
		}
	})
}
