package api_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// BenchmarkContext makes the context of the last message of a thread of 1,000, in
// SQLite, with a real key: through the handler alone, and over a socket at 200
// requests a second, where p50 is how long one takes. The aim is p50 ≤ 5 ms.
func BenchmarkContext(b *testing.B) {
	st, err := store.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "bench.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	w := &world{store: st}
	var list []earshot.Message
	people := []string{"Alice", "Bob", "Chen", "Dana", "Eli"}
	random := rand.New(rand.NewPCG(1, 2))
	word := rand.NewZipf(random, 1.1, 8, 20_000) // words as often as in real chat
	for i := range 1000 {
		words := make([]string, 4+random.IntN(24))
		for j := range words {
			words[j] = fmt.Sprintf("w%d", word.Uint64())
		}
		list = append(list, said(i, people[i%len(people)], strings.Join(words, " ")))
	}
	list[999].Text = "<@U0BOT> w120 w900 w7 w31 w5000?"
	w.tell(b, list...)
	key, _, err := access.CreateKey(b.Context(), st, access.KeySpec{Name: "bench", Workspaces: []earshot.WorkspaceID{"T1"}})
	if err != nil {
		b.Fatal(err)
	}
	unbounded := access.Rate{PerSecond: -1}
	gate, err := access.Open(st, access.Options{Rates: access.Rates{Principal: unbounded, Channel: unbounded}})
	if err != nil {
		b.Fatal(err)
	}
	handler := api.New(api.Options{Service: sidecar.New(st, search.New(st, nil), gate, sidecar.Options{}), Reader: explain.New(st, search.New(st, nil), explain.Options{}), Gate: gate})
	srv := httptest.NewServer(handler)
	b.Cleanup(srv.Close)
	body := []byte(`{"channel":"C1","anchor":"m999","agent":"U0BOT"}`)
	request := func(b *testing.B) *http.Request {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL+"/v1/context", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key.Reveal())
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	b.Run("handler", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rec := httptest.NewRecorder()
			handler.ServeHTTP(rec, request(b))
			if rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), "@earshot w120 w900") {
				b.Fatalf("%d %s", rec.Code, rec.Body)
			}
		}
	})
	b.Run("socket", func(b *testing.B) {
		var took []time.Duration
		done := make(chan time.Duration)
		tick := time.NewTicker(time.Second / 200)
		defer tick.Stop()
		waiting := 0
		for b.Loop() {
			<-tick.C
			waiting++
			go func() {
				began := time.Now()
				res, err := http.DefaultClient.Do(request(b))
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				if err != nil || res.StatusCode != http.StatusOK {
					b.Errorf("%v", err)
				}
				done <- time.Since(began)
			}()
			for more := true; more; {
				select {
				case d := <-done:
					took, waiting = append(took, d), waiting-1
				default:
					more = false
				}
			}
		}
		for range waiting {
			took = append(took, <-done)
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	})
}
