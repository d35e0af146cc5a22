package summarize_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/summarize"
)

// Somebody who is mentioned and wrote nothing stands in a summary by id, which an erasure
// may leave; a prompt that shows the summary names them as the store does by then.
func TestASummaryNamesWhoIsMentionedWhenItIsShown(t *testing.T) {
	t.Parallel()
	for by, model := range map[string]*llmtest.Model{"a model": llmtest.New(llmtest.Say("They decided that <@U9> rotates the zebra key, and <@U7> looks on.")), "none": nil} {
		x := newTalk(t, open(t, "memory:"), "root")
		x.say(bob, "We decided: <@U9> rotates the zebra key, <@U2> helps, and <@U7> looks on.")
		x.turns(0, 41)
		o := options(x.Store, nil)
		if model != nil {
			o.Model = llm.Model(model)
		}
		check(t, x.PutAuthors(t.Context(), scope.Platform, scope.Workspace, earshot.Author{ID: "U9", Name: "Erin", Kind: earshot.Human}))
		check(t, summarize.New(o).All(t.Context()))
		told := x.summary().Text
		if model != nil {
			told = asked(model)[0]
		}
		if !strings.Contains(told, "<@U9> rotates the zebra key, @Bob helps, and <@U7> looks on") || strings.Contains(told, "Erin") {
			t.Errorf("%s is told:\n%s", by, told)
		}
		question := x.say(alice, "<@UBOT> who rotates it?")
		in, res, err := gather.Turn(t.Context(), x.Store, gather.Request{
			Channel: earshot.Channel{Platform: scope.Platform, Workspace: scope.Workspace, ID: scope.Channel, Kind: earshot.KindChannel}, Anchor: question.ID,
			Identity: who, Counter: count(), Policy: assemble.Standard(), Conversation: x.id, NewEpoch: true,
		})
		check(t, err)
		shown := ""
		for _, m := range res.Messages {
			shown += m.Text
		}
		if in.Conversation.Summary == nil || !strings.Contains(shown, "@Erin rotates the zebra key") || strings.Contains(shown, "U9") || !strings.Contains(shown, "@U7 looks on") {
			t.Errorf("%s: the prompt shows\n%s", by, shown)
		}
		named := false
		for _, n := range res.Next.Names {
			named = named || n.ID == "U9" && n.Name == "Erin"
		}
		if !named {
			t.Errorf("%s: the session does not say that it names U9, so an erasure would not find it: %v", by, res.Next.Names)
		}
	}
}
