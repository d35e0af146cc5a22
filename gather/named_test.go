package gather_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/store"
)

// A name that the platform told after the message was stored is the author's also for what
// was said before; a name that a message has stays, unless profiles are to count.
func TestANameThatCameLaterIsShown(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	at := earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1"}
	say := func(id earshot.MessageID, a earshot.Author) {
		t.Helper()
		m := earshot.Message{ID: id, Time: earshot.Time(1_772_442_000_000_000 + int64(len(id))), Author: a, Text: "hello"}
		if _, err := st.Record(ctx, at.Scope(), m); err != nil {
			t.Fatal(err)
		}
	}
	say("1", earshot.Author{ID: "U1"})
	say("22", earshot.Author{ID: "U2", Name: "Bob"})
	say("333", earshot.Author{ID: "U3"})
	if err := st.PutAuthors(ctx, "slack", "T1", earshot.Author{ID: "U1", Name: "Ann", AsOf: 1}, earshot.Author{ID: "U2", Name: "Robert", AsOf: 1}); err != nil {
		t.Fatal(err)
	}
	for profiles, want := range map[bool][]string{false: {"Ann", "Bob", ""}, true: {"Ann", "Robert", ""}} {
		in, err := gather.Input(ctx, st, gather.Request{Channel: at, Anchor: "333", Identity: earshot.Identity{ID: "B", Name: "bot"}, Profiles: profiles})
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range in.Messages {
			if m.Author.Name != want[i] {
				t.Errorf("with profiles %v: %s is %q, want %q", profiles, m.Author.ID, m.Author.Name, want[i])
			}
		}
		if len(in.Messages) != len(want) {
			t.Errorf("with profiles %v: read %d messages", profiles, len(in.Messages))
		}
	}
}

// Whom a message mentions by id alone goes by the name that the store has; a name that
// stands in the mention stays, unless profiles are to count.
func TestWhoIsMentionedHasTheNameThatIsStored(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	at := earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1", Topic: "on call: <@U6>"}
	for n, text := range []string{"<@U4|four>, <@!U5>, <@U7> and <@B>", "who was <@U4|vier>?"} {
		m := earshot.Message{ID: earshot.MessageID(rune('1' + n)), Time: earshot.Time(1_772_442_000_000_000 + n), Author: earshot.Author{ID: "U3", Name: "Cy"}, Text: text}
		if _, err := st.Record(ctx, at.Scope(), m); err != nil {
			t.Fatal(err)
		}
	}
	gone := earshot.Message{ID: "0", Time: 1_772_441_000_000_000, Author: earshot.Author{ID: "U3", Name: "Cy"}, Text: "<@U8>", Deleted: true}
	if _, err := st.Record(ctx, at.Scope(), gone); err != nil {
		t.Fatal(err)
	}
	for _, id := range []earshot.AuthorID{"B", "U3", "U4", "U5", "U6", "U8"} {
		if err := st.PutAuthors(ctx, "slack", "T1", earshot.Author{ID: id, Name: "told " + string(id), FullName: "Full", AsOf: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.PutAuthors(ctx, "slack", "T2", earshot.Author{ID: "U7", Name: "elsewhere", AsOf: 1}); err != nil {
		t.Fatal(err)
	}
	five, six := assemble.MentionedPerson{ID: "U5", Name: "told U5", FullName: "Full"}, assemble.MentionedPerson{ID: "U6", Name: "told U6", FullName: "Full"}
	for profiles, want := range map[bool][]assemble.MentionedPerson{false: {five, six}, true: {{ID: "U4", Name: "told U4", FullName: "Full"}, five, six}} {
		in, err := gather.Input(ctx, st, gather.Request{Channel: at, Anchor: "2", Identity: earshot.Identity{ID: "B", Name: "bot"}, Profiles: profiles})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(in.Mentioned, want); d != "" {
			t.Errorf("with profiles %v (-got +want):\n%s", profiles, d)
		}
	}
}
