package archive_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/store"
)

// Alice gets what is hers, and nothing that others wrote: every text of theirs holds
// the word secret.
func TestAPersonsExportHoldsTheirsAndNoWordsOfOthers(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	defer st.Close()
	s := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	alice, bob := earshot.Author{ID: "U1", Name: "alice", FullName: "Alice Example", Kind: earshot.Human}, earshot.Author{ID: "U2", Name: "bob", Kind: earshot.Human}
	check(st.PutAuthors(t.Context(), s.Platform, s.Workspace, alice, bob))
	say := func(id earshot.MessageID, by earshot.Author, text string) earshot.Message {
		return earshot.Message{ID: id, Time: earshot.Time(len(id)) * 1_000_000, Author: by, Text: text}
	}
	first := say("m1", alice, "first words")
	edited := say("m1", alice, "better words")
	edited.Edited, edited.Reactions, edited.Files = 9_000_000, []earshot.Reaction{{Name: "wave", Count: 2}}, []earshot.File{{ID: "F1", Name: "plan.pdf", Size: 7}}
	edited.Shared = []earshot.SharedContent{{Kind: earshot.Forward, ID: "U2", Author: "secret bob", Place: "#ops", Text: "secret forwarded"}}
	mention := say("m2", bob, "secret to <@U1|alice>")
	mention.Mentions = []earshot.AuthorID{"U1"}
	mention.Shared = []earshot.SharedContent{{Kind: earshot.Forward, ID: "U1", Author: "alice", Text: "her quoted words"}, {Kind: earshot.Link, Text: "secret preview"}}
	_, err = st.Record(t.Context(), s, first, edited, mention, say("m3", bob, "secret alone"), say("m4", bob, "secret question"))
	check(err)
	for _, x := range []earshot.ReactionEvent{{Message: "m3", Emoji: "tada", Author: "U1", At: 7_000_000}, {Message: "m3", Emoji: "secret", Author: "U2", At: 8_000_000},
		{Message: "m3", Emoji: "secret", Author: "U1", At: 8_000_000}, {Message: "m3", Emoji: "secret", Author: "U1", Taken: true, At: 9_000_000}} {
		_, err := st.React(t.Context(), s, x)
		check(err)
	}
	raw := `{"event":{"text":"better words","n":12345678901234567890,"root":{"text":"secret root"},"attachments":[{"text":"secret forwarded"}],"reactions":[{"name":"wave","count":2,"users":["Usecret"]}]}}`
	_, err = st.Accept(t.Context(), s, earshot.Event{Delivery: "Ev1", Raw: []byte(raw), Received: 5_000_000, Message: edited}, nil)
	check(err)
	conversation := earshot.ConversationID{Agent: "a", Scope: s, Name: "m5"}
	for _, m := range []earshot.Message{say("m5", alice, "what is up?"), say("m6", bob, "secret question")} {
		conversation.Name = string(m.ID)
		asked, err := st.Accept(t.Context(), s, earshot.Event{Delivery: "Ev" + string(m.ID), Message: m}, &conversation)
		check(err)
		l, _, err := st.Claim(t.Context(), "a", "owner", 1, time.Hour)
		check(err)
		check(st.Begin(t.Context(), l, asked.Turn, earshot.Prompt{Hash: "h"}))
		answer := "answer to " + m.Author.Name
		if m.Author.ID == "U2" {
			answer = "secret answer"
		}
		check(st.PutPost(t.Context(), l, earshot.Post{Turn: asked.Turn, Key: "k" + string(m.ID), Text: answer, State: earshot.PostSending}))
		reply := say("r"+m.ID, earshot.Author{ID: "UBOT", Kind: earshot.Bot}, answer)
		check(st.Finish(t.Context(), l, asked.Turn, earshot.TurnDone, "", &earshot.Turn{Answer: earshot.Answer{Anchor: m.ID, Replies: []earshot.MessageID{reply.ID}}},
			earshot.Arrival{Key: "k" + string(m.ID), Message: reply}))
	}
	mine := "mine"
	_, err = st.MergeMetadata(t.Context(), earshot.ConversationID{Agent: "a", Scope: s, Name: "m5"}, map[string]*string{"who": &mine})
	check(err)

	outside := earshot.ConversationID{Agent: "outside", Scope: s, Name: "m5"}
	_, _, err = st.CreateConversation(t.Context(), earshot.Conversation{ID: outside, About: earshot.About{Title: "her title", Owner: "U1", Tags: []string{"her tag"}}}, "")
	check(err)
	draft, err := st.OpenDraft(t.Context(), earshot.Draft{Conversation: outside, Anchor: "m5", Expires: 2, Prompt: earshot.Prompt{Hash: "h"}})
	check(err)
	_, err = st.CommitDraft(t.Context(), draft.ID, earshot.Turn{Answer: earshot.Answer{Replies: []earshot.MessageID{"rout"}}}, 1,
		say("rout", earshot.Author{ID: "UBOT", Kind: earshot.Bot}, "answer from outside"))
	check(err)

	var out bytes.Buffer
	check(archive.ExportPerson(t.Context(), st, &out, archive.Person{Platform: s.Platform, Workspace: s.Workspace, User: "U1"}, nil))
	var types []string
	for line := range strings.Lines(out.String()) {
		var l struct{ Type, Earshot string }
		check(json.Unmarshal([]byte(line), &l))
		types = append(types, l.Type+l.Earshot)
	}
	if got, want := strings.Join(types, " "), "person author message delivery mention quote reaction message turn conversation turn conversation"; got != want {
		t.Errorf("lines: got %q, want %q in\n%s", got, want, &out)
	}
	for _, want := range []string{"Alice Example", "first words", "better words", "plan.pdf", `"count":2`, "her quoted words", "what is up?", "answer to alice", `"who":"mine"`, "her title", "her tag", "answer from outside", "12345678901234567890", `"place":"#ops"`, `"message":"m3","time":"1970-01-01T00:00:02Z","emoji":"tada","at":"1970-01-01T00:00:07Z"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "secret") || strings.Contains(out.String(), "Usecret") {
		t.Errorf("others' words are in\n%s", &out)
	}
	out.Reset()
	err = archive.ExportPerson(t.Context(), st, &out, archive.Person{Platform: s.Platform, Workspace: s.Workspace, User: "U9"}, nil)
	if !errors.Is(err, earshot.ErrNotFound) || out.Len() > 0 {
		t.Errorf("an unknown person: got %v and %q, want ErrNotFound and nothing", err, out.String())
	}
}
