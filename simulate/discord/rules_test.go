package discord_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/simulate/discord"
)

const (
	viewChannel    = 1 << 10
	sendMessages   = 1 << 11
	manageMessages = 1 << 13
	manageChannels = 1 << 4
	manageRoles    = 1 << 28
	pinMessages    = 1 << 51
)

// TestWhatABotMayDoIsDecidedInDiscordsOrder is of roles, then the overwrites of
// @everyone, of roles, and of the member (Discord's documentation, Permission Overwrites).
func TestWhatABotMayDoIsDecidedInDiscordsOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                         string
		everyone, role, member, bots [2]int64 // allow and deny; of the role's own permissions
		status                       int
	}{
		{name: "everybody speaks", status: 200},
		{name: "@everyone is denied", everyone: [2]int64{0, sendMessages}, status: 403},
		{name: "a role is allowed what @everyone is denied", everyone: [2]int64{0, sendMessages}, role: [2]int64{sendMessages, 0}, status: 200},
		{name: "the member is denied what the role is allowed", role: [2]int64{sendMessages, 0}, member: [2]int64{0, sendMessages}, status: 403},
		{name: "the member is allowed what all else deny", everyone: [2]int64{0, sendMessages}, role: [2]int64{0, sendMessages}, member: [2]int64{sendMessages, 0}, status: 200},
		{name: "who does not see the channel says nothing", everyone: [2]int64{0, viewChannel}, role: [2]int64{sendMessages, 0}, status: 403},
		{name: "an administrator is denied nothing", everyone: [2]int64{0, viewChannel | sendMessages}, bots: [2]int64{1 << 3, 0}, status: 200},
	} {
		w := start(t, nil)
		role := w.AddRole(discord.Role{Name: "bots", Permissions: c.bots[0]})
		w.SetMember(w.guild, w.own, "", role)
		w.SetOverwrite(w.general, w.guild, c.everyone[0], c.everyone[1])
		w.SetOverwrite(w.general, role, c.role[0], c.role[1])
		w.SetOverwrite(w.general, w.own, c.member[0], c.member[1])
		if w.call("POST", path("channels", w.general, "messages"), object{"content": "hello"}); w.lastStatus != c.status {
			t.Errorf("%s: the post ends with %d, want %d", c.name, w.lastStatus, c.status)
		}
	}
}

func TestARoleIsGivenByWhoStandsAboveIt(t *testing.T) {
	t.Parallel()
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, App: discord.App{Permissions: manageRoles}})
	boss := w.AddRole(discord.Role{Name: "boss", Position: 5})
	helper, _ := w.call("POST", path("guilds", w.guild, "roles"), object{"name": "helper", "permissions": "0"}).(object)
	id, _ := helper["id"].(string)
	w.call("PUT", path("guilds", w.guild, "members", w.sam, "roles", id), nil)
	if w.lastStatus != 204 {
		t.Errorf("a lower role is given with %d", w.lastStatus)
	}
	w.refused(403, 50013, "PUT", path("guilds", w.guild, "members", w.sam, "roles", boss), nil)
	w.refused(403, 50013, "PATCH", path("guilds", w.guild, "roles", boss), object{"name": "servant"})
	w.refused(403, 50013, "POST", path("guilds", w.guild, "roles"), object{"permissions": "8"}) // which the bot does not have
	w.refused(403, 50013, "POST", path("guilds", w.guild, "channels"), object{"name": "new"})
	w.SetRole(discord.Role{ID: id, Name: "helper", Permissions: manageChannels})
	w.SetMember(w.guild, w.own, "", id)
	if w.call("POST", path("guilds", w.guild, "channels"), object{"name": "new"}); w.lastStatus != 201 {
		t.Errorf("with the permission a channel is made with %d", w.lastStatus)
	}
}

// TestARoleThatHidesAChannelIsToldLive is what a bot hears when a role loses the sight of
// a channel, and when it is given back.
func TestARoleThatHidesAChannelIsToldLive(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	thread := w.Thread(w.general, "", w.mara, "inside")
	role := w.AddRole(discord.Role{Name: "seers", Permissions: viewChannel})
	w.SetMember(w.guild, w.own, "", role)
	w.SetRole(discord.Role{ID: w.guild, Name: "@everyone", Permissions: sendMessages})
	g := w.connect(allOf)
	w.SetRole(discord.Role{ID: role, Name: "seers"})
	g.want("GUILD_ROLE_UPDATE")
	if c := g.want("CHANNEL_UPDATE"); c["name"] != "___hidden___" {
		t.Errorf("the channel is %v", c)
	}
	w.SetRole(discord.Role{ID: role, Name: "seers", Permissions: viewChannel})
	g.want("GUILD_ROLE_UPDATE")
	if c := g.want("CHANNEL_UPDATE"); c["name"] != "general" {
		t.Errorf("the channel is %v", c)
	}
	list, _ := g.want("THREAD_LIST_SYNC")["threads"].([]any)
	if len(list) != 1 || list[0].(object)["id"] != thread {
		t.Errorf("its threads are %v", list)
	}
}

func TestPins(t *testing.T) {
	t.Parallel()
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, App: discord.App{Permissions: pinMessages}})
	g := w.connect(allOf)
	first, second := w.Say(w.general, w.mara, "first"), w.Say(w.general, w.mara, "second")
	g.want("MESSAGE_CREATE")
	g.want("MESSAGE_CREATE")
	pins := path("channels", w.general, "messages", "pins")
	w.call("PUT", pins+path(second), nil)
	w.call("PUT", pins+path(second), nil) // nothing more happens
	if m := g.want("MESSAGE_UPDATE"); m["pinned"] != true {
		t.Errorf("the message is %v", m)
	}
	if o := g.want("CHANNEL_PINS_UPDATE"); o["channel_id"] != w.general || o["last_pin_timestamp"] == nil {
		t.Errorf("the event is %v", o)
	}
	told := g.want("MESSAGE_CREATE")
	if told["type"] != 6.0 || told["message_reference"].(object)["message_id"] != second {
		t.Errorf("the channel is told %v", told)
	}
	w.refused(403, 50021, "PUT", pins+path(told["id"].(string)), nil)
	w.Pin(w.general, first, w.mara, true)
	var got []string
	page, _ := w.call("GET", pins+"?limit=1", nil).(object)
	for _, v := range page["items"].([]any) {
		got = append(got, v.(object)["message"].(object)["id"].(string))
	}
	if diff := cmp.Diff(got, []string{first}); diff != "" || page["has_more"] != true {
		t.Errorf("the newest pin is first: %s, more: %v", diff, page["has_more"])
	}
	w.SetOverwrite(w.general, w.own, manageMessages, pinMessages)
	w.refused(403, 50013, "DELETE", pins+path(second), nil)
}

func TestAPollTakesOneVoteEachUntilItEnds(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf | 1<<24)
	answer := func(text string) object { return object{"poll_media": object{"text": text}} }
	poll := w.post(w.general, object{"poll": object{"question": object{"text": "Tea?"}, "answers": []any{answer("yes"), answer("no")}, "duration": 1}})
	g.want("MESSAGE_CREATE")
	w.Vote(w.general, poll, w.mara, 1, true)
	w.Vote(w.general, poll, w.sam, 2, true)
	w.Vote(w.general, poll, w.sam, 1, true)
	for _, want := range []struct {
		kind   string
		answer float64
	}{{"ADD", 1}, {"ADD", 2}, {"REMOVE", 2}, {"ADD", 1}} {
		if o := g.want("MESSAGE_POLL_VOTE_" + want.kind); o["answer_id"] != want.answer {
			t.Errorf("%s: %v", want.kind, o)
		}
	}
	w.EndPoll(w.general, poll)
	ended := g.want("MESSAGE_UPDATE")["poll"].(object)["results"].(object)
	want := object{"is_finalized": true, "answer_counts": []any{object{"id": 1.0, "count": 2.0, "me_voted": false}}}
	if diff := cmp.Diff(ended, want); diff != "" {
		t.Error(diff)
	}
	result := g.want("MESSAGE_CREATE")
	got := map[string]string{}
	for _, v := range result["embeds"].([]any)[0].(object)["fields"].([]any) {
		o := v.(object)
		got[o["name"].(string)] = o["value"].(string)
	}
	if diff := cmp.Diff(got, map[string]string{
		"poll_question_text": "Tea?", "victor_answer_votes": "2", "total_votes": "2", "victor_answer_id": "1", "victor_answer_text": "yes",
	}); diff != "" || result["type"] != 46.0 {
		t.Errorf("the result is of type %v: %s", result["type"], diff)
	}
	w.refused(400, 520001, "POST", path("channels", w.general, "polls", poll, "expire"), nil)
	w.refused(400, 520003, "PATCH", path("channels", w.general, "messages", poll), object{"content": "no poll"})
}

func TestAWebhookKeepsItsID(t *testing.T) {
	t.Parallel()
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, App: discord.App{Permissions: discord.AllPermissions}})
	other := w.AddChannel(discord.Channel{Name: "other"})
	hook, _ := w.call("POST", path("channels", w.general, "webhooks"), object{"name": "herald"}).(object)
	id, token := hook["id"].(string), hook["token"].(string)
	for _, name := range []string{"", "The King"} {
		m, _ := w.call("POST", path("webhooks", id, token)+"?wait=true", object{"content": "hear", "username": name}).(object)
		if m["webhook_id"] != id || m["author"].(object)["id"] != id {
			t.Errorf("as %q, the message is %v", name, m)
		}
	}
	moved, _ := w.call("PATCH", path("webhooks", id), object{"channel_id": other, "name": "settler"}).(object)
	if moved["id"] != id || moved["token"] != token || moved["channel_id"] != other {
		t.Errorf("moved, it is %v", moved)
	}
	w.token = "" // none is needed with the webhook's own
	w.refused(401, 50027, "POST", path("webhooks", id, "guessed"), object{"content": "hear"})
	w.call("DELETE", path("webhooks", id, token), nil)
	w.refused(404, 10015, "POST", path("webhooks", id, token), object{"content": "hear"})
}

// TestWhatGoesWithAChannel is of what named a channel that is deleted.
func TestWhatGoesWithAChannel(t *testing.T) {
	t.Parallel()
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, App: discord.App{Permissions: discord.AllPermissions}})
	category := w.AddChannel(discord.Channel{Name: "rooms", Type: discord.Category})
	child := w.AddChannel(discord.Channel{Name: "child", Parent: category})
	w.AddWebhook(w.general, "hook")
	w.call("POST", path("channels", w.general, "invites"), object{})
	w.RemoveChannel(w.general)
	w.RemoveChannel(category)
	for _, what := range []string{"webhooks", "invites"} {
		if list, _ := w.call("GET", path("guilds", w.guild, what), nil).([]any); len(list) != 0 {
			t.Errorf("its %s are %v", what, list)
		}
	}
	if c, _ := w.call("GET", path("channels", child), nil).(object); c["parent_id"] != nil {
		t.Errorf("without its category, the channel is %v", c)
	}
}

func TestARouteThatIsNotThereIsCounted(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.refused(404, 0, "GET", path("guilds", w.guild, "soundboard-sounds"), nil)
	w.refused(404, 0, "GET", path("guilds", w.guild, "soundboard-sounds"), nil)
	w.refused(405, 0, "DELETE", path("guilds", w.guild, "roles"), nil) // of one that is there
	if diff := cmp.Diff(w.Missing(), []discord.Missing{{Route: "GET /guilds/{id}/soundboard-sounds", Times: 2}}); diff != "" {
		t.Error(diff)
	}
}
