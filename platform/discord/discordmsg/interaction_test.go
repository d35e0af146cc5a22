package discordmsg_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

func TestAnInteractionIsRead(t *testing.T) {
	t.Parallel()
	mara := earshot.Author{ID: "2", Name: "Mara", FullName: "mara.v", Kind: earshot.Human}
	for name, c := range map[string]struct {
		raw  string
		want discordmsg.Interaction // the zero value: it is none
	}{
		"a click in a guild": {
			`{"id":"500","application_id":"1","type":3,"token":"tok","channel_id":"11","guild_id":"9","user":{"id":"77"},"data":{"custom_id":"a","component_type":2},
			"member":{"nick":"Mara","roles":["3","4"],"user":{"id":"2","username":"mara.v"}},"message":{"id":"600","components":[{"type":1,"components":[{"type":2,"custom_id":"b","label":"No"},{"type":2,"custom_id":"a","label":"Do it"}]}]}}`,
			discordmsg.Interaction{ID: "500", Token: "tok", App: "1", Type: 3, Channel: "11", Guild: "9", Message: "600", By: mara, Roles: []string{"3", "4"}, CustomID: "a", Label: "Do it"},
		},
		"a click in direct messages": {
			`{"id":"500","application_id":"1","type":3,"token":"tok","channel_id":"11","user":{"id":"2","username":"mara.v","global_name":"Mara"},"data":{"custom_id":"a"},"message":{"id":"600"}}`,
			discordmsg.Interaction{ID: "500", Token: "tok", App: "1", Type: 3, Channel: "11", Message: "600", By: mara, CustomID: "a"},
		},
		"a form, with fields in labels and in rows": {
			`{"id":"500","application_id":"1","type":5,"token":"tok","channel_id":"11","user":{"id":"2","username":"mara.v","global_name":"Mara"},"message":{"id":"600"},"data":{"custom_id":"f","components":[
			{"type":18,"component":{"type":4,"custom_id":"why","value":"too\nlate"}},{"type":1,"components":[{"type":4,"custom_id":"when","value":""}]},{"type":18,"component":{"type":3,"custom_id":"pick","values":["x"]}}]}}`,
			discordmsg.Interaction{ID: "500", Token: "tok", App: "1", Type: 5, Channel: "11", Message: "600", By: mara, CustomID: "f", Words: map[string]string{"why": "too\nlate", "when": ""}},
		},
		"a command, with its options": {
			`{"id":"500","application_id":"1","type":2,"token":"tok","channel_id":"11","user":{"id":"2","username":"mara.v","global_name":"Mara"},"app_permissions":"1024",
			"data":{"id":"7","name":"ask","type":1,"options":[{"name":"question","type":3,"value":"why?"},{"name":"n","type":4,"value":7},{"name":"","type":3,"value":"x"},7]}}`,
			discordmsg.Interaction{ID: "500", Token: "tok", App: "1", Type: 2, Channel: "11", By: mara, CommandID: "7", Command: "ask", CommandType: 1, Options: map[string]string{"question": "why?"}},
		},
		"a command in a message's menu, where the application sees nothing": {
			`{"id":"500","application_id":"1","type":2,"token":"tok","channel_id":"11","user":{"id":"2","username":"mara.v","global_name":"Mara"},"app_permissions":"2048",
			"data":{"id":"7","name":"Ask about this","type":3,"target_id":"600","options":"none"}}`,
			discordmsg.Interaction{ID: "500", Token: "tok", App: "1", Type: 2, Channel: "11", By: mara, CommandID: "7", Command: "Ask about this", CommandType: 3, Target: "600", Blind: true},
		},
		"in a guild, by no member": {`{"id":"500","application_id":"1","type":3,"token":"tok","channel_id":"11","guild_id":"9","user":{"id":"2"}}`, discordmsg.Interaction{}},
		"in a guild that is no id": {`{"id":"500","application_id":"1","type":3,"token":"tok","channel_id":"11","guild_id":{},"user":{"id":"2"},"member":{"user":{"id":"2"}}}`, discordmsg.Interaction{}},
		"in none, by a member":     {`{"id":"500","application_id":"1","type":3,"token":"tok","channel_id":"11","member":{"user":{"id":"2"}}}`, discordmsg.Interaction{}},
		"without a token":          {`{"id":"500","application_id":"1","type":3,"channel_id":"11","user":{"id":"2"}}`, discordmsg.Interaction{}},
		"without an application":   {`{"id":"500","type":3,"token":"tok","channel_id":"11","user":{"id":"2"}}`, discordmsg.Interaction{}},
		"without a channel":        {`{"id":"500","application_id":"1","type":3,"token":"tok","user":{"id":"2"}}`, discordmsg.Interaction{}},
		"what is no JSON":          {`{`, discordmsg.Interaction{}},
		"what is no object":        {`[{"id":"500"}]`, discordmsg.Interaction{}},
	} {
		got, ok := discordmsg.ReadInteraction([]byte(c.raw))
		if ok != (c.want.ID != "") {
			t.Errorf("%s: read is %t", name, ok)
		}
		if diff := cmp.Diff(got, c.want); ok && diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}
