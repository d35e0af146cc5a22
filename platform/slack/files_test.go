package slack_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/media"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/simulate"
)

var _ media.Opener = (*slack.Platform)(nil)

// told answers files.info with a file.
func told(t *testing.T, file string) *slack.Platform {
	return opened(t, &script{method: "files.info", answer: func(string, int) (int, http.Header, string) {
		return http.StatusOK, nil, `{"ok":true,"file":` + file + `}`
	}}, slack.Options{})
}

func TestAFileIsOpenedWhereItWasShared(t *testing.T) {
	t.Parallel()
	hosts := []string{"files.slack.com", "acme.slack.com"}
	for name, tt := range map[string]struct {
		file string
		want media.Source
		err  error
	}{
		"hosted, in this channel": {
			`{"id":"F1","name":"a.png","mimetype":"image/png","size":12,"url_private":"https://files.slack.com/1","url_private_download":"https://files.slack.com/2","channels":["C1"]}`,
			media.Source{Name: "a.png", Type: "image/png", Size: 12, URL: "https://files.slack.com/2", Hosts: hosts}, nil},
		"shared in a private channel, by its shares": {
			`{"id":"F1","title":"plan","url_private":"https://files.slack.com/1","shares":{"private":{"C1":[{"ts":"1.0"}]}}}`,
			media.Source{Name: "plan", URL: "https://files.slack.com/1", Hosts: hosts}, nil},
		"still being shared": {
			`{"id":"F1","name":"a","url_private":"https://files.slack.com/1","channels":[],"groups":[],"ims":[]}`,
			media.Source{Name: "a", URL: "https://files.slack.com/1", Hosts: hosts}, nil},
		"shared with the whole workspace": {
			`{"id":"F1","name":"a","is_public":true,"url_private":"https://files.slack.com/1","channels":["C2"]}`,
			media.Source{Name: "a", URL: "https://files.slack.com/1", Hosts: hosts}, nil},
		"of another service": {
			`{"id":"F1","name":"doc","mode":"external","url_private":"https://docs.example.com/1","channels":["C1"]}`,
			media.Source{Name: "doc", URL: "https://docs.example.com/1", External: true, Hosts: hosts}, nil},
		"with fields of another kind": {
			`{"id":"F1","name":7,"size":"big","url_private":"https://files.slack.com/1","channels":["C1"],"shares":[]}`,
			media.Source{URL: "https://files.slack.com/1", Hosts: hosts}, nil},
		"in another channel only":  {`{"id":"F1","name":"a","url_private":"https://files.slack.com/1","groups":["C2"]}`, media.Source{}, earshot.ErrNotFound},
		"deleted":                  {`{"id":"F1","mode":"tombstone"}`, media.Source{}, earshot.ErrNotFound},
		"beyond the plan's limit":  {`{"id":"F1","mode":"hidden_by_limit"}`, media.Source{}, earshot.ErrNotFound},
		"that Slack does not give": {`{"id":"F1","name":"a","file_access":"access_denied"}`, media.Source{}, earshot.ErrNotFound},
		"that is none":             {`7`, media.Source{}, slackapi.ErrAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := told(t, tt.file).OpenFile(t.Context(), random.Scope(), "F1")
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if err == nil && got.Token.Reveal() != "xoxb-canary-1" {
				t.Error("the token is not the bot's")
			}
			got.Token = tt.want.Token
			if diff := cmp.Diff(tt.want, got, cmp.Comparer(func(a, b media.Source) bool {
				return a.Name == b.Name && a.Type == b.Type && a.Size == b.Size && a.URL == b.URL && a.External == b.External && strings.Join(a.Hosts, " ") == strings.Join(b.Hosts, " ")
			})); diff != "" {
				t.Errorf("source (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFileOfAnotherWorkspaceDoesNotExist(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	id := earshot.ArtifactID(x.slack.AddFile(simulate.File{Name: "a.txt", Data: []byte("hello")}))
	x.slack.Upload(x.general, x.mara, "here", string(id))
	x.settle()
	x.slack.ForgetCalls()
	if _, err := x.platform.OpenFile(t.Context(), earshot.Scope{Platform: earshot.Slack, Workspace: "T9", Channel: earshot.ChannelID(x.general)}, id); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if got := x.called(); len(got) > 0 {
		t.Errorf("slack was asked: %v", got)
	}
	if _, err := x.platform.OpenFile(t.Context(), x.scope(x.general), "F404"); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	src, err := x.platform.OpenFile(t.Context(), x.scope(x.general), id)
	if err != nil || src.Name != "a.txt" || src.Size != 5 {
		t.Errorf("got %+v, %v", src, err)
	}
}
