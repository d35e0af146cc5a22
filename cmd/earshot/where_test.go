package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// canary stands in what bob said and nowhere else, but for replies that quote him.
const canary = "quokkawombat"

// asked runs a command over a store with --json and reads what it writes.
func asked[T any](t *testing.T, db string, args ...string) (out T) {
	t.Helper()
	code, text, errs := ran(t, nil, append([]string{"--db", db, "--json"}, args...)...)
	if code != exitOK {
		t.Fatalf("%s: got status %d, %q", args, code, errs)
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v in %q", args, err, text)
	}
	return out
}

// quoted makes a store where the bot has quoted what bob said, and returns the
// id of what he said.
func quoted(t *testing.T) (db, id string) {
	t.Helper()
	db = filepath.Join(t.TempDir(), "x.db")
	var out, errs strings.Builder
	stdin := strings.NewReader("/as bob\nthe code of the cellar door is " + canary + " since Monday\n/as alice\nhello all\n" +
		"@earshot what is the code of the cellar door?\n")
	if code := run(t.Context(), []string{"earshot", "--db", db, "serve"}, nil, stdin, &out, &errs); code != exitOK {
		t.Fatalf("serve: status %d, %s", code, errs.String())
	}
	_, text, _ := ran(t, nil, "--db", db, "export")
	found := regexp.MustCompile(`"id":"([0-9.]+)"[^\n]*"text":"the code of the cellar door is ` + canary).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("bob's message is not in\n%s", text)
	}
	return db, found[1]
}

// What our own replies quote of a deleted message was neither told nor erased.
func TestWhereNamesTheRepliesThatQuoteADeletedMessageAndEraseRemovesThem(t *testing.T) {
	t.Parallel()
	db, id := quoted(t)
	live := asked[whereJSON](t, db, "where", "general", id)
	if len(live.Turns) != 1 || live.Deleted || live.Revisions != 1 || live.RawEvents != 1 {
		t.Fatalf("before the deletion: got %+v, want one revision, one event, one turn", live)
	}
	if r := live.Turns[0]; len(r.Holds) != 4 || len(r.Replies) != 1 || !r.Replies[0].Quotes {
		t.Errorf("before the deletion: got %+v, want input, journal, posts and session, and a reply that quotes", r)
	}
	reply := live.Turns[0].Replies[0]

	first := asked[struct {
		Erased []string
		Left   int `json:"replies_left"`
	}](t, db, "erase", "general", id)
	if len(first.Erased) != 1 || first.Erased[0] != id || first.Left != 1 {
		t.Errorf("erase: got %+v, want %s and one reply left", first, id)
	}
	gone := asked[whereJSON](t, db, "where", "general", id)
	if !gone.Deleted || gone.Revisions != 0 || gone.RawEvents != 0 || len(gone.Turns) != 1 {
		t.Fatalf("after the deletion: got %+v, want a tombstone and one turn", gone)
	}
	if r := gone.Turns[0]; len(r.Holds) != 0 || len(r.Replies) != 1 || r.Replies[0].Message != reply.Message || !strings.Contains(r.Replies[0].Text, canary) {
		t.Errorf("after the deletion: got %+v, want the reply %s alone", r, reply.Message)
	}
	if _, text, _ := ran(t, nil, "--db", db, "where", "general", id); !strings.Contains(text, "our reply "+string(reply.Message)+" may quote it") {
		t.Errorf("got %q, want it to name the reply", text)
	}

	all := asked[struct{ Erased []string }](t, db, "erase", "general", id, "--replies")
	if len(all.Erased) != 1 || all.Erased[0] != string(reply.Message) {
		t.Errorf("erase --replies: got %+v, want %s", all, reply.Message)
	}
	if left := asked[whereJSON](t, db, "where", "general", id); len(left.replies()) != 0 {
		t.Errorf("got %+v, want no replies", left)
	}
	for _, file := range []string{db, db + "-wal"} {
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte(canary)) {
			t.Errorf("%s still holds %s", filepath.Base(file), canary)
		}
	}
	if again := asked[struct{ Erased []string }](t, db, "erase", "general", id, "--replies"); len(again.Erased) != 0 {
		t.Errorf("erase again: got %+v, want nothing", again)
	}
}

func TestAReplyQuotesWhatItSharesFiveWordsWith(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, source string
		want               bool
	}{
		{"five words in a row", "Bob said: “the code of the cellar”.", "The code of the cellar door is 4711", true},
		{"four words", "the code of the door", "the code of the cellar door is 4711", false},
		{"all of a short message", "Bob: “Door 4711!”", "door 4711", true},
		{"within a word", "indoor 47112", "door 4711", false},
		{"no words", "…", "!!", false},
	} {
		if got := quotesFrom(c.text, c.source); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}
