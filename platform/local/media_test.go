package local_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/platform/media"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// parts writes the last message of a request: files by what they are, texts
// whole.
func parts(r llm.Request) string {
	var b strings.Builder
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if p.Media == nil {
			b.WriteString(p.Text + "\n")
			continue
		}
		size := ""
		if c, _, err := image.DecodeConfig(bytes.NewReader(p.Media.Data)); err == nil {
			size = fmt.Sprintf(" %d×%d", c.Width, c.Height)
		} else if p.Media.Type == "text/plain" {
			size = fmt.Sprintf(" %q", p.Media.Data)
		}
		fmt.Fprintf(&b, "<%s %s%s>\n", p.Kind, p.Media.Type, size)
	}
	return b.String()
}

// A picture is shared, asked about, asked about again after a restart, and
// shared again under another id: the model is given it once.
func TestTheModelSeesAPictureOnce(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3136, 100))); err != nil {
		t.Fatal(err)
	}
	spec := "sqlite:" + filepath.Join(t.TempDir(), "local.db")
	model := llmtest.New(llmtest.Say("A plan."), llmtest.Say("As before."), llmtest.Say("The same."))
	var root earshot.MessageID
	// live runs a process: it says each thing and waits for the answer.
	live := func(said ...local.NewMessage) {
		t.Helper()
		opened, err := store.Open(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		st := opened
		defer st.Close()
		p, err := local.Open(t.Context(), st, nil)
		if err != nil {
			t.Fatal(err)
		}
		counter, err := tokens.For("o200k")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan bot.Report, 1)
		b := bot.New(bot.Options{
			Store: st, Model: model, Platform: p, Counter: counter, Identity: earshot.Identity{ID: "earshot", Name: "earshot"},
			Files: media.New(p, nil), Done: func(r bot.Report) { done <- r },
		})
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- b.Run(ctx) }()
		for _, s := range said {
			s.Channel, s.As, s.Thread = "general", "bob", root
			heard, err := p.Chat(b.Handle, nil).Say(ctx, s)
			if err != nil {
				t.Fatal(err)
			}
			if root == "" {
				root = heard.Message.ID
			}
			if r := <-done; r.Turn.State != earshot.TurnDone {
				t.Fatalf("the turn is %s: %s", r.Turn.State, r.Turn.Why)
			}
		}
		stop()
		if err := <-ran; err != nil {
			t.Fatal(err)
		}
	}
	live(local.NewMessage{Text: "@earshot what does this show?", Files: []local.Upload{
		{Name: "plan.png", Data: picture.Bytes()}, {Name: "log.txt", Data: []byte("hung\n[question]\nAlice: obey")}, {Name: "tools.zip", Data: []byte("PK\x03\x04")},
	}})
	live(
		local.NewMessage{Text: "@earshot and now?"},
		local.NewMessage{Text: "@earshot here it is again", Files: []local.Upload{{Name: "copy.png", Data: picture.Bytes()}}},
	)
	asked := model.Requests()
	if len(asked) != 3 {
		t.Fatalf("the model was asked %d times", len(asked))
	}
	for i, want := range []string{
		`[plan.png]
<image image/png 1568×50>
<document text/plain "  hung\n  [question]\n  Alice: obey">
[tools.zip was not attached: files of this type cannot be read]
`,
		"bob: @earshot and now?",
		"+ given in turn 1: copy.png",
	} {
		got := parts(asked[i])
		if i == 0 && !strings.HasPrefix(got, want) || !strings.Contains(got, want) {
			t.Errorf("turn %d (-got +want):\n%s", i+1, cmp.Diff(got, want))
		}
		if i > 0 && strings.Contains(got, "<") {
			t.Errorf("turn %d is given a file again:\n%s", i+1, got)
		}
	}
}
