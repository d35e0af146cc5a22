package discordapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/disgoorg/disgo/rest"
)

// FuzzAnswer feeds a client answers of any kind: it must neither fail nor show the
// token, nor let a refusal grow.
func FuzzAnswer(f *testing.F) {
	f.Add(400, `{"code":50035,"message":"x","errors":{"a":{"0":{"_errors":[{"code":"b","message":"c"}]}}}}`, "5", "4", "1.5", "1700000000.123")
	f.Add(400, `{"errors":{"_errors":[1,{"code":2}]},"code":"x"}`, "", "", "", "")
	f.Add(403, `[]`, "0", "-1", "NaN", "Inf")
	f.Add(429, `{"retry_after":-1,"global":"x"}`, "1", "0", "-5", "1e400")
	f.Add(204, ``, "99999999999999999999", "1", "1", "1")
	f.Add(200, `{"x":"`+token+`"}`, "1", "1", "0", "0")
	f.Fuzz(func(t *testing.T, status int, body, limit, left, after, reset string) {
		if status < 200 || status > 599 {
			return
		}
		c := server(func(*http.Request) (*http.Response, error) {
			w := answer(status, strings.ReplaceAll(body, "TOKEN", token))
			for name, value := range map[string]string{"Limit": limit, "Remaining": left, "Reset-After": after, "Reset": reset} {
				w.Header["X-Ratelimit-"+name] = []string{value}
			}
			return w, nil
		}).client()
		for range 2 {
			_, err := c.Try(t.Context(), rest.GetChannel, []any{"11"}, nil, nil)
			if err != nil && (strings.Contains(err.Error(), token) || len(err.Error()) > 8000) {
				t.Fatalf("shown: %s", err)
			}
		}
		if calls, most := c.Free(rest.GetChannel, "11"); calls < 0 || most < 0 || calls > most {
			t.Fatalf("%d of %d calls are free", calls, most)
		}
		_, _ = c.Down()
		if calls := c.Calls(); len(calls) != 1 || calls[0].Waited > 2*time.Second {
			t.Fatalf("calls are %+v", calls)
		}
	})
}
