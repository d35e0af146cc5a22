package discord_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

var numbers = bot.TextFile{Name: "zahlen ä.csv", Text: "a,b\nä,2 @everyone\n", Key: "f00d"}

// A file stands where an answer would, notifies nobody, and has the bytes that it was given.
func TestAFileIsSentWhereAnAnswerGoes(t *testing.T) {
	t.Parallel()
	for _, form := range []string{discord.ThreadOff, discord.ThreadOnMention} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			x := speak(t, func(_ *fake.Options, o *discord.Options) { o.Thread = form })
			in := x.fake.Thread(x.general, x.fake.Say(x.general, x.mara, "what now?"), x.mara, "a thread")
			for _, thread := range []string{"", in} {
				at := x.question(x.general, thread, "the numbers?")
				if err := x.SendFile(t.Context(), at, numbers); err != nil {
					t.Fatal(err)
				}
				reply, err := x.Post(t.Context(), bot.Draft{Place: at, Text: "here", Key: "rKEY" + thread})
				if err != nil {
					t.Fatal(err)
				}
				where := x.general
				if reply.Thread != "" {
					where = string(reply.Thread)
				}
				posts := x.posts(where)
				if len(posts) != 2 || posts[0].Content != "" || !cmp.Equal(posts[0].Files, []string{numbers.Name}) || posts[0].Reply != posts[1].Reply || len(posts[0].Mentions) > 0 {
					t.Errorf("people see %+v", posts)
				}
			}
		})
	}
}

// The file of an answer is not taken for the answer, whose fate is looked up.
func TestALostReplyIsNotTheFileBesideIt(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	at := x.question(x.general, "", "the numbers?")
	if err := x.SendFile(t.Context(), at, numbers); err != nil {
		t.Fatal(err)
	}
	x.again()
	for _, text := range []string{"…", "👍", "zahlen ä.csv"} {
		if m, err := x.Find(t.Context(), bot.Draft{Place: at, Text: text, Key: "rKEY"}); !errors.Is(err, earshot.ErrNotFound) {
			t.Errorf("%q: found %+v, %v", text, m, err)
		}
	}
}

func TestAFileThatDoesNotArrive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind    fake.FaultKind
		certain bool
		sent    int
	}{
		"refused":            {fake.Forbidden, true, 0},
		"the answer is lost": {fake.LostResponse, false, 1},
		"the call is lost":   {fake.LostRequest, false, 0},
		"a server's error":   {fake.ServerError, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := speak(t, nil)
			at := x.question(x.general, "", "the numbers?")
			x.fake.Inject(fake.Fault{Kind: c.kind, On: "create_message"})
			err := x.SendFile(context.WithoutCancel(t.Context()), at, numbers)
			if certain := refusal(err) != nil; err == nil || certain != c.certain {
				t.Errorf("got %v, want an error that is certain: %t", err, c.certain)
			}
			if n := len(x.posts(x.general)); n != c.sent || len(x.fake.Calls("create_message")) != 1 {
				t.Errorf("people see %d files after %d calls", n, len(x.fake.Calls("create_message")))
			}
		})
	}
}

// Where the bot may not attach files, its answers go on.
func TestFilesThatAreRefusedStopNoAnswers(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	at := x.question(x.general, "", "the numbers?")
	x.fake.Inject(fake.Fault{Kind: fake.Forbidden, On: "create_message", Times: 3})
	for range 5 {
		if e := refusal(x.SendFile(t.Context(), at, numbers)); e == nil || e.Retry != 0 {
			t.Fatalf("got %v, want it refused for good", e)
		}
	}
	if n := len(x.fake.Calls("create_message")); n != 3 {
		t.Errorf("%d calls were made, want 3 and then none", n)
	}
	if _, err := x.Post(t.Context(), bot.Draft{Place: at, Text: "without them", Key: "rKEY"}); err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(x.posts(x.general), func(m fake.Message) bool { return strings.HasPrefix(m.Content, "without") }) {
		t.Error("nobody is answered")
	}
}
