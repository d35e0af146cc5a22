package discord_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/simulate/discord"
)

func TestTheDescriptionIsThere(t *testing.T) {
	t.Parallel()
	if os.Getenv("EARSHOT_TEST_DATA") != "" {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("EARSHOT_TEST_DATA is not set")
	}
	t.Skip("EARSHOT_TEST_DATA is not set: no answer was compared with Discord's description")
}

// TestEachReadIsAnsweredAsDiscordDescribesIt calls every GET once; call compares the
// answers with the description.
func TestEachReadIsAnsweredAsDiscordDescribesIt(t *testing.T) {
	t.Parallel()
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, App: discord.App{Permissions: discord.AllPermissions}})
	forum := w.AddChannel(discord.Channel{Name: "help", Type: discord.Forum})
	category := w.AddChannel(discord.Channel{Name: "rooms", Type: discord.Category})
	w.AddChannel(discord.Channel{Name: "voice", Type: discord.Voice, Parent: category})
	news := w.AddChannel(discord.Channel{Name: "news", Type: discord.Announcement, Topic: "what is new"})
	w.AddChannel(discord.Channel{Name: "secret", Private: true, Members: []string{w.mara}})
	w.AddRole(discord.Role{Name: "team"})
	id := w.Post(discord.PostedMessage{
		Channel: w.general, User: w.mara, Text: "look, <@" + w.sam + ">", Files: []discord.File{{Name: "a.txt", Data: []byte("a")}},
		Embeds: []any{object{"type": "rich", "title": "a title"}}, Stickers: []string{"wave"},
	})
	reply := w.Reply(w.general, id, w.sam, "yes")
	w.React(w.general, id, w.sam, "👍")
	w.Forward(news, w.sam, w.general, id) // not read: the description knows no reference of its type
	thread := w.Thread(w.general, id, w.mara, "a thread")
	w.Say(thread, w.sam, "in it")
	w.EnterThread(thread, w.own)
	old := w.Thread(w.general, "", w.mara, "an old thread")
	w.Archive(old, true)
	post := w.Open(forum, w.mara, "a question", "its text")
	hook := w.AddWebhook(w.general, "news")
	w.Say(w.general, hook.ID, "news")
	gone := w.Say(w.general, w.mara, "soon deleted")
	w.Reply(w.general, gone, w.sam, "what?")
	w.Delete(w.general, gone)
	dm := w.OpenDM(w.mara)
	w.Say(dm, w.mara, "hello")
	w.Pin(w.general, reply, w.mara, true)
	emoji := w.AddEmoji("", "wave")
	role := w.AddRole(discord.Role{Name: "lead", Color: 0xff0000})
	poll := w.post(w.general, object{"poll": object{"question": object{"text": "Where?"}, "answers": []any{object{"poll_media": object{"text": "here", "emoji": object{"name": "👍"}}}}}})
	w.Vote(w.general, poll, w.mara, 1, true)
	w.call("PUT", path("guilds", w.guild, "bans", w.AddUser(discord.User{Name: "troll"})), object{"delete_message_seconds": 60})
	invite, _ := w.call("POST", path("channels", w.general, "invites"), object{"max_age": 0}).(object)
	own, _ := w.call("POST", path("channels", w.general, "webhooks"), object{"name": "own"}).(object)
	command := w.Register(discord.Command{Type: 1, Name: "ask", Description: "asks"})
	application := path("applications", w.App().ID)
	for _, at := range []string{
		path("channels", w.general, "messages", "pins"), path("channels", w.general, "pins"), path("channels", w.general, "messages", poll),
		path("channels", w.general, "polls", poll, "answers", "1"), path("guilds", w.guild, "emojis"), path("guilds", w.guild, "emojis", emoji),
		path("guilds", w.guild, "stickers"), path("guilds", w.guild, "bans"), path("guilds", w.guild, "invites"), path("channels", w.general, "invites"),
		path("invites", invite["code"].(string)) + "?with_counts=true", path("guilds", w.guild, "roles", role), path("guilds", w.guild, "roles", "member-counts"),
		path("guilds", w.guild, "members", "search") + "?query=mar&limit=5", path("guilds", w.guild, "webhooks"), path("channels", w.general, "webhooks"),
		path("webhooks", own["id"].(string)), path("webhooks", own["id"].(string), own["token"].(string)), path("guilds", w.guild, "audit-logs"),
		path("guilds", w.guild, "preview"), path("users", "@me", "guilds", w.guild, "member"), "/sticker-packs", "/voice/regions",
		application + "/commands", application + path("commands", command), application + path("guilds", w.guild, "commands"), application + "/emojis",
		"/gateway", "/gateway/bot", "/users/@me", path("users", w.mara), "/users/@me/guilds", "/applications/@me", "/oauth2/applications/@me",
		path("guilds", w.guild), path("guilds", w.guild, "channels"), path("guilds", w.guild, "roles"),
		path("guilds", w.guild, "members", w.mara), path("guilds", w.guild, "members") + "?limit=10", path("guilds", w.guild, "threads", "active"),
		path("channels", w.general), path("channels", forum), path("channels", thread), path("channels", dm), path("channels", post),
		path("channels", w.general, "messages") + "?limit=100", path("channels", w.general, "messages", id), path("channels", w.general, "messages", reply),
		path("channels", thread, "messages"), path("channels", post, "messages"), path("channels", dm, "messages"),
		path("channels", w.general, "messages", id, "reactions", "👍"),
		path("channels", thread, "thread-members"), path("channels", thread, "thread-members", "@me"), path("channels", thread, "thread-members", w.mara) + "?with_member=true",
		path("channels", w.general, "threads", "archived", "public"), path("channels", w.general, "users", "@me", "threads", "archived", "private"),
		path("webhooks", hook.ID),
	} {
		w.call("GET", at, nil)
		if w.lastStatus != 200 {
			t.Errorf("GET %s ends with %d", at, w.lastStatus)
		}
	}
}

func TestAPageOfMessages(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	ids := make([]string, 10)
	for i := range ids {
		ids[i] = w.Say(w.general, w.mara, fmt.Sprint(i))
	}
	for _, c := range []struct {
		name, query string
		want        []string
	}{
		{"the newest come first", "limit=3", []string{"9", "8", "7"}},
		{"before is exclusive", "limit=2&before=" + ids[5], []string{"4", "3"}},
		{"after is exclusive, and next to it", "limit=2&after=" + ids[5], []string{"7", "6"}},
		{"around has it in its middle", "limit=3&around=" + ids[5], []string{"6", "5", "4"}},
		{"around at the end", "limit=4&around=" + ids[9], []string{"9", "8", "7"}},
		{"after the last is nothing", "after=" + ids[9], nil},
		{"after the beginning is the oldest page", "limit=2&after=0", []string{"1", "0"}},
	} {
		list, _ := w.call("GET", path("channels", w.general, "messages")+"?"+c.query, nil).([]any)
		var got []string
		for _, m := range list {
			got = append(got, m.(object)["content"].(string))
		}
		if diff := cmp.Diff(got, c.want); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	w.refused(400, 50035, "GET", path("channels", w.general, "messages")+"?limit=101", nil)
	w.refused(400, 50035, "GET", path("channels", w.general, "messages")+"?before=yesterday", nil)
}

func TestWhatCannotBeDoneIsRefusedAsDiscordDoes(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	id := w.Say(w.general, w.mara, "hello")
	secret := w.AddChannel(discord.Channel{Name: "secret", Private: true, Members: []string{w.mara}})
	news := w.AddChannel(discord.Channel{Name: "news", ReadOnly: true})
	closed := w.OpenDM(w.AddUser(discord.User{Name: "closed", NoDMs: true}))
	messages := path("channels", w.general, "messages")
	for _, c := range []struct {
		name, method, at string
		body             any
		status, code     int
	}{
		{"an unknown path", "GET", "/thoughts", nil, 404, 0},
		{"an unknown method", "PUT", messages, nil, 405, 0},
		{"an unknown channel", "GET", "/channels/7", nil, 404, 10003},
		{"an unknown guild", "GET", "/guilds/7", nil, 404, 10004},
		{"an unknown message", "GET", path("channels", w.general, "messages", "7"), nil, 404, 10008},
		{"a channel that the bot does not see", "GET", path("channels", secret, "messages"), nil, 403, 50001},
		{"a post where it may not post", "POST", path("channels", news, "messages"), object{"content": "x"}, 403, 50013},
		{"an edit of somebody else's message", "PATCH", path("channels", w.general, "messages", id), object{"content": "x"}, 403, 50005},
		{"deleting it", "DELETE", path("channels", w.general, "messages", id), nil, 403, 50013},
		{"an empty post", "POST", messages, object{"content": ""}, 400, 50006},
		{"a post that is too long", "POST", messages, object{"content": strings.Repeat("ü", 2001)}, 400, 50035},
		{"a nonce that is too long", "POST", messages, object{"content": "x", "nonce": strings.Repeat("n", 26)}, 400, 50035},
		{"content of another type", "POST", messages, object{"content": 7}, 400, 50035},
		{"a reply to what is not there", "POST", messages, object{"content": "x", "message_reference": object{"message_id": "7"}}, 400, 50035},
		{"who takes no direct messages", "POST", path("channels", closed, "messages"), object{"content": "x"}, 403, 50007},
		{"an emoji that is none", "PUT", path("channels", w.general, "messages", id, "reactions", "thumbsup", "@me"), nil, 400, 10014},
		{"a thread without a name", "POST", path("channels", w.general, "messages", id, "threads"), object{"name": ""}, 400, 50035},
		{"who is not in the guild", "GET", path("guilds", w.guild, "members", w.AddUser(discord.User{Outside: true})), nil, 404, 10007},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, _ := w.refused(c.status, c.code, c.method, c.at, c.body).(object)
			if answer["message"] == "" || answer["message"] == nil {
				t.Errorf("the answer has no message: %v", answer)
			}
		})
	}
	answer, _ := w.call("POST", messages, object{"content": strings.Repeat("x", 2001)}).(object)
	want := object{"content": object{"_errors": []any{object{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}}}}
	if diff := cmp.Diff(answer["errors"], any(want)); diff != "" {
		t.Errorf("the form's errors: %s", diff)
	}
	w.token = "another"
	if answer, _ := w.refused(401, 0, "GET", "/users/@me", nil).(object); answer["message"] != "401: Unauthorized" {
		t.Errorf("the answer is %v", answer)
	}
}

func TestANonceMakesAPostTheSame(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	body := object{"content": "once", "nonce": "n1", "enforce_nonce": true}
	first := w.post(w.general, body)
	if again := w.post(w.general, body); again != first {
		t.Errorf("the second post is %s, want the first, %s", again, first)
	}
	delete(body, "enforce_nonce")
	if other := w.post(w.general, body); other == first {
		t.Error("without enforce_nonce, the nonce made the posts the same")
	}
	if by := w.PostsByNonce()["n1"]; len(by) != 2 {
		t.Errorf("%d posts have the nonce, want 2", len(by))
	}
}

func TestAReplyToADeletedMessage(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	id := w.Say(w.general, w.mara, "a question")
	reply := w.Reply(w.general, id, w.sam, "an answer")
	w.Delete(w.general, id)
	m, _ := w.call("GET", path("channels", w.general, "messages", reply), nil).(object)
	if to, has := m["referenced_message"]; !has || to != nil {
		t.Errorf("referenced_message is %v (%t), want null", to, has)
	}
	own := w.post(w.general, object{"content": "x", "message_reference": object{"message_id": id, "fail_if_not_exists": false}})
	m, _ = w.call("GET", path("channels", w.general, "messages", own), nil).(object)
	if m["type"] != 0.0 || m["message_reference"] != nil {
		t.Errorf("the post is %v, want no reply", m)
	}
}

func TestAllowedMentionsAreTheOnlyOnes(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	text := "<@" + w.mara + "> and <@" + w.sam + ">"
	to := w.Say(w.general, w.sam, "hello")
	reference := object{"message_id": to}
	for _, c := range []struct {
		name    string
		allowed any
		want    []string
	}{
		{"all, where nothing is said", nil, []string{w.mara, w.sam}},
		{"none", object{"parse": []any{}}, nil},
		{"one", object{"parse": []any{}, "users": []any{w.mara}}, []string{w.mara}},
		{"who is replied to", object{"parse": []any{}, "replied_user": true}, []string{w.sam}},
	} {
		body := object{"content": text, "message_reference": reference}
		if c.allowed != nil {
			body["allowed_mentions"] = c.allowed
		}
		w.post(w.general, body)
		posts := w.Posts()
		if diff := cmp.Diff(posts[len(posts)-1].Mentions, c.want); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestAThreadHasTheIDOfItsMessage(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	id := w.Say(w.general, w.mara, "a question")
	at := path("channels", w.general, "messages", id, "threads")
	if o, _ := w.call("POST", at, object{"name": "about it"}).(object); o["id"] != id || w.lastStatus != 201 {
		t.Errorf("the thread is %v", o)
	}
	w.refused(400, 160004, "POST", at, object{"name": "again"})
	list, _ := w.call("GET", path("channels", id, "messages"), nil).([]any)
	first, _ := list[0].(object)
	if to, _ := first["referenced_message"].(object); first["type"] != 21.0 || first["content"] != "" || to["id"] != id || to["content"] != "a question" {
		t.Errorf("the thread begins with %v", first)
	}
	m, _ := w.call("GET", path("channels", w.general, "messages", id), nil).(object)
	if th, _ := m["thread"].(object); th["id"] != id || th["name"] != "about it" {
		t.Errorf("the message has the thread %v", m["thread"])
	}
}

func TestMessagesAreDeletedAtOnce(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	admin := w.AddRole(discord.Role{Name: "moderator", Permissions: 1 << 13})
	one, two := w.Say(w.general, w.mara, "one"), w.Say(w.general, w.mara, "two")
	at := path("channels", w.general, "messages", "bulk-delete")
	w.refused(403, 50013, "POST", at, object{"messages": []any{one, two}})
	w.SetMember(w.guild, w.own, "", admin)
	w.refused(400, 50016, "POST", at, object{"messages": []any{one}})
	w.call("POST", at, object{"messages": []any{one, two}})
	if left := w.Messages(w.general); w.lastStatus != 204 || len(left) != 0 {
		t.Errorf("status %d leaves %v", w.lastStatus, left)
	}
}

func TestTheAPIIsFoundUnderEveryPrefix(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	for _, prefix := range []string{"", "/api", "/api/v10", "/v10"} {
		w.apiAddress = w.URL() + prefix
		if me, _ := w.call("GET", "/users/@me", nil).(object); me["id"] != w.own {
			t.Errorf("under %q the bot is %v", prefix, me)
		}
	}
}
