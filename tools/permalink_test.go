package tools_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/tools"
)

// People paste addresses of messages, and a model asks for what they lead to: within its
// channel they are ids, and an address of another channel is of nothing, as any id of one.
func TestAPermalinkIsAnID(t *testing.T) {
	t.Parallel()
	st := open(t)
	elsewhere := general
	elsewhere.Channel = "C2"
	const id = "1772442001.000100"
	for _, s := range []earshot.Scope{general, elsewhere} {
		record(t, st, s,
			earshot.Message{ID: id, Time: began + second, Author: person("U1", "Ann"), Text: "root in " + string(s.Channel)},
			earshot.Message{ID: "1772442002.000100", Time: began + 2*second, Thread: id, Author: person("U2", "Bob"), Text: "reply in " + string(s.Channel)})
	}
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), earshot.Position{Time: began + 10*second, ID: "q"}, &tools.Options{Identity: self})
	for args, want := range map[string][]earshot.MessageID{
		`{"message_ids":["https://team.slack.com/archives/C1/p1772442001000100"]}`:                                {id},
		`{"message_ids":["p1772442001000100"]}`:                                                                   {id},
		`{"thread_id":"https://team.slack.com/archives/C1/p1772442002000100?thread_ts=1772442001.000100&cid=C1"}`: {id, "1772442002.000100"},
	} {
		got := call(t, set, tools.ChannelMessages, args)
		if ids := shows(got); len(ids) != len(want) || ids[0] != want[0] {
			t.Errorf("%s shows %v, want %v: %s", args, ids, want, got.JSON)
		}
	}
	nowhere := call(t, set, tools.ChannelMessages, `{"message_ids":["zz"]}`)
	if got := call(t, set, tools.ChannelMessages, `{"message_ids":["https://team.slack.com/archives/C2/p1772442001000100"]}`); got.JSON != nowhere.JSON || len(got.Shows) > 0 {
		t.Errorf("an address of another channel: %s", got.JSON)
	}
}
