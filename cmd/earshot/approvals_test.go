package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
	"github.com/earshot-ai/earshot/store"
)

// asksFor leaves two approvals open in a new database, of one turn that waits.
func asksFor(t *testing.T) (db string) {
	t.Helper()
	db = filepath.Join(t.TempDir(), "asked.db")
	ctx, at := t.Context(), mcptest.Support.Scope()
	st, err := store.Open(ctx, db, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := earshot.TimeOf(time.Now())
	ann := earshot.Author{ID: "U1", Name: "Ann", Kind: earshot.Human}
	of := earshot.ConversationID{Agent: "U0", Scope: at, Name: "p1"}
	out, err := st.Accept(ctx, at, earshot.Event{Delivery: "d1", Received: now, Message: earshot.Message{ID: "p1", Time: now, Author: ann, Text: "close them"}}, &of)
	if err == nil {
		err = st.PutAuthors(ctx, at.Platform, at.Workspace, ann)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := st.Claim(ctx, "U0", "me", now, time.Hour)
	if err == nil {
		err = st.Begin(ctx, l, out.Turn, earshot.Prompt{Input: []byte("{}"), Hash: "h"})
	}
	for n := range 2 {
		if err == nil {
			_, err = st.AskApproval(ctx, l, earshot.Approval{
				ID: earshot.ApprovalID(fmt.Sprint("yes", n)), Turn: out.Turn, Asker: ann.ID, Call: fmt.Sprint("c", n), Tool: "close", Args: fmt.Appendf(nil, `{"gate":%d}`, n),
				Asked: now, Expires: now + earshot.Time(time.Hour/time.Microsecond),
			})
		}
	}
	if err == nil {
		_, err = st.AwaitApprovals(ctx, l, out.Turn)
	}
	if err == nil {
		err = st.Release(ctx, l, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestAnOperatorDecidesApprovals(t *testing.T) {
	t.Parallel()
	db := asksFor(t)
	list := asked[[]approvalJSON](t, db, "approvals", "--open")
	if len(list) != 2 || list[0].ID != "yes1" || list[0].AskerName != "Ann" || list[0].Args != `{"gate":1}` || list[0].Decided != "" {
		t.Fatalf("open are %+v", list)
	}
	if x := asked[approvalJSON](t, db, "approvals", "agree", "yes0"); x.State != earshot.ApprovalAgreed || !x.Operator || x.By != "" || x.Decided == "" {
		t.Errorf("agreed: %+v", x)
	}
	if turns := asked[[]queuedJSON](t, db, "turns", "--open"); len(turns) != 1 || turns[0].State != earshot.TurnWaiting {
		t.Errorf("turns: %+v", turns)
	}
	if x := asked[approvalJSON](t, db, "approvals", "deny", "yes1", "--reason", "not today"); x.State != earshot.ApprovalRefused || x.Why != "not today" {
		t.Errorf("denied: %+v", x)
	}
	if turns := asked[[]queuedJSON](t, db, "turns", "--open"); len(turns) != 1 || turns[0].State != earshot.TurnOpen {
		t.Errorf("turns: %+v", turns)
	}
	for _, c := range []struct{ args, says string }{
		{"approvals agree yes1", "is refused already; nothing has changed"},
		{"approvals deny nobody", "nobody was asked"},
		{"approvals --limit 0", "must be above 0"},
	} {
		code, _, errs := ran(t, nil, append([]string{"--db", db}, strings.Fields(c.args)...)...)
		if code == exitOK || !strings.Contains(errs, c.says) {
			t.Errorf("%.40s: status %d, %q", c.args, code, errs)
		}
	}
	if code, out, _ := ran(t, nil, "--db", db, "approvals", "--args"); code != exitOK || !strings.Contains(out, `{"gate":1}`) || !strings.Contains(out, "an operator") || !strings.Contains(out, "not today") {
		t.Errorf("the list: status %d\n%s", code, out)
	}
	if rest := asked[[]approvalJSON](t, db, "approvals", "--open"); len(rest) != 0 {
		t.Errorf("open are %+v", rest)
	}
}
