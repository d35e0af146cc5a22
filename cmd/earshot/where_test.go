package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// told runs a conversation on the local platform over a store.
func told(t *testing.T, db string, lines ...string) {
	t.Helper()
	var out, errs strings.Builder
	stdin := strings.NewReader(strings.Join(lines, "\n") + "\n")
	if code := run(t.Context(), []string{"earshot", "--db", db, "serve"}, nil, stdin, &out, &errs); code != exitOK {
		t.Fatalf("serve: status %d, %s", code, errs.String())
	}
}

// quoted makes a store where the bot has quoted what bob said, and returns the
// id of what he said.
func quoted(t *testing.T) (db, id string) {
	t.Helper()
	db = filepath.Join(t.TempDir(), "x.db")
	told(t, db, "/as bob", "the code of the cellar door is "+canary+" since Monday", "/as alice", "hello all", "@earshot what is the code of the cellar door?")
	_, text, _ := ran(t, nil, "--db", db, "export")
	found := regexp.MustCompile(`"id":"([0-9.]+)"[^\n]*"text":"the code of the cellar door is ` + canary).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("bob's message is not in\n%s", text)
	}
	return db, found[1]
}

func TestWhereFindsATextInEveryPlaceAndShowsNoWordsAroundIt(t *testing.T) {
	t.Parallel()
	db, id := quoted(t)
	all := asked[whereJSON](t, db, "where", canary)
	var tables []string
	for _, p := range all.Places {
		tables = append(tables, p.Table)
		if strings.Contains(p.Row, "cellar") || p.Row == "" {
			t.Errorf("a place that says too much or nothing: %+v", p)
		}
	}
	for _, want := range []string{"message", "event", "session", "journal", "outbox", ""} {
		if !slices.Contains(tables, want) {
			t.Errorf("%q is not among the tables %q", want, tables)
		}
	}
	if all.Found != len(all.Places) || len(all.Messages) != 0 {
		t.Errorf("got %d places and the messages %v", all.Found, all.Messages)
	}
	code, text, errs := ran(t, nil, "--db", db, "where", canary)
	if code != exitOK || errs != "" || !strings.Contains(text, "message.text  ") || !strings.Contains(text, "x.db at byte ") || strings.Contains(text, "cellar") {
		t.Errorf("got status %d, %q, %q", code, text, errs)
	}

	one := asked[whereJSON](t, db, "where", id)
	if len(one.Messages) != 1 || one.Messages[0].Revisions != 1 || one.Messages[0].RawEvents != 1 || len(one.Messages[0].Turns) != 1 {
		t.Fatalf("of an id: got %+v, want the message with one revision, one event and one turn", one.Messages)
	}
	if r := one.Messages[0].Turns[0]; len(r.Holds) != 4 || len(r.Replies) != 1 || !r.Replies[0].Quotes {
		t.Errorf("of an id: got %+v, want input, journal, posts and session, and a reply that quotes", r)
	}
	if _, text, _ := ran(t, nil, "--db", db, "where", id); !strings.HasPrefix(text, "message "+id+" of general\n") || !strings.Contains(text, "\nmessage.id  ") {
		t.Errorf("of an id: got %q", text)
	}
}

// The exit status is that of grep.
func TestWhereEndsAsGrepDoes(t *testing.T) {
	t.Parallel()
	db, _ := quoted(t)
	none := filepath.Join(t.TempDir(), "none.db")
	for _, c := range []struct {
		name string
		args []string
		code int
		out  string
		errs string
	}{
		{"nothing", []string{"--db", db, "where", "nobody said this"}, 1, "found nowhere\n", ""},
		{"nothing, as JSON", []string{"--db", db, "--json", "where", "nobody said this"}, 1, "{\n  \"found\": 0,\n  \"messages\": [],\n  \"places\": []\n}\n", ""},
		{"no database", []string{"--db", none, "where", "x"}, 2, "", "there is no database"},
		{"an empty text", []string{"--db", db, "where", ""}, 2, "", "no text to look for"},
		{"a text without quotes", []string{"--db", db, "where", "two", "words"}, 2, "", `earshot where 'two words'`},
	} {
		code, out, errs := ran(t, nil, c.args...)
		if code != c.code || out != c.out || !strings.Contains(errs, c.errs) || errs != "" && c.errs == "" {
			t.Errorf("%s: got %d, %q, %q, want %d, %q, %q", c.name, code, out, errs, c.code, c.out, c.errs)
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a database was made")
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
