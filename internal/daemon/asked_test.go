package daemon_test

import (
	"context"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/store"
)

// TestASidecarEndsWhatNobodyAgreedToInTime: no bot runs over its store, and what was asked
// over HTTP expires all the same.
func TestASidecarEndsWhatNobodyAgreedToInTime(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	at := earshot.Scope{Platform: "api", Workspace: "T1", Channel: "C1"}
	if _, err := st.Record(t.Context(), at, earshot.Message{ID: "m1", Time: 1, Author: earshot.Author{ID: "U1"}, Text: "do it"}); err != nil {
		t.Fatal(err)
	}
	now := earshot.TimeOf(time.Now())
	d, err := st.OpenDraft(t.Context(), earshot.Draft{
		Conversation: earshot.ConversationID{Agent: "UBOT", Scope: at, Name: "m1"}, Anchor: "m1", Opener: "key:x", Opened: now, Expires: now + 3600e6, Prompt: earshot.Prompt{Hash: "h", Input: []byte("{}")},
		Turn: earshot.Turn{Policy: "standard"},
	})
	if err != nil {
		t.Fatal(err)
	}
	asks := func(id earshot.ApprovalID, expires earshot.Time) {
		if _, err := st.AskDraft(t.Context(), earshot.Approval{ID: id, Turn: d.ID, Call: string(id), Tool: "deploy", Args: []byte("{}"), Asked: now, Expires: expires}); err != nil {
			t.Fatal(err)
		}
	}
	asks("due", now+1)
	asks("later", now+3600e6)
	c, err := config.Load("", []string{"EARSHOT_API=127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	policy, _ := assemble.ByName(c.Policy)
	ctx, stop := context.WithCancel(t.Context())
	running, err := daemon.OpenSidecar(ctx, daemon.Options{Config: c, Policy: policy, Store: st})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- running.Run(ctx) }()
	ended := func() bool {
		a, err := st.Approval(t.Context(), "due")
		return err != nil || a.State == earshot.ApprovalExpired
	}
	for look := time.NewTicker(5 * time.Millisecond); !ended(); {
		select {
		case <-look.C:
		case err := <-ran:
			t.Fatal(err)
		}
	}
	if a, err := st.Approval(t.Context(), "later"); err != nil || a.State != earshot.ApprovalOpen {
		t.Errorf("what may still be agreed to is %s, %v", a.State, err)
	}
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	_ = running.Close()
}
