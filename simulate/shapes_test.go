package simulate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"github.com/earshot-ai/earshot/simulate"
)

// specs returns the folder of Slack's published shapes.
func specs(t *testing.T) string {
	t.Helper()
	root := os.Getenv("EARSHOT_TEST_DATA")
	if root == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("EARSHOT_TEST_DATA is not set")
		}
		t.Skip("EARSHOT_TEST_DATA is not set: answers and events were not compared with Slack's")
	}
	return filepath.Join(root, "spec")
}

func load(t *testing.T, parts ...string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// apart tells where got has not the shape of want: a field that is missing,
// or that has another type. A null and an empty list fit everything.
func apart(at string, got, want any) []string {
	if got == nil || want == nil {
		return nil
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %T, want an object", at, got)}
		}
		var out []string
		for _, k := range slices.Sorted(maps.Keys(w)) {
			if v, ok := g[k]; ok {
				out = append(out, apart(at+"."+k, v, w[k])...)
			} else {
				out = append(out, at+"."+k+" is missing")
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %T, want a list", at, got)}
		}
		if len(g) == 0 || len(w) == 0 {
			return nil
		}
		return apart(at+"[]", g[0], w[0])
	default:
		if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want) {
			return []string{fmt.Sprintf("%s is %T, want %T", at, got, want)}
		}
		return nil
	}
}

// TestAnswersHaveTheFieldsOfSlacksExamples compares the answer of each method
// with the example that documents it. What an answer may lack, by path, is
// said with a reason.
func TestAnswersHaveTheFieldsOfSlacksExamples(t *testing.T) {
	t.Parallel()
	dir := specs(t)
	w := small(t, simulate.SlackOptions{SocketMode: true, App: simulate.App{AgentView: true}})
	file := w.AddFile(simulate.File{Name: "ted.gif", Data: []byte("GIF89a"), AltText: "a bear"})
	w.AddGroup(simulate.UserGroup{Handle: "admins"})
	root := w.Say(w.general, w.mara, "root")
	w.Reply(w.general, root, w.sam, "reply")
	post := call(t, w.Slack, "chat.postMessage", map[string]string{"channel": w.general, "text": "own", "username": "ecto", "attachments": `[{"id":1,"text":"t","fallback":"f"}]`})
	own, _ := post["ts"].(string)
	stream, _ := call(t, w.Slack, "chat.startStream", map[string]string{"channel": w.general, "thread_ts": root, "recipient_user_id": w.mara, "recipient_team_id": "T"})["ts"].(string)
	w.Say(w.general, w.mara, "more")
	type args = map[string]string
	deprecated := "unread counts and stars are of a person, not of an app"
	for _, c := range []struct {
		method, example string
		args            args
		lacks           map[string]string
	}{
		{"conversations.history", "success", args{"channel": w.general, "limit": "1"}, nil},
		{"apps.connections.open", "success", args{"token": w.App().AppToken}, nil},
		{"assistant.threads.setStatus", "success", args{"channel_id": w.general, "thread_ts": root, "status": "s"}, nil},
		{"auth.test", "success_with_bot_token", nil, nil},
		{"bots.info", "success", args{"bot": w.App().BotID}, nil},
		{"chat.postMessage", "success", args{"channel": w.general, "text": "own", "username": "ecto", "attachments": `[{"id":1,"text":"t","fallback":"f"}]`}, nil},
		{"chat.update", "success", args{"channel": w.general, "ts": own, "text": "b"}, map[string]string{".message.user": "a post under another name has no user"}},
		{"chat.postEphemeral", "success", args{"channel": w.general, "user": w.mara, "text": "b"}, nil},
		{"chat.appendStream", "success", args{"channel": w.general, "ts": stream, "markdown_text": "b"}, nil},
		{"chat.stopStream", "success", args{"channel": w.general, "ts": stream}, map[string]string{".message.subtype": "a bot with a user has no subtype"}},
		{"chat.delete", "success", args{"channel": w.general, "ts": own}, nil},
		{"conversations.replies", "success", args{"channel": w.general, "ts": root, "limit": "1"}, map[string]string{
			".messages[].last_read": deprecated, ".messages[].unread_count": deprecated}},
		{"conversations.info", "success", args{"channel": w.general}, map[string]string{".channel.properties": "tabs are the client's"}},
		{"conversations.list", "success", args{"limit": "1"}, nil},
		{"conversations.members", "success", args{"channel": w.general}, nil},
		{"conversations.open", "success_with_return_im", args{"users": w.mara, "return_im": "true"}, map[string]string{
			".no_op": "it was not open", ".already_open": "it was not open", ".channel.latest": deprecated,
			".channel.unread_count": deprecated, ".channel.unread_count_display": deprecated}},
		{"files.info", "success", args{"file": file}, map[string]string{
			".file.comments_count": deprecated, ".file.is_starred": deprecated, ".file.shares": "only where it was shared",
			".file.permalink_public": "the file is not public", ".file.thumb_": "sizes that the image has not",
			".file.original_": "the image is not measured", ".file.deanimate_gif": "of animations", ".file.pjpeg": "of photographs",
			".file.image_exif_rotation": "of photographs"}},
		{"team.info", "success", nil, map[string]string{
			".team.enterprise": "a workspace of its own", ".team.icon.image_": "the other sizes"}},
		{"usergroups.list", "success", args{"include_count": "true"}, map[string]string{".usergroups[].user_count": "a number in every answer, a text in the example"}},
		{"users.info", "success", args{"user": w.mara}, map[string]string{
			".user.has_2fa": "of administrators", ".user.profile.email": "needs users:read.email", ".user.profile.image_": "the other sizes"}},
	} {
		t.Run(c.method, func(t *testing.T) {
			spec := load(t, dir, "slack-api-ref", "method-"+c.method+".json")
			example := spec["examples"].(map[string]any)[c.example].(map[string]any)["example"]
			got := call(t, w.Slack, c.method, c.args)
			if got["ok"] != true {
				t.Fatalf("the answer is %v", got)
			}
			used := map[string]bool{}
			for _, line := range apart("", got, example) {
				excused := false
				for path := range c.lacks {
					if strings.HasPrefix(line, path) {
						excused, used[path] = true, true
					}
				}
				if !excused {
					t.Error(line)
				}
			}
			for path := range c.lacks {
				if !used[path] {
					t.Errorf("%s needs no excuse", path)
				}
			}
		})
	}
}

// TestWhatPeopleWriteIsReadAsItIs posts strings that are known to break
// programs, and reads them back.
func TestWhatPeopleWriteIsReadAsItIs(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(specs(t), "naughty", "blns.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	w := small(t, simulate.SlackOptions{Tier: simulate.TierUnlimited})
	for _, text := range list {
		w.Say(w.general, w.mara, text)
	}
	var got []string
	p := &slack.GetConversationHistoryParameters{ChannelID: w.general, Limit: 100}
	for {
		res, err := w.api.GetConversationHistoryContext(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range res.Messages {
			got = append(got, m.Text)
		}
		if p.Cursor = res.ResponseMetaData.NextCursor; p.Cursor == "" {
			break
		}
	}
	slices.Reverse(got)
	if diff := cmp.Diff(got, list); diff != "" {
		t.Errorf("read (-got +want):\n%s", diff)
	}
}

// unknown tells which fields of got a skeleton does not know, and which have
// another type there.
func unknown(at string, got, skeleton any) []string {
	switch g := got.(type) {
	case map[string]any:
		s, ok := skeleton.(map[string]any)
		if !ok {
			return []string{at + " is no object in Slack"}
		}
		var out []string
		for _, k := range slices.Sorted(maps.Keys(g)) {
			if v, ok := s[k]; !ok {
				out = append(out, at+"."+k+" is not known")
			} else if g[k] != nil {
				out = append(out, unknown(at+"."+k, g[k], v)...)
			}
		}
		return out
	case []any:
		s, ok := skeleton.([]any)
		if !ok {
			return []string{at + " is no list in Slack"}
		}
		if len(g) == 0 || len(s) == 0 {
			return nil
		}
		return unknown(at+"[]", g[0], s[0])
	default:
		if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", skeleton) {
			return []string{fmt.Sprintf("%s is %T, in Slack %T", at, got, skeleton)}
		}
		return nil
	}
}

// TestEventsHaveFieldsThatSlackKnows compares each kind of event with the
// skeleton that Slack's own library has of it. What a skeleton lacks although
// Slack sends it is listed.
func TestEventsHaveFieldsThatSlackKnows(t *testing.T) {
	t.Parallel()
	dir := specs(t)
	w := small(t, simulate.SlackOptions{App: simulate.App{AgentView: true}, RepliedEvents: true})
	bot := w.AddBot(simulate.Bot{Name: "alerts"})
	file := w.AddFile(simulate.File{Name: "plan.png", Data: []byte("x")})
	root := w.Say(w.general, w.mara, w.mention("root"))
	w.Reply(w.general, root, w.sam, "reply")
	w.Broadcast(w.general, root, w.sam, "broadcast")
	w.Upload(w.general, w.mara, "see", file)
	w.Say(w.general, bot, "alert")
	w.Edit(w.general, root, "edited")
	w.Delete(w.general, w.Say(w.general, w.mara, "gone"))
	w.React(w.general, root, w.sam, "eyes")
	w.Unreact(w.general, root, w.sam, "eyes")
	w.Rename(w.general, "lobby")
	w.Leave(w.general, w.sam2)
	w.Join(w.general, w.sam2)
	w.ChangeUser(w.sam, "Samuel", "")
	w.OpenHome(w.mara)
	w.Kick(w.general, w.App().UserID, w.mara)
	w.Uninstall()
	skeletons := map[string]string{
		"app_mention": "AppMention", "message": "Message", "message.thread_broadcast": "MessageThreadBroadcast",
		"message.file_share": "MessageFileShare", "message.bot_message": "MessageBot", "message.message_changed": "MessageChanged",
		"message.message_deleted": "MessageDeleted", "message.channel_leave": "MessageChannelLeave", "message.channel_join": "MessageChannelJoin",
		"reaction_added": "ReactionAdded", "reaction_removed": "ReactionRemoved",
		"channel_rename": "ChannelRename", "member_left_channel": "MemberLeftChannel", "member_joined_channel": "MemberJoinedChannel",
		"user_change": "UserChange", "app_home_opened": "AppHomeOpened", "channel_left": "ChannelLeft", "tokens_revoked": "TokensRevoked",
		"app_uninstalled": "AppUninstalled",
	}
	// Fields that Slack sends and documents, but that its library does not
	// read.
	extra := []string{
		".context_team_id", ".context_enterprise_id", ".event.event_ts", ".app_id", ".team", ".reply_users", ".parent_user_id",
		".is_locked", ".root.blocks", ".root.client_msg_id", ".hidden", ".client_msg_id", ".event.message",
	}
	seen, used := map[string]bool{}, map[string]bool{}
	for _, d := range w.Deliveries() {
		name, ok := skeletons[d.Type]
		if !ok {
			t.Errorf("no skeleton of %s", d.Type)
			continue
		}
		seen[d.Type] = true
		var got map[string]any
		if err := json.Unmarshal(d.Body, &got); err != nil {
			t.Fatal(err)
		}
		for _, line := range unknown("", got, load(t, dir, "slack-events", name+"Payload.json")) {
			known := false
			for _, s := range extra {
				if strings.HasSuffix(line, s+" is not known") {
					known, used[s] = true, true
				}
			}
			if !known && !strings.Contains(line, ".blocks[].elements") {
				t.Errorf("%s: %s", d.Type, line)
			}
		}
	}
	for _, s := range extra {
		if !used[s] {
			t.Errorf("%s needs no excuse", s)
		}
	}
	for kind := range skeletons {
		if !seen[kind] {
			t.Errorf("no %s was sent", kind)
		}
	}
}
