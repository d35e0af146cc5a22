package daemon_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/tokens"
)

// countsOtherwise serves a model that reports times as many tokens of a request as
// o200k counts.
func countsOtherwise(t *testing.T, times float64) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{
			`{"model":"m-2026","choices":[{"index":0,"delta":{"role":"assistant","content":"Yes."},"finish_reason":null}]}`,
			`{"model":"m-2026","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			fmt.Sprintf(`{"model":"m-2026","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":2}}`, int(times*float64(length(t, body)))),
			`[DONE]`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", event)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// length counts the text of a request to OpenAI's API.
func length(t *testing.T, body []byte) int {
	t.Helper()
	var r struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Errorf("%v: %s", err, body)
	}
	n := 0
	for _, m := range r.Messages {
		n += tokens.Base(m.Content)
	}
	for _, tool := range r.Tools {
		n += tokens.Base(tool.Function.Name) + tokens.Base(tool.Function.Description) + tokens.Base(string(tool.Function.Parameters))
	}
	return n
}

func TestTheCounterLearnsWhatTheModelReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, spec string
		times      float64
		want       string // at the end
	}{
		{"more than o200k", "auto", 1.3, "o200k*1.3"},
		{"fewer", "auto", 0.8, "o200k*0.8"},
		{"nearly as many", "auto", 1.01, "o200k"},
		{"out of bounds", "auto", 9, "o200k*3"},
		{"a counter that is configured", "o200k*1.1", 1.5, "o200k*1.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			environ := []string{
				"OPENAI_BASE_URL=" + countsOtherwise(t, c.times), "OPENAI_API_KEY=k", "EARSHOT_MODEL=m", "EARSHOT_COUNTER=" + c.spec,
				"EARSHOT_DB=sqlite:" + filepath.Join(t.TempDir(), "d.db"),
			}
			d := startWith(t, environ)
			var ids []earshot.TurnID
			for i := range 7 {
				ids = append(ids, d.answer(t, fmt.Sprintf("question %d: %s", i, strings.Repeat("is it so? ", 200))))
			}
			specs := counters(t, d, ids)
			if specs[0] != strings.Replace(c.spec, "auto", "o200k", 1) || specs[4] != specs[0] {
				t.Errorf("the counters are %v: nothing is learned of fewer than five answers", specs)
			}
			if specs[5] != specs[6] || specs[6] != c.want {
				t.Errorf("the counters are %v; want %s in the end", specs, c.want)
			}
			learned, err := daemon.Calibrate(t.Context(), d.Store)
			if err != nil {
				t.Fatal(err)
			}
			s := learned.Samples()
			if len(s) != 1 || s[0].Provider != "openai" || s[0].Model != "m" || s[0].Answers != len(ids) || int(s[0].Factor()*100+0.5) != int(c.times*100+0.5) {
				t.Errorf("what is learned is %+v; want that %d answers of m are counted %v times", s, len(ids), c.times)
			}

			d.stop()
			again := startWith(t, environ)
			id := again.answer(t, "and now?")
			if got := counters(t, again, []earshot.TurnID{id}); got[0] != c.want {
				t.Errorf("after a restart the counter is %s, want %s", got[0], c.want)
			}
		})
	}
}

// answer asks the bot in a direct message, always the same conversation, and waits
// for the answer.
func (d running) answer(t *testing.T, text string) earshot.TurnID {
	t.Helper()
	if _, err := d.Chat.DM(d.ctx, "bob"); err != nil {
		t.Fatal(err)
	}
	id := d.say(t, "dm-bob", "bob", text)
	if err := d.Wait(d.ctx, id); err != nil {
		t.Fatal(err)
	}
	return id
}

// counters checks that each turn is answered and that its prompt can be made again
// byte for byte, and returns the turns' counters.
func counters(t *testing.T, d running, ids []earshot.TurnID) []string {
	t.Helper()
	var specs []string
	for _, id := range ids {
		q, err := d.Store.QueuedTurn(d.ctx, id)
		if err != nil || q.State != earshot.TurnDone {
			t.Fatalf("turn %d is %s (%s), %v", id, q.State, q.Why, err)
		}
		in, err := bot.Input(d.ctx, d.Store, q)
		if err != nil {
			t.Fatal(err)
		}
		res, err := assemble.Turn(in)
		if err != nil || res.Hash != q.Hash {
			t.Errorf("turn %d replays to %s, %v; want %s", id, res.Hash, err, q.Hash)
		}
		specs = append(specs, res.Tokens.Counter)
	}
	return specs
}
