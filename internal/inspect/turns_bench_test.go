package inspect_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// BenchmarkAPageOfTurns reads lists over 20,000 turns, of which 1,000 asked a model.
func BenchmarkAPageOfTurns(b *testing.B) {
	st, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "x.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	if err := st.PutChannel(b.Context(), earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: "ops", Name: "ops", Kind: earshot.KindChannel}); err != nil {
		b.Fatal(err)
	}
	w := world{store: st}
	for n := range 20_000 {
		x := asking{in: "ops", by: "Ada", text: strings.Repeat("how many pods run? ", 10), state: earshot.TurnOpen}
		if n == 0 {
			x.by = "Sam"
		}
		if n < 1000 {
			x.state, x.model, x.tokens = earshot.TurnDone, "small", n
		}
		w.ask(b, n, x)
	}
	h := inspect.New(inspect.Options{Reader: explain.New(st, search.New(st, nil), explain.Options{}), Open: true})
	for _, query := range []string{"", "outcome=done", "channel=ops&before=10000", "person=Sam", "person=Ada&outcome=done", "model=small", "model=large&before=1001", "to=2026-03-20", "from=2027-01-01&to=2027-01-02"} {
		b.Run(fmt.Sprintf("query %q", query), func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/turns?"+query, nil)
				rec := httptest.NewRecorder()
				if h.ServeHTTP(rec, r); rec.Code != http.StatusOK {
					b.Fatal(rec.Code)
				}
			}
		})
	}
}
