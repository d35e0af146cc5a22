package main

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

func TestAnOperatorStopsATurn(t *testing.T) {
	t.Parallel()
	db := asksFor(t)
	if code, out, errs := ran(t, nil, "--db", db, "stop", "1"); code != exitOK || !strings.Contains(out, "turn 1 is to end") {
		t.Errorf("status %d, %q, %q", code, out, errs)
	}
	if turns := asked[[]queuedJSON](t, db, "turns", "--open"); len(turns) != 1 || turns[0].State != earshot.TurnOpen {
		t.Errorf("it waits for nobody, and is %+v", turns)
	}
	x := asked[turnJSON](t, db, "turn", "1")
	if x.Stopped == "" || x.StoppedBy != "" || len(x.Approvals) != 2 || len(x.Feedback) != 0 {
		t.Errorf("the turn says %+v", x.turnPeople)
	}
	if code, out, _ := ran(t, nil, "--db", db, "turn", "1"); code != exitOK || !strings.Contains(out, "by an operator") || !strings.Contains(out, "Ann is asked whether close may be called") {
		t.Errorf("status %d\n%s", code, out)
	}
	if code, _, errs := ran(t, nil, "--db", db, "stop", "7"); code == exitOK || !strings.Contains(errs, "turn 7") {
		t.Errorf("a turn that is not there: status %d, %q", code, errs)
	}
}

func TestFeedbackIsListed(t *testing.T) {
	t.Parallel()
	db := asksFor(t)
	st, err := store.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := earshot.TimeOf(time.Now())
	for _, f := range []earshot.Feedback{{Turn: 1, Author: "U1", Reason: "it is\nout of date\x1b[31m", Time: now}, {Turn: 1, Author: "U2", Good: true, Time: now}} {
		if err := st.PutFeedback(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	all := asked[[]feedbackJSON](t, db, "feedback")
	if len(all) != 2 || all[0].AuthorName != "Ann" || all[0].Good || all[0].Question != "close them" || all[0].ChannelName == "" || !all[1].Good {
		t.Errorf("all: %+v", all)
	}
	if bad := asked[[]feedbackJSON](t, db, "feedback", "--bad", "--turn", "1"); len(bad) != 1 || bad[0].Author != "U1" {
		t.Errorf("bad: %+v", bad)
	}
	if good := asked[[]feedbackJSON](t, db, "feedback", "--good"); len(good) != 1 || good[0].Author != "U2" {
		t.Errorf("good: %+v", good)
	}
	for _, args := range [][]string{{"feedback"}, {"turn", "1"}} {
		code, out, errs := ran(t, nil, append([]string{"--db", db}, args...)...)
		if code != exitOK || !strings.Contains(out, "out of date") || !strings.Contains(out, "Ann") || strings.Contains(out, "\x1b") {
			t.Errorf("%q: status %d\n%s%s", args, code, out, errs)
		}
	}
	for _, c := range []struct{ args, says string }{
		{"feedback --good --bad", "can't be used together"}, {"feedback --limit 0", "must be above 0"}, {"feedback --channel nowhere", "nowhere"},
	} {
		if code, _, errs := ran(t, nil, append([]string{"--db", db}, strings.Fields(c.args)...)...); code == exitOK || !strings.Contains(errs, c.says) {
			t.Errorf("%s: status %d, %q", c.args, code, errs)
		}
	}
}
