package local_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/local"
)

// A chooser is a chat at whose messages something can be chosen.
type chooser struct {
	world
	chosen  []bot.Chosen
	private string
	err     error
}

func openChooser(t *testing.T) *chooser {
	t.Helper()
	return chooserOver(t, open(t))
}

// chooserOver is another process over the store of a world.
func chooserOver(t *testing.T, w world) *chooser {
	t.Helper()
	x := &chooser{world: w}
	p, err := local.Open(t.Context(), w.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	x.chat = p.Chat(nil, func(_ context.Context, c bot.Chosen) (string, error) {
		x.chosen = append(x.chosen, c)
		return x.private, x.err
	})
	return x
}

var offered = []bot.Choice{
	{ID: "do", Label: "Do it", Style: bot.ChoiceDo},
	{ID: "dont", Label: "Don't", Style: bot.ChoiceDanger, Words: "Why not?"},
	{ID: "else", Label: "Something else", Words: "What?", Required: true},
}

// ask posts a message with choices.
func (x *chooser) ask(t *testing.T, d bot.Draft) earshot.Message {
	t.Helper()
	d.Place = bot.Place{Channel: channel, Anchor: earshot.Message{ID: "1"}}
	if d.Key == "" {
		d.Key = "aKEY"
	}
	m, err := x.chat.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAPersonChooses(t *testing.T) {
	t.Parallel()
	x := openChooser(t)
	m := x.ask(t, bot.Draft{Text: "Delete it?", Choices: offered})
	x.private = "Thank you."
	bob := earshot.Author{ID: "bob", Name: "Bob", Kind: earshot.Human}
	chosen := func(c, words string) bot.Chosen {
		return bot.Chosen{Scope: scope, Message: m.ID, Key: "aKEY", Choice: c, By: bob, Words: words}
	}
	for _, c := range []struct {
		choice local.Choice
		want   bot.Chosen
		err    error
	}{
		{local.Choice{Message: m.ID, Choice: "do", As: "Bob"}, chosen("do", ""), nil},
		{local.Choice{Message: m.ID, Choice: "dont", As: "bob"}, chosen("dont", ""), nil},
		{local.Choice{Message: m.ID, Choice: "dont", As: "bob", Words: " the only\ncopy "}, chosen("dont", "the only\ncopy"), nil},
		{local.Choice{Message: m.ID, Choice: "else", As: "bob", Words: "move it"}, chosen("else", "move it"), nil},
		{local.Choice{Message: m.ID, Choice: "else", As: "bob", Words: " "}, bot.Chosen{}, local.ErrInvalid},
		{local.Choice{Message: m.ID, Choice: "do", As: "bob", Words: "now"}, bot.Chosen{}, local.ErrInvalid},
		{local.Choice{Message: m.ID, Choice: "dont", As: "bob", Words: strings.Repeat("é", 3001)}, bot.Chosen{}, local.ErrInvalid},
		{local.Choice{Message: m.ID, Choice: "other", As: "bob"}, bot.Chosen{}, local.ErrInvalid},
		{local.Choice{Message: m.ID, As: "bob"}, bot.Chosen{}, local.ErrInvalid},
		{local.Choice{Message: m.ID, Choice: "do", As: "earshot"}, bot.Chosen{}, local.ErrForbidden},
		{local.Choice{Message: "rNONE", Choice: "do", As: "bob"}, bot.Chosen{}, earshot.ErrNotFound},
		{local.Choice{Message: m.ID, Choice: "do", As: ""}, bot.Chosen{}, local.ErrInvalid},
	} {
		x.chosen = nil
		c.choice.Channel = "general"
		private, err := x.chat.Choose(t.Context(), c.choice)
		switch {
		case !errors.Is(err, c.err) || (err == nil) != (c.err == nil):
			t.Errorf("%+v: %v, want %v", c.choice, err, c.err)
		case err == nil && (private != "Thank you." || !cmp.Equal(x.chosen, []bot.Chosen{c.want})):
			t.Errorf("%+v: got %+v, %q, want %+v", c.choice, x.chosen, private, c.want)
		case err != nil && x.chosen != nil:
			t.Errorf("%+v is an error and is chosen: %+v", c.choice, x.chosen)
		}
	}
	x.err = errors.New("the disk is full")
	if _, err := x.chat.Choose(t.Context(), local.Choice{Channel: "general", Message: m.ID, Choice: "do", As: "bob"}); !errors.Is(err, x.err) {
		t.Errorf("what is not stored: %v", err)
	}
}

func TestNothingCanBeChosenAtAPersonsMessage(t *testing.T) {
	t.Parallel()
	w := open(t)
	m := say(t, w, local.NewMessage{As: "bob", Text: "hello"}).Message
	x := chooserOver(t, w)
	if _, err := x.chat.Choose(t.Context(), local.Choice{Channel: "general", Message: m.ID, Choice: "do", As: "bob"}); !errors.Is(err, local.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if x.chosen != nil {
		t.Errorf("chosen: %+v", x.chosen)
	}
}

// TestChoicesOutliveTheProcessThatOfferedThem is of a chat that was started again: what is
// offered is not shown any more, and can be chosen.
func TestChoicesOutliveTheProcessThatOfferedThem(t *testing.T) {
	t.Parallel()
	x := openChooser(t)
	m := x.ask(t, bot.Draft{Text: "Delete it?", Choices: offered})
	y := chooserOver(t, x.world)
	if list := y.chat.Choices(scope, m.ID); list != nil {
		t.Errorf("it knows %+v", list)
	}
	var out strings.Builder
	in := "/choose " + string(m.ID) + " else move it\n/choose " + string(m.ID) + " Approve!\n/choose\n"
	if err := y.chat.Terminal(t.Context(), strings.NewReader(in), &out, local.Screen{Person: "Bob", Channel: "general"}); err != nil {
		t.Fatal(err)
	}
	want := []bot.Chosen{{Scope: scope, Message: m.ID, Key: "aKEY", Choice: "else", By: earshot.Author{ID: "bob", Name: "Bob", Kind: earshot.Human}, Words: "move it"}}
	if diff := cmp.Diff(y.chosen, want); diff != "" {
		t.Errorf("chosen (-got +want):\n%s", diff)
	}
	for _, s := range []string{`has no choice "Approve!"`, "nothing to choose here"} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("no %q in\n%s", s, &out)
		}
	}
}

func TestTheTerminalShowsWhatCanBeChosen(t *testing.T) {
	t.Parallel()
	x := openChooser(t)
	x.private = "Thank you."
	in, lines := io.Pipe()
	var out strings.Builder
	ended, carriedOut := make(chan error, 1), make(chan struct{})
	go func() {
		ended <- x.chat.Terminal(t.Context(), in, &out, local.Screen{
			Person: "Bob", Channel: "general",
			Why: func(context.Context, io.Writer, earshot.Channel) error {
				carriedOut <- struct{}{}
				return nil
			},
		})
	}()
	write := func(s string) {
		if _, err := io.WriteString(lines, s+"\n/why\n"); err != nil {
			t.Error(err)
		}
		<-carriedOut
	}
	write("/choose")
	stop := x.ask(t, bot.Draft{Key: "pSTOP", Text: "…", Growing: true, Choices: []bot.Choice{{ID: "stop", Label: "Stop", Style: bot.ChoiceDanger}}})
	write("/choose")
	d := bot.Draft{Place: bot.Place{Channel: channel, Anchor: earshot.Message{ID: "1"}}, Key: "pSTOP", Text: "Delete it?", Choices: offered}
	if err := x.chat.Update(t.Context(), d, stop.ID); err != nil {
		t.Fatal(err)
	}
	write("/choose 1 1\n/choose 1 2 it is the only copy\n/choose 1 3\n/choose 1\n/choose 9 1\n/history 1")
	d.Choices = nil
	if err := x.chat.Update(t.Context(), d, stop.ID); err != nil {
		t.Fatal(err)
	}
	write("/choose")
	_ = lines.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	want := `You are Bob in #general. Mention @earshot to ask; /help lists what else there is.
as far as this chat knows there is nothing to choose here
/choose 1  [1] Stop
  [1] earshot (bot): Delete it?
      /choose 1  [1] Do it  [2] Don't Why not? [WORDS]  [3] Something else What? WORDS
Thank you.
Thank you.
invalid: else needs words: What?
which choice? give its number or its name
which message? give the number that stands before it, 1 to 1
  [1] earshot (bot): Delete it?
      /choose 1  [1] Do it  [2] Don't Why not? [WORDS]  [3] Something else What? WORDS
  [1] earshot (bot): Delete it?
as far as this chat knows there is nothing to choose here
`
	got := plain(out.String())
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if len(x.chosen) != 2 || x.chosen[0].Choice != "do" || x.chosen[1].Words != "it is the only copy" {
		t.Errorf("chosen: %+v", x.chosen)
	}
}

func TestChoicesByHTTP(t *testing.T) {
	t.Parallel()
	x := openChooser(t)
	x.private = "Thank you."
	m := x.ask(t, bot.Draft{Text: "Delete it?", Choices: offered[1:2]})
	s := httptest.NewServer(x.chat.Handler("token"))
	t.Cleanup(s.Close)
	call := func(method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer token")
		r.Header.Set("Content-Type", "application/json")
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		all, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.StatusCode, strings.TrimSpace(string(all))
	}
	if _, got := call("GET", "/v1/channels/general/messages", ""); !strings.Contains(got, `"choices":[{"id":"dont","label":"Don't","style":"danger","words":"Why not?"}]`) {
		t.Errorf("the messages are %s", got)
	}
	at := "/v1/channels/general/messages/" + string(m.ID) + "/choices"
	for body, want := range map[string]int{
		`{"as":"bob","choice":"dont","words":"no"}`: 200,
		`{"as":"bob","choice":"do"}`:                400,
		`{"as":"bob","choice":"dont","by":"mara"}`:  400,
		`{"as":"earshot","choice":"dont"}`:          403,
		`[]`:                                        400,
	} {
		if status, got := call("POST", at, body); status != want || status == 200 && got != `{"private":"Thank you."}` {
			t.Errorf("%s: %d %s, want %d", body, status, got, want)
		}
	}
	if status, _ := call("POST", "/v1/channels/general/messages/rNONE/choices", `{"as":"bob","choice":"dont"}`); status != 404 {
		t.Errorf("at no message: %d", status)
	}
	x.err = errors.New("the disk is full")
	if status, got := call("POST", at, `{"as":"bob","choice":"dont"}`); status != 500 || strings.Contains(got, "disk") {
		t.Errorf("what is not stored: %d %s", status, got)
	}
	if len(x.chosen) != 2 || x.chosen[0].Words != "no" || x.chosen[0].By.ID != "bob" {
		t.Errorf("chosen: %+v", x.chosen)
	}
}
