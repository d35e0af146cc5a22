package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/earshot-ai/earshot"
)

// saidIn is a neutral event of a message.
func saidIn(channel, id, text string) string {
	return fmt.Sprintf(`{"type":"message","channel":{"id":%q,"workspace":"T1"},"message":{"id":%q,"time":"2026-03-01T10:00:00Z","author":{"id":"U1","name":"Ann"},"text":%q}}`, channel, id, text)
}

func batch(events ...string) string { return `{"events":[` + strings.Join(events, ",") + `]}` }

// changes returns the changes of an answer to events.
func changes(t testing.TB, body string) []string {
	t.Helper()
	var out struct{ Events []struct{ Change string } }
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var list []string
	for _, e := range out.Events {
		list = append(list, e.Change)
	}
	return list
}

func TestEventsAreStoredOnceInTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	edit := `{"type":"edit","channel":{"id":"C1"},"message":{"id":"m1","time":"2026-03-01T10:00:00Z","edited":"2026-03-01T10:05:00Z","author":{"id":"U1"},"text":"second"}}`
	reaction := `{"type":"reaction","id":"d1","channel":{"id":"C1"},"message_id":"m1","reaction":{"name":"eyes","by":1,"user":"U2"}}`
	body := batch(saidIn("C1", "m1", "first"), edit, reaction, reaction,
		`{"type":"reaction","id":"d2","channel":{"id":"C1"},"message_id":"nothing","reaction":{"name":"eyes","by":1}}`,
		`{"type":"delete","channel":{"id":"C1"},"message_id":"m2"}`, saidIn("C1", "m2", "too late"))
	for i, want := range [][]string{
		{"new", "edited", "updated", "same", "unknown", "gone", "same"},
		{"same", "same", "same", "same", "unknown", "same", "same"},
	} {
		status, _, got := w.call(t, "T1", http.MethodPost, "/v1/events", body)
		if status != http.StatusOK || !slices.Equal(changes(t, got), want) {
			t.Errorf("time %d: %d %s, want %v", i, status, got, want)
		}
	}
	m, err := w.store.Message(t.Context(), earshot.Scope{Platform: "api", Workspace: "T1", Channel: "C1"}, "m1")
	if err != nil || m.Text != "second" || !slices.Equal(m.Reactions, []earshot.Reaction{{Name: "eyes", Count: 1}}) {
		t.Errorf("got %+v, %v", m, err)
	}
	authors, err := w.store.Authors(t.Context(), "api", "T1", "U1")
	if err != nil || len(authors) != 1 || authors[0].Name != "Ann" {
		t.Errorf("authors: %+v, %v", authors, err)
	}
}

func TestAReactionThatIsDeliveredAtOnceCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call(t, "T1", http.MethodPost, "/v1/events", batch(saidIn("C1", "m1", "x")))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			body := batch(fmt.Sprintf(`{"type":"reaction","id":"d%d","channel":{"id":"C1"},"message_id":"m1","reaction":{"name":"eyes","by":1}}`, i%4))
			if status, _, got := w.call(t, "T1", http.MethodPost, "/v1/events", body); status != http.StatusOK {
				t.Errorf("%d %s", status, got)
			}
		})
	}
	all.Wait()
	m, err := w.store.Message(t.Context(), earshot.Scope{Platform: "api", Workspace: "T1", Channel: "C1"}, "m1")
	if err != nil || len(m.Reactions) != 1 || m.Reactions[0].Count != 4 {
		t.Errorf("got %+v, %v; want 4 reactions", m.Reactions, err)
	}
}

func TestARefusedEventKeepsTheWholeBatchOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event, holds string
	}{
		"no time":             {`{"type":"message","channel":{"id":"C1"},"message":{"id":"x","author":{},"text":""}}`, `events[1].message.time is required`},
		"a bad time":          {`{"type":"message","channel":{"id":"C1"},"message":{"id":"x","time":"soon","author":{},"text":""}}`, `events[1].message.time`},
		"two words":           {`{"type":"message","channel":{"id":"C1"},"message":{"id":"x","time":"1.0","author":{},"text":"","files":[{"id":"f"},{"id":"f 2"}]}}`, `events[1].message.files[1].id \"f 2\" holds a space`},
		"no id":               {`{"type":"delete","channel":{"id":"C1"}}`, `events[1].message_id is required`},
		"no channel":          {`{"type":"delete","message_id":"x"}`, `events[1].channel is required`},
		"an unknown type":     {`{"type":"shout","channel":{"id":"C1"}}`, `events[1].type must be`},
		"an unknown field":    {`{"type":"delete","channel":{"id":"C1"},"colour":1}`, `events[1].colour unknown field`},
		"an edit without one": {`{"type":"edit","channel":{"id":"C1"},"message":{"id":"x","time":"1.0","author":{},"text":""}}`, `events[1].message.edited is required`},
		"no delivery":         {`{"type":"reaction","channel":{"id":"C1"},"message_id":"x","reaction":{"name":"eyes","by":1}}`, `events[1].id is required`},
		"two at once":         {`{"type":"reaction","id":"d","channel":{"id":"C1"},"message_id":"x","reaction":{"name":"eyes","by":2}}`, `events[1].reaction.by must be`},
		"a bad kind":          {`{"type":"delete","channel":{"id":"C1","kind":"cave"},"message_id":"x"}`, `events[1].channel.kind`},
		"null":                {`null`, `events[1] must not be null`},
		"another workspace":   {`{"type":"delete","channel":{"id":"C1","workspace":"T2"},"message_id":"x"}`, `"code":"not_found"`},
		"twice":               {`{"type":"delete","type":"delete"}`, `stands twice`},
		"a deep one":          {strings.Repeat("[", 70) + strings.Repeat("]", 70), `more than 64`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			status, _, got := w.call(t, "T1", http.MethodPost, "/v1/events", batch(saidIn("C1", "m1", "x"), c.event))
			if status != http.StatusBadRequest && status != http.StatusNotFound || !strings.Contains(got, c.holds) {
				t.Errorf("%d %s, want %s", status, got, c.holds)
			}
			if list, err := w.store.Channels(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("something was stored: %v, %v", list, err)
			}
		})
	}
}

func TestAChannelIsCreatedOnlyWithinReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.store.PutChannel(t.Context(), earshot.Channel{Platform: "api", Workspace: "T1", ID: "C2"}); err != nil {
		t.Fatal(err)
	}
	_, _, foreign := w.call(t, "C1", http.MethodPost, "/v1/events", batch(saidIn("C2", "m1", "x")))
	status, _, unknown := w.call(t, "C1", http.MethodPost, "/v1/events", batch(saidIn("C3", "m1", "x")))
	if status != http.StatusNotFound || foreign != unknown {
		t.Errorf("%d: a foreign channel is answered with %s, an unknown one with %s", status, foreign, unknown)
	}
	for as, c := range map[string]struct {
		body   string
		status int
	}{
		"C1":   {batch(saidIn("C1", "m1", "x")), http.StatusOK},
		"T2":   {batch(saidIn("C1", "m1", "x")), http.StatusNotFound},
		"all":  {batch(`{"type":"delete","channel":{"id":"C9"},"message_id":"x"}`), http.StatusBadRequest},
		"read": {batch(saidIn("C1", "m1", "x")), http.StatusForbidden},
	} {
		if status, _, got := w.call(t, as, http.MethodPost, "/v1/events", c.body); status != c.status {
			t.Errorf("%s: %d %s, want %d", as, status, got, c.status)
		}
	}
}

func TestSlackDeliveriesAreReadAsTheyCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slack := func(id, event string) string {
		return fmt.Sprintf(`{"type":"event_callback","team_id":"T1","event_id":%q,"token":"secret-token","event":%s}`, id, event)
	}
	message := slack("E1", `{"type":"message","channel":"C1","channel_type":"channel","user":"U1","text":"hello <@U2>","ts":"1700000000.000100"}`)
	status, _, got := w.call(t, "T1", http.MethodPost, "/v1/events?platform=slack", message)
	if status != http.StatusOK || !slices.Equal(changes(t, got), []string{"new"}) {
		t.Fatalf("%d %s", status, got)
	}
	status, _, got = w.call(t, "T1", http.MethodPost, "/v1/events?platform=slack", batch(message,
		slack("E2", `{"type":"message","subtype":"message_changed","channel":"C1","ts":"1700000050.000000","message":{"type":"message","user":"U1","text":"hello all","ts":"1700000000.000100","edited":{"user":"U1","ts":"1700000050.000000"}},"previous_message":{"user":"U1","text":"hello <@U2>","ts":"1700000000.000100"}}`),
		slack("E3", `{"type":"reaction_added","user":"U2","reaction":"eyes","item":{"type":"message","channel":"C1","ts":"1700000000.000100"}}`),
		slack("E3", `{"type":"reaction_added","user":"U2","reaction":"eyes","item":{"type":"message","channel":"C1","ts":"1700000000.000100"}}`),
		slack("E4", `{"type":"channel_rename","channel":{"id":"C1","name":"deploys"}}`),
		slack("E5", `{"type":"emoji_changed"}`),
		slack("E6", `{"type":"message","subtype":"message_deleted","channel":"C1","deleted_ts":"1700000000.000100","ts":"1700000060.000000"}`),
	))
	if want := []string{"same", "edited", "updated", "same", "updated", "ignored", "gone"}; status != http.StatusOK || !slices.Equal(changes(t, got), want) {
		t.Errorf("%d %s, want %v", status, got, want)
	}
	c, err := w.store.Channel(t.Context(), earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"})
	if err != nil || c.Name != "deploys" {
		t.Errorf("got %+v, %v", c, err)
	}
	// A channel that gets another id takes all along; what comes behind is of the new one.
	status, _, got = w.call(t, "T1", http.MethodPost, "/v1/events?platform=slack", batch(
		slack("E7", `{"type":"message","channel":"C1","channel_type":"channel","user":"U1","text":"before","ts":"1700000100.000100"}`),
		slack("E8", `{"type":"channel_id_changed","old_channel_id":"C1","new_channel_id":"C1SHARED"}`),
		slack("E8", `{"type":"channel_id_changed","old_channel_id":"C1","new_channel_id":"C1SHARED"}`),
		slack("E9", `{"type":"message","channel":"C1SHARED","channel_type":"channel","user":"U1","text":"after","ts":"1700000101.000100"}`),
	))
	if want := []string{"new", "updated", "updated", "new"}; status != http.StatusOK || !slices.Equal(changes(t, got), want) {
		t.Errorf("%d %s, want %v", status, got, want)
	}
	moved := earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1SHARED"}
	for _, id := range []earshot.MessageID{"1700000100.000100", "1700000101.000100"} {
		if _, err := w.store.Message(t.Context(), moved, id); err != nil {
			t.Errorf("message %s is not in the channel that was moved: %v", id, err)
		}
	}
	if _, err := w.store.Channel(t.Context(), earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}); err == nil {
		t.Error("the old id is still stored")
	}
	for body, want := range map[string]int{
		`{"type":"url_verification","challenge":"x"}`: http.StatusBadRequest,
		`{"type":"message","text":"x"}`:               http.StatusBadRequest,
		strings.Replace(message, "T1", "T2", 1):       http.StatusNotFound,
	} {
		if status, _, got := w.call(t, "T1", http.MethodPost, "/v1/events?platform=slack", body); status != want {
			t.Errorf("%s: %d %s, want %d", body, status, got, want)
		}
	}
}

func TestDiscordDispatchesAreReadAsTheyCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const general = `"channel":{"id":"800000000000000001","type":0,"guild_id":"T1","name":"general"}`
	const thread = `"channel":{"id":"1477953611366400000","type":11,"guild_id":"6","parent_id":"800000000000000001","name":"the log"}`
	dispatch := func(kind, s, d, more string) string {
		return fmt.Sprintf(`{"op":0,"t":%q,"s":%s,"d":%s%s}`, kind, s, d, more)
	}
	message := func(id, channel, text, more string) string {
		return fmt.Sprintf(`{"id":%q,"channel_id":%q,"guild_id":"6","type":0,"content":%q,"author":{"id":"9","username":"ann"}%s}`, id, channel, text, more)
	}
	first := dispatch("MESSAGE_CREATE", "1", message("1477953611366400000", "800000000000000001", "hello", ""), ","+strings.Replace(general, "T1", "6", 1))
	post := func(body string) (int, string) {
		status, _, got := w.call(t, "all", http.MethodPost, "/v1/events?platform=discord", body)
		return status, got
	}
	if status, got := post(first); status != http.StatusOK || !slices.Equal(changes(t, got), []string{"new"}) {
		t.Fatalf("%d %s", status, got)
	}
	reaction := dispatch("MESSAGE_REACTION_ADD", "4", `{"user_id":"8","channel_id":"800000000000000001","message_id":"1477953611366400000","guild_id":"6","emoji":{"id":null,"name":"👍"}}`, "")
	status, got := post(batch(first,
		dispatch("MESSAGE_CREATE", "2", message("1477954366341120000", "1477953611366400000", "in the thread", ""), ","+thread),
		dispatch("MESSAGE_UPDATE", "3", message("1477953611366400000", "800000000000000001", "hello all", `,"edited_timestamp":"2026-03-02T09:01:00+00:00"`), ""),
		reaction, reaction,
		dispatch("MESSAGE_UPDATE", "5", `{"id":"1477953611366400000","channel_id":"800000000000000001","embeds":[]}`, ""),
		dispatch("CHANNEL_UPDATE", "6", `{"id":"800000000000000001","type":0,"guild_id":"6","name":"talk"}`, ""),
		dispatch("PRESENCE_UPDATE", "7", `{}`, ""),
		dispatch("MESSAGE_DELETE_BULK", "8", `{"ids":["1477954366341120000","1477954366341120001"],"channel_id":"1477953611366400000","guild_id":"6"}`, ","+thread),
	))
	if want := []string{"same", "new", "edited", "updated", "same", "ignored", "updated", "ignored", "gone"}; status != http.StatusOK || !slices.Equal(changes(t, got), want) {
		t.Errorf("%d %s, want %v", status, got, want)
	}
	at := earshot.Scope{Platform: earshot.Discord, Workspace: "6", Channel: "800000000000000001"}
	c, err := w.store.Channel(t.Context(), at)
	if err != nil || c.Name != "talk" {
		t.Errorf("got %+v, %v", c, err)
	}
	list, err := w.store.Since(t.Context(), at, 0, 0)
	if err != nil || len(list) != 3 {
		t.Fatalf("got %+v, %v", list, err)
	}
	for _, m := range list {
		switch m.ID {
		case "1477953611366400000":
			if m.Text != "hello all" || len(m.Reactions) != 1 || m.Reactions[0] != (earshot.Reaction{Name: "👍", Count: 1}) {
				t.Errorf("the message: %+v", m)
			}
		default:
			if !m.Deleted {
				t.Errorf("not deleted: %+v", m)
			}
		}
	}
	for body, want := range map[string]int{
		`{}`:               http.StatusBadRequest,
		`{"op":10,"d":{}}`: http.StatusBadRequest,
		dispatch("MESSAGE_CREATE", "1", `{}`, ""):       http.StatusBadRequest,
		strings.Replace(first, `"id":"800`, `"x":"`, 1): http.StatusBadRequest,
	} {
		if status, got := post(body); status != want {
			t.Errorf("%s: %d %s, want %d", body, status, got, want)
		}
	}
}

func TestOneEventMayBeTheBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := saidIn("C1", "m1", "hello")
	if status, _, got := w.call(t, "T1", http.MethodPost, "/v1/events", one); status != http.StatusOK || !slices.Equal(changes(t, got), []string{"new"}) {
		t.Errorf("one event: %d %s", status, got)
	}
	for name, c := range map[string][2]string{
		"a wrong field of it":    {strings.Replace(one, `"text"`, `"txt"`, 1), "events[0].message.txt unknown field"},
		"a time in seconds":      {strings.Replace(one, `"2026-03-01T10:00:00Z"`, `1772442000`, 1), `events[0].message.time must be a string: RFC 3339, such as`},
		"an event and a batch":   {`{"type":"message","events":[]}`, "type unknown field; the body is {"},
		"two events":             {one + "," + one, "the body is {"},
		"a list":                 {"[" + one + "]", `body must be an object; the body is {\"events\": [{`},
		"the message alone":      {`{"id":"m1","time":"2026-03-01T10:00:00Z","author":{},"text":"x"}`, `id unknown field; the body is {\"events\": [{`},
		"a type that is no text": {`{"type":7,"channel":"C1"}`, "events[0].type must be a string"},
	} {
		if status, _, got := w.call(t, "T1", http.MethodPost, "/v1/events", c[0]); status != http.StatusBadRequest || !strings.Contains(got, c[1]) {
			t.Errorf("%s: %d %s, want %s", name, status, got, c[1])
		}
	}
}

func TestTheReasonStandsInDetail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path, want := range map[string]string{
		"/v1/channels?colour=red": `"detail":"query.colour: `, "/v1/channels?limit=0": `"detail":"query.limit: `, "/v1/channels?limit=x": `"detail":"query.limit: `,
	} {
		if status, _, got := w.call(t, "T1", http.MethodGet, path, nil); status != http.StatusBadRequest || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s, want %s", path, status, got, want)
		}
	}
}

func TestDiscordsThreadsAreRenamedByDispatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const forum = `{"id":"800000000000000005","type":15,"guild_id":"6","name":"help","available_tags":[{"id":"71","name":"bug"},{"id":"72","name":"solved"}]}`
	thread := func(name, tags string) string {
		return fmt.Sprintf(`{"id":"1477953611366400000","type":11,"guild_id":"6","parent_id":"800000000000000005","name":%q,"applied_tags":[%s]}`, name, tags)
	}
	post := func(body string) {
		t.Helper()
		if status, _, got := w.call(t, "all", http.MethodPost, "/v1/events?platform=discord", body); status != http.StatusOK {
			t.Fatalf("%d %s", status, got)
		}
	}
	subject := func(want string) {
		t.Helper()
		m, err := w.store.Message(t.Context(), earshot.Scope{Platform: earshot.Discord, Workspace: "6", Channel: "800000000000000005"}, "1477953611366400000")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.Subject.Name, m.Subject.Tags, m.Subject.Post, m.Deleted); got != want {
			t.Errorf("the post is called %q, want %q", got, want)
		}
	}
	post(`{"op":0,"t":"CHANNEL_UPDATE","s":1,"d":` + forum + `}`)
	post(batch(`{"op":0,"t":"CHANNEL_UPDATE","s":2,"d":`+forum+`}`,
		`{"op":0,"t":"MESSAGE_CREATE","s":3,"d":{"id":"1477953611366400000","channel_id":"1477953611366400000","guild_id":"6","type":0,"content":"it fails","author":{"id":"9","username":"ann"}},"channel":`+thread("Invoice 4711", `"71"`)+`}`))
	subject("Invoice 4711[bug] true false")
	post(`{"op":0,"t":"THREAD_UPDATE","s":4,"d":` + thread("[SOLVED] Invoice 4711", `"71"`) + `}`) // tells no forum, and so no tags
	subject("[SOLVED] Invoice 4711[bug] true false")
	post(batch(`{"op":0,"t":"CHANNEL_UPDATE","s":5,"d":`+forum+`}`, `{"op":0,"t":"THREAD_UPDATE","s":6,"d":`+thread("[SOLVED] Invoice 4711", `"72"`)+`}`))
	subject("[SOLVED] Invoice 4711[solved] true false")

	// Who reaches another channel alone learns nothing of this one: stored or not, it is the same.
	known, unknown := `{"op":0,"t":"THREAD_UPDATE","s":7,"d":`+thread("x", "")+`}`, `{"op":0,"t":"THREAD_UPDATE","s":7,"d":`+strings.Replace(thread("x", ""), "1477953611366400000", "1477953611366400009", 1)+`}`
	status, _, got := w.call(t, "C1", http.MethodPost, "/v1/events?platform=discord", known)
	other, _, want := w.call(t, "C1", http.MethodPost, "/v1/events?platform=discord", unknown)
	if status != other || status == http.StatusOK || got != want {
		t.Errorf("of a stored thread: %d %s; of another: %d %s", status, got, other, want)
	}
}
