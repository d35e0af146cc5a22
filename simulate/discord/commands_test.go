package discord_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/simulate/discord"
)

func question(most int) object {
	return object{"type": 3, "name": "question", "description": "what it is", "required": true, "max_length": most}
}

func TestCommandsAreRegistered(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	at := "/applications/" + w.App().ID + "/commands"
	ask := w.call("POST", at, object{"name": "ask", "description": "asks", "options": []any{question(9)}, "description_localizations": object{"de": "fragt"}}).(object)
	if w.lastStatus != 201 || ask["application_id"] != w.App().ID || ask["type"] != 1.0 {
		t.Errorf("status %d: %v", w.lastStatus, ask)
	}
	again := w.call("POST", at, object{"name": "ask", "description": "asks again"}).(object)
	if w.lastStatus != 200 || again["id"] != ask["id"] {
		t.Errorf("a command of the same name: status %d, %v", w.lastStatus, again)
	}
	one := at + "/" + ask["id"].(string)
	w.call("PATCH", one, object{"description": "asks once more", "description_localizations": object{"de": "fragt"}})
	if got := w.call("GET", one, nil).(object); got["description"] != "asks once more" || got["name"] != "ask" {
		t.Errorf("changed it is %v", got)
	}
	list := func(query string) object { return w.call("GET", at+query, nil).([]any)[0].(object) }
	if plain, all := list(""), list("?with_localizations=true"); plain["description_localizations"] != nil || all["description_localizations"] == nil {
		t.Errorf("listed are %v and %v", plain, all)
	}
	w.call("PUT", at, []any{object{"name": "ask", "description": "one", "options": []any{question(9)}}, object{"name": "Look at this", "type": 3}})
	want := []discord.Command{{ID: ask["id"].(string), Type: 1, Name: "ask", Description: "one"}, {ID: w.Commands()[1].ID, Type: 3, Name: "Look at this"}}
	if diff := cmp.Diff(w.Commands(), want); diff != "" {
		t.Errorf("after all are replaced (-got +want):\n%s", diff)
	}
	w.call("DELETE", one, nil)
	w.refused(404, 10063, "GET", one, nil)

	long := strings.Repeat("x", 101)
	for name, o := range map[string]object{
		"no name":                    {"description": "x"},
		"a name in capitals":         {"name": "Ask", "description": "x"},
		"a name with a space":        {"name": "a b", "description": "x"},
		"no description":             {"name": "ask"},
		"a long description":         {"name": "ask", "description": long},
		"a description in a menu":    {"name": "Ask", "type": 3, "description": "x"},
		"options in a menu":          {"name": "Ask", "type": 3, "options": []any{question(9)}},
		"a type that is none":        {"name": "ask", "type": 9, "description": "x"},
		"an option without a name":   {"name": "ask", "description": "x", "options": []any{object{"type": 3, "description": "x"}}},
		"an option without a text":   {"name": "ask", "description": "x", "options": []any{object{"type": 3, "name": "q"}}},
		"an option of no type":       {"name": "ask", "description": "x", "options": []any{object{"name": "q", "description": "x"}}},
		"an option that is too long": {"name": "ask", "description": "x", "options": []any{question(6001)}},
	} {
		if w.refused(400, 50035, "POST", at, o); t.Failed() {
			t.Fatal(name)
		}
	}
	w.refused(403, 20012, "GET", "/applications/77/commands", nil)
	w.token = ""
	if w.try("GET", at, nil); w.lastStatus != 401 {
		t.Errorf("without a token: %d", w.lastStatus)
	}
}

func TestACommandIsUsedAndAnswered(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(1 | 1<<9)
	at := "/applications/" + w.App().ID + "/commands"
	w.call("POST", at, object{"name": "ask", "description": "asks", "options": []any{question(9)}})
	w.Register(discord.Command{Type: 3, Name: "Look at this"})
	w.Register(discord.Command{Type: 1, Name: "wait", Description: "waits"})

	// For all to see.
	w.UseCommand(w.general, w.mara, "ask", map[string]string{"question": "why?"})
	o, answer, _ := g.interaction()
	option := o["data"].(object)["options"].([]any)[0].(object)
	if o["type"] != 2.0 || o["message"] != nil || option["name"] != "question" || option["value"] != "why?" || o["data"].(object)["type"] != 1.0 {
		t.Errorf("the bot gets %v", o)
	}
	w.refused(400, 50035, "POST", answer, object{"type": 7, "data": object{"content": "there is no message"}})
	w.call("POST", answer, object{"type": 4, "data": object{"content": "asked"}})
	m := g.want("MESSAGE_CREATE")
	meta, _ := m["interaction_metadata"].(object)
	if m["type"] != 20.0 || meta["type"] != 2.0 || meta["user"].(object)["id"] != w.mara || meta["id"] != o["id"] || m["author"].(object)["id"] != w.own {
		t.Errorf("posted is %v", m)
	}
	// An answer that is to come is private as it was promised.
	wait := w.UseCommand(w.general, w.mara, "wait", nil)
	_, answer, follow := g.interaction()
	w.call("POST", answer, object{"type": 5, "data": object{"flags": 64}})
	w.call("POST", follow, object{"content": "You alone.", "components": row(button("yes", "Yes"))})
	if list := w.Messages(w.general); len(list) != 1 {
		t.Errorf("people see %+v", list)
	}
	// A button that one person alone sees.
	yes := w.ClickPrivate(wait, "Yes")
	o, answer, _ = g.interaction()
	if o["message"].(object)["flags"] != 64.0 || o["data"].(object)["custom_id"] != "yes" {
		t.Errorf("the bot gets %v", o)
	}
	w.call("POST", answer, object{"type": 7, "data": object{"content": "Done.", "components": []any{}}})
	for _, x := range w.Interactions() {
		if x.ID == wait && (!cmp.Equal(x.Private, []string{"You alone."}) || len(x.Buttons) != 0) || x.ID == yes && !cmp.Equal(x.Private, []string{"Done."}) {
			t.Errorf("she sees %+v", x)
		}
	}
	// In a message's menu: a form, whose answer says what it is about.
	post := w.post(w.general, object{"content": "look"})
	g.want("MESSAGE_CREATE")
	form := w.UseMessageCommand(w.general, post, w.sam, "Look at this")
	o, answer, _ = g.interaction()
	if o["data"].(object)["target_id"] != post {
		t.Errorf("the bot gets %v", o)
	}
	field := object{"type": 18, "label": "Why?", "component": object{"type": 4, "custom_id": "why", "style": 2}}
	w.call("POST", answer, object{"type": 9, "data": object{"custom_id": "look", "title": "Look", "components": []any{field}}})
	w.Submit(form, "because")
	_, answer, _ = g.interaction()
	w.call("POST", answer, object{"type": 4, "data": object{"content": "because"}})
	meta, _ = g.want("MESSAGE_CREATE")["interaction_metadata"].(object)
	if by, _ := meta["triggering_interaction_metadata"].(object); meta["type"] != 5.0 || by["type"] != 2.0 || by["target_message_id"] != post || meta["user"].(object)["id"] != w.sam {
		t.Errorf("the metadata is %v", meta)
	}
}

func TestCommandsAreOrderedOverHTTP(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.Register(discord.Command{Type: 1, Name: "wait", Description: "waits"})
	w.Register(discord.Command{Type: 3, Name: "Look at this"})
	id, _ := w.order("say", `{"channel":"general","user":"mara","text":"hello"}`)["id"].(string)
	w.order("command", `{"channel":"general","user":"mara","name":"wait"}`)
	w.order("command", `{"channel":"general","user":"mara","name":"Look at this","id":"`+id+`"}`)
	if list := w.Interactions(); len(list) != 2 || list[0].Command != "wait" || list[1].Target != id {
		t.Errorf("used were %+v", list)
	}
	for _, body := range []string{
		`{"channel":"general","user":"mara","name":"none"}`, `{"channel":"general","user":"mara","name":"wait","id":"` + id + `"}`,
		`{"channel":"general","user":"mara","name":"wait","options":{"x":"y"}}`,
	} {
		if answer := w.order("command", body); answer["ok"] == true {
			t.Errorf("%s: %v", body, answer)
		}
	}
	if answer := w.order("click_private", `{"id":"7","name":"Yes"}`); answer["ok"] == true {
		t.Errorf("a button that nobody was shown: %v", answer)
	}
}
