package slack_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
	"github.com/earshot-ai/earshot/simulate"
)

var numbers = bot.TextFile{Name: "numbers.csv", Text: "a,b\nä,2\n", Key: "f00d"}

// A file stands in the thread of the question, or in the DM, with the bytes that it was given.
func TestAFileIsSentIntoTheThread(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	root := x.asked(t, x.general, "", "what was it?")
	in := x.asked(t, x.general, string(root.Anchor.ID), "as a file, please")
	dm := x.asked(t, x.slack.OpenDM(x.mara), "", "and here")
	for _, at := range []bot.Place{in, dm} {
		if err := x.SendFile(t.Context(), at, numbers); err != nil {
			t.Fatal(err)
		}
	}
	seen := x.slack.Posts()
	if len(seen) != 2 || seen[0].Thread != string(root.Anchor.ID) || seen[1].Thread != "" || seen[1].Channel != string(dm.Channel.ID) {
		t.Fatalf("people see %+v", seen)
	}
	m, err := slackmsg.Decode(x.raw(t, earshot.MessageID(seen[0].TS)), slackmsg.Names{})
	if err != nil {
		t.Fatal(err)
	}
	files := m.Message.Files
	if len(files) != 1 || files[0].Name != numbers.Name || files[0].Size != int64(len(numbers.Text)) || !x.Identity().Is(m.Message.Author.ID) || m.Message.Text != "" {
		t.Fatalf("the message is %+v", m.Message)
	}
	source, err := x.OpenFile(t.Context(), in.Channel.Scope(), files[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, source.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+x.slack.App().BotToken)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	if got, err := io.ReadAll(w.Body); err != nil || string(got) != numbers.Text {
		t.Errorf("it has %q, %v", got, err)
	}
	for _, c := range x.slack.Calls("files.upload") {
		if c.Authorized {
			t.Error("the token was sent with the bytes")
		}
	}
}

// What fails before the file is shared has certainly sent nothing; a lost answer of the last
// call says nothing, and that call is made once.
func TestAFileThatDoesNotArrive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault   simulate.Fault
		certain bool
		shared  int
	}{
		"no scope":                        {simulate.Fault{Kind: simulate.APIError, Error: "missing_scope", On: "files.getUploadURLExternal"}, true, 0},
		"no address":                      {simulate.Fault{Kind: simulate.ServerError, On: "files.getUploadURLExternal"}, true, 0},
		"the bytes are lost":              {simulate.Fault{Kind: simulate.LostRequest, On: "files.upload"}, true, 0},
		"the answer to them is lost":      {simulate.Fault{Kind: simulate.LostResponse, On: "files.upload"}, true, 0},
		"they are refused":                {simulate.Fault{Kind: simulate.ServerError, On: "files.upload"}, true, 0},
		"the channel is archived":         {simulate.Fault{Kind: simulate.APIError, Error: "is_archived", On: "files.completeUploadExternal"}, true, 0},
		"Slack limits it":                 {simulate.Fault{Kind: simulate.RateLimit, On: "files.completeUploadExternal"}, true, 0},
		"the answer is lost":              {simulate.Fault{Kind: simulate.LostResponse, On: "files.completeUploadExternal"}, false, 1},
		"the call is lost":                {simulate.Fault{Kind: simulate.LostRequest, On: "files.completeUploadExternal"}, false, 0},
		"an error of a server":            {simulate.Fault{Kind: simulate.ServerError, On: "files.completeUploadExternal"}, false, 0},
		"Slack does not know what it did": {simulate.Fault{Kind: simulate.APIError, Error: "internal_error", On: "files.completeUploadExternal"}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSpeaker(t, nil)
			at := x.asked(t, x.general, "", "the numbers?")
			x.slack.Inject(c.fault)
			err := x.SendFile(t.Context(), at, numbers)
			if certain := errors.As(err, new(*bot.PostError)); err == nil || certain != c.certain {
				t.Errorf("got %v, want an error that is certain: %t", err, c.certain)
			}
			if err != nil && (strings.Contains(err.Error(), x.slack.URL()) || strings.Contains(err.Error(), x.slack.App().BotToken)) {
				t.Errorf("the error has an address: %v", err)
			}
			if n := len(x.slack.Posts()); n != c.shared {
				t.Errorf("people see %d files, want %d", n, c.shared)
			}
			if n := len(x.slack.Calls("files.completeUploadExternal")); n > 1 {
				t.Errorf("it was shared by %d calls", n)
			}
		})
	}
}

// Bytes go to Slack's own hosts only, whatever an answer says.
func TestBytesGoToSlackOnly(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, func(_ *simulate.SlackOptions, o *slack.Options) {
		o.HTTPClient = &http.Client{Transport: elsewhere{}}
	})
	var e *bot.PostError
	if err := x.SendFile(t.Context(), x.asked(t, x.general, "", "the numbers?"), numbers); !errors.As(err, &e) || !strings.Contains(err.Error(), "not Slack's") {
		t.Errorf("got %v", err)
	}
	if n := len(x.slack.Posts()); n != 0 {
		t.Errorf("%d files", n)
	}
}

// elsewhere changes the address that an upload is given.
type elsewhere struct{}

func (elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Hostname() == "files.evil.example" {
		return nil, errors.New("it was asked")
	}
	w, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "getUploadURLExternal") {
		return w, err
	}
	w.Body = io.NopCloser(strings.NewReader(`{"ok":true,"file_id":"F1","upload_url":"https://files.evil.example/upload/v1/x"}`))
	return w, nil
}

// The file of an answer is not taken for the answer, whose fate is looked up.
func TestALostReplyIsNotTheFileBesideIt(t *testing.T) {
	t.Parallel()
	for _, form := range []string{slack.ReplyUpdate, slack.ReplyStream, slack.ReplyPost} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			x := newSpeaker(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Reply = form })
			at := x.asked(t, x.general, "", "the numbers?")
			if err := x.SendFile(t.Context(), at, numbers); err != nil {
				t.Fatal(err)
			}
			for _, growing := range []bool{true, false} {
				d := bot.Draft{Place: at, Text: "…", Key: "pKEY", Growing: growing}
				if m, err := x.Find(context.WithoutCancel(t.Context()), d); !errors.Is(err, earshot.ErrNotFound) {
					t.Errorf("growing %t: found %+v, %v", growing, m, err)
				}
			}
			if diff := cmp.Diff([]string{numbers.Name}, x.slack.Posts()[0].Files); diff != "" {
				t.Error(diff)
			}
		})
	}
}
