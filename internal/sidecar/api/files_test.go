package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
)

// shot is a small picture.
func shot(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// put gives a file as a caller, and returns the status, and the answer as JSON.
func (w *world) put(t testing.TB, as, path, kind string, data []byte) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, w.server.URL+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+as)
	req.Header.Set("Content-Type", kind)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out := map[string]any{}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, out
}

// get reads a file as a caller.
func (w *world) get(t testing.TB, as, path string) (int, string, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+as)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("Content-Type"), data
}

// asksAbout is a question that shares a file.
func asksAbout(n int, file earshot.File) earshot.Message {
	m := said(n, "Alice", "<@U0BOT> what is on it?")
	m.Files = []earshot.File{file}
	return m
}

func TestAFileThatIsGivenIsInPromptsAndTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "look"), asksAbout(1, earshot.File{ID: "F1", Name: "shot.png", Type: "image/png", Size: 100}))
	ask := func(more object) (out struct {
		Prompt struct {
			System   string
			Messages []struct {
				Text  string
				Media []string
			}
		}
		Files []struct {
			ID, Name, Type, SHA256, Message string
			Stored                          bool
		}
		Capability string
	}) {
		t.Helper()
		body := object{"channel": "C1", "anchor": "m1", "agent": "U0BOT"}
		for k, v := range more {
			body[k] = v
		}
		status, _, text := w.call(t, "C1", http.MethodPost, "/v1/context", body)
		if err := json.Unmarshal([]byte(text), &out); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		return out
	}
	c := ask(nil)
	if len(c.Files) != 1 || c.Files[0].Stored || c.Files[0].ID != "F1" || c.Files[0].Message != "m1" || len(c.Prompt.Messages[0].Media) != 1 {
		t.Fatalf("before: %+v", c)
	}
	tool := func(as string) string {
		t.Helper()
		_, _, text := w.call(t, as, http.MethodPost, "/v1/tools/channel_messages", object{"media_artifact_id": "F1"})
		return text
	}
	if got := tool("C1"); !strings.Contains(got, `"failed":true`) || !strings.Contains(got, "its content is not here") {
		t.Errorf("the tool before: %s", got)
	}
	if status, _, _ := w.get(t, "C1", "/v1/files/F1?channel=C1"); status != http.StatusNotFound {
		t.Errorf("read before: %d", status)
	}

	data := shot(t)
	sum := sha256.Sum256(data)
	status, told := w.put(t, "C1", "/v1/files/F1?channel=C1&message=m1", "image/png", data)
	if status != http.StatusOK || told["sha256"] != hex.EncodeToString(sum[:]) || told["type"] != "image/png" {
		t.Fatalf("put: %d %v", status, told)
	}
	if c = ask(nil); !c.Files[0].Stored || c.Files[0].SHA256 != told["sha256"] || c.Files[0].Type != "image/png" {
		t.Errorf("after: %+v", c.Files)
	}
	if got := tool("C1"); !strings.Contains(got, `"media":[{"id":"F1","name":"shot.png","type":"image/png","data":"iVBOR`) {
		t.Errorf("the tool after: %s", got)
	}
	if status, kind, got := w.get(t, "read", "/v1/files/F1?channel=C1"); status != http.StatusOK || kind != "image/png" || len(got) == 0 {
		t.Errorf("read after: %d %s, %d bytes", status, kind, len(got))
	}
	if c = ask(object{"files": false}); len(c.Files) != 0 || len(c.Prompt.Messages[0].Media) != 0 || strings.Contains(c.Prompt.System, "file by id") || strings.Contains(c.Prompt.System, "Ask for a file") {
		t.Errorf("without files: %+v", c)
	}

	w.call(t, "C1", http.MethodDelete, "/v1/channels/C1/messages/m1", nil)
	if status, _, _ := w.get(t, "C1", "/v1/files/F1?channel=C1"); status != http.StatusNotFound {
		t.Errorf("read after its message was deleted: %d", status)
	}
}

func TestWhoMayGiveWhichFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, asksAbout(0, earshot.File{ID: "F1", Name: "shot.png"}), said(1, "Bob", "no file"), func() earshot.Message {
		m := asksAbout(2, earshot.File{ID: "F2", Name: "other.png", SHA256: strings.Repeat("ab", 32)})
		m.ID = "m2"
		return m
	}())
	const right = "/v1/files/F1?channel=C1&message=m0"
	for name, c := range map[string]struct {
		as, path string
		data     []byte
		status   int
		code     string
	}{
		"the channel's key":         {"C1", right, shot(t), 200, ""},
		"again":                     {"C1", right, shot(t), 200, ""},
		"the workspace's":           {"T1", right, shot(t), 200, ""},
		"another workspace's":       {"T2", right, shot(t), 404, "not_found"},
		"a key that reads":          {"read", right, shot(t), 403, "read_only"},
		"a capability":              {"tools", right, shot(t), 403, "read_only"},
		"without a channel":         {"T1", "/v1/files/F1?message=m0", shot(t), 400, ""},
		"without a message":         {"C1", "/v1/files/F1?channel=C1", shot(t), 400, ""},
		"of a message that has not": {"C1", "/v1/files/F1?channel=C1&message=m1", shot(t), 404, "unknown_file"},
		"of an unknown message":     {"C1", "/v1/files/F1?channel=C1&message=m9", shot(t), 404, "unknown_file"},
		"of another channel":        {"C1", "/v1/files/F1?channel=C2&message=m0", shot(t), 404, "not_found"},
		"nothing":                   {"C1", right, nil, 400, ""},
		"what no model reads":       {"C1", right, []byte("PK\x03\x04 an archive"), 400, "invalid"},
		"a damaged picture":         {"C1", right, shot(t)[:40], 400, "invalid"},
		"too much":                  {"C1", right, make([]byte, sidecar.MaxFile+1), 413, "too_large"},
		"other bytes than told":     {"C1", "/v1/files/F2?channel=C1&message=m2", shot(t), 409, "other_file"},
	} {
		status, told := w.put(t, c.as, c.path, "image/png", c.data)
		if status != c.status || c.code != "" && told["code"] != c.code {
			t.Errorf("%s: got %d %v, want %d %s", name, status, told, c.status, c.code)
		}
	}
	for as, want := range map[string]int{"C1": 200, "T1": 200, "read": 200, "T2": 404, "tools": 403} {
		if status, _, _ := w.get(t, as, "/v1/files/F1?channel=C1"); status != want {
			t.Errorf("read as %s: got %d, want %d", as, status, want)
		}
	}
}

func TestAWorkbookThatIsGivenIsText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, asksAbout(1, earshot.File{ID: "F1", Name: "lager.ods", Type: "application/octet-stream", Size: 1700}))
	_, _, text := w.call(t, "C1", http.MethodPost, "/v1/context", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT"})
	if !strings.Contains(text, `"media":["F1"]`) || !strings.Contains(text, "file F1, spreadsheet, 2 KB: lager.ods") {
		t.Errorf("the prompt: %s", text)
	}
	data, err := os.ReadFile("../../../platform/media/internal/office/testdata/lager.ods")
	if err != nil {
		t.Fatal(err)
	}
	if status, told := w.put(t, "C1", "/v1/files/F1?channel=C1&message=m1", "application/octet-stream", data); status != http.StatusOK || told["type"] != "text/plain" {
		t.Fatalf("put: %d %v", status, told)
	}
	if _, kind, got := w.get(t, "C1", "/v1/files/F1?channel=C1"); kind != "text/plain" || !strings.HasPrefix(string(got), "  sheet: Lager\n  Teil | Anzahl") {
		t.Errorf("read: %s %q", kind, got)
	}
	status, told := w.put(t, "C1", "/v1/files/F1?channel=C1&message=m1", "application/octet-stream", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"))
	if said := fmt.Sprint(told); status != http.StatusBadRequest || !strings.Contains(said, "it is protected by a password") {
		t.Errorf("with a password: %d %s", status, said)
	}
}

// More files at once than are taken at a time wait, and each is kept.
func TestManyFilesAtOnceAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := asksAbout(0, earshot.File{ID: "F0", Name: "0.txt"})
	for n := 1; n < 40; n++ {
		m.Files = append(m.Files, earshot.File{ID: earshot.ArtifactID(fmt.Sprint("F", n)), Name: "n.txt"})
	}
	w.tell(t, m)
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			path := fmt.Sprintf("/v1/files/F%d?channel=C1", n)
			if status, told := w.put(t, "C1", path+"&message=m0", "text/plain", fmt.Appendf(nil, "file %d", n)); status != http.StatusOK {
				t.Errorf("%d: %d %v", n, status, told)
			}
			if _, _, got := w.get(t, "C1", path); strings.TrimSpace(string(got)) != fmt.Sprint("file ", n) {
				t.Errorf("%d reads %q", n, got)
			}
		})
	}
	all.Wait()
}

// An erased person's files go with their messages, and so do those of a channel.
func TestAnErasureTakesFilesAlong(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"of a person": "/v1/authors/U-Alice?channel=C1", "of the channel": "/v1/channels/C1"} {
		w := newWorld(t)
		w.tell(t, asksAbout(0, earshot.File{ID: "F1", Name: "shot.png"}), said(1, "Bob", "it stays"))
		if status, told := w.put(t, "C1", "/v1/files/F1?channel=C1&message=m0", "image/png", shot(t)); status != http.StatusOK {
			t.Fatalf("%s: %d %v", name, status, told)
		}
		if status, _, text := w.call(t, "T1", http.MethodDelete, path, nil); status >= 300 {
			t.Fatalf("%s: %d %s", name, status, text)
		}
		if b, err := w.store.FileBlob(t.Context(), ops.Scope(), "F1"); !errors.Is(err, earshot.ErrNotFound) {
			t.Errorf("%s: the file is still there: %d bytes, %v", name, len(b.Data), err)
		}
	}
}

// FuzzPutFile sends any bytes as a file. What is kept is one that models can be given.
func FuzzPutFile(f *testing.F) {
	f.Add("image/png", shot(f))
	f.Add("text/plain", []byte("hello"))
	f.Add("audio/mp4", []byte("\x00\x00\x00\x18ftypM4A "))
	f.Add("application/pdf", []byte("%PDF-1.4"))
	w := newWorld(f)
	w.tell(f, asksAbout(0, earshot.File{ID: "F1", Name: "shot.png"}))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		if strings.ContainsFunc(kind, func(r rune) bool { return r < ' ' || r > '~' }) || len(data) > 1<<20 {
			return
		}
		status, told := w.put(t, "C1", "/v1/files/F1?channel=C1&message=m0", kind, data)
		switch status {
		case http.StatusBadRequest:
		case http.StatusOK:
			if status, kind, got := w.get(t, "C1", "/v1/files/F1?channel=C1"); status != http.StatusOK || kind != told["type"] || float64(len(got)) != told["size"] {
				t.Errorf("read back: %d %s, %d bytes of %v", status, kind, len(got), told)
			}
		default:
			t.Errorf("%d %v", status, told)
		}
	})
}
