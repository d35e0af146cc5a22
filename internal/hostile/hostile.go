// Package hostile makes calls of tools that try to reach another channel, for tests
// of whoever answers them: package tools, the sidecar over HTTP, and over MCP.
//
// [Call] makes one. [Scopes] are the channels that it tries to reach, in which a test
// stores texts with [Canary], a word of each channel's own.
package hostile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/tools"
)

// The channels that are tried: 52 in 4 workspaces, with the same ids in each.
const (
	Workspaces   = 4
	PerWorkspace = 13
)

// Scopes returns the channels: C0 to C12 of T0, then those of T1, and so on.
func Scopes() []earshot.Scope {
	var list []earshot.Scope
	for w := range Workspaces {
		for n := range PerWorkspace {
			list = append(list, earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(fmt.Sprintf("T%d", w)), Channel: earshot.ChannelID(fmt.Sprintf("C%d", n))})
		}
	}
	return list
}

// Canary returns the word of the channel with this index in [Scopes].
func Canary(i int) string { return fmt.Sprintf("canary%dx%d", i/PerWorkspace, i%PerWorkspace) }

// Call makes a call that tries to reach o, or whatever it can. Most calls are nearly
// right, so that some of them find something in the channel that they are made in:
// its messages have to be m0 (the root of m1 to m5) to m9 with the files F0 to F9, and
// to say "deploy".
func Call(rng *rand.Rand, o earshot.Scope) (tool, args string) {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	id := pick("m0", "m3", "m9", "zz", "../"+string(o.Channel)+"/m1", string(o.Workspace)+":"+string(o.Channel)+":m1", "m%", "m1' OR 1=1 --", "*")
	artifact := pick("F0", "F3", "F9", "zz", "../"+string(o.Channel)+"/F1", string(o.Workspace)+":"+string(o.Channel)+":F1", "F%", "https://files.example/F1", "m1")
	key := pick("channel", "Channel", "scope", "workspace", "channel_id", "conversation", "agent", "thread_id", "Thread_ID", "media_artifact_id", "query", "intent", "INTENT", "__proto__", "\\u0069ntent")
	word := pick("deploy", "canary", Canary(rng.IntN(Workspaces*PerWorkspace)), "\"says deploy\"", "in:#"+string(o.Channel), "workspace:"+string(o.Workspace), "%", "*", "' OR ''='")
	if rng.IntN(20) == 0 {
		return pick(tools.ChannelContext, tools.ChannelMessages, tools.ConversationSearch), brokenArgs(rng, o, key, word)
	}
	switch rng.IntN(7) {
	case 0, 1, 2:
		return tools.ChannelContext, pick(
			fmt.Sprintf(`{"intent":%s}`, quoteJSON(word)),
			fmt.Sprintf(`{"intent":%s,"authors":["U1","Alice"],"max_results":50}`, quoteJSON(word)),
			fmt.Sprintf(`{"intent":%s,"%s":%s}`, quoteJSON(word), key, quoteJSON(string(o.Channel))),
			fmt.Sprintf(`{"%s":%s,"intent":%s}`, key, quoteJSON(string(o.Channel)), quoteJSON(word)),
			fmt.Sprintf(`{"intent":%s,"since":"1970-01-01"}`, quoteJSON(word)))
	case 3, 4:
		return tools.ChannelMessages, pick(
			fmt.Sprintf(`{"thread_id":%s}`, quoteJSON(id)),
			fmt.Sprintf(`{"thread_id":%s,"%s":%s}`, quoteJSON(id), key, quoteJSON(string(o.Channel))),
			fmt.Sprintf(`{"message_ids":[%s,"m2",%s],"max_replies":200}`, quoteJSON(id), quoteJSON(id)),
			fmt.Sprintf(`{"message_ids":[%s],"message_ids":["m1"]}`, quoteJSON(id)))
	case 5:
		return tools.ChannelMessages, pick(
			fmt.Sprintf(`{"media_artifact_id":%s}`, quoteJSON(artifact)),
			fmt.Sprintf(`{"media_artifact_id":%s,"%s":%s}`, quoteJSON(artifact), key, quoteJSON(string(o.Channel))),
			fmt.Sprintf(`{"media_artifact_id":%s,"thread_id":%s}`, quoteJSON(artifact), quoteJSON(id)))
	}
	return tools.ConversationSearch, pick(
		fmt.Sprintf(`{"query":%s}`, quoteJSON(word)),
		fmt.Sprintf(`{"query":%s,"limit":20}`, quoteJSON(word)),
		fmt.Sprintf(`{"query":%s,"%s":%s}`, quoteJSON(word), key, quoteJSON(string(o.Channel))))
}

// Queries are searches in the syntax of engines, and texts that look like others.
var queries = []string{
	`channel:C1 OR deploy`, `"deploy" NEAR/2 says*`, `text:deploy`, `deploy AND NOT zz`, `^deploy`, `-deploy`, `deploy & !zz`, `'says':*`, `{text author}: deploy`, `*`, `"`, `(((`,
	"deploy\u0000zz", "ｄｅｐｌｏｙ", "dеploy", "deploy\u202e", "\u2028deploy", "de\u200bploy", "DEPLOY", `\`, "deploy\nchannel: C1", "<@U1>", "<#C1|general>",
}

// brokenArgs makes arguments that are no tool's, in shape or in size.
func brokenArgs(rng *rand.Rand, o earshot.Scope, key, word string) string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	channel := quoteJSON(string(o.Channel))
	switch rng.IntN(9) {
	case 0: // nested where a text or a list belongs
		inner := pick(fmt.Sprintf(`{"channel":%s}`, channel), fmt.Sprintf(`[%s]`, channel), fmt.Sprintf(`{"$ne":%s}`, quoteJSON(word)), `null`, `7`, `true`)
		return fmt.Sprintf(`{"%s":%s}`, pick("intent", "query", "thread_id", "message_ids", "media_artifact_id", key), inner)
	case 1: // a second value
		return fmt.Sprintf(`{"intent":"deploy"}%s{"intent":"deploy","channel":%s}`, pick("", " ", "\n"), channel)
	case 2:
		return strings.Repeat(pick("[", `{"intent":`), 65+rng.IntN(200))
	case 3: // long, in one way or another
		return fmt.Sprintf(`{"%s":%s}`, pick("intent", "query", "thread_id"), quoteJSON(strings.Repeat(pick(word+" ", "deploy ", "x", "\u0301", "\""), 1+rng.IntN(4000))))
	case 4: // many ids
		ids := strings.TrimSuffix(strings.Repeat(quoteJSON(pick("m1", string(o.Channel)+"/m1"))+",", 1+rng.IntN(300)), ",")
		return fmt.Sprintf(`{"message_ids":[%s]}`, ids)
	case 5:
		return pick("", "null", "[]", `"deploy"`, "0", "{", "\ufeff{}", `{"intent":"\ud800 deploy"}`, "{\"intent\":\"\xff deploy\"}", `{"intent":deploy}`, `{'intent':'deploy'}`)
	case 6:
		return fmt.Sprintf(`{"%s":%s,"max_results":%s}`, pick("intent", "query"), quoteJSON(word), pick("0", "-1", "51", "1e9", "1.5", `"8"`, "99999999999999999999"))
	case 7:
		return fmt.Sprintf(`{"authors":[%s],"intent":%s}`, quoteJSON(pick("Mallory", "U0BOT", "U1' --", "%", "*")), quoteJSON(word))
	}
	return fmt.Sprintf(`{"%s":%s}`, pick("intent", "query"), quoteJSON(pick(queries...)))
}

// quoteJSON writes a JSON string.
func quoteJSON(s string) string {
	b, _ := json.Marshal(s) //nolint:errchkjson // a string
	return string(b)
}
