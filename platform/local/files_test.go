package local_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/local"
)

func TestAFileIsThereWithItsMessage(t *testing.T) {
	t.Parallel()
	w := open(t)
	heard, err := w.chat.Say(t.Context(), local.NewMessage{Channel: "general", As: "bob", Files: []local.Upload{{Name: "plan.png", Data: []byte("\x89PNG\r\n\x1a\n")}, {Name: "notes", Data: []byte("a note")}}})
	if err != nil {
		t.Fatal(err)
	}
	files := heard.Message.Files
	if len(files) != 2 || files[0].Name != "plan.png" || files[0].Type != "image/png" || files[0].Size != 8 || len(files[0].SHA256) != 64 || files[1].Type != "text/plain; charset=utf-8" || files[0].ID == files[1].ID {
		t.Errorf("the message has %+v", files)
	}
	src, err := w.chat.OpenFile(t.Context(), scope, files[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(src.Content)
	if err != nil || string(data) != "a note" || src.Size != 6 {
		t.Errorf("got %q of %d bytes, %v", data, src.Size, err)
	}
	other := scope
	other.Channel = "elsewhere"
	if _, err := w.chat.OpenFile(t.Context(), other, files[1].ID); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("from another channel: got %v", err)
	}
	if err := w.chat.Delete(t.Context(), "general", heard.Message.ID, "bob"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.chat.OpenFile(t.Context(), scope, files[1].ID); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("after the message was deleted: got %v", err)
	}
}

func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	w := open(t)
	say := func(list ...local.Upload) (earshot.Message, error) {
		heard, err := w.chat.Say(t.Context(), local.NewMessage{Channel: "general", As: "bob", Files: list})
		return heard.Message, err
	}
	for name, list := range map[string][]local.Upload{
		"without a name":  {{Data: []byte("x")}},
		"without content": {{Name: "x"}},
		"too large":       {{Name: "x", Data: make([]byte, 20<<20+1)}},
		"too many":        make([]local.Upload, 11),
	} {
		if _, err := say(list...); !errors.Is(err, local.ErrInvalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	big := bytes.Repeat([]byte{1}, 20<<20)
	var first earshot.ArtifactID
	for i := range 4 {
		m, err := say(local.Upload{Name: "big", Data: big})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = m.Files[0].ID
		}
	}
	if _, err := w.chat.OpenFile(t.Context(), scope, first); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("the oldest is still held: %v", err)
	}
}
