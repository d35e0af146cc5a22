package discord_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// choices are those of most tests.
var choices = []bot.Choice{
	{ID: "do", Label: "Do it", Style: bot.ChoiceDo},
	{ID: "dont", Label: "Don't", Style: bot.ChoiceDanger, Words: "Why not?"},
	{ID: "else_1", Label: "Something else", Words: "What?", Required: true},
}

// A booth is an ear that takes choices.
type booth struct {
	*ear
	chosen  []bot.Chosen // guarded by ear.mu
	key     string       // of the last message
	private string       // what is told
	err     error
	hold    chan struct{} // nil, or closed once choices may be taken
}

// takeChoices starts a fake Discord and a bot that takes choices. Requests are compared with
// Discord's description.
func takeChoices(t *testing.T, setup func(f *fake.Options, o *discord.Options)) *booth {
	t.Helper()
	v, err := described()
	if err != nil {
		t.Fatal(err)
	}
	b := &booth{}
	b.ear = listen(t, func(x *ear, f *fake.Options, o *discord.Options) {
		o.Log = slog.New(slog.NewTextHandler(x, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.Choose = b.choose
		if v != nil {
			f.Observe = func(method, path string, query url.Values, body []byte, contentType string) {
				if err := v.Check(method, path, query, body, contentType); err != nil {
					t.Errorf("%s %s: %v: %s", method, path, err, body)
				}
			}
		}
		if setup != nil {
			setup(f, o)
		}
	})
	t.Cleanup(func() {
		if log := b.logged(); strings.Contains(log, "aW50ZXJhY3Rpb246") {
			t.Errorf("the log shows the token of an interaction:\n%s", log)
		}
	})
	b.start(nil, "")
	return b
}

func (b *booth) choose(ctx context.Context, c bot.Chosen) (string, error) {
	if b.hold != nil {
		select {
		case <-b.hold:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.chosen = append(b.chosen, c)
	b.signal()
	return b.private, b.err
}

// ask posts a message with choices, and returns it.
func (b *booth) ask(channel string, list ...bot.Choice) string {
	b.t.Helper()
	if list == nil {
		list = choices
	}
	at := bot.Place{Channel: earshot.Channel{Platform: earshot.Discord, Workspace: earshot.WorkspaceID(b.fake.Guild()), ID: earshot.ChannelID(channel)}}
	q := b.fake.Say(channel, b.sam, "delete it")
	at.Anchor = earshot.Message{ID: earshot.MessageID(q)}
	b.key += "k"
	m, err := b.p.Post(b.t.Context(), bot.Draft{Place: at, Text: "Delete it?", Key: b.key, Choices: list})
	if err != nil {
		b.t.Fatal(err)
	}
	return string(m.ID)
}

// answered waits until interactions were answered, and returns them.
func (b *booth) answered(n int) []fake.Interaction {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.t.Context(), hang)
	defer stop()
	all := func() (list []fake.Interaction) {
		for _, x := range b.fake.Interactions() {
			if x.Answer != 0 {
				list = append(list, x)
			}
		}
		return list
	}
	if err := b.fake.Until(ctx, func() bool { return len(all()) >= n }); err != nil {
		b.t.Fatalf("%v: %+v\n%s", err, b.fake.Interactions(), b.logged())
	}
	return all()
}

// told waits until somebody alone was told something, and returns it.
func (b *booth) told(interaction string) []string {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.t.Context(), hang)
	defer stop()
	var list []string
	if err := b.fake.Until(ctx, func() bool {
		for _, x := range b.fake.Interactions() {
			if x.ID == interaction {
				list = x.Private
			}
		}
		return len(list) > 0
	}); err != nil {
		b.t.Fatalf("%v\n%s", err, b.logged())
	}
	return list
}

// want waits for choices, and compares them.
func (b *booth) want(want ...bot.Chosen) {
	b.t.Helper()
	b.until(func() bool { return len(b.chosen) >= len(want) })
	b.mu.Lock()
	defer b.mu.Unlock()
	if diff := cmp.Diff(b.chosen, want, cmpopts.EquateEmpty()); diff != "" {
		b.t.Errorf("what was chosen (-got +want):\n%s", diff)
	}
}

func TestAPostHasItsChoicesAsButtons(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	at := x.question(x.general, "", "which disk?")
	d := bot.Draft{Place: at, Text: "Delete it?", Key: "aKEY", Choices: choices}
	m, err := x.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	row := `"components":[{"type":1,"components":[` +
		`{"type":2,"style":3,"label":"Do it","custom_id":"choice:aKEY:do"},` +
		`{"type":2,"style":4,"label":"Don't","custom_id":"choice:aKEY:dont?Why not?"},` +
		`{"type":2,"style":2,"label":"Something else","custom_id":"choice:aKEY:else_1!What?"}]}]`
	if body := x.body("create_message"); !strings.Contains(body, row) {
		t.Errorf("the post is %s", body)
	}
	if got, err := x.Find(t.Context(), d); err != nil || got.ID != m.ID {
		t.Errorf("a post with buttons is found as %+v, %v", got, err)
	}
	d.Choices, d.Growing = choices[:1], true
	if err := x.Update(t.Context(), d, m.ID); err != nil {
		t.Fatal(err)
	}
	d.Choices, d.Growing = nil, false
	if err := x.Update(t.Context(), d, m.ID); err != nil {
		t.Fatal(err)
	}
	calls := x.fake.Calls("update_message")
	if len(calls) != 2 || strings.Count(string(calls[0].Body), "custom_id") != 1 || !strings.Contains(string(calls[1].Body), `"components":[]`) {
		t.Errorf("the updates are %+v", calls)
	}
	if posts := x.posts(x.general); len(posts) != 1 || posts[0].Buttons != nil {
		t.Errorf("people see %+v", posts)
	}
}

func TestChoicesThatDiscordRefusesAreNotPosted(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	at := x.question(x.general, "", "a?")
	most := bot.Choice{ID: strings.Repeat("a", 20), Label: strings.Repeat("é", 75), Words: strings.Repeat("é", 45), Required: true}
	d := bot.Draft{Place: at, Text: "a", Key: strings.Repeat("k", 25), Choices: []bot.Choice{most}}
	m, err := x.Post(t.Context(), d)
	if err != nil {
		t.Fatalf("the longest choice that there is: %v", err)
	}
	x.fake.ForgetCalls()
	one := bot.Choice{ID: "a", Label: "a"}
	for name, c := range map[string]struct {
		key  string
		list []bot.Choice
	}{
		"six":                   {"k", []bot.Choice{{ID: "a", Label: "a"}, {ID: "b", Label: "a"}, {ID: "c", Label: "a"}, {ID: "d", Label: "a"}, {ID: "e", Label: "a"}, {ID: "f", Label: "a"}}},
		"two of one id":         {"k", []bot.Choice{one, {ID: "a", Label: "b", Words: "b"}}},
		"no label":              {"k", []bot.Choice{{ID: "a"}}},
		"a label of 81":         {"k", []bot.Choice{{ID: "a", Label: strings.Repeat("a", 81)}}},
		"a style that is none":  {"k", []bot.Choice{{ID: "a", Label: "a", Style: "loud"}}},
		"no id":                 {"k", []bot.Choice{{Label: "a"}}},
		"an id with a colon":    {"k", []bot.Choice{{ID: "a:b", Label: "a"}}},
		"an id of 21":           {"k", []bot.Choice{{ID: strings.Repeat("a", 21), Label: "a"}}},
		"a field's label of 46": {"k", []bot.Choice{{ID: "a", Label: "a", Words: strings.Repeat("a", 46)}}},
		"no key":                {"", []bot.Choice{one}},
		"a key with a colon":    {"k:", []bot.Choice{one}},
		"a key of 26":           {strings.Repeat("k", 26), []bot.Choice{one}},
	} {
		d.Key, d.Choices = c.key, c.list
		if _, err := x.Post(t.Context(), d); refusal(err) == nil || refusal(err).Retry != 0 {
			t.Errorf("%s: posted with %v", name, err)
		}
		if err := x.Update(t.Context(), d, m.ID); refusal(err) == nil || refusal(err).Retry != 0 {
			t.Errorf("%s: updated with %v", name, err)
		}
	}
	if calls := x.fake.Calls(); len(calls) != 0 {
		t.Errorf("Discord was asked: %+v", calls)
	}
}

func TestAClickIsAChoiceOfWhoClicked(t *testing.T) {
	t.Parallel()
	b := takeChoices(t, nil)
	lead := b.fake.AddRole(fake.Role{Name: "lead"})
	b.fake.SetMember(b.fake.Guild(), b.sam, "Sam", lead)
	thread := b.fake.Thread(b.general, b.fake.Say(b.general, b.mara, "root"), b.mara, "talk")
	private := b.fake.PrivateThread(b.general, b.mara, "quiet", b.sam, b.fake.App().UserID)
	sam := earshot.Author{ID: earshot.AuthorID(b.sam), Name: "Sam", FullName: "sam", Kind: earshot.Human}
	probe := earshot.Author{ID: earshot.AuthorID(b.probe), Name: "probe", Kind: earshot.Human}
	var want []bot.Chosen
	for _, c := range []struct {
		channel, user string
		scope         earshot.Scope
		by            earshot.Author
		groups        []string
	}{
		{b.general, b.sam, b.scope(b.general), sam, []string{lead}},
		{b.general, b.probe, b.scope(b.general), probe, nil},
		{thread, b.sam, b.scope(b.general), sam, []string{lead}},
		{private, b.sam, b.scope(private), sam, []string{lead}},
		{b.dm, b.probe, earshot.Scope{Platform: earshot.Discord, Workspace: "@me", Channel: earshot.ChannelID(b.dm)}, probe, nil},
	} {
		id := b.ask(c.channel, bot.Choice{ID: "do", Label: "Do it"})
		b.fake.Click(c.channel, id, c.user, "Do it")
		want = append(want, bot.Chosen{Scope: c.scope, Message: earshot.MessageID(id), Key: b.key, Choice: "do", By: c.by, Groups: c.groups})
		b.want(want...)
	}
	for _, x := range b.answered(len(want)) {
		if x.Answer != 6 || x.Private != nil {
			t.Errorf("an answer is %+v", x)
		}
	}
}

func TestAPersonAloneIsToldWhatChooseSays(t *testing.T) {
	t.Parallel()
	b := takeChoices(t, nil)
	b.private = "You have said no already, <@" + b.mara + ">."
	id := b.ask(b.general)
	said := len(b.fake.Messages(b.general))
	if got := b.told(b.fake.Click(b.general, id, b.mara, "Do it")); !cmp.Equal(got, []string{"You have said no already, <\u200b@" + b.mara + ">."}) {
		t.Errorf("Mara is told %q", got)
	}
	b.settle()
	if n := len(b.fake.Messages(b.general)); n != said {
		t.Errorf("others see %d messages more", n-said)
	}
	calls := b.fake.Calls("execute_webhook")
	if len(calls) != 1 || !strings.Contains(string(calls[0].Body), `"flags":68,"allowed_mentions":{"parse":[],`) {
		t.Errorf("it is told by %+v", calls)
	}
	if stored := b.dump(); strings.Contains(stored, "said no already") {
		t.Errorf("what one person alone was told is stored:\n%s", stored)
	}
	for _, h := range b.heard {
		if strings.Contains(h.Message.Text, "said no already") {
			t.Errorf("what one person alone was told is an event: %+v", h.Event)
		}
	}
}

func TestAPersonIsToldThatAChoiceIsNotStored(t *testing.T) {
	t.Parallel()
	b := takeChoices(t, nil)
	b.err = errors.New("the disk is full")
	id := b.ask(b.general)
	for range 2 {
		got := b.told(b.fake.Click(b.general, id, b.mara, "Do it"))
		if len(got) != 1 || !strings.Contains(got[0], "not stored") || !strings.Contains(got[0], "choose again") || strings.Contains(got[0], "disk") {
			t.Errorf("Mara is told %q", got)
		}
	}
	if n := len(b.answered(2)); n != 2 {
		t.Errorf("%d clicks are answered, want 2", n)
	}
}

func TestAChoiceWithWordsAsksForThemFirst(t *testing.T) {
	t.Parallel()
	b := takeChoices(t, nil)
	id := b.ask(b.general)
	chosen := func(choice, words string) bot.Chosen {
		return bot.Chosen{
			Scope: b.scope(b.general), Message: earshot.MessageID(id), Key: b.key, Choice: choice, Words: words,
			By: earshot.Author{ID: earshot.AuthorID(b.mara), Name: "Mara", FullName: "mara", Kind: earshot.Human},
		}
	}
	click := b.fake.Click(b.general, id, b.mara, "Don't")
	form := b.answered(1)[0].Form
	want := &fake.Form{ID: "choice:k:dont?Why not?", Title: "Don't", Fields: []fake.Field{{ID: "words", Label: "Why not?", Max: 3000}}}
	if diff := cmp.Diff(form, want, cmpopts.IgnoreUnexported(fake.Field{})); diff != "" {
		t.Fatalf("the form (-got +want):\n%s", diff)
	}
	if body := string(b.fake.Calls("create_interaction_response")[0].Body); !strings.Contains(body, `{"type":18,"label":"Why not?","component":{"type":4,`) {
		t.Errorf("the form is %s", body)
	}
	b.fake.Submit(click, " It is the only copy.\nReally. ")
	b.want(chosen("dont", "It is the only copy.\nReally."))
	b.fake.Submit(click, "")
	b.want(chosen("dont", "It is the only copy.\nReally."), chosen("dont", ""))

	click = b.fake.Click(b.general, id, b.mara, "Something else")
	if form := b.answered(4)[3].Form; form == nil || !form.Fields[0].Required {
		t.Errorf("the form is %+v", form)
	}
	if got := b.told(b.fake.Submit(click, "  ")); len(got) != 1 || !strings.Contains(got[0], "was empty") {
		t.Errorf("Mara is told %q", got)
	}
	b.fake.Submit(click, "Move it.")
	b.want(chosen("dont", "It is the only copy.\nReally."), chosen("dont", ""), chosen("else_1", "Move it."))
}

// TestAClickDoesNotWaitForOtherEvents holds up the handling of messages: Discord waits
// three seconds for the answer to a click.
func TestAClickDoesNotWaitForOtherEvents(t *testing.T) {
	t.Parallel()
	b := takeChoices(t, nil)
	id := b.ask(b.general)
	b.settle()
	release, stuck := make(chan struct{}), make(chan struct{})
	var once sync.Once
	b.mu.Lock()
	b.fails = func(bot.Event) error {
		once.Do(func() { close(stuck) })
		<-release
		return nil
	}
	b.mu.Unlock()
	defer close(release)
	b.fake.Say(b.general, b.sam, "this message takes its time")
	<-stuck
	b.fake.Click(b.general, id, b.mara, "Do it")
	b.answered(1)
	b.until(func() bool { return len(b.chosen) == 1 })
}

// TestAClickIsAnsweredBeforeItIsStored has a store that takes its time.
func TestAClickIsAnsweredBeforeItIsStored(t *testing.T) {
	t.Parallel()
	b := takeChoices(t, nil)
	b.hold = make(chan struct{})
	id := b.ask(b.general)
	for _, who := range []string{b.mara, b.sam, b.probe} {
		b.fake.Click(b.general, id, who, "Do it")
	}
	b.answered(3)
	close(b.hold)
	b.until(func() bool { return len(b.chosen) == 3 })
}

func TestAClickWhoseAnswerGoesWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		faults []fake.Fault
		chosen int
		told   string
	}{
		{"the answer is lost on the way back", []fake.Fault{{Kind: fake.LostResponse, On: "create_interaction_response", Times: 1}}, 1, ""},
		{"the answer is lost on the way there", []fake.Fault{{Kind: fake.LostRequest, On: "create_interaction_response", Times: 1}}, 1, ""},
		{"the answer is lost on the way back, and Discord does not say so", []fake.Fault{{Kind: fake.LostResponse, On: "create_interaction_response", Times: 1}, {Kind: fake.ServerError, On: "create_interaction_response", Times: 1}}, 0, "not stored"},
		{"Discord does not take it", []fake.Fault{{Kind: fake.ServerError, On: "create_interaction_response", Times: 2}}, 0, ""},
		{"Discord refuses it", []fake.Fault{{Kind: fake.Forbidden, On: "create_interaction_response", Times: 1}}, 0, ""},
		{"the event comes twice", []fake.Fault{{Kind: fake.RepeatEvent, On: "INTERACTION_CREATE", Times: 1}}, 1, ""},
		{"the event comes with a resume", []fake.Fault{{Kind: fake.CutSocket, On: "INTERACTION_CREATE", Times: 1}}, 1, ""},
		{"nobody can be told what came of it", []fake.Fault{{Kind: fake.ServerError, On: "execute_webhook", Times: 1}}, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := takeChoices(t, nil)
			b.private = "so"
			id := b.ask(b.general)
			b.fake.Inject(c.faults...)
			b.fake.Click(b.general, id, b.mara, "Do it")
			if c.told != "" {
				if got := b.told(b.fake.Interactions()[0].ID); !strings.Contains(got[0], c.told) {
					t.Errorf("Mara is told %q", got)
				}
			}
			// A click after it, which nothing goes wrong with, tells that the first was handled.
			b.until(func() bool {
				return len(b.chosen) == c.chosen && (c.chosen > 0 || strings.Contains(b.log.String(), "an interaction is ignored"))
			})
			b.fake.Click(b.general, id, b.sam, "Do it")
			b.until(func() bool { return len(b.chosen) == c.chosen+1 })
		})
	}
}

// TestALateClickIsNotTaken is of one that Discord has already shown to have failed.
func TestALateClickIsNotTaken(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var late time.Duration
	b := takeChoices(t, func(f *fake.Options, _ *discord.Options) {
		check := f.Observe
		f.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return time.Now().Add(late)
		}
		f.Observe = func(method, path string, query url.Values, body []byte, contentType string) {
			if check != nil {
				check(method, path, query, body, contentType)
			}
			if strings.HasSuffix(path, "/callback") {
				mu.Lock()
				defer mu.Unlock()
				late += 4 * time.Second
			}
		}
	})
	id := b.ask(b.general)
	b.fake.Click(b.general, id, b.mara, "Do it")
	b.until(func() bool { return strings.Contains(b.log.String(), "code 10062") })
	if len(b.chosen) != 0 {
		t.Errorf("it was chosen: %+v", b.chosen)
	}
}

func TestClicksWhereTheBotDoesNotListenAreNotTaken(t *testing.T) {
	t.Parallel()
	var general string
	b := takeChoices(t, func(_ *fake.Options, o *discord.Options) { o.Allow.Channels = []string{"1"} })
	general = b.general
	id := b.ask(general)
	b.fake.Click(general, id, b.mara, "Do it")
	b.until(func() bool { return strings.Contains(b.log.String(), "does not listen in its channel") })
	dm := b.ask(b.dm)
	b.fake.Click(b.dm, dm, b.probe, "Do it")
	b.until(func() bool { return len(b.chosen) == 1 })
	if got := b.chosen[0].Message; string(got) != dm {
		t.Errorf("message %s was chosen at", got)
	}
	if x := b.fake.Interactions()[0]; x.Answer != 0 {
		t.Errorf("the click is answered: %+v", x)
	}
}

// TestClicksByTheHundred has more clicks at a time than are handled at a time: what is
// answered was chosen, and the rest may be chosen again.
func TestClicksByTheHundred(t *testing.T) {
	t.Parallel()
	b := takeChoices(t, nil)
	b.hold = make(chan struct{})
	id := b.ask(b.general)
	for i := range 100 {
		b.fake.Click(b.general, id, b.fake.AddUser(fake.User{Name: fmt.Sprint("u", i)}), "Do it")
	}
	b.until(func() bool { return strings.Count(b.log.String(), "an event is lost: too many") == 36 })
	n := len(b.answered(64))
	close(b.hold)
	b.until(func() bool { return len(b.chosen) == n })
	if n != 64 {
		t.Errorf("%d clicks are answered", n)
	}
}
