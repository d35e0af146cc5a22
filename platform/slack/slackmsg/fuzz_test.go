package slackmsg

import (
	"os"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

var live = regexp.MustCompile(`<@([0-9A-Za-z_.-]+)(\|[^<>\n]*)?>`)

// FuzzDecode holds Decode to its promises: it never panics, what it stores is
// valid UTF-8 without NUL and bounded, the same input decodes to the same
// message, a tombstone is empty.
func FuzzDecode(f *testing.F) {
	if os.Getenv("EARSHOT_TEST_DATA") != "" {
		for _, path := range skeletons(f) {
			raw, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
	for _, b := range knownBlocks {
		b = (&canaries{}).fill(b)
		f.Add([]byte(`{"ts":"1700000000.000100","user":"U1","text":"x","blocks":[` + b + `,{"type":"new","of":[` + b + `]}]}`))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := Decode(raw, team)
		again, errAgain := Decode(raw, team)
		if diff := cmp.Diff(d, again); diff != "" || (err == nil) != (errAgain == nil) {
			t.Fatalf("decoding twice differs: %v, %v\n%s", err, errAgain, diff)
		}
		if err != nil {
			return
		}
		m := d.Message
		texts := []string{m.Text, string(m.ID), string(m.Thread), string(m.Author.ID), m.Author.Name, m.Author.FullName}
		for _, x := range m.Reactions {
			texts = append(texts, x.Name)
		}
		for _, x := range m.Shared {
			texts = append(texts, string(x.Kind), string(x.ID), x.Author, x.Place, x.Text)
			if len(x.Text) > maxText {
				t.Errorf("a quote of %d bytes, want at most %d", len(x.Text), maxText)
			}
		}
		for _, x := range m.Files {
			texts = append(texts, string(x.ID), x.Name, x.Type)
		}
		for _, id := range m.Mentions {
			texts = append(texts, string(id))
		}
		for _, s := range texts {
			if !utf8.ValidString(s) {
				t.Errorf("not valid UTF-8: %q", s)
			}
			for i := 0; i < len(s); i++ {
				if s[i] == 0 {
					t.Errorf("NUL in %q", s)
				}
			}
		}
		if len(m.Text) > maxText {
			t.Errorf("text of %d bytes, want at most %d", len(m.Text), maxText)
		}
		if m.Deleted && (m.Text != "" || m.Author != (earshot.Author{}) || m.Files != nil || m.Mentions != nil || m.Shared != nil) {
			t.Errorf("a tombstone with content: %+v", m)
		}
	})
}

// FuzzStored holds the markup to its promise: a mention is live in the stored
// text only where Slack had it live.
func FuzzStored(f *testing.F) {
	for _, s := range []string{"&lt;@U1&gt;", "<@U1 &gt;", "<@U1|a&gt;<@U2>", "&amp;lt;@U1&gt;", "<<@U1>", "&lt;<@U2>", "<https://x|<@U1>>", "<!here|&lt;@U1>", "&lt;\u200d@U1&gt;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, mentions := team.stored(s)
		told := map[string]bool{}
		for _, id := range mentions {
			told[string(id)] = true
		}
		for _, m := range live.FindAllStringSubmatch(text, -1) {
			if len(m[1]) <= maxID && !told[m[1]] {
				t.Errorf("%q became %q, in which %s is live and not told", s, text, m[0])
			}
		}
	})
}

// FuzzInteraction holds ReadInteraction to its promise: what has the shape of an id is one,
// and of a click that is not whole nothing is told.
func FuzzInteraction(f *testing.F) {
	for _, s := range []string{
		`{"type":"block_actions","api_app_id":"A1","team":{"id":"T1"},"user":{"id":"U1","team_id":"T2"},"trigger_id":"1.2.a","channel":{"id":"C1"},"message":{"ts":"1.000001","thread_ts":"1.000000"},"container":{"message_ts":"1.000001"},"actions":[{"type":"button","block_id":"b","action_id":"a","value":"v"}]}`,
		`{"type":"view_submission","team":null,"is_enterprise_install":true,"enterprise":{"id":"E1"},"user":{"id":"U1"},"view":{"callback_id":"c","private_metadata":"m","app_installed_team_id":"T1","state":{"values":{"b":{"a":{"type":"plain_text_input","value":null}}}}}}`,
		`{"type":7,"user":{"id":["U1"]},"actions":{"0":1}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		x, err := ReadInteraction(raw)
		if err != nil {
			if x.Type != "" || x.User != "" || x.Fields != nil {
				t.Errorf("an error and %+v", x)
			}
			return
		}
		for _, s := range []string{x.App, string(x.Team), x.Enterprise, string(x.User), string(x.UserTeam), string(x.Channel)} {
			if s != "" && !isID(s) {
				t.Errorf("%q is no id", s)
			}
		}
		for _, s := range []string{string(x.Message), string(x.Thread)} {
			if s != "" && !isTS(s) {
				t.Errorf("%q is no ts", s)
			}
		}
		if (x.Message == "") != (x.Channel == "") || x.Message == "" && x.Action+x.Value != "" {
			t.Errorf("half a click: %+v", x)
		}
		if x.Team != "" && x.Enterprise != "" && x.Type != "view_submission" {
			t.Errorf("in a workspace and in an organisation: %+v", x)
		}
	})
}
