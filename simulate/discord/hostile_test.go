package discord_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/simulate/discord"
)

// TestHostileCallsAreAnswered calls every route again and again with bodies that no bot
// sends. Each must be answered: a panic would break the connection.
func TestHostileCallsAreAnswered(t *testing.T) {
	t.Parallel()
	done := map[string]int{}
	for seed := range uint64(16) {
		h := newHostile(t, seed)
		for range 10 {
			for _, r := range discord.Routes() {
				if h.call(r) {
					done[r[0]]++
				}
			}
		}
	}
	for _, r := range discord.Routes() {
		if done[r[0]] == 0 && r[1] != "GET" && r[1] != "DELETE" && !slices.Contains(never, r[0]) {
			t.Errorf("%s was refused each time: hostile bodies of it were not tried", r[0])
		}
	}
}

// never are the calls that do not come to pass here, or must not.
var never = []string{"leave_guild", "create_guild_sticker", "get_guild_sticker", "get_sticker", "update_guild_sticker", "delete_guild_sticker"} // a sticker comes as a form

// A hostile calls a fake Discord with what is nearly right.
type hostile struct {
	*world
	random *rand.Rand
	ids    map[string][]string // by the name in a path
}

func newHostile(t *testing.T, seed uint64) *hostile {
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, App: discord.App{Permissions: discord.AllPermissions}})
	w.rules = nil // hostile fields are kept as they are where Discord says nothing of them
	h := &hostile{world: w, random: rand.New(rand.NewPCG(seed, 32))}
	forum := w.AddChannel(discord.Channel{Name: "help", Type: discord.Forum})
	category := w.AddChannel(discord.Channel{Name: "rooms", Type: discord.Category})
	message := w.Say(w.general, w.mara, "hello")
	thread := w.Thread(w.general, message, w.mara, "thread")
	other := w.post(w.general, object{"content": "own"})
	poll := w.post(w.general, object{"poll": object{"question": object{"text": "?"}, "answers": []any{object{"poll_media": object{"text": "a"}}}}})
	news := w.AddChannel(discord.Channel{Name: "news", Type: discord.Announcement})
	command := w.Register(discord.Command{Type: 1, Name: "ask", Description: "asks"})
	hook := w.AddWebhook(w.general, "hook")
	g := w.connect(allOf | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<24)
	w.UseCommand(w.general, w.mara, "ask", nil)
	asked := g.want("INTERACTION_CREATE")
	token, _ := asked["token"].(string)
	go func() { // whoever reads nothing is cut
		for {
			if _, _, err := g.conn.ReadMessage(); err != nil {
				return
			}
		}
	}()
	h.ids = map[string][]string{
		"channel": {w.general, w.general, forum, category, thread, news, news, w.OpenDM(w.mara)}, "guild": {w.guild}, "user": {w.mara, w.sam, w.own, "@me"},
		"message": {message, other, poll, w.post(news, object{"content": "news"}), "@original"}, "role": {w.guild, w.AddRole(discord.Role{Name: "role"})}, "emoji": {"👍", "👍", "👍", "x:1", w.AddEmoji("", "wave")},
		"webhook": {hook.ID, w.App().ID}, "token": {hook.Token, token}, "application": {w.App().ID}, "command": {command}, "answer": {"1", "x"},
		"interaction": {w.Interactions()[0].ID}, "overwrite": {w.guild, w.mara}, "sticker": {"7"}, "code": {"x"},
	}
	return h
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// call makes a call of a route, and reports whether it was done.
func (h *hostile) call(r [3]string) bool {
	h.t.Helper()
	if slices.Contains(never, r[0]) || r[1] == "DELETE" && h.random.IntN(2) > 0 || r[0] == "delete_channel" && h.random.IntN(10) > 0 {
		return false
	}
	at := placeholder.ReplaceAllStringFunc(r[2], func(p string) string {
		list := h.ids[p[1:len(p)-1]]
		if len(list) == 0 || h.random.IntN(20) == 0 {
			return fmt.Sprint(h.random.Int64())
		}
		return path(list[h.random.IntN(len(list))])[1:]
	})
	var body any
	if r[1] != "GET" {
		body = h.body(r)
	}
	answer, err := h.try(r[1], at+"?query=m&wait=true&with_components=true&limit="+fmt.Sprint(h.random.IntN(120)), body)
	if err != nil {
		data, _ := json.Marshal(body)
		h.t.Fatalf("%s %s is not answered: %v\n%s", r[1], at, err, data)
	}
	if o, ok := answer.(object); ok && h.lastStatus < 300 {
		h.learn(r, o)
	}
	return h.lastStatus < 300
}

// body is what a call may well have, but for some fields.
func (h *hostile) body(r [3]string) any {
	if h.random.IntN(10) == 0 {
		return []any{h.object(2), nil, h.value("", 1)}
	}
	for _, b := range bodies {
		if !strings.HasSuffix(r[1]+" "+r[2], b.suffix) {
			continue
		}
		var v any
		last := h.ids["message"][len(h.ids["message"])-2:]
		text := strings.NewReplacer("GENERAL", h.general, "MARA", h.mara, "ROLE", h.ids["role"][1], "LAST", last[0], "NEXT", last[1]).Replace(b.json)
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			h.t.Fatal(err)
		}
		if o, ok := v.(object); ok && h.random.IntN(2) == 0 {
			maps.Copy(o, h.object(3))
		}
		return v
	}
	return h.object(3)
}

// bodies are good ones, by the end of a route.
var bodies = []struct{ suffix, json string }{
	{"/messages/bulk-delete", `{"messages":["LAST","NEXT"]}`},
	{"PATCH /guilds/{guild}/channels", `[{"id":"GENERAL","position":3}]`},
	{"PATCH /guilds/{guild}/roles", `[{"id":"ROLE","position":1}]`},
	{"PUT /applications/{application}/commands", `[{"name":"set","description":"sets"}]`},
	{"PUT /applications/{application}/guilds/{guild}/commands", `[{"name":"set","description":"sets"}]`},
	{"/guilds/{guild}/channels", `{"name":"new","type":15,"available_tags":[{"name":"bug"}]}`},
	{"/messages/{message}/threads", `{"name":"thread"}`},
	{"/channels/{channel}/messages", `{"content":"hello","components":[{"type":1,"components":[{"type":2,"style":1,"label":"Go","custom_id":"go"}]}],"poll":{"question":{"text":"?"},"answers":[{"poll_media":{"text":"a"}}]}}`},
	{"/messages/{message}", `{"content":"edited","embeds":[{"title":"t"}]}`},
	{"/messages/@original", `{"content":"edited"}`},
	{"/threads", `{"name":"thread","type":11,"message":{"content":"first"}}`},
	{"/roles", `{"name":"role","permissions":"1024"}`},
	{"/emojis", `{"name":"emoji","image":"data:image/png;base64,AAAA"}`},
	{"/emojis/{emoji}", `{"name":"emoji"}`},
	{"/stickers", `{"name":"sticker","tags":"tag","description":"about"}`},
	{"/stickers/{sticker}", `{"name":"sticker"}`},
	{"/channels/{channel}/webhooks", `{"name":"hook"}`},
	{"/webhooks/{webhook}/{token}", `{"content":"hello","name":"hook"}`},
	{"/webhooks/{webhook}", `{"name":"hook"}`},
	{"/commands", `{"name":"tell","description":"tells","options":[{"type":1,"name":"it","description":"it"}]}`},
	{"/commands/{command}", `{"description":"tells more"}`},
	{"/callback", `{"type":4,"data":{"content":"answer"}}`},
	{"/users/@me/channels", `{"recipient_id":"MARA"}`},
	{"/permissions/{overwrite}", `{"type":1,"allow":"1024","deny":"2048"}`},
	{"/followers", `{"webhook_channel_id":"GENERAL"}`},
	{"/users/@me", `{"username":"renamed"}`},
}

// learn keeps what a call has made, so that later calls name it.
func (h *hostile) learn(r [3]string, o object) {
	id, _ := o["id"].(string)
	for suffix, kind := range map[string]string{"/channels": "channel", "/threads": "channel", "/messages": "message", "/webhooks/{webhook}/{token}": "message", "/roles": "role", "/emojis": "emoji", "/stickers": "sticker", "/webhooks": "webhook", "/commands": "command"} {
		if r[1] == "POST" && strings.HasSuffix(r[2], suffix) && id != "" && len(h.ids[kind]) < 8 {
			h.ids[kind] = append(h.ids[kind], id)
		}
	}
	if token, ok := o["token"].(string); ok {
		h.ids["token"] = append(h.ids["token"], token)
	}
	if code, ok := o["code"].(string); ok {
		h.ids["code"] = append(h.ids["code"], code)
	}
}

// names are the fields that calls read.
var names = strings.Fields(`content embeds components flags name type topic parent_id position permission_overwrites available_tags applied_tags
	default_reaction_emoji nsfw rate_limit_per_user auto_archive_duration archived locked permissions color colors hoist mentionable nick roles mute
	communication_disabled_until delete_message_seconds image description tags options choices autocomplete poll question answers poll_media text
	duration allow_multiselect allowed_mentions parse users replied_user message_reference message_id channel_id message messages attachments id
	sticker_ids nonce enforce_nonce data custom_id title style label min_values max_values accessory thread_name username avatar_url allow deny
	max_age max_uses webhook_channel_id recipient_id fields value footer author required min_length max_length component placeholder emoji`)

func (h *hostile) object(depth int) object {
	o := object{}
	for range h.random.IntN(9) {
		key := names[h.random.IntN(len(names))]
		o[key] = h.value(key, depth)
	}
	return o
}

// value is one of any kind, often of the kind that a field has.
func (h *hostile) value(key string, depth int) any {
	if depth > 0 && h.random.IntN(3) == 0 {
		switch key {
		case "data", "message", "poll", "question", "poll_media", "component", "accessory", "allowed_mentions", "message_reference", "footer", "author", "colors", "default_reaction_emoji":
			return h.object(depth - 1)
		}
		list := []any{}
		for range h.random.IntN(4) {
			list = append(list, h.value("", depth-1), h.object(depth-1))
		}
		return list
	}
	switch h.random.IntN(9) {
	case 0:
		return nil
	case 1:
		return h.random.IntN(20)
	case 2:
		return h.random.Int64() - h.random.Int64()
	case 3:
		return h.random.IntN(2) == 0
	case 4:
		return strings.Repeat("é\x00", h.random.IntN(3000))
	case 5:
		return 1e300
	}
	var all []string
	for _, k := range []string{"channel", "user", "message", "role", "guild"} {
		all = append(all, h.ids[k]...)
	}
	return append(all, "a name", "0", "-1", "data:image/png;base64,AAAA", "2026-12-01T00:00:00Z", "x")[h.random.IntN(len(all)+6)]
}
