package openapi_test

import (
	"bytes"
	"mime/multipart"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/simulate/discord/openapi"
)

func validator(t *testing.T) *openapi.Validator {
	t.Helper()
	root := os.Getenv("EARSHOT_TEST_DATA")
	if root == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("EARSHOT_TEST_DATA is not set")
		}
		t.Skip("EARSHOT_TEST_DATA is not set: no request was compared with Discord's description")
	}
	v, err := openapi.Load(os.DirFS(root), "spec/discord-openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestARequestIsWhatDiscordDescribes(t *testing.T) {
	t.Parallel()
	v := validator(t)
	const messages = "/channels/1100000000000000005/messages"
	long := strings.Repeat("x", 4001)
	for _, c := range []struct {
		name, method, path, query, body string
		wrong                           string // "" for a request that is right
	}{
		{"a post", "POST", messages, "", `{"content":"hello","nonce":"n","enforce_nonce":true,"allowed_mentions":{"parse":[]},"message_reference":{"message_id":"1","fail_if_not_exists":false}}`, ""},
		{"a page", "GET", messages, "limit=100&before=1100000000000000007", "", ""},
		{"an edit", "PATCH", messages + "/1", "", `{"content":"hello","flags":4}`, ""},
		{"a reaction", "PUT", messages + "/1/reactions/%F0%9F%91%8D/@me", "", "", ""},
		{"a thread", "POST", messages + "/1/threads", "", `{"name":"a thread","auto_archive_duration":1440}`, ""},
		{"a forum's post", "POST", "/channels/1/threads", "", `{"name":"a post","message":{"content":"its body"}}`, ""},
		{"who the bot is", "GET", "/users/@me", "", "", ""},
		{"direct messages", "POST", "/users/@me/channels", "", `{"recipient_id":"1"}`, ""},

		{"no such path", "GET", "/channels/1/thoughts", "", "", "no such path"},
		{"no such method", "PUT", messages, "", `{}`, "has only GET, POST"},
		{"a number as content", "POST", messages, "", `{"content":7}`, "content"},
		{"an unknown field", "POST", messages, "", `{"content":"hello","enforced_nonce":true}`, "enforced_nonce"},
		{"an unknown field inside", "POST", messages, "", `{"content":"hello","allowed_mentions":{"parse":[],"reply":true}}`, "allowed_mentions"},
		{"content that is too long", "POST", messages, "", `{"content":"` + long + `"}`, "content"},
		{"a nonce that is too long", "POST", messages, "", `{"content":"hello","nonce":"` + long[:26] + `"}`, "nonce"},
		{"a reference without a message", "POST", messages, "", `{"content":"hello","message_reference":{"channel_id":"1"}}`, "message_reference"},
		{"no body", "POST", messages, "", "", "missing"},
		{"a body that is not taken", "PUT", messages + "/1/reactions/x/@me", "", `{"emoji":"x"}`, "takes none"},
		{"a channel by its name", "GET", "/channels/general/messages", "", "", "channel_id"},
		{"a page that is too long", "GET", messages, "limit=101", "", "limit"},
		{"a page that is no number", "GET", messages, "limit=all", "", "limit"},
		{"an unknown parameter", "GET", messages, "since=1", "", "since"},
		{"a thread without a name", "POST", messages + "/1/threads", "", `{}`, "name"},
		{"no JSON", "POST", messages, "", `{`, "JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			query, err := url.ParseQuery(c.query)
			if err != nil {
				t.Fatal(err)
			}
			err = v.Check(c.method, c.path, query, []byte(c.body), "application/json")
			switch {
			case c.wrong == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case c.wrong != "" && err == nil:
				t.Error("it is accepted")
			case c.wrong != "" && !strings.Contains(err.Error(), c.wrong):
				t.Errorf("got %v, want something of %q", err, c.wrong)
			}
		})
	}
}

func TestAFormIsCheckedByItsPayload(t *testing.T) {
	t.Parallel()
	v := validator(t)
	for _, c := range []struct {
		name, field, payload string
		right                bool
	}{
		{"a file", "files[0]", `{"content":"see"}`, true},
		{"a wrong payload", "files[0]", `{"content":1}`, false},
		{"a file of another name", "file", `{"content":"see"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var body bytes.Buffer
			form := multipart.NewWriter(&body)
			if err := form.WriteField("payload_json", c.payload); err != nil {
				t.Fatal(err)
			}
			if _, err := form.CreateFormFile(c.field, "a.txt"); err != nil {
				t.Fatal(err)
			}
			if err := form.Close(); err != nil {
				t.Fatal(err)
			}
			err := v.Check("POST", "/channels/1/messages", nil, body.Bytes(), form.FormDataContentType())
			if (err == nil) != c.right {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestADescriptionMustHaveOperations(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", `{"paths":{"/x":{"get":7}},"components":{"schemas":{"a":{}}}}`} {
		if _, err := openapi.Parse([]byte(text)); err == nil {
			t.Errorf("%q is a description", text)
		}
	}
}
