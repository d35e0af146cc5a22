package contract_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
)

// small is an input with the required fields only; the marks are places where a
// test puts further fields.
const small = `{"identity":{"id":"U0BOT","name":"earshot"/*identity*/},"channel":{/*channel*/},"anchor":"1","messages":[{"id":"1","time":"2026-03-02T09:00:01Z","author":{/*author*/},"text":"hello"/*message*/}]/*input*/}`

// at returns the small input with fields put at a mark.
func at(mark, fields string) string {
	s := strings.Replace(small, "/*"+mark+"*/", fields, 1)
	for _, m := range []string{"identity", "channel", "author", "message", "input"} {
		s = strings.Replace(s, "/*"+m+"*/", "", 1)
	}
	return s
}

// replaced returns the small input with one piece in place of another.
func replaced(old, new string) string { return strings.Replace(at("", ""), old, new, 1) }

func TestAnErrorNamesThePathOfItsField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, input, path string }{
		{"nothing", ``, "input"},
		{"a list", `[]`, "input"},
		{"null", `null`, ""},
		{"something after the object", at("", "") + ` {}`, "input"},
		{"an unknown field", at("input", `,"polcy":"delta"`), "polcy"},
		{"an unknown field of a message", at("message", `,"txt":"x"`), "messages[0].txt"},
		{"an unknown field of the identity", at("identity", `,"nick":"x"`), "identity.nick"},
		{"another case of a field", at("input", `,"Policy":"delta"`), "Policy"},
		{"a field of a message twice", at("message", `,"text":"again"`), "messages[0].text"},
		{"a field twice", at("input", `,"anchor":"1"`), "anchor"},
		{"no identity", replaced(`"identity":{"id":"U0BOT","name":"earshot"},`, ``), "identity"},
		{"no identity id", replaced(`"id":"U0BOT",`, ``), "identity.id"},
		{"an empty identity id", replaced(`"id":"U0BOT"`, `"id":""`), "identity.id"},
		{"no identity name", replaced(`,"name":"earshot"`, ``), "identity.name"},
		{"no channel", replaced(`"channel":{},`, ``), "channel"},
		{"a null channel", replaced(`"channel":{}`, `"channel":null`), "channel"},
		{"an unknown kind of channel", at("channel", `"kind":"forum"`), "channel.kind"},
		{"no anchor", replaced(`"anchor":"1",`, ``), "anchor"},
		{"an anchor that is a number", replaced(`"anchor":"1"`, `"anchor":1`), "anchor"},
		{"no messages", replaced(`"messages":[`, `"coverage":[],"messages":null,"attach":[`), ""},
		{"messages that are an object", `{"identity":{"id":"U","name":"e"},"channel":{},"anchor":"1","messages":{}}`, "messages"},
		{"a null message", replaced(`"messages":[`, `"messages":[null,`), "messages[0]"},
		{"no message id", replaced(`{"id":"1",`, `{`), "messages[0].id"},
		{"no message time", replaced(`"time":"2026-03-02T09:00:01Z",`, ``), "messages[0].time"},
		{"a time of day", replaced(`2026-03-02T09:00:01Z`, `09:00`), "messages[0].time"},
		{"a time without an offset", replaced(`2026-03-02T09:00:01Z`, `2026-03-02T09:00:01`), "messages[0].time"},
		{"a day that does not exist", replaced(`2026-03-02T09:00:01Z`, `2026-02-30T09:00:01Z`), "messages[0].time"},
		{"a number as time", replaced(`"2026-03-02T09:00:01Z"`, `1772442001`), "messages[0].time"},
		{"an empty time", replaced(`2026-03-02T09:00:01Z`, ``), "messages[0].time"},
		{"no author", replaced(`"author":{},`, ``), "messages[0].author"},
		{"no text", replaced(`,"text":"hello"`, ``), "messages[0].text"},
		{"a null text", replaced(`"text":"hello"`, `"text":null`), "messages[0].text"},
		{"an unknown kind of author", at("author", `"kind":"alien"`), "messages[0].author.kind"},
		{"an edit at no time", at("message", `,"edited":"yesterday"`), "messages[0].edited"},
		{"a sequence that is no integer", at("message", `,"seq":1.5`), "messages[0].seq"},
		{"a sequence as text", at("message", `,"seq":"1"`), "messages[0].seq"},
		{"a negative count of tokens", at("message", `,"tokens":-1`), "messages[0].tokens"},
		{"a negative count of a reaction", at("message", `,"reactions":[{"name":"eyes","count":-1}]`), "messages[0].reactions[0].count"},
		{"a last reply at no time", at("message", `,"replies":{"last":"soon"}`), "messages[0].replies.last"},
		{"a negative size", at("message", `,"files":[{"id":"F1","size":-5}]`), "messages[0].files[0].size"},
		{"a null file", at("message", `,"files":[null]`), "messages[0].files[0]"},
		{"a deletion as text", at("message", `,"deleted":"no"`), "messages[0].deleted"},
		{"an unknown policy", at("input", `,"policy":"best"`), "policy"},
		{"a policy in another case", at("input", `,"policy":"Delta"`), "policy"},
		{"a policy that is a number", at("input", `,"policy":7`), "policy"},
		{"an unknown field of a policy", at("input", `,"policy":{"name":"x","fist":[]}`), "policy.fist"},
		{"an unknown section", at("input", `,"policy":{"name":"x","first":[{"section":"gide"},{"section":"anchor"}]}`), "policy.first[0].section"},
		{"a negative limit", at("input", `,"policy":{"name":"x","first":[{"section":"thread","tokens":-1},{"section":"anchor"}]}`), "policy.first[0].tokens"},
		{"a policy without an anchor", at("input", `,"policy":{"name":"x","first":[{"section":"guide"}]}`), "policy.first"},
		{"an unknown counter", at("input", `,"counter":"gpt9"`), "counter"},
		{"an empty counter", at("input", `,"counter":""`), "counter"},
		{"a counter times nothing", at("input", `,"counter":"o200k*0"`), "counter"},
		{"a negative budget", at("input", `,"budget":{"tokens":-1}`), "budget.tokens"},
		{"a negative session", at("input", `,"budget":{"session":-1}`), "budget.session"},
		{"a negative limit of all", at("input", `,"budget":{"limit":-1}`), "budget.limit"},
		{"an unknown budget", at("input", `,"budget":{"token":1}`), "budget.token"},
		{"a huge budget", at("input", `,"budget":{"tokens":1e99}`), "budget.tokens"},
		{"an unknown state", at("input", `,"coverage":[{"state":"lost"}]`), "coverage[0].state"},
		{"coverage without a state", at("input", `,"coverage":[{"thread":null}]`), "coverage[0].state"},
		{"coverage from no time", at("input", `,"coverage":[{"state":"missing","from":"once"}]`), "coverage[0].from"},
		{"a negative count of what is stored", at("input", `,"stored":[{"thread":null,"count":-1}]`), "stored[0].count"},
		{"stored to no time", at("input", `,"stored":[{"thread":null,"count":1,"to":"now"}]`), "stored[0].to"},
		{"a negative epoch", at("input", `,"conversation":{"epoch":-1}`), "conversation.epoch"},
		{"an unknown role", at("input", `,"conversation":{"session":[{"role":"system","text":"x"}]}`), "conversation.session[0].role"},
		{"a session without text", at("input", `,"conversation":{"session":[{"role":"user"}]}`), "conversation.session[0].text"},
		{"shown without an id", at("input", `,"conversation":{"shown":[{"revision":""}]}`), "conversation.shown[0].id"},
		{"shown at no time", at("input", `,"conversation":{"shown":[{"id":"1","revision":"x"}]}`), "conversation.shown[0].revision"},
		{"a turn without an anchor", at("input", `,"conversation":{"turns":[{"reply_ids":[]}]}`), "conversation.turns[0].anchor"},
		{"a summary without text", at("input", `,"conversation":{"summary":{"turns":1}}`), "conversation.summary.text"},
		{"an unknown field of the conversation", at("input", `,"conversation":{"cursr":1}`), "conversation.cursr"},
		{"a key with a line break", at("input", `,"a\nb":1`), "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := contract.Decode([]byte(c.input))
			var bad *assemble.InputError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want an InputError at %q", err, c.path)
			}
			if got, want := bad.Path, c.path; want != "" && got != want {
				t.Errorf("got path %q, want %q: %v", got, want, err)
			}
			if strings.ContainsAny(err.Error(), "\r\n") || bad.Reason == "" {
				t.Errorf("no line with a reason: %q", err)
			}
		})
	}
}

func TestAValueOfTheWrongTypeIsToldTheRightForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ input, want string }{
		{at("input", `,"budget":4000`), `budget: must be an object, such as {"tokens": 4000}`},
		{replaced(`"2026-03-02T09:00:01Z"`, `1772442001`), `messages[0].time: must be a string: RFC 3339, such as "2026-03-02T09:00:00Z", or a Slack ts, such as "1772442000.000000"`},
		{at("message", `,"edited":1772442001`), `messages[0].edited: must be a string: RFC 3339`},
		{replaced(`"anchor":"1"`, `"anchor":1`), "anchor: must be a string"},
		{at("message", `,"deleted":"no"`), "messages[0].deleted: must be true or false"},
		{at("message", `,"seq":1.5`), "messages[0].seq: must be a whole number"},
		{at("message", `,"mentions":"U1"`), "messages[0].mentions: must be a list"},
		{replaced(`"author":{}`, `"author":"U1"`), "messages[0].author: must be an object"},
		{at("input", `,"recalled":[{"id":"1","score":"x"}]`), "recalled[0].score: must be a number"},
	} {
		if _, err := contract.Decode([]byte(c.input)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestOptionalFieldsMayBeNull(t *testing.T) {
	t.Parallel()
	want, err := contract.Decode([]byte(at("", "")))
	if err != nil {
		t.Fatal(err)
	}
	nulls := strings.NewReplacer("/*identity*/", `,"aliases":null`, "/*channel*/", `"platform":null,"workspace":null,"id":null,"name":null,"kind":null,"topic":null,"purpose":null`,
		"/*author*/", `"id":null,"name":null,"kind":null`,
		"/*message*/", `,"thread":null,"reply_to":null,"edited":null,"deleted":null,"seq":null,"mentions":null,"reactions":null,"tokens":null,"replies":null,"files":null`,
		"/*input*/", `,"policy":null,"budget":{"tokens":null,"session":null,"limit":null},"counter":null,"instructions":null,"conversation":{"cursor":null,"epoch":null,"summary":null,"shown":null,"turns":null,"session":null,"attached":null},"attach":null,"stored":null,"coverage":null`).Replace(small)
	got, err := contract.Decode([]byte(nulls))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("nulls (-got +absent):\n%s", d)
	}
	if got.Policy.Name != "standard" || got.Budget != assemble.DefaultBudget() || got.Counter.Name() != "o200k" || got.Channel.Kind != earshot.KindChannel || got.Messages[0].Author.Kind != earshot.Human {
		t.Errorf("defaults are %+v", got)
	}
}

func TestTimesMeanTheSameInEveryForm(t *testing.T) {
	t.Parallel()
	const want = earshot.Time(1_700_000_005_000_100)
	for _, form := range []string{"1700000005.000100", "1700000005.0001", "2023-11-14T22:13:25.0001Z", "2023-11-14T22:13:25.000100999Z", "2023-11-15T07:13:25.0001+09:00", "2023-11-14T14:13:25.0001-08:00", "2023-11-14t22:13:25.0001z"} {
		in, err := contract.Decode([]byte(replaced("2026-03-02T09:00:01Z", form)))
		if err != nil {
			t.Errorf("%s: %v", form, err)
		} else if got := in.Messages[0].Time; got != want {
			t.Errorf("%s: got %d, want %d", form, got, want)
		}
	}
}

func TestBrokenUTF8BecomesReplacementCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, raw, want string }{
		{"a lone high surrogate", `a\ud800b`, "a\uFFFDb"},
		{"a lone low surrogate", `a\udc00b`, "a\uFFFDb"},
		{"surrogates in the wrong order", `\udc00\ud800`, "\uFFFD\uFFFD"},
		{"a pair", `\ud83d\ude00`, "😀"},
		{"broken UTF-8", "a\xffb", "a\uFFFDb"},
		{"an encoded surrogate", "a\xed\xa0\x80b", "a\uFFFD\uFFFD\uFFFDb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in, err := contract.Decode([]byte(replaced("hello", c.raw)))
			if err != nil {
				t.Fatal(err)
			}
			if got := in.Messages[0].Text; got != c.want {
				t.Errorf("got %+q, want %+q", got, c.want)
			}
		})
	}
}

func TestTheSessionsBudgetIsFourTimesTheTurns(t *testing.T) {
	t.Parallel()
	in, err := contract.Decode([]byte(at("input", `,"budget":{"tokens":500}`)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := in.Budget, (assemble.Budget{Tokens: 500, Session: 2000, Limit: 200000}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAResultIsWrittenWithEveryFieldAndNoEscapesOfHTML(t *testing.T) {
	t.Parallel()
	in, err := contract.Decode([]byte(replaced("hello", "<b> & hi")))
	if err != nil {
		t.Fatal(err)
	}
	r, err := assemble.Turn(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := contract.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "<b> & hi") || strings.Contains(string(data), ": ") && strings.Contains(string(data), "\": \"") {
		t.Errorf("escaped or not compact: %s", data)
	}
	var got struct {
		System   *string
		Messages []struct {
			Role, Text *string
			Sections   []string
			Media      []string
		}
		Tokens *struct {
			Total, Budget *int
			Counter       *string
			Sections      map[string]int
		}
		Ledger []map[string]any
		Next   *struct {
			Cursor, Epoch          *int
			Shown, Names, Attached []any
		}
		Notes []any
		Hash  *string
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.System == nil || len(got.Messages) != 1 || got.Messages[0].Media == nil || got.Tokens == nil || got.Tokens.Total == nil || len(got.Ledger) != 1 || len(got.Ledger[0]) != 5 ||
		got.Next == nil || got.Next.Shown == nil || got.Next.Names == nil || got.Next.Attached == nil || got.Notes == nil || got.Hash == nil {
		t.Errorf("a field is absent or null: %s", data)
	}
}

// TestOnlyJSONIsAccepted reads the files of the JSON parsing test
// suite as inputs, alone and as a value within one: none may panic or be
// accepted where the suite says that it is no JSON.
func TestOnlyJSONIsAccepted(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("EARSHOT_TEST_DATA")
	if dir == "" && os.Getenv("CI") == "true" {
		t.Fatal("EARSHOT_TEST_DATA is not set")
	} else if dir == "" {
		t.Skip("SKIPPED: EARSHOT_TEST_DATA is not set, so the JSON suite is not tried")
	}
	files, err := filepath.Glob(filepath.Join(dir, "spec", "json-suite", "*.json"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files of the suite: %v", len(files), err)
	}
	n := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		if _, err := contract.Decode(data); err == nil {
			t.Errorf("%s is accepted as an input", base)
		} else if strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%s: an error in several lines: %q", base, err)
		}
		if _, err := contract.DecodePolicy(data); err == nil {
			t.Errorf("%s is accepted as a policy", base)
		}
		if !strings.HasPrefix(base, "n_") {
			continue
		}
		n++
		if _, err := contract.Decode([]byte(at("input", `,"instructions":`+string(data)))); err == nil {
			// A few are wrong only as a whole text, such as an object with a comma behind it.
			if json.Valid([]byte(at("input", `,"instructions":`+string(data)))) {
				continue
			}
			t.Errorf("%s is accepted within an input", base)
		}
	}
	if n < 100 {
		t.Errorf("only %d files that are no JSON", n)
	}
}

func TestDeepNestingIsAnError(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{100, 10_000, 200_000} {
		_, err := contract.Decode([]byte(at("input", `,"policy":`+strings.Repeat("[", depth)+strings.Repeat("]", depth))))
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("%d deep: %d bytes of error", depth, len(err.Error()))
		}
	}
}
