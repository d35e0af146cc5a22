package slackmsg

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

func TestCallback(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		want Callback
	}{
		"an event in its envelope": {
			`{"type":"event_callback","event_id":"Ev1","token":"t","team_id":"T1","context_team_id":"T2","is_ext_shared_channel":true,"authorizations":[{"team_id":"T1"},{"enterprise_id":"E1","is_enterprise_install":true},{"enterprise_id":"E2"}],"event":{"type":"message","subtype":"bot_message","channel":"C1","channel_type":"group"}}`,
			Callback{Type: "event_callback", ID: "Ev1", Token: "t", Teams: []earshot.WorkspaceID{"T1", "T2"}, Enterprises: []string{"E1"}, Shared: true,
				Event: Event{Type: "message", Subtype: "bot_message", Channel: earshot.Channel{Shared: true, Platform: earshot.Slack, ID: "C1", Kind: earshot.KindGroup}}}},
		"a reaction to a message": {
			`{"event":{"type":"reaction_added","user":"U1","reaction":":+1:","item":{"type":"message","channel":"C1","ts":"1.5"}}}`,
			Callback{Event: Event{Type: "reaction_added", User: "U1", Reaction: "+1", Item: "1.5", Channel: earshot.Channel{Platform: earshot.Slack, ID: "C1"}}}},
		"a reaction to a file has no message": {
			`{"event":{"type":"reaction_added","user":"U1","reaction":"x","item":{"type":"file","file":"F1","ts":"1.5"}}}`,
			Callback{Event: Event{Type: "reaction_added", User: "U1", Reaction: "x"}}},
		"a channel's new name": {
			`{"event":{"type":"channel_rename","channel":{"id":"C1","name":"new &amp; bold","is_channel":true}}}`,
			Callback{Event: Event{Type: "channel_rename", Channel: earshot.Channel{Platform: earshot.Slack, ID: "C1", Name: "new & bold", Kind: earshot.KindChannel}}}},
		"its new topic, in a message": {
			`{"event":{"type":"message","subtype":"channel_topic","topic":"see <https://x.io|here>","channel":"C1"}}`,
			Callback{Event: Event{Type: "message", Subtype: "channel_topic", Channel: earshot.Channel{Platform: earshot.Slack, ID: "C1", Topic: "see <https://x.io|here>"}}}},
		"a profile": {
			`{"event":{"type":"user_change","user":{"id":"U1","is_bot":true,"profile":{"display_name":"CI","bot_id":"B1"}}}}`,
			Callback{Event: Event{Type: "user_change", User: "U1", Author: earshot.Author{ID: "U1", Name: "CI", Kind: earshot.Bot}, Bot: "B1"}}},
		"a user group": {
			`{"event":{"type":"subteam_updated","subteam":{"id":"S1","handle":"devs"}}}`,
			Callback{Event: Event{Type: "subteam_updated", Group: "S1", Handle: "devs"}}},
		"whose tokens were revoked": {
			`{"event":{"type":"tokens_revoked","tokens":{"bot":["U1",7,"<"]}}}`,
			Callback{Event: Event{Type: "tokens_revoked", Bots: []earshot.AuthorID{"U1", "7"}}}},
		"the key of our own post, edited": {
			`{"event":{"type":"message","subtype":"message_changed","channel":"D1","message":{"metadata":{"event_type":"earshot_post","event_payload":{"key":"k1"}}}}}`,
			Callback{Event: Event{Type: "message", Subtype: "message_changed", Key: "k1", Channel: earshot.Channel{Platform: earshot.Slack, ID: "D1", Kind: earshot.KindDM}}}},
		"another app's metadata is no key": {
			`{"event":{"type":"message","metadata":{"event_type":"other","event_payload":{"key":"k1"}}}}`,
			Callback{Event: Event{Type: "message"}}},
		"a message to an agent": {
			`{"event":{"type":"message","app_context":{"entities":[]}}}`,
			Callback{Event: Event{Type: "message", Agent: true}}},
		"a minute of dropped events": {`{"type":"app_rate_limited","minute_rate_limited":60}`, Callback{Type: "app_rate_limited", Minute: 60}},
		"nothing":                    {`{}`, Callback{}},
		"fields of another kind": {
			`{"type":{},"event_id":[],"authorizations":"a","team_id":{},"event":{"type":"x","channel":[],"user":[],"item":[],"tokens":[],"subteam":7}}`,
			Callback{Event: Event{Type: "x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadCallback([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("callback (-want +got):\n%s", diff)
			}
		})
	}
	for _, in := range []string{`[]`, `7`, `{`, ``} {
		if _, err := ReadCallback([]byte(in)); !errors.Is(err, ErrNotMessage) {
			t.Errorf("%q: got %v, want ErrNotMessage", in, err)
		}
	}
}

// Every payload that Slack's SDKs know can be taken.
func TestCallbacksOfSDKs(t *testing.T) {
	t.Parallel()
	for _, path := range skeletons(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ReadCallback(raw)
		if err != nil || c.Event.Type == "" && filepath.Base(path) != "AppRateLimitedPayload.json" {
			t.Errorf("%s: got %+v, %v", filepath.Base(path), c, err)
		}
	}
}
