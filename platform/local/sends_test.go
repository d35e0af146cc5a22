package local_test

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/local"
)

// A file of the bot's is one message under its key, in the thread of the question, and a
// terminal shows its name, its size and how it begins.
func TestTheBotSendsAFile(t *testing.T) {
	t.Parallel()
	w := open(t)
	in, typist := io.Pipe()
	var out strings.Builder
	done, ready := make(chan error), make(chan struct{}, 1)
	go func() {
		done <- w.chat.Terminal(t.Context(), in, writer(func(b []byte) {
			out.Write(b)
			select {
			case ready <- struct{}{}:
			default:
			}
		}), local.Screen{Person: "you", Channel: "general"})
	}()
	<-ready
	at := bot.Place{Channel: channel, Anchor: earshot.Message{ID: "1"}}
	text := strings.Repeat("a,\x1b[31mb\n", 205)
	for range 2 {
		if err := w.chat.SendFile(t.Context(), at, bot.TextFile{Name: "n.csv", Text: text, Key: "f00d"}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := w.store.Newest(t.Context(), channel.Scope(), earshot.Whole(), earshot.Position{}, 10)
	if err != nil || len(list) != 1 || list[0].Thread != "1" || list[0].Author.ID != "earshot" || len(list[0].Files) != 1 {
		t.Fatalf("stored: %+v, %v", list, err)
	}
	f := list[0].Files[0]
	s, err := w.chat.OpenFile(t.Context(), channel.Scope(), f.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(s.Content); err != nil || string(got) != text || f.Size != int64(len(text)) {
		t.Errorf("it has %d bytes of %d, %v", len(got), f.Size, err)
	}
	if err := typist.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(plain(out.String()), "there is.\n")
	want := "  [1] earshot (bot): \n      📎 n.csv, 1,845 bytes\n" + strings.Repeat("      a,[31mb\n", 200) + "      … and 5 more lines\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the terminal, -want +got\n%s", diff)
	}
}
