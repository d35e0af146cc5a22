package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// origin returns the address of a page without its path and token.
func origin(t *testing.T, page string) string {
	t.Helper()
	u, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	return u.Scheme + "://" + u.Host
}

// serve starts the daemon on the local platform, over a store.
func serve(t *testing.T, db string, environ ...string) *Running {
	t.Helper()
	return runs(t, environ, "serve", "--platform", "local", "--db", db, "--listen", "127.0.0.1:0", "--inspect", "127.0.0.1:0")
}

// Whatever people, platforms and models say, it stays text: nothing of it runs, nothing
// is fetched, and no page breaks.
func TestNothingThatIsSaidRuns(t *testing.T) {
	t.Parallel()
	needs(t)
	db, channels := naughtyStore(t)
	model := newModel(t)
	r := serve(t, db, model.settings()...)
	play(t, "naughty.mjs", map[string]any{
		"url": origin(t, r.Page), "link": r.Page, "channels": channels, "naughty": naughty, "live": "room",
		"front": "http://" + r.Front, "frontToken": r.Token,
	})
}

// The page of a daemon lets in whom the operator lets in, and changes nothing for others.
func TestOnlyOperatorsChangeSomething(t *testing.T) {
	t.Parallel()
	needs(t)
	x := newExport(t)
	x.channel("general", "general", "")
	x.message("general", "m1", person("ana", "Ana"), "the import workers run again", nil)
	db := x.done()
	ana := earshot.Author{ID: "ana", Name: "Ana", Kind: earshot.Human}
	discard := park(t, db, "general", earshot.Message{ID: "q1", Author: ana, Text: "@earshot is this to be discarded?"}, "nobody knows whether the answer arrived")
	again := park(t, db, "general", earshot.Message{ID: "q2", Author: ana, Text: "@earshot is this to be asked again?"}, "nobody knows whether the answer arrived")
	deploy := wait(t, db, "general", earshot.Message{ID: "q3", Author: ana, Text: "@earshot deploy it"}, "deploy", `{"to":"staging"}`)
	drop := wait(t, db, "general", earshot.Message{ID: "q4", Author: ana, Text: "@earshot drop it"}, "drop", `{"table":"all"}`)
	endless := wait(t, db, "general", earshot.Message{ID: "q5", Author: ana, Text: "@earshot count to a million"}, "count", `{"to":1000000}`)
	viewer := command(t, "key", "create", "--db", db, "--name", "viewer", "--read-only")
	r := serve(t, db)
	play(t, "operator.mjs", map[string]any{
		"url": origin(t, r.Page), "link": r.Page, "viewer": viewer, "discard": discard, "retry": again,
		"deploy": deploy, "drop": drop, "endless": endless,
		"question": "is this to be discarded?", "again": "is this to be asked again?",
		"changes": []string{
			fmt.Sprintf("/turns/%d/retry", again), fmt.Sprintf("/turns/%d/discard", again),
			fmt.Sprintf("/turns/%d/stop", endless), "/approvals/ask-q3", "/chat/say", "/chat/edit", "/chat/delete", "/chat/choose",
		},
	})
	if strings.Contains(r.Logged(), "discarded?") {
		t.Error("the log has a message")
	}
}

// People talk on the page, and see what others and the bot say at once.
func TestPeopleChat(t *testing.T) {
	t.Parallel()
	needs(t)
	x := newExport(t)
	x.channel("general", "general", "what everybody should know")
	x.message("general", "m1", person("ana", "Ana"), "the import workers run again", nil)
	x.message("general", "m2", person("bo", "Bo"), "good, then I order the parcel", nil)
	model := newModel(t)
	r := serve(t, x.done(), model.settings()...)
	play(t, "chat.mjs", map[string]any{"url": origin(t, r.Page), "link": r.Page, "model": model.URL, "begin": strings.TrimSpace(slowBegin), "end": slowEnd})
}

// A channel of many messages is shown by pages.
func TestALongChannelOpensAtOnce(t *testing.T) {
	t.Parallel()
	needs(t)
	const messages = 100_000
	db := wideStore(t, messages)
	r := serve(t, db)
	play(t, "speed.mjs", map[string]any{"url": r.Page, "newest": "message 99999 of many"})
}

// A stranger's minute with the demo.
func TestTheDemoIsUnderstood(t *testing.T) {
	t.Parallel()
	needs(t)
	r := demo(t)
	play(t, "story.mjs", map[string]any{"url": r.Page})
}

// Every view of the demo is one that people use who cannot see, or have no mouse.
func TestTheViewsAreForEverybody(t *testing.T) {
	t.Parallel()
	needs(t)
	r := demo(t)
	given := func() map[string]any {
		return map[string]any{"url": r.Page, "seeds": []string{"/", "/turns/1", "/turns/2", "/turns/2/what-if?budget=900", "/nowhere"}}
	}
	play(t, "prepare.mjs", given())
	play(t, "axe.mjs", given())
	play(t, "keyboard.mjs", given())
}

// What the bot asks before a tool acts is answered on the page, by everybody.
func TestAQuestionOfTheBotIsAnsweredOnThePage(t *testing.T) {
	t.Parallel()
	needs(t)
	r := runs(t, nil, "demo", "--tools", "--inspect", "127.0.0.1:0")
	at := "/chat?platform=slack&workspace=T0HARBOR&channel=C0DEPLOYS&thread=1773150006.568509"
	play(t, "axe.mjs", map[string]any{"url": r.Page, "seeds": []string{at}, "most": 1})
	play(t, "hands.mjs", map[string]any{"url": r.Page, "at": at})
}

// demo starts the README's demo with its page.
func demo(t *testing.T) *Running {
	t.Helper()
	return runs(t, nil, "demo", "--inspect", "127.0.0.1:0", "--db", filepath.Join(t.TempDir(), "demo.db"))
}
