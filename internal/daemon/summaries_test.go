package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/summarize/digest"
)

// TestLongConversationsAreSummarisedBetweenTurns runs a daemon whose summariser is
// configured, and one without: what the model of the answers costs is never spent on
// summaries.
func TestLongConversationsAreSummarisedBetweenTurns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		summariser llm.Model
		want       func(earshot.Summary) bool
	}{
		{"by the model that is configured", llmtest.New(llmtest.Say("They said hello, three times.")), func(s earshot.Summary) bool {
			return s.Text == "They said hello, three times." && s.By == llmtest.ModelName
		}},
		{"without a model", nil, func(s earshot.Summary) bool {
			return strings.HasPrefix(s.Text, digest.Head) && strings.Contains(s.Text, "bob: @earshot hello 0") && s.By == earshot.ByDigest
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := defaults(t)
			cfg.Store, cfg.Summary.Turns = "memory:", 3
			answers := llmtest.New()
			for n := range 4 {
				answers.Then(llmtest.Say(fmt.Sprint("hello to you ", n)))
			}
			d, err := daemon.Open(t.Context(), daemon.Options{Config: cfg, Outside: daemon.Outside{Model: answers, Summariser: c.summariser}})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			ctx, stop := context.WithTimeout(t.Context(), enough)
			ran := make(chan error, 1)
			go func() { ran <- d.Run(ctx) }()
			var id earshot.ConversationID
			for n := range 4 {
				said := local.NewMessage{Channel: "general", As: "bob", Text: fmt.Sprint("@earshot hello ", n)}
				if n > 0 {
					said.Thread = earshot.MessageID(id.Name)
				}
				heard, err := d.Chat.Say(ctx, said)
				if err == nil {
					err = d.Wait(ctx, heard.Turn)
				}
				if err != nil {
					t.Fatal(err)
				}
				q, err := d.Store.QueuedTurn(ctx, heard.Turn)
				if err != nil || q.State != earshot.TurnDone {
					t.Fatalf("turn %d is %s, %v", n, q.State, err)
				}
				id = q.Conversation
			}
			got, err := d.Store.Summary(ctx, id)
			for end := time.Now().Add(enough); errors.Is(err, earshot.ErrNotFound) && time.Now().Before(end); got, err = d.Store.Summary(ctx, id) {
				time.Sleep(time.Millisecond) // made after the turn
			}
			if err != nil || got.Turns != 2 || !c.want(got) {
				t.Errorf("got %+v, %v", got, err)
			}
			stop()
			if err := <-ran; err != nil {
				t.Errorf("Run: %v", err)
			}
			if n := len(answers.Requests()); n != 4 {
				t.Errorf("the model that answers was asked %d times", n)
			}
		})
	}
}
