//go:build unix

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
	"syscall"
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

// A benchChannel is a channel whose last message a context is asked for.
type benchChannel struct {
	name     string
	messages int
	thread   func(i int) int // the root that message i replies to; i itself: none
}

var benchChannels = []benchChannel{
	{"thread=1000", 1000, func(int) int { return 0 }},
	{"channel=1000", 1000, mixedThreads},
	{"channel=100000", 100_000, mixedThreads},
}

// mixedThreads has a third of the messages reply, in threads of ten.
func mixedThreads(i int) int {
	if i%3 == 2 {
		return i - i%30
	}
	return i
}

// benchID is the id of message i: as on the platforms, ids rise with time.
func benchID(i int) earshot.MessageID { return earshot.MessageID(fmt.Sprintf("1772442%07d", i)) }

// open returns the handler over a channel in SQLite, and a real key for it.
func (c benchChannel) open(b *testing.B) (http.Handler, string) {
	b.Helper()
	st, err := store.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "bench.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	c.fill(b, &world{store: st})
	key, _, err := access.CreateKey(b.Context(), st, access.KeySpec{Name: "bench", Workspaces: []earshot.WorkspaceID{"T1"}})
	if err != nil {
		b.Fatal(err)
	}
	unbounded := access.Rate{PerSecond: -1}
	gate, err := access.Open(st, access.Options{Rates: access.Rates{Principal: unbounded, Channel: unbounded}})
	if err != nil {
		b.Fatal(err)
	}
	searcher := search.New(st, nil)
	return api.New(api.Options{Service: sidecar.New(st, searcher, gate, sidecar.Options{}), Reader: explain.New(st, searcher, explain.Options{}), Gate: gate}), key.Reveal()
}

// fill tells a store of the channel.
func (c benchChannel) fill(b *testing.B, w *world) {
	people := []string{"Alice", "Bob", "Chen", "Dana", "Eli"}
	random := rand.New(rand.NewPCG(1, 2))
	word := rand.NewZipf(random, 1.1, 8, 20_000) // words as often as in real chat
	var list []earshot.Message
	for i := range c.messages {
		words := make([]string, 4+random.IntN(24))
		for j := range words {
			words[j] = fmt.Sprintf("w%d", word.Uint64())
		}
		m := said(i, people[i%len(people)], strings.Join(words, " "))
		m.ID, m.Thread = benchID(i), ""
		if root := c.thread(i); root != i {
			m.Thread = benchID(root)
		}
		if i == c.messages-1 {
			m.Text = "<@U0BOT> w120 w900 w7 w31 w5000?"
		}
		if list = append(list, m); len(list) == 1000 {
			w.tell(b, list...)
			list = list[:0]
		}
	}
}

// BenchmarkContext makes the context of a channel's last message, in SQLite, with a
// real key: through the handler alone, where cpu-ms is what the process computes for
// one, garbage collection and all, and cpu-p50-ms the median; and over a socket at 100
// requests a second, where p50 is how long one takes. Lean asks for neither ledger nor
// next, and gzip is for a caller that accepts it.
func BenchmarkContext(b *testing.B) {
	for _, c := range benchChannels {
		b.Run(c.name, func(b *testing.B) {
			handler, key := c.open(b)
			srv := httptest.NewServer(handler)
			b.Cleanup(srv.Close)
			request := func(b *testing.B, more string) *http.Request {
				body := fmt.Sprintf(`{"channel":"C1","anchor":%q,"agent":"U0BOT"%s}`, benchID(c.messages-1), more)
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL+"/v1/context", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+key)
				r.Header.Set("Content-Type", "application/json")
				return r
			}
			b.Run("handler", func(b *testing.B) {
				benchHandler(b, handler, func() *http.Request { return request(b, "") })
			})
			b.Run("lean", func(b *testing.B) {
				benchHandler(b, handler, func() *http.Request { return request(b, `,"ledger":false,"next":false`) })
			})
			b.Run("gzip", func(b *testing.B) {
				benchHandler(b, handler, func() *http.Request {
					r := request(b, "")
					r.Header.Set("Accept-Encoding", "gzip")
					return r
				})
			})
			b.Run("socket", func(b *testing.B) { benchSocket(b, func() *http.Request { return request(b, "") }) })
		})
	}
}

func benchHandler(b *testing.B, handler http.Handler, request func() *http.Request) {
	var took []time.Duration
	var size int
	once := func() {
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, request())
		packed := rec.Header().Get("Content-Encoding") != ""
		if size = rec.Body.Len(); rec.Code != http.StatusOK || !packed && !bytes.Contains(rec.Body.Bytes(), []byte("@earshot w120 w900")) {
			b.Fatalf("%d %s", rec.Code, rec.Body)
		}
	}
	once() // builds the channel's index
	b.ReportAllocs()
	began := cpuTime(b)
	for b.Loop() {
		before := cpuTime(b)
		once()
		took = append(took, cpuTime(b)-before)
	}
	all := cpuTime(b) - began
	slices.Sort(took)
	b.ReportMetric(float64(all.Microseconds())/1000/float64(b.N), "cpu-ms")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "cpu-p50-ms")
	b.ReportMetric(float64(size), "bytes")
}

// cpuTime is how long the process has computed.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchSocket(b *testing.B, request func() *http.Request) {
	var took []time.Duration
	done := make(chan time.Duration)
	tick := time.NewTicker(time.Second / 100)
	defer tick.Stop()
	waiting := 0
	for b.Loop() {
		<-tick.C
		waiting++
		go func() {
			began := time.Now()
			res, err := http.DefaultClient.Do(request())
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
}
