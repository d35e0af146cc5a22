package visible_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/visible"
)

func TestAConversationsIDIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, id := range []earshot.ConversationID{
		{Agent: "U0BOT", Scope: earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}, Name: "1700000005.000100"},
		{Agent: "ü\x00\xff", Name: "top"},
		{},
	} {
		if got, ok := visible.ParseConversation(visible.ConversationText(id)); !ok || got != id {
			t.Errorf("%+v comes back as %+v, %v", id, got, ok)
		}
	}
}

func FuzzParseConversation(f *testing.F) {
	for _, s := range []string{"", "conv_", "conv_AAAAAA", "conv_BVUwQk9UBXNsYWNrAlQxAkMxA3RvcA", "conv_gICAgICAgICAAQ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, ok := visible.ParseConversation(s); ok && visible.ConversationText(id) != s {
			t.Errorf("%q is %+v, whose text is another", s, id)
		}
	})
}
