package simulate_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"github.com/earshot-ai/earshot/simulate"
)

// A file that a client of Slack's uploads is shared in the thread as the app's own message, and
// can be read.
func TestAFileIsUploaded(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{Tier: simulate.TierUnlimited})
	e := listen(t, w.Slack)
	root := w.Say(w.general, w.mara, "the numbers?")
	up := slack.UploadFileParameters{Reader: strings.NewReader("a,b\n"), FileSize: 4, Filename: "n.csv", Title: "Numbers", Channel: w.general, ThreadTimestamp: root}
	f, err := w.api.UploadFileContext(t.Context(), up)
	if err != nil {
		t.Fatal(err)
	}
	seen := w.Thread(w.general, root)
	if len(seen) != 2 || seen[1].Bot != w.App().BotID || seen[1].User != w.App().UserID || !cmp.Equal(seen[1].Files, []string{"n.csv"}) {
		t.Errorf("people see %+v", seen)
	}
	var got bytes.Buffer
	info, _, _, err := w.api.GetFileInfoContext(t.Context(), f.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.api.GetFileContext(t.Context(), info.URLPrivate, &got); err != nil || got.String() != "a,b\n" || info.Mimetype != "text/csv; charset=utf-8" {
		t.Errorf("%q of type %s, %v", got.String(), info.Mimetype, err)
	}
	list := e.heard(t, w.Slack)
	if last := list[len(list)-1].Event; last.Type != "message" || last.Subtype != "file_share" {
		t.Errorf("the event is %+v", last)
	}
}

func TestUploadsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{Tier: simulate.TierUnlimited})
	type args = map[string]string
	begun := func() (id, at string) {
		a := call(t, w.Slack, "files.getUploadURLExternal", args{"filename": "a.txt", "length": "2"})
		id, _ = a["file_id"].(string)
		at, _ = a["upload_url"].(string)
		return id, at
	}
	send := func(at, data string) int {
		res, err := http.Post(at, "application/octet-stream", strings.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode
	}
	id, at := begun()
	for what, got := range map[string]int{"too long": send(at, "abc"), "unknown": send(at+"9", "ab")} {
		if got != http.StatusBadRequest {
			t.Errorf("%s: status %d", what, got)
		}
	}
	share := args{"files": `[{"id":"` + id + `"}]`, "channel_id": w.general}
	for _, c := range []struct {
		name, method string
		args         args
		want         string
	}{
		{"no length", "files.getUploadURLExternal", args{"filename": "a.txt"}, "invalid_arguments"},
		{"empty", "files.getUploadURLExternal", args{"filename": "a.txt", "length": "0"}, "missing_argument"},
		{"too large", "files.getUploadURLExternal", args{"filename": "a.txt", "length": "2000000000"}, "file_upload_size_restricted"},
		{"nothing uploaded", "files.completeUploadExternal", share, "file_not_found"},
		{"no files", "files.completeUploadExternal", args{"channel_id": w.general}, "invalid_arguments"},
		{"not a member", "files.completeUploadExternal", args{"files": share["files"], "channel_id": w.private}, "channel_not_found"},
	} {
		if got := call(t, w.Slack, c.method, c.args)["error"]; got != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
	if got := send(at, "ab"); got != http.StatusOK {
		t.Errorf("uploaded: status %d", got)
	}
	if got := call(t, w.Slack, "files.completeUploadExternal", share); got["ok"] != true {
		t.Errorf("shared: %v", got)
	}
	if got := call(t, w.Slack, "files.completeUploadExternal", share)["error"]; got != "file_not_found" {
		t.Errorf("shared twice: %v", got)
	}
	w.Grant("chat:write")
	if got := call(t, w.Slack, "files.getUploadURLExternal", args{"filename": "a.txt", "length": "2"})["error"]; got != "missing_scope" {
		t.Errorf("without the scope: %v", got)
	}
}
