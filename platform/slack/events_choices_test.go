package slack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// A ballot is an inbox in which the bot has posted a message with choices, in a thread of
// Mara's.
type ballot struct {
	*inbox
	root, post string
	bob        string

	mu     sync.Mutex // guards what follows
	chosen []bot.Chosen
	answer func(context.Context, bot.Chosen) (string, error) // nil: nothing, and no error
}

func (b *ballot) choose(ctx context.Context, c bot.Chosen) (string, error) {
	b.mu.Lock()
	b.chosen = append(b.chosen, c)
	answer := b.answer
	b.mu.Unlock()
	if answer == nil {
		return "", nil
	}
	return answer(ctx, c)
}

// answers says what Choose returns from now on.
func (b *ballot) answers(f func(context.Context, bot.Chosen) (string, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = f
}

func (b *ballot) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.chosen = nil
}

func (b *ballot) got() []bot.Chosen {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.chosen)
}

func newBallot(t *testing.T, settings ...setting) *ballot {
	t.Helper()
	b, g := &ballot{}, newGaps()
	socket := false
	settings = append(settings, g.set, func(so *simulate.SlackOptions, o *slack.Options) {
		o.Choose, socket = b.choose, so.SocketMode
		so.Tier = simulate.TierUnlimited
	})
	b.inbox = listenTo(t, settings...)
	if socket {
		listening(b.inbox, g, b.inbox.bot.Handle)
	}
	b.bob = b.slack.AddUser(simulate.User{Name: "bob", DisplayName: "Bob"})
	b.slack.Join(b.general, b.bob)
	b.root = b.slack.Say(b.general, b.mara, "close the gate")
	b.settle()
	place := bot.Place{
		Channel: earshot.Channel{Platform: earshot.Slack, Workspace: b.platform.Workspace(), ID: earshot.ChannelID(b.general), Kind: earshot.KindChannel},
		Anchor:  b.message(b.general, b.root), Thread: earshot.MessageID(b.root),
	}
	m, err := b.platform.Post(t.Context(), bot.Draft{Place: place, Text: "May I?", Key: "k1", Choices: approval})
	if err != nil {
		t.Fatal(err)
	}
	b.post = string(m.ID)
	b.settle()
	b.slack.ForgetCalls()
	return b
}

// told waits until a number of private messages is there, and returns them.
func (b *ballot) told(n int) []simulate.Ephemeral {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), hang)
	defer cancel()
	if err := b.slack.Until(ctx, func() bool { return len(b.slack.Ephemerals()) >= n }); err != nil {
		b.Fatalf("%d private messages, want %d\n%s", len(b.slack.Ephemerals()), n, b.log)
	}
	return b.slack.Ephemerals()
}

// want is what a click of Mara's comes to.
func (b *ballot) want(choice, words string) bot.Chosen {
	return bot.Chosen{
		Scope: b.scope(b.general), Message: earshot.MessageID(b.post), Key: "k1", Choice: choice, Words: words,
		By: earshot.Author{ID: earshot.AuthorID(b.mara), Name: "Mara", FullName: "mara", Kind: earshot.Human, Zone: "Europe/Amsterdam"},
	}
}

// transports runs a test by HTTP and by socket.
func transports(t *testing.T, f func(t *testing.T, how setting)) {
	t.Helper()
	t.Parallel()
	for name, how := range map[string]setting{"http": func(*simulate.SlackOptions, *slack.Options) {}, "socket": bySocket} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, how)
		})
	}
}

func TestAClickIsAChoice(t *testing.T) {
	transports(t, func(t *testing.T, how setting) {
		b := newBallot(t, how)
		for range 2 { // the bot makes one of two
			if x := b.slack.Click(b.general, b.post, b.mara, "Go ahead"); x.Outcome != "acked" || len(x.Answer) > 0 {
				t.Errorf("the click is answered %+v", x)
			}
		}
		if diff := cmp.Diff([]bot.Chosen{b.want("yes", ""), b.want("yes", "")}, b.got()); diff != "" {
			t.Errorf("chosen (-want +got):\n%s", diff)
		}
		if got := b.slack.Ephemerals(); len(got) != 0 {
			t.Errorf("private messages %v, want none", got)
		}
	})
}

// What Choose returns is seen by who has clicked, beside the message.
func TestWhatAChoiceComesToIsToldInPrivate(t *testing.T) {
	transports(t, func(t *testing.T, how setting) {
		b := newBallot(t, how)
		b.answers(func(_ context.Context, c bot.Chosen) (string, error) {
			return "Somebody was faster, " + string(c.By.ID) + " <!here>.", nil
		})
		b.slack.Click(b.general, b.post, b.bob, "Go ahead")
		got := b.told(1)[0]
		if got.User != b.bob || got.Channel != b.general || got.Thread != b.root || !strings.HasPrefix(got.Text, "Somebody was faster, "+b.bob) || strings.Contains(got.Text, "<!here>") {
			t.Errorf("told: %+v", got)
		}
	})
}

// An error, and a choice that takes longer than Slack waits, are told to who has clicked,
// and Slack gets its answer in time.
func TestAChoiceThatIsNotStoredIsTold(t *testing.T) {
	transports(t, func(t *testing.T, how setting) {
		for name, answer := range map[string]func(context.Context, bot.Chosen) (string, error){
			"an error": func(context.Context, bot.Chosen) (string, error) { return "kept", errors.New("the disk is full") },
			"too late": func(ctx context.Context, _ bot.Chosen) (string, error) { <-ctx.Done(); return "", ctx.Err() },
			"a panic":  func(context.Context, bot.Chosen) (string, error) { panic("said in private") },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := newBallot(t, how)
				b.answers(answer)
				if x := b.slack.Click(b.general, b.post, b.mara, "Go ahead"); x.Outcome != "acked" {
					t.Errorf("the click is answered %+v", x)
				}
				if got := b.told(1)[0]; got.User != b.mara || got.Thread != b.root || !strings.Contains(got.Text, "not stored") {
					t.Errorf("told: %+v", got)
				}
				hides(t, b.log.String(), "said in private")
			})
		}
	})
}

// Choices with words open a form; what is typed into it comes with the choice.
func TestAChoiceWithWordsOpensAForm(t *testing.T) {
	transports(t, func(t *testing.T, how setting) {
		b := newBallot(t, how)
		if x := b.slack.Click(b.general, b.post, b.mara, "No"); x.Outcome != "acked" {
			t.Errorf("the click is answered %+v", x)
		}
		if got := b.got(); len(got) != 0 {
			t.Fatalf("chosen before the form was sent: %+v", got)
		}
		forms := b.slack.Forms()
		if len(forms) != 1 || forms[0].User != b.mara || forms[0].Title != "No" || forms[0].Label != "Why not?" || !forms[0].Optional {
			t.Fatalf("forms: %+v", forms)
		}
		b.answers(func(context.Context, bot.Chosen) (string, error) { return "Noted.", nil })
		words := "not <@" + b.bob + "> & \"him\"\n" + strings.Repeat("ö", 2900)
		if x := b.slack.Submit(b.mara, words); x.Outcome != "acked" || len(x.Answer) > 0 || len(b.slack.Forms()) != 0 {
			t.Errorf("the form is answered %+v, and open are %+v", x, b.slack.Forms())
		}
		b.slack.Click(b.general, b.post, b.mara, "No")
		b.slack.Submit(b.mara, "")
		if diff := cmp.Diff([]bot.Chosen{b.want("no", words), b.want("no", "")}, b.got()); diff != "" {
			t.Errorf("chosen (-want +got):\n%s", diff)
		}
		if got := b.told(2); got[0].Text != "Noted." || got[0].Thread != b.root || got[0].User != b.mara {
			t.Errorf("told: %+v", got)
		}
		b.slack.Click(b.general, b.post, b.bob, "Ask back")
		if f := b.slack.Forms(); len(f) != 1 || f[0].Optional || f[0].User != b.bob {
			t.Errorf("forms: %+v, want one of Bob's that may not be empty", f)
		}
	})
}

// A form that is not stored stays open, with its words.
func TestAFormThatIsNotStoredStaysOpen(t *testing.T) {
	transports(t, func(t *testing.T, how setting) {
		b := newBallot(t, how)
		b.slack.Click(b.general, b.post, b.mara, "No")
		b.answers(func(context.Context, bot.Chosen) (string, error) { return "", errors.New("the disk is full") })
		b.slack.Submit(b.mara, "too late")
		if f := b.slack.Forms(); len(f) != 1 || !strings.Contains(f[0].Errors["words"], "not stored") {
			t.Fatalf("forms: %+v", f)
		}
		b.answers(nil)
		b.slack.Submit(b.mara, "too late")
		if f := b.slack.Forms(); len(f) != 0 || len(b.got()) != 2 || len(b.slack.Ephemerals()) != 0 {
			t.Errorf("forms %+v, chosen %+v, told %+v", f, b.got(), b.slack.Ephemerals())
		}
	})
}

func TestAFormThatDoesNotOpenIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault simulate.Fault
		open  int
	}{
		"the trigger has ended":  {simulate.Fault{Kind: simulate.APIError, Error: "expired_trigger_id", On: "views.open"}, 0},
		"the answer was lost":    {simulate.Fault{Kind: simulate.LostResponse, On: "views.open", Times: 1}, 1},
		"the request was lost":   {simulate.Fault{Kind: simulate.LostRequest, On: "views.open", Times: 1}, 1},
		"Slack answers too late": {simulate.Fault{Kind: simulate.HungResponse, On: "views.open"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBallot(t)
			b.slack.Inject(c.fault)
			if x := b.slack.Click(b.general, b.post, b.mara, "No"); x.Outcome != "acked" {
				t.Errorf("the click is answered %+v", x)
			}
			if n := len(b.slack.Forms()); n != c.open {
				t.Errorf("%d forms are open, want %d", n, c.open)
			}
			if c.open == 0 {
				if got := b.told(1)[0]; got.User != b.mara || !strings.Contains(got.Text, "did not open") {
					t.Errorf("told: %+v", got)
				}
			}
		})
	}
}

// Who is not answered cannot choose either, and learns it before they type.
func TestWhoIsNotAnsweredCannotChoose(t *testing.T) {
	t.Parallel()
	b := newBallot(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Allow.Users = []string{"U0NOBODY"} })
	for i, button := range []string{"Go ahead", "No"} {
		b.slack.Click(b.general, b.post, b.mara, button)
		if got := b.told(i + 1)[i]; got.User != b.mara || !strings.Contains(got.Text, "not among the people") {
			t.Errorf("told: %+v", got)
		}
	}
	if len(b.got()) != 0 || len(b.slack.Forms()) != 0 {
		t.Errorf("chosen %+v, forms %+v", b.got(), b.slack.Forms())
	}
}

// Somebody of another organisation is marked as such, by click and by form.
func TestAChoiceOfAnOutsider(t *testing.T) {
	t.Parallel()
	b := newBallot(t)
	dana := b.slack.AddUser(simulate.User{Name: "dana", DisplayName: "Dana", Team: "T0ACME", TeamName: "ACME"})
	b.slack.Join(b.general, dana)
	b.slack.Click(b.general, b.post, dana, "Go ahead")
	b.slack.Click(b.general, b.post, dana, "No")
	b.slack.Submit(dana, "no")
	got := b.got()
	if len(got) != 2 || got[0].By.ID != earshot.AuthorID(dana) || got[0].By.Standing != earshot.External || got[1].By.Standing != earshot.External || got[1].Words != "no" {
		t.Errorf("chosen: %+v\n%s", got, b.log)
	}
}

// Before it is known who the bot is, and where nobody takes choices, nothing is stored: the
// click is not kept, as an event is, because who made it waits.
func TestAClickThatNobodyTakesIsTold(t *testing.T) {
	t.Parallel()
	b := newBallot(t)
	o := slack.Options{APIURL: b.slack.URL() + "/api/", BotToken: b.botToken(), SigningSecrets: b.signing(), Store: b.store, Choose: b.choose}
	unknown, err := slack.New(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Choose = nil // as in a check of the same app
	checking, err := slack.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range []*slack.Platform{unknown, checking} {
		b.platform = p
		b.serve(b.inbox.bot.Handle)
		if x := b.slack.Click(b.general, b.post, b.mara, "Go ahead"); x.Outcome != "acked" {
			t.Errorf("the click is answered %+v", x)
		}
		if got := b.told(i + 1)[i]; got.User != b.mara || !strings.Contains(got.Text, "not stored") || len(b.got()) != 0 {
			t.Errorf("told %+v, chosen %+v", got, b.got())
		}
	}
}

// payloads returns what Slack sends for a click at a button, and for its form.
func (b *ballot) payloads(button, words string) (click, form map[string]any) {
	b.Helper()
	var seen []map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var p map[string]any
		if err := json.Unmarshal([]byte(r.FormValue("payload")), &p); err != nil {
			b.Error(err)
		}
		seen = append(seen, p)
	}))
	defer server.Close()
	taken := httptest.NewServer(b.platform.Handler(b.inbox.bot.Handle))
	defer taken.Close()
	b.slack.Interact(taken.URL)
	b.slack.Click(b.general, b.post, b.mara, "No") // opens the form
	b.slack.Interact(server.URL)
	b.slack.Click(b.general, b.post, b.mara, button)
	b.slack.Submit(b.mara, words)
	return seen[0], seen[1]
}

// take hands a payload to the platform, as Slack does, and returns the answer.
func (b *ballot) take(p any) *httptest.ResponseRecorder {
	b.Helper()
	raw, err := json.Marshal(p)
	if err != nil {
		b.Fatal(err)
	}
	return postForm(b.T, b.platform.Handler(b.inbox.bot.Handle), b.slack.App().SigningSecret, "POST", urlencoded, "payload="+url.QueryEscape(string(raw)))
}

// mutations returns a payload with each of its fields left out, of every other type, and as
// somebody else's, by the field's path.
func mutations(p map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	var visit func(path []any, v any)
	visit = func(path []any, v any) {
		if len(path) > 0 {
			name := strings.Trim(fmt.Sprint(path), "[]")
			for kind, to := range map[string]any{"missing": nil, "null": json.RawMessage("null"), "a number": 7, "a list": []any{"x"}, "an object": map[string]any{"id": "X9"}, "true": true, "empty": "", "foreign": "X0FOREIGN"} {
				out[name+" is "+kind] = changed(p, path, to)
			}
		}
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				visit(append(slices.Clone(path), k), v[k])
			}
		case []any:
			for i := range v {
				visit(append(slices.Clone(path), i), v[i])
			}
		}
	}
	visit(nil, p)
	return out
}

// changed returns a copy of a value in which what is at a path is another, or missing.
func changed(v any, path []any, to any) map[string]any {
	var set func(v any, path []any) any
	set = func(v any, path []any) any {
		switch v := v.(type) {
		case map[string]any:
			v = maps.Clone(v)
			k := path[0].(string)
			if len(path) > 1 {
				v[k] = set(v[k], path[1:])
			} else if v[k] = to; to == nil {
				delete(v, k)
			}
			return v
		case []any:
			v = slices.Clone(v)
			i := path[0].(int)
			if len(path) > 1 {
				v[i] = set(v[i], path[1:])
			} else if v[i] = to; to == nil {
				return slices.Delete(v, i, i+1)
			}
			return v
		}
		return v
	}
	return set(v, path).(map[string]any)
}

// Whatever is wrong in a payload, it is answered with 200, and either nobody has chosen, or
// exactly what Slack said: nothing is guessed, and nothing is taken from another field.
func TestAChangedPayloadIsNoOtherChoice(t *testing.T) {
	t.Parallel()
	b := newBallot(t)
	click, form := b.payloads("Go ahead", "because")
	for name, c := range map[string]struct {
		payload map[string]any
		want    bot.Chosen
		// needed are the fields without which, or with another value, nothing is chosen.
		needed []string
	}{
		"a click": {click, b.want("yes", ""), []string{
			"actions", "actions 0", "actions 0 action_id", "actions 0 block_id", "actions 0 type", "actions 0 value", "api_app_id", "channel", "channel id",
			"message", "message ts", "team", "team id", "type", "user", "user id",
		}},
		"a form": {form, b.want("no", "because"), []string{
			"api_app_id", "type", "user", "user id", "view", "view app_installed_team_id", "view callback_id", "view private_metadata",
			"view state", "view state values", "view state values words", "view state values words words", "view state values words words type",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b.forget()
			if w := b.take(c.payload); w.Code != 200 || len(b.got()) != 1 {
				t.Fatalf("as it is: %d, %+v\n%s", w.Code, b.got(), b.log)
			}
			list := mutations(c.payload)
			if len(list) < 300 {
				t.Fatalf("only %d mutations", len(list))
			}
			for _, what := range slices.Sorted(maps.Keys(list)) {
				b.forget()
				w := b.take(list[what])
				if w.Code != 200 || w.Body.Len() != 0 {
					t.Errorf("%s: %d %q", what, w.Code, w.Body)
				}
				field, kind, _ := strings.Cut(what, " is ")
				got := b.got()
				switch foreign := kind == "foreign"; {
				case len(got) > 1:
					t.Errorf("%s: chosen %d times", what, len(got))
				case len(got) == 1 && (foreign && field == "user id" || kind == "an object" && field == "user"):
					if id := got[0].By.ID; id != "X0FOREIGN" && id != "X9" {
						t.Errorf("%s: by %+v", what, got[0].By)
					}
				case len(got) == 1 && field == "view state values words words value":
					if got[0].Words != map[string]string{"foreign": "X0FOREIGN"}[kind] {
						t.Errorf("%s: words %q", what, got[0].Words)
					}
				case slices.Contains(c.needed, field) && len(got) > 0 && !(field == "actions 0 block_id" && foreign) && !(field == "view app_installed_team_id" && (kind == "missing" || kind == "null")):
					t.Errorf("%s: chosen %+v", what, got)
				case len(got) == 1:
					got[0].By.Standing = "" // outside, where the payload says another team of theirs
					if diff := cmp.Diff(c.want, got[0]); diff != "" {
						t.Errorf("%s (-want +got):\n%s", what, diff)
					}
				}
			}
		})
	}
	if n := len(b.slack.Ephemerals()); n != 0 {
		t.Errorf("%d private messages", n)
	}
}

// What our buttons and forms carry is checked, too.
func TestWhatAButtonCarriesIsChecked(t *testing.T) {
	t.Parallel()
	b := newBallot(t)
	click, form := b.payloads("Go ahead", "because")
	value := func(s string) map[string]any { return changed(click, []any{"actions", 0, "value"}, s) }
	action := func(s string) map[string]any { return changed(click, []any{"actions", 0, "action_id"}, s) }
	private := func(s string) map[string]any { return changed(form, []any{"view", "private_metadata"}, s) }
	at := func(key, choice, channel, message string) map[string]any {
		return private(fmt.Sprintf(`{"key":%q,"choice":%q,"channel":%q,"message":%q}`, key, choice, channel, message))
	}
	for name, p := range map[string]any{
		"another app's button":        action("approve"),
		"a choice without an id":      action("earshot_choice_"),
		"an id in capitals":           action("earshot_choice_YES"),
		"an id with a space":          action("earshot_choice_y s"),
		"an id of 21":                 action("earshot_choice_" + strings.Repeat("y", 21)),
		"no JSON":                     value("k1"),
		"a list":                      value(`["k1"]`),
		"a key that is a number":      value(`{"key":1}`),
		"no key":                      value(`{}`),
		"a key with a dash":           value(`{"key":"k-1"}`),
		"a key of 26":                 value(`{"key":"` + strings.Repeat("k", 26) + `"}`),
		"two actions":                 changed(click, []any{"actions"}, append(click["actions"].([]any), click["actions"].([]any)...)),
		"a container of another post": changed(click, []any{"container", "message_ts"}, "1700000000.000100"),
		"a container elsewhere":       changed(click, []any{"container", "channel_id"}, "C0ELSE"),
		"another organisation's":      changed(changed(click, []any{"team"}, nil), []any{"is_enterprise_install"}, true),
		"a shortcut":                  changed(click, []any{"type"}, "message_action"),
		"a form without a place":      private(`{"key":"k1","choice":"no"}`),
		"a form of no JSON":           private("k1 no"),
		"a form elsewhere":            at("k1", "no", "not a channel", b.post),
		"a form at no message":        at("k1", "no", b.general, "now"),
		"a form without a key":        at("", "no", b.general, b.post),
		"a form without a choice":     at("k1", "", b.general, b.post),
		"a list of payloads":          []any{click},
		"a closed form":               changed(form, []any{"type"}, "view_closed"),
	} {
		if w := b.take(p); w.Code != 200 || w.Body.Len() != 0 || len(b.got()) != 0 {
			t.Errorf("%s: %d %q, chosen %+v", name, w.Code, w.Body, b.got())
		}
	}
	raw, err := json.Marshal(click)
	if err != nil {
		t.Fatal(err)
	}
	one := "payload=" + url.QueryEscape(string(raw))
	key := b.slack.App().SigningSecret
	h := b.platform.Handler(b.inbox.bot.Handle)
	for name, c := range map[string]struct {
		key, body string
		status    int
	}{
		"two payloads in one form": {key, one + "&" + one, 200},
		"one that is too large":    {key, one + "&x=" + strings.Repeat("x", 1<<20), 413},
		"one of another's secret":  {"not " + key, one, 401},
		"one that is not signed":   {"", one, 401},
	} {
		if w := postForm(t, h, c.key, "POST", urlencoded, c.body); w.Code != c.status || len(b.got()) != 0 {
			t.Errorf("%s: %d, chosen %+v", name, w.Code, b.got())
		}
	}
	if n := len(b.slack.Ephemerals()); n != 0 {
		t.Errorf("%d private messages", n)
	}
	// Words are cut, and a field that was never touched is empty.
	b.take(changed(form, []any{"view", "state", "values", "words", "words", "value"}, strings.Repeat("ö", 4000)))
	b.take(changed(form, []any{"view", "state", "values", "words", "words", "value"}, json.RawMessage("null")))
	if got := b.got(); len(got) != 2 || got[0].Words != strings.Repeat("ö", 3000) || got[1].Words != "" {
		t.Errorf("chosen: %+v", got)
	}
}

// An answer to Slack does not wait for the private message.
func TestTheAnswerDoesNotWaitForThePrivateMessage(t *testing.T) {
	transports(t, func(t *testing.T, how setting) {
		b := newBallot(t, how)
		b.answers(func(context.Context, bot.Chosen) (string, error) { return "Noted.", nil })
		b.slack.Inject(simulate.Fault{Kind: simulate.LateResponse, On: "chat.postEphemeral", Wait: 4 * time.Second})
		if x := b.slack.Click(b.general, b.post, b.mara, "Go ahead"); x.Outcome != "acked" {
			t.Errorf("the click is answered %+v", x)
		}
		b.told(1)
	})
}
