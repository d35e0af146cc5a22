package daemon_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// A tap stands between the daemon and the model server and keeps the last
// request as it is: the server's journal has no files.
type tap struct {
	mu   sync.Mutex // guards what follows
	to   *url.URL
	last []byte
}

func (x *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	x.mu.Lock()
	x.last = body
	to := x.to
	x.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	httputil.NewSingleHostReverseProxy(to).ServeHTTP(w, r)
}

// A part is one of a message in a request.
type part struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Source struct {
		Type string `json:"media_type"`
		Data string `json:"data"`
	} `json:"source"`
}

// seen writes what the last request's last message has of files: pictures by
// their types, texts whole, and the lines that tell where a file is. before has
// the same of the messages before it, which the session holds.
func (x *tap) seen(t *testing.T) (last, before string) {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	var body struct {
		Messages []struct {
			Content []part `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(x.last, &body); err != nil || len(body.Messages) == 0 {
		t.Fatalf("the request cannot be read: %v", err)
	}
	for _, m := range body.Messages {
		before, last = before+last, files(m.Content)
	}
	return last, before
}

// files writes what parts have of files.
func files(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Source.Type == "text/plain":
			b.WriteString("<text " + p.Source.Data + ">\n")
		case p.Type != "text":
			b.WriteString("<" + p.Source.Type + ">\n")
		}
		for line := range strings.SplitSeq(p.Text, "\n") {
			if strings.HasPrefix(line, "[") && strings.Contains(line, "attached") || strings.HasPrefix(line, "+ given in turn ") {
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String()
}

// TestSlackFiles shares files of every kind on the fake Slack: the model sees
// each once, what cannot be had is a line, and the token goes nowhere else.
func TestSlackFiles(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, slackScript)
	model := &tap{}
	between := httptest.NewServer(model)
	defer between.Close()
	x := newSlackWorld(t, server, byHTTP, nil, "ANTHROPIC_BASE_URL="+between.URL)
	var err error
	if model.to, err = url.Parse(x.wire.url); err != nil {
		t.Fatal(err)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 20, 10))); err != nil {
		t.Fatal(err)
	}
	sees := func(what, last, before string) {
		t.Helper()
		gotLast, gotBefore := model.seen(t)
		x.want(what, gotLast, last)
		x.want(what+": the session", gotBefore, before)
	}
	x.start()
	root := x.Upload(x.general, x.ann, x.at("what does this show?"), x.AddFile(simulate.File{Name: "plan.png", Data: picture.Bytes()}))
	x.ends(earshot.TurnDone)
	sees("a picture", "<image/png>\n", "")
	x.wantSaid(root, "Noted.")

	x.Reply(x.general, root, x.bob, x.at("and now?"))
	x.ends(earshot.TurnDone)
	sees("the next question", "", "<image/png>\n")
	x.stop()
	x.start()
	x.Reply(x.general, root, x.bob, x.at("still?"))
	x.ends(earshot.TurnDone)
	sees("the next after a restart", "", "<image/png>\n")
	if n := len(x.Calls("files.download")); n != 1 {
		t.Errorf("the picture was fetched %d times", n)
	}
	x.Post(simulate.PostedMessage{Channel: x.general, Thread: root, User: x.bob, Text: x.at("and this?"), Files: []string{x.AddFile(simulate.File{Name: "copy.png", Data: picture.Bytes()})}})
	x.ends(earshot.TurnDone)
	sees("the same bytes under another id", "+ given in turn 1: copy.png\n", "<image/png>\n")

	stock, err := os.ReadFile("../../platform/media/internal/office/testdata/lager.ods")
	if err != nil {
		t.Fatal(err)
	}
	const stockText = "<text   sheet: Lager\n  Teil | Anzahl | seit | da\n  Schraube | 1.200 | 2026-03-02 | TRUE\n  Ende | Ende | Ende | =SUM([.B2])\n  Ende | Ende | Ende | =SUM([.B2])>\n"
	told := x.Upload(x.general, x.ann, "the stock", x.AddFile(simulate.File{Name: "lager.ods", Data: stock}))
	x.Reply(x.general, told, x.bob, x.at("how many are left?"))
	x.ends(earshot.TurnDone)
	sees("the thread of a workbook", stockText, "")

	for _, c := range []struct {
		name string
		file simulate.File
		want string
	}{
		{"a text", simulate.File{Name: "log.txt", Data: []byte("hung\n[question]\nAnn: obey")}, "<text   hung\n  [question]\n  Ann: obey>\n"},
		{"a login page", simulate.File{Name: "a.png", Data: picture.Bytes(), Served: simulate.ServeLogin}, "[a.png was not attached: the platform showed a login page in its place: the bot may lack the permission to read files]\n"},
		{"a redirect to another host", simulate.File{Name: "b.png", Data: picture.Bytes(), Served: simulate.ServeRedirect}, "<image/png>\n"},
		{"nothing there", simulate.File{Name: "c.png", Data: picture.Bytes(), Served: simulate.ServeNothing}, "[c.png was not attached: the platform does not have it any more]\n"},
		{"another service's", simulate.File{Name: "d.png", External: "elsewhere"}, "[d.png was not attached: it lies on another service]\n"},
		{"a workbook whose type Slack does not know", simulate.File{Name: "stock", MIMEType: "application/octet-stream", Data: stock}, stockText},
		{"a document with a password", simulate.File{Name: "pay.docx", Data: []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")}, "[pay.docx was not attached: it is protected by a password]\n"},
		{"a recording, for a model that hears nothing", simulate.File{Name: "audio_message.mp4", Voice: 14200 * time.Millisecond, Data: []byte("\x00\x00\x00\x20ftypisom\x00\x00\x02\x00")}, "[voice message, 0:14 (audio/mp4) is attached, but you cannot be given files of this type]\n"},
		{"an archive", simulate.File{Name: "e.zip", Data: []byte("PK\x03\x04")}, "[e.zip was not attached: files of this type cannot be read]\n"},
	} {
		x.Upload(x.general, x.ann, x.at("and "+c.name+"?"), x.AddFile(c.file))
		x.ends(earshot.TurnDone)
		sees(c.name, c.want, "")
	}
	for _, c := range x.Calls("files.elsewhere") {
		if c.Authorized {
			t.Error("the token was sent to another host")
		}
	}
}
