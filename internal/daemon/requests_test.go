package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/platform/local"
)

// requests has turns with files, with rounds of tools and with a session, and wants
// the bytes of every request back from the store, also after a restart.
func (p endToEnd) requests(t *testing.T) {
	t.Parallel()
	w := p.wire(t)
	db := filepath.Join(t.TempDir(), "e.db")
	d := p.start(t, w, db)
	d.say(t, "general", "ann", "staging listens on port 4242 <b>& more</b>")
	root, err := d.Chat.Say(d.ctx, local.NewMessage{Channel: "general", As: "bob", Text: "@earshot what is in this picture", Files: []local.Upload{
		{Name: "design.png", Data: picture(t)}, {Name: "notes.txt", Data: []byte("one two three")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ids := []earshot.TurnID{root.Turn}
	d.ends(t, root.Turn)
	for _, said := range []string{"@earshot which port has staging?", "@earshot say hello"} {
		heard, err := d.Chat.Say(d.ctx, local.NewMessage{Channel: "general", As: "bob", Text: said, Thread: root.Message.ID})
		if err != nil {
			t.Fatal(err)
		}
		if q := d.ends(t, heard.Turn); q.State != earshot.TurnDone {
			t.Fatalf("%q: the turn is %s (%s)", said, q.State, q.Why)
		}
		ids = append(ids, heard.Turn)
	}
	sent := w.sent()
	if len(sent) != 4 {
		t.Fatalf("%d requests were sent, want 4: one, two with a tool's, one", len(sent))
	}
	p.shown(t, d, ids, sent)
	d.stop()
	d = p.start(t, w, db)
	p.shown(t, d, ids, sent)

	// What is deleted is not shown, in no request that contained it.
	if err := d.Chat.Delete(d.ctx, "general", root.Message.ID, "bob"); err != nil {
		t.Fatal(err)
	}
	for _, r := range requestsOf(d.ctx, t, d, ids[2]) {
		if r.Body != nil || r.Why == "" {
			t.Errorf("after a deletion step %d shows %d bytes, and why is %q", r.N, len(r.Body), r.Why)
		}
	}
}

// shown checks that the requests of turns are what was sent.
func (p endToEnd) shown(t *testing.T, d running, ids []earshot.TurnID, sent []string) {
	t.Helper()
	n := 0
	for _, id := range ids {
		for _, r := range requestsOf(d.ctx, t, d, id) {
			if n == len(sent) {
				t.Fatalf("turn %d has more requests than were sent", id)
			}
			if string(r.Body) != sent[n] {
				t.Errorf("turn %d, step %d: %s\ngot  %s\nsent %s", id, r.N, r.Why, r.Body, sent[n])
			}
			short := string(r.Shortened())
			if !json.Valid([]byte(short)) || strings.Contains(short, modeltest.Key) || r.Provider != p.provider {
				t.Errorf("turn %d, step %d: %s shows %s", id, r.N, r.Provider, short)
			}
			if strings.Count(short, "…(base64 of design.png, ") != 1 || len(short) > len(r.Body) {
				t.Errorf("turn %d, step %d: the picture is not shortened: %s", id, r.N, short)
			}
			n++
		}
	}
	if n != len(sent) {
		t.Errorf("%d requests are shown, %d were sent", n, len(sent))
	}
}

func requestsOf(ctx context.Context, t *testing.T, d running, id earshot.TurnID) []bot.SentRequest {
	t.Helper()
	q, err := d.Store.QueuedTurn(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	var list []bot.SentRequest
	for r, err := range daemon.Requests(ctx, d.Store, q) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// picture is a PNG of some hundred bytes.
func picture(t *testing.T) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 40, 40))
	for i := range m.Pix {
		m.SetGray(i%40, i/40, color.Gray{Y: uint8(i * i)})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
