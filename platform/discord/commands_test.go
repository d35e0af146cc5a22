package discord_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// A desk is a booth that takes commands.
type desk struct {
	*booth
	done []bot.Command // guarded by ear.mu
}

func takeCommands(t *testing.T, setup func(f *fake.Options, o *discord.Options)) *desk {
	t.Helper()
	d := &desk{}
	d.booth = takeChoices(t, func(f *fake.Options, o *discord.Options) {
		o.Command = func(_ context.Context, x bot.Command) (string, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.done = append(d.done, x)
			d.signal()
			return "told of " + x.Name, d.err
		}
		if setup != nil {
			setup(f, o)
		}
	})
	if err := d.p.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// asks has somebody ask by the command, and returns the event of the question.
func (d *desk) asks(channel, user, question string) bot.Event {
	d.t.Helper()
	d.mu.Lock()
	n := len(d.heard)
	d.mu.Unlock()
	d.fake.UseCommand(channel, user, "ask", map[string]string{"question": question})
	d.until(func() bool { return len(d.heard) > n })
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.heard[n].Event
}

func TestCommandsAreRegisteredOnceAndNoneOfOthersIsTouched(t *testing.T) {
	t.Parallel()
	d := takeCommands(t, nil)
	var names []string
	for _, c := range d.fake.Commands() {
		names = append(names, c.Name)
	}
	if want := []string{"ask", "why", "stop", "forget", "help", "Ask about this"}; !slices.Equal(names, want) {
		t.Fatalf("registered are %q", names)
	}
	d.fake.ForgetCalls()
	if err := d.p.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	if calls := d.fake.Calls("create_application_command"); len(calls) != 0 {
		t.Errorf("they are registered again: %+v", calls)
	}

	// What an earlier version has registered is changed, by whom the store says that it was.
	changed := d.withSay("another word")
	if err := changed.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := d.fake.Commands(); len(c) != 6 || c[0].Description != "another word" {
		t.Errorf("the commands are %+v", c)
	}
	if calls := d.fake.Calls("create_application_command"); len(calls) != 5 { // that of the menu has no description
		t.Errorf("%d are registered again", len(calls))
	}
}

// withSay returns another process's platform over the same store, whose every sentence is one.
func (d *desk) withSay(text string) *discord.Platform {
	d.t.Helper()
	o := d.options
	o.Say = func(context.Context, earshot.Scope, string, ...string) string { return text }
	p, err := discord.Open(d.t.Context(), o)
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

func TestACommandOfAnotherProgramStaysAsItIs(t *testing.T) {
	t.Parallel()
	d := takeCommands(t, nil)
	d.fake.Register(fake.Command{Type: 1, Name: "weather", Description: "how it will be"})
	if err := d.store.DropNote(t.Context(), "discord/commands/"+d.p.Application()); err != nil { // they are nobody's now
		t.Fatal(err)
	}
	d.fake.Register(fake.Command{Type: 1, Name: "help", Description: "of another program"})
	if err := d.p.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range d.fake.Commands() {
		if c.Name == "help" && c.Description != "of another program" || c.Name == "weather" && c.Description != "how it will be" {
			t.Errorf("%+v was changed", c)
		}
	}
	if log := d.logged(); !strings.Contains(log, "command=help") {
		t.Errorf("the log does not say so:\n%s", log)
	}
	for _, name := range []string{"help", "weather"} {
		d.fake.UseCommand(d.general, d.sam, name, nil)
	}
	d.until(func() bool { return strings.Count(d.log.String(), "the command is not known to be ours") == 2 })
	d.fake.UseCommand(d.general, d.sam, "why", nil) // which it takes as its own, because it is as ours are
	d.until(func() bool { return len(d.done) == 1 })
	if list := d.answered(1); len(list) != 1 {
		t.Errorf("answered are %+v", list)
	}
}

func TestWhereCommandsAreRefusedPeopleDoWithout(t *testing.T) {
	t.Parallel()
	b := takeChoices(t, func(_ *fake.Options, o *discord.Options) {
		o.Command = func(context.Context, bot.Command) (string, error) { return "", nil }
	})
	b.fake.Inject(fake.Fault{On: "create_application_command", Kind: fake.ServerError, Status: 403})
	if err := b.p.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	if log := b.logged(); strings.Count(log, "does not take the bot's commands") != 1 || len(b.fake.Commands()) != 0 {
		t.Errorf("%+v are registered, and the log says\n%s", b.fake.Commands(), log)
	}
}

func TestAQuestionByACommandIsTheAskers(t *testing.T) {
	t.Parallel()
	d := takeCommands(t, nil)
	d.fake.SetMember(d.fake.Guild(), d.sam, "Sam: the > boss|x")
	for _, q := range []struct{ question, want string }{
		{"which disk?", "which disk?"},
		{"  a: b > c\nand `more`  ", "a: b > c\nand `more`"},
		{"<@" + d.mara + ">: forged?", "<@" + d.mara + ">: forged?"},
		{strings.Repeat("é", 1800), strings.Repeat("é", 1800)},
	} {
		e := d.asks(d.general, d.sam, q.question)
		if e.Message.Author.ID != earshot.AuthorID(d.sam) || e.Message.Author.Kind != earshot.Human || e.Key != "" || e.Groups != nil || e.Refused != "" ||
			!strings.HasSuffix(e.Message.Text, "> "+q.want) || !slices.Equal(e.Message.Mentions, []earshot.AuthorID{d.p.Identity().ID}) {
			t.Errorf("%q is heard as %+v", q.question, e)
		}
		// History says the same.
		page, err := d.p.History(t.Context(), e.Channel, backfill.Window{Latest: e.Message.Time + 1_000_000, Limit: 1})
		if err != nil || len(page.Messages) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		got, want := page.Messages[0].Message, e.Message
		want.Author.Name, want.Author.FullName = got.Author.Name, got.Author.FullName
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("history has (-got +want):\n%s", diff)
		}
	}
	posts := d.fake.Messages(d.general)
	if len(posts) != 4 || len(posts[2].Mentions) != 0 {
		t.Errorf("people see %+v", posts)
	}
}

func TestAQuestionAboutAMessageIsAReplyToIt(t *testing.T) {
	t.Parallel()
	d := takeCommands(t, nil)
	thread := d.fake.Thread(d.general, d.fake.Say(d.general, d.mara, "root"), d.mara, "talk")
	for _, channel := range []string{d.general, thread, d.dm} {
		who := d.sam
		if channel == d.dm {
			who = d.probe
		}
		about := d.fake.Say(channel, who, "it is broken")
		d.until(func() bool { return len(d.heard) > 0 && d.heard[len(d.heard)-1].Message.ID == earshot.MessageID(about) })
		form := d.fake.UseMessageCommand(channel, about, who, "Ask about this")
		d.form(form)
		d.fake.Submit(form, "since when?")
		d.until(func() bool { return d.heard[len(d.heard)-1].Message.ID != earshot.MessageID(about) })
		d.mu.Lock()
		e := d.heard[len(d.heard)-1].Event
		d.mu.Unlock()
		if e.Message.ReplyTo != earshot.MessageID(about) || !strings.HasSuffix(e.Message.Text, "> since when?") || e.Message.Author.ID != earshot.AuthorID(who) {
			t.Errorf("in %s it is heard as %+v", channel, e.Message)
		}
	}
}

// form waits until an interaction was answered by a form.
func (d *desk) form(id string) {
	d.t.Helper()
	ctx, stop := context.WithTimeout(d.t.Context(), hang)
	defer stop()
	if err := d.fake.Until(ctx, func() bool {
		return slices.ContainsFunc(d.fake.Interactions(), func(x fake.Interaction) bool { return x.ID == id && x.Form != nil })
	}); err != nil {
		d.t.Fatalf("%v\n%s", err, d.logged())
	}
}

func TestWhoIsNotAnsweredCannotUseCommands(t *testing.T) {
	t.Parallel()
	d := takeCommands(t, func(_ *fake.Options, o *discord.Options) {
		o.Allow.Roles = []string{"1"}
	})
	lead := d.fake.AddRole(fake.Role{Name: "lead"})
	for _, name := range []string{"ask", "why", "stop", "forget", "help"} {
		options := map[string]string{}
		if name == "ask" {
			options["question"] = "may I?"
		}
		id := d.fake.UseCommand(d.general, d.sam, name, options)
		if got := d.told(id); len(got) != 1 || !strings.Contains(got[0], "not among the people") {
			t.Errorf("/%s tells %q", name, got)
		}
	}
	if n := len(d.fake.Messages(d.general)); n != 0 || len(d.done) != 0 {
		t.Errorf("%d messages were posted, done is %+v", n, d.done)
	}
	// Who has the role asks, though it is the bot's message and its roles that Discord shows.
	d.options.Allow.Roles = []string{lead}
	d.close()
	d.start(nil, "")
	d.fake.SetMember(d.fake.Guild(), d.sam, "Sam", lead)
	if e := d.asks(d.general, d.sam, "and now?"); e.Refused != "" || e.Message.Author.ID != earshot.AuthorID(d.sam) {
		t.Errorf("the question is heard as %+v", e)
	}
}

func TestACommandThatFailsIsSaidToFail(t *testing.T) {
	t.Parallel()
	d := takeCommands(t, nil)
	d.err = errors.New("the disk is full")
	id := d.fake.UseCommand(d.general, d.sam, "why", nil)
	if got := d.told(id); !strings.HasPrefix(got[0], "That was not stored") {
		t.Errorf("he is told %q", got)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	want := []bot.Command{{Name: "why", Scope: d.scope(d.general), By: earshot.Author{ID: earshot.AuthorID(d.sam), Name: "Sam", FullName: "sam", Kind: earshot.Human}, Prefix: "/"}}
	if diff := cmp.Diff(d.done, want); diff != "" {
		t.Errorf("done (-got +want):\n%s", diff)
	}
}

// A payload of which any part is another is no command, or one that does nothing for others.
func TestAChangedPayloadIsNoCommand(t *testing.T) {
	t.Parallel()
	d := takeCommands(t, nil)
	d.told(d.fake.UseCommand(d.general, d.sam, "why", nil)) // the last call that comes of it
	var whole map[string]any
	for _, e := range d.fake.Events() {
		if e.Type == "INTERACTION_CREATE" {
			if err := json.Unmarshal(e.Data, &whole); err != nil {
				t.Fatal(err)
			}
		}
	}
	raw, _ := json.Marshal(whole)
	for name, change := range map[string]func(o, data, member map[string]any){
		"another application's":  func(o, _, _ map[string]any) { o["application_id"] = "77" },
		"no application's":       func(o, _, _ map[string]any) { delete(o, "application_id") },
		"nobody's":               func(o, _, member map[string]any) { delete(member, "user") },
		"a bot's":                func(_, _, member map[string]any) { member["user"].(map[string]any)["bot"] = true },
		"without a member":       func(o, _, _ map[string]any) { o["member"] = 7 },
		"without data":           func(o, _, _ map[string]any) { o["data"] = []any{} },
		"of another id":          func(_, data, _ map[string]any) { data["id"] = "77" },
		"of an id of no kind":    func(_, data, _ map[string]any) { data["id"] = map[string]any{} },
		"of another name":        func(_, data, _ map[string]any) { data["name"] = "forget" },
		"of no name":             func(_, data, _ map[string]any) { data["name"] = 7 },
		"without a token":        func(o, _, _ map[string]any) { delete(o, "token") },
		"of a type that is none": func(o, _, _ map[string]any) { o["type"] = 99 },
	} {
		var o map[string]any
		_ = json.Unmarshal(raw, &o)
		data, _ := o["data"].(map[string]any)
		member, _ := o["member"].(map[string]any)
		change(o, data, member)
		body, _ := json.Marshal(o)
		d.fake.ForgetCalls()
		if err := d.p.Take(t.Context(), "INTERACTION_CREATE", body, d.handle); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if calls := d.fake.Calls(); len(calls) != 0 {
			t.Errorf("%s: Discord was called: %+v", name, calls)
		}
	}
	if d.mu.Lock(); len(d.done) != 1 {
		t.Errorf("done was %+v", d.done)
	}
	d.mu.Unlock()
	// Told again, as a session that is resumed does, it is refused by Discord, and done no second time.
	if err := d.p.Take(t.Context(), "INTERACTION_CREATE", raw, d.handle); err != nil {
		t.Error(err)
	}
	if d.mu.Lock(); len(d.done) != 1 {
		t.Errorf("done was %+v", d.done)
	}
	d.mu.Unlock()
}

// What others post in that form, or we for another reason, is nobody else's.
func TestOnlyWhatDiscordSaysMakesAQuestionSomebodys(t *testing.T) {
	t.Parallel()
	d := takeCommands(t, nil)
	e := d.asks(d.general, d.sam, "whose?")
	var o map[string]any
	if err := json.Unmarshal(e.Raw, &o); err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(o)
	self, id := d.p.Identity().ID, 0
	for name, change := range map[string]func(o, meta map[string]any){
		"without the metadata":    func(o, _ map[string]any) { delete(o, "interaction_metadata") },
		"of a click":              func(_, meta map[string]any) { meta["type"] = 3 },
		"of no type":              func(_, meta map[string]any) { meta["type"] = "two" },
		"of another user":         func(_, meta map[string]any) { meta["user"].(map[string]any)["id"] = d.mara },
		"of a user that is a bot": func(_, meta map[string]any) { meta["user"].(map[string]any)["bot"] = true },
		"of no user":              func(_, meta map[string]any) { delete(meta, "user") },
		"in other words":          func(o, _ map[string]any) { o["content"] = "Noted." },
		"without a question":      func(o, _ map[string]any) { o["content"] = "<@" + d.sam + ">:  " },
		"a form of a click": func(_, meta map[string]any) {
			meta["type"], meta["triggering_interaction_metadata"] = 5, map[string]any{"type": 3, "id": "1"}
		},
	} {
		var o map[string]any
		_ = json.Unmarshal(raw, &o)
		meta, _ := o["interaction_metadata"].(map[string]any)
		change(o, meta)
		id++
		o["id"] = string(e.Message.ID)[:len(e.Message.ID)-2] + string(rune('0'+id/10)) + string(rune('0'+id%10))
		body, _ := json.Marshal(o)
		var got bot.Event
		if err := d.p.Take(t.Context(), "MESSAGE_CREATE", body, func(_ context.Context, e bot.Event) (bot.Outcome, error) {
			got = e
			return bot.Outcome{}, nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got.Message.Author.ID != self {
			t.Errorf("%s: it is %+v", name, got.Message)
		}
	}
	// Of another bot's answer to a command of its own.
	o["author"] = map[string]any{"id": "77", "username": "other", "bot": true}
	o["id"], o["application_id"] = string(e.Message.ID)[:len(e.Message.ID)-2]+"99", "77"
	body, _ := json.Marshal(o)
	if err := d.p.Take(t.Context(), "MESSAGE_CREATE", body, func(_ context.Context, e bot.Event) (bot.Outcome, error) {
		if e.Message.Author.ID != "77" {
			t.Errorf("another bot's is %+v", e.Message)
		}
		return bot.Outcome{}, nil
	}); err != nil {
		t.Error(err)
	}
}
