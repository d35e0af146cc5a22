package discord_test

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/simulate/discord"
)

func TestABotHearsWhatIsSaidAndAnswers(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	id := w.Say(w.general, w.mara, "<@"+w.own+"> hello")
	m := g.want("MESSAGE_CREATE")
	if m["id"] != id || m["guild_id"] != w.guild || m["content"] != "<@"+w.own+"> hello" || m["member"] == nil {
		t.Errorf("the event is %v", m)
	}
	answer := w.post(w.general, object{"content": "Hello!", "nonce": "n1", "enforce_nonce": true, "message_reference": object{"message_id": id}})
	m = g.want("MESSAGE_CREATE")
	if m["id"] != answer || m["nonce"] != "n1" || m["type"] != 19.0 {
		t.Errorf("the event of the own message is %v", m)
	}
	if to, _ := m["referenced_message"].(object); to["id"] != id {
		t.Errorf("the reply refers to %v", m["referenced_message"])
	}
	w.call("PATCH", path("channels", w.general, "messages", answer), object{"content": "Hello, Mara!"})
	if m = g.want("MESSAGE_UPDATE"); m["content"] != "Hello, Mara!" || m["edited_timestamp"] == nil || m["author"] == nil {
		t.Errorf("the update is %v", m)
	}
	if posts := w.Posts(); len(posts) != 1 || posts[0].Content != "Hello, Mara!" || !posts[0].Edited || posts[0].Reply != id {
		t.Errorf("people see %+v", posts)
	}
}

func TestASessionIsResumedWhereItStopped(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	w.Say(w.general, w.mara, "one")
	g.want("MESSAGE_CREATE")
	seq := g.seq
	w.Inject(discord.Fault{Kind: discord.CutSocket, On: "MESSAGE_CREATE", Times: 1})
	w.Say(w.general, w.mara, "two")
	if code := g.closed(); code != 0 {
		t.Errorf("the socket was closed with %d, want to find it broken", code)
	}
	w.Say(w.general, w.mara, "three")
	again := dial(t, g.at)
	again.resume(w.token, g.id, seq)
	for _, want := range []string{"two", "three"} {
		if m := again.want("MESSAGE_CREATE"); m["content"] != want {
			t.Errorf("replayed %v, want %q", m["content"], want)
		}
	}
	again.want("RESUMED")
	w.Say(w.general, w.mara, "four")
	if m := again.want("MESSAGE_CREATE"); m["content"] != "four" {
		t.Errorf("after the resume comes %v", m)
	}
}

func TestASessionThatIsTooOldIsInvalid(t *testing.T) {
	t.Parallel()
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, Buffer: 3})
	g := w.connect(allOf)
	seq := g.seq
	w.Cut()
	g.closed()
	for range 4 {
		w.Say(w.general, w.mara, "while it was away")
	}
	for _, c := range []struct {
		name, session string
		seq           int64
	}{{"the events are no longer kept", g.id, seq}, {"an unknown session", "none", 1}} {
		again := dial(t, g.at)
		again.resume(w.token, c.session, c.seq)
		if p := again.read(); p.Op != 9 || string(p.D) != "false" {
			t.Errorf("%s: the answer is op %d %s, want 9 false", c.name, p.Op, p.D)
		}
	}
}

func TestACloseCodeSaysWhatWasWrong(t *testing.T) {
	t.Parallel()
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, NoMessageContent: true, NoMembers: true})
	identify := func(d object) object { return object{"op": 2, "d": d} }
	properties := object{"os": "linux", "browser": "test", "device": "test"}
	for _, c := range []struct {
		name  string
		frame object
		want  int
	}{
		{"an unknown opcode", object{"op": 99}, 4001},
		{"no opcode", object{"d": 1}, 4002},
		{"a frame before the identify", object{"op": 3, "d": object{}}, 4003},
		{"another token", identify(object{"token": "x", "intents": 1, "properties": properties}), 4004},
		{"a shard that is none", identify(object{"token": w.token, "intents": 1, "properties": properties, "shard": []int{2, 2}}), 4010},
		{"an intent that is none", identify(object{"token": w.token, "intents": 1 << 30, "properties": properties}), 4013},
		{"message content that was not granted", identify(object{"token": w.token, "intents": 1 << 15, "properties": properties}), 4014},
		{"members that were not granted", identify(object{"token": w.token, "intents": 1 << 1, "properties": properties}), 4014},
	} {
		g := dial(t, w.GatewayURL())
		g.send(c.frame)
		if got := g.closed(); got != c.want {
			t.Errorf("%s: closed with %d, want %d", c.name, got, c.want)
		}
	}
	g := w.connect(1)
	g.identify(w.token, 1)
	if got := g.closed(); got != 4005 {
		t.Errorf("a second identify: closed with %d, want 4005", got)
	}
	again := dial(t, g.at)
	again.resume(w.token, g.id, g.seq+7)
	if got := again.closed(); got != 4007 {
		t.Errorf("a sequence that was not sent: closed with %d, want 4007", got)
	}
}

func TestIdentifiesAreFiveSecondsApart(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	w := start(t, &discord.Options{Unlimited: true, Now: func() time.Time { return now }})
	w.connect(1)
	g := dial(t, w.GatewayURL())
	g.identify(w.token, 1)
	if p := g.read(); p.Op != 9 || string(p.D) != "false" {
		t.Errorf("the second identify is answered with op %d %s, want 9 false", p.Op, p.D)
	}
}

func TestWithoutMessageContentOnlySomeMessagesHaveIt(t *testing.T) {
	t.Parallel()
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, NoMessageContent: true})
	g := w.connect(allOf &^ (1 << 15))
	dm := w.OpenDM(w.mara)
	file := discord.File{Name: "a.txt", Data: []byte("a")}
	for _, c := range []struct {
		name string
		do   func() string
		want bool
	}{
		{"what somebody says", func() string { return w.Upload(w.general, w.mara, "hello", file) }, false},
		{"a mention", func() string { return w.Upload(w.general, w.mara, "<@"+w.own+"> hello", file) }, true},
		{"a direct message", func() string { return w.Upload(dm, w.mara, "hello", file) }, true},
		{"a reply to the bot", func() string {
			own := w.post(w.general, object{"content": "own"})
			if m := g.want("MESSAGE_CREATE"); m["content"] != "own" {
				t.Errorf("the own message has the content %v", m["content"])
			}
			return w.Post(discord.PostedMessage{Channel: w.general, User: w.mara, Text: "thanks", Reply: own, Files: []discord.File{file}})
		}, true},
		{"a silent reply to the bot", func() string {
			return w.Post(discord.PostedMessage{Channel: w.general, User: w.mara, Text: "x", Reply: w.Posts()[0].ID, Silent: true, Files: []discord.File{file}})
		}, false},
	} {
		id := c.do()
		m := g.want("MESSAGE_CREATE")
		files, _ := m["attachments"].([]any)
		if has := m["content"] != ""; has != c.want || (len(files) > 0) != c.want {
			t.Errorf("%s: the event has content %q and %d files, want them %t", c.name, m["content"], len(files), c.want)
		}
		channel, _ := m["channel_id"].(string)
		m, _ = w.call("GET", path("channels", channel, "messages", id), nil).(object)
		if has := m["content"] != ""; has != c.want {
			t.Errorf("%s: the API has content %q, want it %t", c.name, m["content"], c.want)
		}
	}
}

func TestEventsAreThoseOfTheIntents(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	all, few := w.connect(allOf), w.connect(1<<0|1<<12)
	dm := w.OpenDM(w.mara)
	id := w.Say(w.general, w.mara, "hello")
	w.React(w.general, id, w.sam, "👍")
	w.Type(w.general, w.sam)
	w.Edit(w.general, id, "hello!")
	w.Unreact(w.general, id, w.sam, "👍")
	w.React(w.general, id, w.sam, "party:1100000000000000009")
	w.ClearReactions(w.general, id, "party:1100000000000000009")
	w.ClearReactions(w.general, id, "")
	two, three := w.Say(w.general, w.sam, "two"), w.Say(w.general, w.sam, "three")
	w.BulkDelete(w.general, two, three)
	w.Delete(w.general, id)
	w.SetMember(w.guild, w.mara, "M.")
	w.RenameChannel(w.general, "everything")
	w.Say(dm, w.mara, "hello")
	for _, kind := range []string{
		"MESSAGE_CREATE", "MESSAGE_REACTION_ADD", "TYPING_START", "MESSAGE_UPDATE", "MESSAGE_REACTION_REMOVE", "MESSAGE_REACTION_ADD",
		"MESSAGE_REACTION_REMOVE_EMOJI", "MESSAGE_REACTION_REMOVE_ALL", "MESSAGE_CREATE", "MESSAGE_CREATE", "MESSAGE_DELETE_BULK", "MESSAGE_DELETE",
		"GUILD_MEMBER_UPDATE", "CHANNEL_UPDATE", "MESSAGE_CREATE",
	} {
		all.want(kind)
	}
	few.want("CHANNEL_UPDATE")
	if m := few.want("MESSAGE_CREATE"); m["content"] != "hello" || m["guild_id"] != nil || m["member"] != nil {
		t.Errorf("the direct message is %v", m)
	}
}

func TestThreadsAndForumPostsAreTold(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	forum := w.AddChannel(discord.Channel{Name: "help", Type: discord.Forum})
	g := w.connect(allOf)
	id := w.Say(w.general, w.mara, "a question")
	g.want("MESSAGE_CREATE")
	w.Thread(w.general, id, w.mara, "about it")
	if th := g.want("THREAD_CREATE"); th["id"] != id || th["parent_id"] != w.general || th["newly_created"] != true {
		t.Errorf("the thread is %v", th)
	}
	if m := g.want("MESSAGE_UPDATE"); m["thread"] == nil || m["edited_timestamp"] != nil {
		t.Errorf("the message with the thread is %v", m)
	}
	if m := g.want("MESSAGE_CREATE"); m["type"] != 21.0 || m["channel_id"] != id {
		t.Errorf("the thread begins with %v", m)
	}
	w.Say(id, w.sam, "an answer")
	g.want("THREAD_MEMBERS_UPDATE") // of sam, by the intent of members
	if m := g.want("MESSAGE_CREATE"); m["channel_id"] != id || m["position"] == nil {
		t.Errorf("the message in the thread is %v", m)
	}
	empty := w.Thread(w.general, "", w.mara, "without a message")
	g.want("THREAD_CREATE")
	if m := g.want("MESSAGE_CREATE"); m["type"] != 18.0 || m["content"] != "without a message" || m["message_reference"].(object)["channel_id"] != empty {
		t.Errorf("the channel says of it %v", m)
	}
	post := w.Open(forum, w.mara, "how?", "its body")
	if th := g.want("THREAD_CREATE"); th["id"] != post || th["parent_id"] != forum {
		t.Errorf("the forum's post is %v", th)
	}
	if m := g.want("MESSAGE_CREATE"); m["id"] != post || m["channel_id"] != post || m["content"] != "its body" {
		t.Errorf("its body is %v", m)
	}
	private := w.PrivateThread(w.general, w.mara, "private", w.sam)
	w.Say(private, w.sam, "not for the bot")
	w.EnterThread(private, w.own)
	if th := g.want("THREAD_CREATE"); th["id"] != private || th["member"] == nil {
		t.Errorf("the private thread that the bot was added to is %v", th)
	}
	g.want("THREAD_MEMBERS_UPDATE")
	w.Say(private, w.sam, "for the bot")
	if m := g.want("MESSAGE_CREATE"); m["content"] != "for the bot" {
		t.Errorf("in it the bot hears %v", m["content"])
	}
	w.LeaveThread(private, w.own)
	g.want("THREAD_MEMBERS_UPDATE")
	w.Archive(id, true)
	if th := g.want("THREAD_UPDATE"); th["thread_metadata"].(object)["archived"] != true {
		t.Errorf("the archived thread is %v", th)
	}
	w.RemoveChannel(id)
	g.want("THREAD_DELETE")
}

func TestAForwardKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	other := w.AddChannel(discord.Channel{Name: "other"})
	g.want("CHANNEL_CREATE")
	id := w.Say(other, w.mara, "a fact")
	g.want("MESSAGE_CREATE")
	w.Forward(w.general, w.sam, other, id)
	w.Edit(other, id, "another fact")
	m := g.want("MESSAGE_CREATE")
	shots, _ := m["message_snapshots"].([]any)
	if len(shots) != 1 || m["content"] != "" || m["message_reference"].(object)["type"] != 1.0 {
		t.Fatalf("the forward is %v", m)
	}
	shot, _ := shots[0].(object)["message"].(object)
	if shot["content"] != "a fact" || shot["author"] != nil {
		t.Errorf("the snapshot is %v", shot)
	}
}

func TestAProxyPostsAgainAndDeletes(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	original, proxied := w.Proxy(w.general, w.mara, "hello", "Luna")
	if m := g.want("MESSAGE_CREATE"); m["id"] != original {
		t.Errorf("first comes %v", m)
	}
	m := g.want("MESSAGE_CREATE")
	author, _ := m["author"].(object)
	if m["id"] != proxied || m["webhook_id"] != author["id"] || author["username"] != "Luna" || author["discriminator"] != "0000" || m["member"] != nil {
		t.Errorf("then comes %v", m)
	}
	if m := g.want("MESSAGE_DELETE"); m["id"] != original {
		t.Errorf("deleted was %v", m)
	}
}

func TestAHiddenChannelIsSaidToBeThere(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	secret := w.AddChannel(discord.Channel{Name: "secret", Private: true, Members: []string{w.mara}})
	thread := w.Thread(secret, w.Say(secret, w.mara, "x"), w.mara, "a thread")
	g := dial(t, w.GatewayURL())
	g.identify(w.token, allOf)
	g.want("READY")
	guild := g.want("GUILD_CREATE")
	for _, v := range guild["channels"].([]any) {
		c, _ := v.(object)
		if hidden := c["name"] == "___hidden___"; hidden != (c["id"] == secret) {
			t.Errorf("the guild has the channel %v", c)
		}
	}
	if len(guild["threads"].([]any)) != 0 {
		t.Errorf("the guild has the threads %v", guild["threads"])
	}
	w.Say(secret, w.mara, "not for the bot")
	w.LetIn(secret, w.own)
	if c := g.want("CHANNEL_UPDATE"); c["name"] != "secret" {
		t.Errorf("the bot sees %v", c)
	}
	if sync := g.want("THREAD_LIST_SYNC"); len(sync["threads"].([]any)) != 1 || sync["threads"].([]any)[0].(object)["id"] != thread {
		t.Errorf("and the threads %v", sync)
	}
	w.Say(secret, w.mara, "for the bot")
	if m := g.want("MESSAGE_CREATE"); m["content"] != "for the bot" {
		t.Errorf("it hears %v", m)
	}
	w.ShutOut(secret, w.own)
	if c := g.want("CHANNEL_UPDATE"); c["name"] != "___hidden___" {
		t.Errorf("the bot still sees %v", c)
	}
}

func TestABotJoinsAndLeavesAGuild(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	other := w.AddGuild(discord.Guild{Name: "Other"})
	if o := g.want("GUILD_CREATE"); o["id"] != other || o["name"] != "Other" {
		t.Errorf("the bot joins %v", o)
	}
	w.Outage(other, true)
	if o := g.want("GUILD_DELETE"); o["unavailable"] != true {
		t.Errorf("the outage is %v", o)
	}
	w.Outage(other, false)
	g.want("GUILD_CREATE")
	w.Leave(other, w.own)
	if o := g.want("GUILD_DELETE"); o["id"] != other || o["unavailable"] != nil {
		t.Errorf("the bot leaves %v", o)
	}
	w.refused(404, 10004, "GET", path("guilds", other), nil)
}

func TestAShardHasItsGuilds(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	other := w.AddGuild(discord.Guild{ID: "1100000000004194306", Name: "Other"}) // of the other shard
	dm := w.OpenDM(w.mara)
	got := map[any]int{}
	for shard := range 2 {
		g := dial(t, w.GatewayURL())
		g.send(object{"op": 2, "d": object{"token": w.token, "intents": allOf, "properties": object{}, "shard": []int{shard, 2}}})
		ready := g.want("READY")
		for _, v := range ready["guilds"].([]any) {
			got[v.(object)["id"]] = shard
			g.want("GUILD_CREATE")
		}
		if shard == 0 {
			w.Say(dm, w.mara, "hello")
			g.want("MESSAGE_CREATE")
		}
	}
	if len(got) != 2 || got[w.guild] == got[other] {
		t.Errorf("the shards of the guilds are %v", got)
	}
}

func TestAZlibStreamIsReadByTheStandardLibrary(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	conn, res, err := websocket.DefaultDialer.DialContext(t.Context(), w.GatewayURL()+"?v=10&encoding=json&compress=zlib-stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	defer conn.Close()
	var stream bytes.Buffer
	var unzip io.Reader
	for i, op := range []int{10, 0} {
		kind, data, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if kind != websocket.BinaryMessage || !bytes.HasSuffix(data, []byte{0, 0, 0xff, 0xff}) {
			t.Fatalf("frame %d is of kind %d and ends with % x", i, kind, data[max(0, len(data)-4):])
		}
		stream.Write(data)
		if unzip == nil {
			if unzip, err = zlib.NewReader(&stream); err != nil {
				t.Fatal(err)
			}
		}
		var p payload
		if err := json.NewDecoder(unzip).Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.Op != op {
			t.Errorf("frame %d has op %d, want %d", i, p.Op, op)
		}
		if i == 0 {
			if err := conn.WriteJSON(object{"op": 2, "d": object{"token": w.token, "intents": 1, "properties": object{}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
