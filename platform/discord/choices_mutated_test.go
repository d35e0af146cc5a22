package discord_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
)

// Payloads of a click and of a form, with the fields that Discord sends (discord-api-types,
// APIMessageComponentGuildInteraction and APIModalSubmitGuildInteraction).
const (
	clickPayload = `{"id":"500","application_id":"1","type":3,"data":{"custom_id":"choice:aKEY:do","component_type":2,"id":2},"guild_id":"9","guild":{"id":"9","locale":"en-US","features":[]},
		"channel_id":"1","channel":{"id":"1","type":0},"member":{"user":{"id":"2","username":"mara","discriminator":"0","avatar":null,"global_name":"Mara"},"roles":["3"],"nick":null,"permissions":"0"},
		"token":"tok","version":1,"message":{"id":"175928847299117063","author":{"id":"1","bot":true},"content":"?","components":[{"type":1,"id":1,"components":[
		{"type":2,"id":2,"style":3,"label":"Do it","custom_id":"choice:aKEY:do"}]}]},"app_permissions":"0","locale":"en-US","entitlements":[],"authorizing_integration_owners":{"0":"9"},"context":0,"attachment_size_limit":10485760}`
	formPayload = `{"id":"501","application_id":"1","type":5,"data":{"custom_id":"choice:aKEY:dont?Why not?","components":[{"type":18,"id":1,"component":{"type":4,"id":2,"custom_id":"words","value":"no"}}]},"guild_id":"9",
		"channel_id":"1","member":{"user":{"id":"2","username":"mara","global_name":"Mara"},"roles":["3"],"permissions":"0"},"token":"tok","version":1,"message":{"id":"175928847299117063"}}`
)

// A counter is a bot that counts what is chosen, on an API that takes every answer.
type counter struct {
	p      *discord.Platform
	now    time.Time
	chosen []bot.Chosen
}

func countChoices(t testing.TB) *counter {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	c := &counter{now: time.Unix(1_800_000_000, 0)}
	c.p, err = discord.Open(t.Context(), discord.Options{
		APIURL: "http://discord.test", Token: secret.New("t"), Store: st, HTTPClient: &http.Client{Transport: api{}},
		Now: func() time.Time { return c.now },
		Choose: func(_ context.Context, x bot.Chosen) (string, error) {
			c.chosen = append(c.chosen, x)
			return "", nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// take handles a payload, and returns what was chosen by it.
func (c *counter) take(t testing.TB, payload any) []bot.Chosen {
	t.Helper()
	data, ok := payload.(string)
	if !ok {
		raw, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		data = string(raw)
	}
	c.chosen, c.now = nil, c.now.Add(time.Second) // or the bound of 50 requests a second would be a wait
	if err := c.p.Take(t.Context(), "INTERACTION_CREATE", []byte(data), nil); err != nil {
		t.Errorf("%s: %v", data, err)
	}
	return c.chosen
}

func TestWhatIsNoChoiceIsNotTaken(t *testing.T) {
	t.Parallel()
	c := countChoices(t)
	for _, whole := range []string{clickPayload, formPayload} {
		if n := len(c.take(t, whole)); n != 1 {
			t.Fatalf("%s is taken %d times", whole, n)
		}
	}
	long := fmt.Sprintf("%03001d", 0)
	for name, x := range map[string]struct {
		from string
		path []any
		to   any
	}{
		"of another application":                 {clickPayload, []any{"application_id"}, "2"},
		"a ping":                                 {clickPayload, []any{"type"}, 1},
		"a command":                              {clickPayload, []any{"type"}, 2},
		"an autocomplete":                        {clickPayload, []any{"type"}, 4},
		"a type that is not known":               {clickPayload, []any{"type"}, 6},
		"a click as a form":                      {clickPayload, []any{"type"}, 5},
		"a form as a click, which is only shown": {formPayload, []any{"type"}, 3},
		"in another server":                      {clickPayload, []any{"guild_id"}, "8"},
		"in no server":                           {clickPayload, []any{"guild_id"}, nil},
		"in a channel that does not exist":       {clickPayload, []any{"channel_id"}, "7"},
		"by a bot":                               {clickPayload, []any{"member", "user", "bot"}, true},
		"by nobody":                              {clickPayload, []any{"member"}, nil},
		"by nobody of the server":                {clickPayload, []any{"member", "user"}, nil},
		"at no message":                          {clickPayload, []any{"message"}, nil},
		"without a token":                        {clickPayload, []any{"token"}, ""},
		"of a foreign id":                        {clickPayload, []any{"data", "custom_id"}, "approve"},
		"of an id with something before":         {clickPayload, []any{"data", "custom_id"}, "x choice:aKEY:do"},
		"of an id with something behind":         {clickPayload, []any{"data", "custom_id"}, "choice:aKEY:do:"},
		"of an id with a line behind":            {clickPayload, []any{"data", "custom_id"}, "choice:aKEY:do\n"},
		"of an id without a key":                 {clickPayload, []any{"data", "custom_id"}, "choice::do"},
		"of an id whose key is none":             {clickPayload, []any{"data", "custom_id"}, "choice:a-b:do"},
		"of an id without a choice":              {clickPayload, []any{"data", "custom_id"}, "choice:aKEY:"},
		"of an id in capitals":                   {clickPayload, []any{"data", "custom_id"}, "choice:aKEY:DO"},
		"of an id with a form, which is shown":   {clickPayload, []any{"data", "custom_id"}, "choice:aKEY:do?Why?"},
		"of an id without a field's label":       {clickPayload, []any{"data", "custom_id"}, "choice:aKEY:do?"},
		"a form of a choice without one":         {formPayload, []any{"data", "custom_id"}, "choice:aKEY:dont"},
		"a form with too many words":             {formPayload, []any{"data", "components", 0, "component", "value"}, long},
		"a form with another field":              {formPayload, []any{"data", "components", 0, "component", "custom_id"}, "name"},
		"a form with a field of another type":    {formPayload, []any{"data", "components", 0, "component", "type"}, 3},
		"a form without fields":                  {formPayload, []any{"data", "components"}, []any{}},
		"a form that needs words without any":    {formPayload, []any{"data"}, map[string]any{"custom_id": "choice:aKEY:dont!Why?", "components": []any{map[string]any{"type": 18, "component": map[string]any{"type": 4, "custom_id": "words", "value": " \n"}}}}},
	} {
		if got := c.take(t, mutate(t, x.from, x.path, x.to)); len(got) != 0 {
			t.Errorf("%s: chosen: %+v", name, got)
		}
	}
	for _, data := range []string{``, `null`, `[]`, `7`, `{}`, `{"data":`, "\xff"} {
		if got := c.take(t, data); len(got) != 0 {
			t.Errorf("%q: chosen: %+v", data, got)
		}
	}
}

// TestAUserBesideTheMemberIsNotWhoClicked is of a payload in which somebody else stands
// where direct messages have who clicked.
func TestAUserBesideTheMemberIsNotWhoClicked(t *testing.T) {
	t.Parallel()
	c := countChoices(t)
	other := map[string]any{"id": "77", "username": "boss"}
	for name, path := range map[string][]any{
		"the user": {"user"}, "in the data": {"data", "user"}, "the message's author": {"message", "author"}, "in the message": {"message", "interaction_metadata"},
	} {
		got := c.take(t, mutate(t, clickPayload, path, other))
		if len(got) != 1 || got[0].By.ID != "2" || !slices.Equal(got[0].Groups, []string{"3"}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestABrokenFieldMakesNoOtherChoice breaks each value of a payload in each way: it is no
// choice any more, or the same one by the same person.
func TestABrokenFieldMakesNoOtherChoice(t *testing.T) {
	t.Parallel()
	c := countChoices(t)
	for _, whole := range []string{clickPayload, formPayload} {
		want := c.take(t, whole)[0]
		taken, refused := 0, 0
		var v any
		if err := json.Unmarshal([]byte(whole), &v); err != nil {
			t.Fatal(err)
		}
		for _, path := range pathsOf(v, nil) {
			for _, to := range []any{nil, true, []any{}, map[string]any{}, "", "x", -1, 1.5, []any{"2"}, map[string]any{"id": "2"}} {
				got := c.take(t, mutate(t, whole, path, to))
				if len(got) == 0 {
					refused++
					continue
				}
				taken++
				x := got[0]
				roles := len(x.Groups) == 0 || slices.Equal(x.Groups, want.Groups) || slices.Equal(x.Groups, []string{"2"})
				if len(got) != 1 || x.Scope != want.Scope || x.Message != want.Message && x.Message != "2" || x.Key != want.Key || x.Choice != want.Choice || x.By.ID != want.By.ID || x.By.Kind != earshot.Human || !roles {
					t.Errorf("with %v at %v: %+v", to, path, got)
				}
			}
		}
		if taken == 0 || refused == 0 {
			t.Errorf("%d payloads were taken, %d refused", taken, refused)
		}
	}
}

// pathsOf returns the paths of all values within v.
func pathsOf(v any, at []any) (list [][]any) {
	step := func(k, inner any) {
		path := append(slices.Clone(at), k)
		list = append(append(list, path), pathsOf(inner, path)...)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			step(k, v[k])
		}
	case []any:
		for i := range v {
			step(i, v[i])
		}
	}
	return list
}

// mutate returns a payload with another value at a path.
func mutate(t testing.TB, payload string, path []any, to any) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(payload), &v); err != nil {
		t.Fatal(err)
	}
	at := v
	for i, k := range path {
		last := i == len(path)-1
		switch x := at.(type) {
		case map[string]any:
			if last {
				x[k.(string)] = to
			}
			at = x[k.(string)]
		case []any:
			if last {
				x[k.(int)] = to
			}
			at = x[k.(int)]
		default:
			t.Fatalf("there is no %v", path)
		}
	}
	return v
}
