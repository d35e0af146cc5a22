package discord_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/simulate/discord"
)

// row is a row of buttons.
func row(list ...object) []any {
	inner := []any{}
	for _, b := range list {
		inner = append(inner, b)
	}
	return []any{object{"type": 1, "components": inner}}
}

func button(id, label string) object {
	return object{"type": 2, "style": 3, "label": label, "custom_id": id}
}

// interaction reads INTERACTION_CREATE, and returns it with the paths of its answer and of
// what follows.
func (g *gateway) interaction() (o object, answer, follow string) {
	g.t.Helper()
	o = g.want("INTERACTION_CREATE")
	token := o["token"].(string)
	return o, "/interactions/" + o["id"].(string) + "/" + token + "/callback", "/webhooks/" + o["application_id"].(string) + "/" + token
}

func TestAClickIsAnsweredOnceAndInTime(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, Now: c.Now})
	lead := w.AddRole(discord.Role{Name: "lead"})
	w.SetMember(w.guild, w.mara, "Mara", lead)
	g := w.connect(1) // no intent is needed
	post := w.post(w.general, object{"content": "Delete it?", "components": row(button("yes", "Do it"), button("no", "Don't"))})
	want := []discord.Button{{ID: "yes", Label: "Do it", Style: 3}, {ID: "no", Label: "Don't", Style: 3}}
	if diff := cmp.Diff(w.Messages(w.general)[0].Buttons, want); diff != "" {
		t.Errorf("people see (-got +want)\n%s", diff)
	}

	w.Click(w.general, post, w.mara, "Do it")
	o, answer, follow := g.interaction()
	member, _ := o["member"].(object)
	if member["user"].(object)["id"] != w.mara || member["roles"].([]any)[0] != lead || o["user"] != nil ||
		o["message"].(object)["id"] != post || o["channel_id"] != w.general || o["guild_id"] != w.guild || o["type"] != 3.0 || o["data"].(object)["custom_id"] != "yes" {
		t.Errorf("the bot gets %v", o)
	}
	w.refused(404, 10015, "POST", follow, object{"content": "before the answer"})
	w.refused(400, 50035, "POST", answer, object{"type": 8})
	w.token = "" // none is needed
	w.call("POST", answer, object{"type": 6})
	if w.lastStatus != 204 {
		t.Errorf("the answer ends with %d", w.lastStatus)
	}
	w.refused(400, 40060, "POST", answer, object{"type": 6})
	if told, _ := w.call("POST", follow, object{"content": "You alone see it.", "flags": 64}).(object); told["flags"] != 64.0 {
		t.Errorf("what follows is %v", told)
	}
	c.pass(16 * time.Minute)
	w.refused(401, 50027, "POST", follow, object{"content": "late"})

	w.Click(w.general, post, w.sam, "no")
	_, late, _ := g.interaction()
	c.pass(3*time.Second + time.Millisecond)
	w.refused(404, 10062, "POST", late, object{"type": 6})
	w.refused(404, 10062, "POST", "/interactions/7/x/callback", object{"type": 6})

	done := w.Interactions()
	if len(done) != 2 || done[0].Answer != 6 || done[0].User != w.mara || !cmp.Equal(done[0].Private, []string{"You alone see it."}) || done[1].Answer != 0 {
		t.Errorf("what people did: %+v", done)
	}
	if n := len(w.Messages(w.general)); n != 1 {
		t.Errorf("people see %d messages", n)
	}
	for _, call := range w.Calls() {
		if strings.Contains(call.Path, "aW50") {
			t.Errorf("a call shows the token: %s", call.Path)
		}
	}
}

// TestWhatOnePersonSeesComesAsADirectMessage is of an old fault of Discord's: the event of
// an ephemeral message names no guild.
func TestWhatOnePersonSeesComesAsADirectMessage(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(1 | 1<<9 | 1<<12)
	post := w.post(w.general, object{"content": "?", "components": row(button("yes", "Do it"))})
	g.want("MESSAGE_CREATE")
	w.Click(w.general, post, w.mara, "yes")
	_, answer, _ := g.interaction()
	w.call("POST", answer, object{"type": 4, "data": object{"content": "You alone.", "flags": 64}})
	o := g.want("MESSAGE_CREATE")
	if o["guild_id"] != nil || o["member"] != nil || o["channel_id"] != w.general || o["flags"] != 64.0 || o["content"] != "You alone." {
		t.Errorf("the event is %v", o)
	}
	w.Click(w.general, post, w.mara, "yes")
	_, answer, _ = g.interaction()
	w.call("POST", answer, object{"type": 4, "data": object{"content": "All see it."}})
	if list := w.Messages(w.general); len(list) != 2 || list[1].Content != "All see it." {
		t.Errorf("people see %+v", list)
	}
}

func TestAFormIsShownAndSent(t *testing.T) {
	t.Parallel()
	field := object{"type": 4, "custom_id": "why", "style": 2, "max_length": 10, "required": true}
	labelled := object{"type": 4, "custom_id": "why", "style": 1, "label": "Why not?", "required": false}
	for name, c := range map[string]struct{ components, want any }{
		"in a label": {
			[]any{object{"type": 18, "label": "Why not?", "component": field}},
			object{"type": 18.0, "id": 1.0, "component": object{"type": 4.0, "id": 2.0, "custom_id": "why", "value": "too late"}},
		},
		"in a row": {
			[]any{object{"type": 1, "components": []any{labelled}}},
			object{"type": 1.0, "id": 1.0, "components": []any{object{"type": 4.0, "id": 2.0, "custom_id": "why", "value": "too late"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, nil)
			g := w.connect(1)
			post := w.post(w.general, object{"content": "?", "components": row(button("no", "Don't"))})
			click := w.Click(w.general, post, w.mara, "no")
			_, answer, _ := g.interaction()
			w.call("POST", answer, object{"type": 9, "data": object{"custom_id": "form", "title": "Don't", "components": c.components}})
			form := w.Interactions()[0].Form
			if form == nil || form.ID != "form" || form.Fields[0].Label != "Why not?" {
				t.Fatalf("the form is %+v", form)
			}
			if answer := w.order("submit", `{"id":"`+click+`","text":"`+strings.Repeat("x", 4001)+`"}`); answer["ok"] != false {
				t.Error("a form takes more than its field does")
			}
			w.Submit(click, "too late")
			o, answer, _ := g.interaction()
			data := o["data"].(object)
			if o["type"] != 5.0 || o["message"].(object)["id"] != post || data["custom_id"] != "form" || !cmp.Equal(data["components"].([]any)[0], c.want) {
				t.Errorf("the bot gets %v", o)
			}
			w.refused(400, 50035, "POST", answer, object{"type": 9, "data": object{"custom_id": "form", "title": "Again", "components": c.components}})
			w.call("POST", answer, object{"type": 6})
			if w.lastStatus != 204 {
				t.Errorf("the answer ends with %d", w.lastStatus)
			}
		})
	}
}

func TestComponentsThatDiscordRefusesAreRefused(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	id := w.post(w.general, object{"content": "x"})
	six := row(button("1", "a"), button("2", "a"), button("3", "a"), button("4", "a"), button("5", "a"), button("6", "a"))
	for name, list := range map[string][]any{
		"no component":            {"x"},
		"no type":                 {object{"components": []any{}}},
		"an empty row":            row(),
		"six buttons in a row":    six,
		"six rows":                append(append(append(append(append(row(button("1", "a")), row(button("2", "a"))...), row(button("3", "a"))...), row(button("4", "a"))...), row(button("5", "a"))...), row(button("6", "a"))...),
		"two of one id":           row(button("1", "a"), button("1", "b")),
		"two of one id, in rows":  append(row(button("1", "a")), row(button("1", "b"))...),
		"no id":                   row(button("", "a")),
		"an id of 101 characters": row(button(strings.Repeat("é", 101), "a")),
		"no label":                row(button("1", "")),
		"a label of 81":           row(button("1", strings.Repeat("é", 81))),
		"no style":                row(object{"type": 2, "label": "a", "custom_id": "1"}),
		"a field of a form":       row(object{"type": 4, "style": 1, "label": "a", "custom_id": "1"}),
	} {
		t.Run(name, func(t *testing.T) {
			w.refused(400, 50035, "POST", path("channels", w.general, "messages"), object{"content": "x", "components": list})
			w.refused(400, 50035, "PATCH", path("channels", w.general, "messages", id), object{"components": list})
		})
	}
	w.post(w.general, object{"content": "x", "components": row(button(strings.Repeat("é", 100), strings.Repeat("é", 80)), object{"type": 2, "style": 5, "label": "a", "url": "https://a.example"})})
	w.call("PATCH", path("channels", w.general, "messages", id), object{"components": row(button("1", "a"))})
	w.call("PATCH", path("channels", w.general, "messages", id), object{"components": []any{}})
	if list := w.Messages(w.general); len(list) != 2 || list[0].Buttons != nil || len(list[1].Buttons) != 1 {
		t.Errorf("people see %+v", list)
	}
}

func TestAScriptClicks(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	private := w.AddChannel(discord.Channel{Name: "leads", Private: true, Members: []string{w.own, w.mara}})
	g := w.connect(1)
	post := w.post(private, object{"content": "?", "components": row(button("yes", "Do it"))})
	theirs := w.Say(private, w.mara, "hm")
	for body, want := range map[string]string{
		`{"channel":"leads","id":"` + post + `","user":"mara","name":"Don't"}`: "has no button",
		`{"channel":"leads","id":"` + post + `","user":"sam","name":"yes"}`:    "not theirs to see",
		`{"channel":"leads","id":"` + theirs + `","user":"mara","name":"yes"}`: "has no button",
		`{"channel":"leads","id":"7","user":"mara","name":"yes"}`:              "no such message",
	} {
		if answer := w.order("click", body); answer["ok"] != false || !strings.Contains(answer["error"].(string), want) {
			t.Errorf("%s: %v, want something of %q", body, answer, want)
		}
	}
	if answer := w.order("submit", `{"id":"7","text":"x"}`); answer["ok"] != false {
		t.Errorf("a form that nobody was shown is sent: %v", answer)
	}
	id := w.order("click", `{"channel":"leads","id":"`+post+`","user":"mara","name":"Do it"}`)["id"]
	if o, _, _ := g.interaction(); o["id"] != id {
		t.Errorf("the bot gets %v", o)
	}
}
