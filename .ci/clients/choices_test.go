package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

// A vote is a message of Earshot's adapter with choices, in the fake Slack, and what went
// between the two until somebody had clicked and sent a form.
type vote struct {
	*scene
	root, post string

	blocks   []string // of each post
	view     string
	payloads []string // a click, a click that opens a form, the form
	answer   string   // to the form
}

// newVote posts twice, once where Slack refuses Markdown, clicks both kinds of buttons and
// sends the form, which is not stored.
func newVote(t *testing.T, bySocket bool) *vote {
	t.Helper()
	fake, err := simulate.NewSlack(&simulate.SlackOptions{Tier: simulate.TierUnlimited, SocketMode: bySocket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fake.Close() })
	v := &vote{scene: &scene{slack: fake, bot: fake.App().UserID, mara: fake.AddUser(simulate.User{Name: "mara"})}}
	v.general = fake.AddChannel(simulate.Channel{Name: "general", Members: []string{v.mara, v.bot}})
	v.root = fake.Say(v.general, v.mara, "close the gate")
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	p, err := slack.Open(t.Context(), slack.Options{
		APIURL: fake.URL() + "/api/", BotToken: secret.New(fake.App().BotToken), SigningSecrets: []secret.Secret{secret.New(fake.App().SigningSecret)}, Store: st,
		Choose: func(_ context.Context, c bot.Chosen) (string, error) {
			if c.Words != "" {
				return "", errors.New("it is not stored")
			}
			return "", nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	v.asks(t, p, st)
	if !bySocket {
		v.clicks(t, p)
	}
	for _, c := range fake.Calls("chat.postMessage") {
		if c.Error == "" {
			v.blocks = append(v.blocks, c.Args["blocks"])
		}
	}
	return v
}

func (v *vote) asks(t *testing.T, p *slack.Platform, st earshot.Store) {
	t.Helper()
	at, err := earshot.ParseTime(v.root)
	if err != nil {
		t.Fatal(err)
	}
	anchor := earshot.Message{ID: earshot.MessageID(v.root), Time: at, Author: earshot.Author{ID: earshot.AuthorID(v.mara), Kind: earshot.Human}, Text: "close the gate"}
	channel := earshot.Channel{Platform: earshot.Slack, Workspace: p.Workspace(), ID: earshot.ChannelID(v.general), Kind: earshot.KindChannel}
	_, err = st.Record(t.Context(), channel.Scope(), anchor)
	if err = errors.Join(err, st.PutChannel(t.Context(), channel)); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if i == 1 {
			v.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: "invalid_blocks", On: "chat.postMessage", Times: 1})
		}
		m, err := p.Post(t.Context(), bot.Draft{
			Place: bot.Place{Channel: channel, Anchor: anchor, Thread: anchor.ID}, Text: "May I call `close_gate`?\n\n" + strings.Repeat("gate 4\n", 470), Key: "k1",
			Choices: []bot.Choice{{ID: "yes", Label: "Go ahead", Style: bot.ChoiceDo}, {ID: "no", Label: "No", Style: bot.ChoiceDanger, Words: "Why not?"}, {ID: "later", Label: "Later"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		v.post = string(m.ID)
	}
}

// clicks has Mara click and send the form, and keeps what goes between.
func (v *vote) clicks(t *testing.T, p *slack.Platform) {
	t.Helper()
	handler := p.Handler(func(context.Context, bot.Event) (bot.Outcome, error) { return bot.Outcome{}, nil })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		form, _ := url.ParseQuery(string(body))
		v.payloads = append(v.payloads, form.Get("payload"))
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	v.slack.Interact(server.URL)
	v.slack.Click(v.general, v.post, v.mara, "Go ahead")
	v.slack.Click(v.general, v.post, v.mara, "No")
	v.answer = string(v.slack.Submit(v.mara, "it is Sunday").Answer)
	if opened := v.slack.Calls("views.open"); len(opened) != 1 || opened[0].Error != "" || len(v.payloads) != 3 || v.answer == "" {
		t.Fatalf("opened %+v after %d payloads, answer %q", opened, len(v.payloads), v.answer)
	}
	v.view = v.slack.Calls("views.open")[0].Args["view"]
	v.slack.Submit(v.mara, "") // stored: the form closes
}

// TestChoicesHaveSlacksTypes compiles the blocks, the form and the answer of Earshot's
// adapter against the types of Slack's own packages, and so the payloads of the fake Slack.
func TestChoicesHaveSlacksTypes(t *testing.T) {
	t.Parallel()
	v, dir := newVote(t, false), t.TempDir()
	if len(v.blocks) != 2 || !strings.Contains(v.blocks[0], `"markdown"`) || strings.Count(v.blocks[1], `"section"`) != 2 {
		t.Fatalf("blocks: %v", v.blocks)
	}
	click := lessen(t, v.payloads[0], "enterprise", "actions.0.style") // which the types do not have as Slack sends them
	form := lessen(t, v.payloads[2], "enterprise", "user.username")
	write(t, filepath.Join(dir, "choices.ts"), `import type { KnownBlock, ModalView } from "@slack/types";
import type { BlockAction, ButtonAction, ViewResponseAction, ViewSubmitAction } from "@slack/bolt";
export const blocks: KnownBlock[][] = [`+strings.Join(v.blocks, ",\n")+`];
export const view: ModalView = `+v.view+`;
export const click: BlockAction<ButtonAction> = `+click+`;
export const form: ViewSubmitAction = `+form+`;
export const answer: ViewResponseAction = `+v.answer+`;
`)
	write(t, filepath.Join(dir, "wrong.ts"), `import type { KnownBlock } from "@slack/types";
export const blocks: KnownBlock[] = `+strings.Replace(v.blocks[0], `"primary"`, `"green"`, 1)+`;
`)
	write(t, filepath.Join(dir, "package.json"), `{"type":"module"}`)
	install(t, dir, "@slack", "@types")
	for file, fits := range map[string]bool{"choices.ts": true, "wrong.ts": false} {
		cmd := exec.Command(newNode(t), peer(t, "typescript", "bin", "tsc"), "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "--types", "node", file) //nolint:gosec // the compiler
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); (err == nil) != fits {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}

// lessen leaves fields out of an object, which go by their paths.
func lessen(t *testing.T, text string, paths ...string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		at, keys := v, strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			if list, ok := at.([]any); ok {
				at = list[0]
			} else {
				at = at.(map[string]any)[k]
			}
		}
		o, last := at.(map[string]any), keys[len(keys)-1]
		if _, is := o[last]; !is {
			t.Errorf("there is no %s", path)
		}
		delete(o, last)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestBoltTakesClicksAndForms has a bot in Slack's own framework take the clicks at
// Earshot's buttons, and open Earshot's form, by HTTP and by Socket Mode.
func TestBoltTakesClicksAndForms(t *testing.T) {
	t.Parallel()
	other := newVote(t, false)
	for name, bySocket := range map[string]bool{"HTTP": false, "Socket Mode": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, dir := newVote(t, bySocket), t.TempDir()
			app := v.slack.App()
			env := []string{"SLACK_API_URL=" + v.slack.URL() + "/api/", "SLACK_BOT_TOKEN=" + app.BotToken, "VIEW=" + other.view}
			if bySocket {
				env = append(env, "SLACK_APP_TOKEN="+app.AppToken)
			} else {
				at := freeAddress(t)
				env = append(env, "SLACK_SIGNING_SECRET="+app.SigningSecret, "PORT="+at[strings.LastIndex(at, ":")+1:])
				v.slack.Interact("http://" + at + "/slack/events")
			}
			copyFile(t, filepath.Join("testdata", "choices-bot.mjs"), filepath.Join(dir, "bot.mjs"))
			install(t, dir, "@slack")
			cmd := exec.Command(newNode(t), "bot.mjs") //nolint:gosec // the test's own
			cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
			start(t, cmd).waitFor(t, "the bot is listening")
			v.until(t, "a socket is up", func() bool { return !bySocket || v.slack.Connections() > 0 })

			told := len(v.slack.Ephemerals())
			v.acked(t, v.slack.Click(v.general, v.post, v.mara, "Go ahead"))
			v.until(t, "the click is told", func() bool { return len(v.slack.Ephemerals()) == told+1 })
			v.acked(t, v.slack.Click(v.general, v.post, v.mara, "No"))
			v.until(t, "the form is open", func() bool { return len(v.slack.Forms()) == 1 })
			v.acked(t, v.slack.Submit(v.mara, "no"))
			if f := v.slack.Forms(); len(f) != 1 || f[0].Errors["words"] != "say more" {
				t.Errorf("forms: %+v", f)
			}
			v.acked(t, v.slack.Submit(v.mara, "it is Sunday"))
			v.until(t, "the form is told", func() bool { return len(v.slack.Ephemerals()) == told+2 })
			var got []string
			for _, e := range v.slack.Ephemerals()[told:] {
				got = append(got, e.User+" "+e.Thread+" "+e.Text)
			}
			// The form is the other vote's, whose thread there is not here.
			want := []string{v.mara + " " + v.root + " earshot_choice_yes k1 " + v.post, v.mara + "  no k1 " + other.post + " it is Sunday"}
			if !slices.Equal(got, want) || len(v.slack.Forms()) != 0 {
				t.Errorf("told %q, want %q; forms %+v", got, want, v.slack.Forms())
			}
		})
	}
}

func (v *vote) acked(t *testing.T, x simulate.Interaction) {
	t.Helper()
	if x.Outcome != "acked" {
		t.Errorf("Bolt's answer is %+v", x)
	}
}

func (v *vote) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if err := v.slack.Until(ctx, is); err != nil {
		t.Fatalf("not %s: %v", what, err)
	}
}
