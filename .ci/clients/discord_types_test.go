package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	adapter "github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/store"
)

// TestChoicesAreOfDiscordsTypes compiles what the adapter sends for choices, and what the
// fake Discord tells of them, against the types of discord-api-types, which nobody here
// wrote.
func TestChoicesAreOfDiscordsTypes(t *testing.T) {
	t.Parallel()
	tsc, types := peer(t, "typescript", "bin", "tsc"), peer(t, "discord-api-types")
	program(t, "node")
	dir := t.TempDir()
	if err := os.Symlink(filepath.Dir(types), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	compile := func(source string) (string, error) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "choices.ts"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", tsc, "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--types", "", "choices.ts") //nolint:gosec // the test's own
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	source := choicesInTypeScript(t)
	if out, err := compile(source); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, source)
	}
	for was, is := range map[string]string{`"style":3`: `"style":7`, `"max_length":3000`: `"max_len":3000`, `"custom_id":"choice:aKEY:do"`: `"id":"do"`, `"component_type":2`: `"component_type":"button"`} {
		if wrong := strings.Replace(source, was, is, 1); wrong == source {
			t.Errorf("there is no %s", was)
		} else if _, err := compile(wrong); err == nil {
			t.Errorf("%s in place of %s is of the types", is, was)
		}
	}
}

// choicesInTypeScript has people choose, and returns what went over the wire as values of
// Discord's types.
func choicesInTypeScript(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := discord.New(&discord.Options{Unlimited: true, IdentifyEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mara := s.AddUser(discord.User{Name: "mara", GlobalName: "Mara Vos", Nick: "Mara"})
	general, dm := s.AddChannel(discord.Channel{Name: "general"}), s.OpenDM(mara)
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	p, err := adapter.Open(ctx, adapter.Options{
		APIURL: s.APIURL(), GatewayURL: s.GatewayURL(), Token: secret.New(s.App().Token), Store: st,
		Choose: func(context.Context, bot.Chosen) (string, error) { return "You alone see it.", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	listening, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- p.Listen(listening, func(context.Context, bot.Event) (bot.Outcome, error) { return bot.Outcome{}, nil })
	}()
	defer func() {
		stop()
		<-ended
	}()
	if err := s.Until(ctx, func() bool { return s.Sessions() > 0 }); err != nil {
		t.Fatal(err)
	}

	place := func(channel string, w earshot.WorkspaceID, kind earshot.ChannelKind) bot.Place {
		return bot.Place{
			Channel: earshot.Channel{Platform: earshot.Discord, Workspace: w, ID: earshot.ChannelID(channel), Kind: kind},
			Anchor:  earshot.Message{ID: earshot.MessageID(s.Say(channel, mara, "delete it"))},
		}
	}
	d := bot.Draft{
		Place: place(general, earshot.WorkspaceID(s.Guild()), earshot.KindChannel), Text: "Delete it?", Key: "aKEY",
		Choices: []bot.Choice{{ID: "do", Label: "Do it", Style: bot.ChoiceDo}, {ID: "dont", Label: "Don't", Style: bot.ChoiceDanger, Words: "Why not?", Required: true}, {ID: "later", Label: "Later"}},
	}
	m, err := p.Post(ctx, d)
	direct := d
	direct.Place, direct.Key = place(dm, "@me", earshot.KindDM), "bKEY"
	n, err2 := p.Post(ctx, direct)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	wait := func(is func(discord.Interaction) bool) {
		t.Helper()
		if err := s.Until(ctx, func() bool { list := s.Interactions(); return is(list[len(list)-1]) }); err != nil {
			t.Fatalf("%v: %+v; it called %+v", err, s.Interactions(), s.Calls())
		}
	}
	told := func(x discord.Interaction) bool { return len(x.Private) > 0 }
	s.Click(general, string(m.ID), mara, "Do it")
	wait(told)
	form := s.Click(general, string(m.ID), mara, "Don't")
	wait(func(x discord.Interaction) bool { return x.Form != nil })
	s.Submit(form, "It is the only copy.")
	wait(told)
	s.Submit(form, "  ")
	wait(told)
	s.Click(dm, string(n.ID), mara, "Later")
	wait(told)
	if err := p.Update(ctx, d, m.ID); err != nil {
		t.Fatal(err)
	}
	d.Choices = nil
	if err := p.Update(ctx, d, m.ID); err != nil {
		t.Fatal(err)
	}

	var b strings.Builder
	b.WriteString(choicesHead)
	value := func(kind string, body json.RawMessage) { b.WriteString("is<" + kind + ">(" + string(body) + ");\n") }
	for operation, kind := range map[string]string{
		"create_message": "Sent<RESTPostAPIChannelMessageJSONBody>", "update_message": "Sent<RESTPatchAPIChannelMessageJSONBody>",
		"create_interaction_response": "Sent<APIInteractionResponse>", "execute_webhook": "Sent<RESTPostAPIInteractionFollowupJSONBody>",
	} {
		for _, c := range s.Calls(operation) {
			value(kind, c.Body)
		}
	}
	for _, e := range s.Events("INTERACTION_CREATE") {
		var x struct {
			Type  int    `json:"type"`
			Guild string `json:"guild_id"`
		}
		if err := json.Unmarshal(e.Data, &x); err != nil {
			t.Fatal(err)
		}
		kind := map[int]string{3: "APIMessageComponent", 5: "APIModalSubmit"}[x.Type]
		if x.Guild == "" {
			kind += "DM"
		} else {
			kind += "Guild"
		}
		value("Told<"+kind+"Interaction>", e.Data)
	}
	return b.String()
}

// choicesHead loosens the types as far as JSON has them otherwise than TypeScript: the
// values of enums are plain, flags are sums of them, and Discord tells more than is typed.
const choicesHead = `import type {
  APIInteractionResponse, APIMessageComponentDMInteraction, APIMessageComponentGuildInteraction, APIModalSubmitGuildInteraction,
  RESTPatchAPIChannelMessageJSONBody, RESTPostAPIChannelMessageJSONBody, RESTPostAPIInteractionFollowupJSONBody,
} from "discord-api-types/v10";

type Sent<T> = T extends string ? ` + "`${T}`" + ` : T extends object ? { [K in keyof T]: K extends "flags" ? number : Sent<T[K]> } : T;
type Told<T> = T extends string ? ` + "`${T}`" + ` : T extends readonly (infer E)[] ? Told<E>[] : T extends object ? { [K in keyof T]: K extends "flags" | "public_flags" ? number : Told<T[K]> } & { [more: string]: unknown } : T;

function is<T>(_: T): void {}

`
