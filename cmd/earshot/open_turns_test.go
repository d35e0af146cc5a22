package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// TestTheDeskKnowsTurnsThatOthersAnswered opens and commits two turns as the sidecar
// does, and looks at them with the commands.
func TestTheDeskKnowsTurnsThatOthersAnswered(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	st, err := store.Open(t.Context(), "sqlite:"+db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	channel := earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel}
	if err := st.PutChannel(t.Context(), channel); err != nil {
		t.Fatal(err)
	}
	if err := st.PutAuthors(t.Context(), "slack", "T1", earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}); err != nil {
		t.Fatal(err)
	}
	s := sidecar.New(st, search.New(st, nil), nil, sidecar.Options{})
	p := access.Principal{ID: "key:test", Kind: access.Key}
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	for i, m := range []earshot.Message{
		{ID: "m1", Time: 1_772_442_000_000_000, Author: alice, Text: "<@U0BOT> why is staging down?"},
		{ID: "m2", Time: 1_772_442_060_000_000, Author: alice, Text: "<@U0BOT> and now?", Thread: "m1"},
	} {
		if _, err := st.Record(t.Context(), channel.Scope(), m); err != nil {
			t.Fatal(err)
		}
		c, err := s.Context(t.Context(), p, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: m.ID, Agent: "U0BOT", Open: true})
		if err != nil {
			t.Fatal(err)
		}
		reply := sidecar.Reply{Text: "The disk is full.", Messages: []earshot.Message{{ID: m.ID + "r", Time: m.Time + 1, Text: "The disk is full."}}, Usage: earshot.Usage{Input: 1234, Output: 5}}
		if done, err := s.Commit(t.Context(), p, c.Draft.ID, reply); err != nil || done.Number != i {
			t.Fatalf("commit: %+v, %v", done, err)
		}
	}
	for _, c := range []struct {
		args  []string
		holds []string
	}{
		{[]string{"turns"}, []string{"why is staging down?", "and now?", "done"}},
		{[]string{"turn", "1"}, []string{"why is staging down?", "The disk is full."}},
		{[]string{"replay", "1"}, []string{"same"}},
		{[]string{"replay", "2", "--json"}, []string{`"same": true`}},
		{[]string{"diff", "1", "2"}, []string{"and now?"}},
		{[]string{"costs"}, []string{"2,468"}},
	} {
		var out, problems bytes.Buffer
		code := run(t.Context(), append([]string{"earshot", "--db", db}, c.args...), []string{"HOME=" + t.TempDir()}, strings.NewReader(""), &out, &problems)
		for _, want := range c.holds {
			if code != 0 || !strings.Contains(out.String(), want) {
				t.Errorf("%v: exit %d, want %q in\n%s%s", c.args, code, want, out.String(), problems.String())
			}
		}
	}
}
